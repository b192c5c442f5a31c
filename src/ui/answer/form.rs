//! The fields of a form that was sent, each taken once.

use crate::{
    review::ReasonText,
    web::{Kind, Problem},
};

/// What came, in its order. A field that nobody asked for makes the form another one than ours.
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) const fn new(sent: Vec<(String, String)>) -> Self {
        Self(sent)
    }

    /// The field of this name; a browser sends empty ones, too.
    pub(super) fn one(&mut self, name: &str) -> Result<String, Problem> {
        self.optional(name)?.ok_or_else(|| malformed(format!("`{name}` is missing")))
    }

    /// The field of this name, unless it wasn't sent: a box that isn't ticked.
    pub(super) fn optional(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let mut all = self.all(name);
        match (all.pop(), all.is_empty()) {
            (found, true) => Ok(found),
            (_, false) => Err(malformed(format!("`{name}` stands twice"))),
        }
    }

    /// The field of this name, read.
    pub(super) fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(&mut self, name: &str) -> Result<T, Problem> {
        self.one(name)?.parse().map_err(|e| malformed(format!("`{name}`: {e}")))
    }

    /// All fields of this name.
    pub(super) fn all(&mut self, name: &str) -> Vec<String> {
        let (found, rest) = std::mem::take(&mut self.0).into_iter().partition(|(field, _)| field == name);
        self.0 = rest;
        let found: Vec<(String, String)> = found;
        found.into_iter().map(|(_, value)| value).collect()
    }

    /// Refuses what is left over.
    pub(super) fn done(self) -> Result<(), Problem> {
        match self.0.first() {
            Some((name, _)) => Err(malformed(format!("`{}` is not a field of this form", name.escape_debug()))),
            None => Ok(()),
        }
    }
}

fn malformed(detail: String) -> Problem {
    Problem::new(Kind::FormMalformed).detail(detail)
}

/// A reason as it is kept. Browsers send line breaks in two characters; one is meant.
pub(super) fn reason(text: &str) -> Result<ReasonText, Problem> {
    let text = text.replace("\r\n", "\n");
    text.trim().parse().map_err(|e| Problem::new(Kind::ReasonMalformed).detail(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_its_fields_once_and_no_others() {
        let sent = |fields: &[(&str, &str)]| {
            Fields::new(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
        };
        let mut fields = sent(&[("a", "1"), ("b", ""), ("c", "x"), ("c", "y")]);
        assert_eq!(fields.one("a").ok(), Some("1".to_owned()));
        assert_eq!(fields.one("b").ok(), Some(String::new()));
        assert!(fields.one("a").is_err(), "is taken");
        assert_eq!(fields.optional("d").ok(), Some(None));
        assert_eq!(fields.all("c"), ["x", "y"]);
        assert!(fields.done().is_ok());
        assert!(sent(&[("a", "1"), ("a", "2")]).one("a").is_err());
        assert!(sent(&[("a", "1")]).done().is_err());
    }
}
