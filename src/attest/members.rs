//! Reading objects of our own formats so that nothing in them goes unread.

use crate::canon::{self, Object, Value};

/// Why bytes are no document of the expected format.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Malformed {
    /// Not strict JSON; duplicate members are found here.
    #[error(transparent)]
    Json(#[from] canon::Refused),
    /// A member that must be there isn't.
    #[error("{0:?} is missing")]
    Missing(String),
    /// A member of another type or form than the format asks for.
    #[error("{pointer:?} must be {expected}")]
    Form {
        /// JSON pointer to the value.
        pointer: String,
        /// What stands there in a document of this format.
        expected: &'static str,
    },
    /// A member that the format doesn't know: a reader that skipped it could be shown something nobody checked.
    #[error("{0:?} is not a member of this format")]
    Unknown(String),
}

/// An object that is read member by member. [`Members::done`] refuses it if a member was never asked for.
pub(super) struct Members<'v> {
    pointer: String,
    object: &'v Object<'v>,
    asked: Vec<&'static str>,
}

impl<'v> Members<'v> {
    /// The members of `value`, which stands at `pointer`.
    pub(super) fn of(value: &'v Value<'v>, pointer: String) -> Result<Self, Malformed> {
        match value.as_object() {
            Some(object) => Ok(Self { pointer, object, asked: Vec::new() }),
            None => Err(Malformed::Form { pointer, expected: "an object" }),
        }
    }

    /// A member that may be absent. Present and `null` is not absent: whoever reads it refuses the form.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<&'v Value<'v>> {
        self.asked.push(name);
        self.object.get(name)
    }

    pub(super) fn required(&mut self, name: &'static str) -> Result<&'v Value<'v>, Malformed> {
        self.optional(name).ok_or_else(|| Malformed::Missing(self.at(name)))
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<&'v str, Malformed> {
        let value = self.required(name)?;
        value.as_str().ok_or_else(|| self.form(name, "a string"))
    }

    pub(super) fn optional_text(&mut self, name: &'static str) -> Result<Option<&'v str>, Malformed> {
        match self.optional(name) {
            Some(value) => value.as_str().map(Some).ok_or_else(|| self.form(name, "a string")),
            None => Ok(None),
        }
    }

    /// A required string that `T` accepts.
    pub(super) fn parsed<T: std::str::FromStr>(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<T, Malformed> {
        self.text(name)?.parse().map_err(|_| self.form(name, expected))
    }

    /// The elements of an array with their pointers.
    pub(super) fn array(&mut self, name: &'static str) -> Result<Vec<(String, &'v Value<'v>)>, Malformed> {
        let items = self.required(name)?.as_array().ok_or_else(|| self.form(name, "an array"))?;
        Ok(items.iter().enumerate().map(|(i, item)| (format!("{}/{i}", self.at(name)), item)).collect())
    }

    /// The elements of an array; none if it is absent.
    pub(super) fn optional_array(&mut self, name: &'static str) -> Result<Vec<(String, &'v Value<'v>)>, Malformed> {
        if self.object.get(name).is_some() { self.array(name) } else { Ok(Vec::new()) }
    }

    /// The object at this member.
    pub(super) fn members(&mut self, name: &'static str) -> Result<Self, Malformed> {
        let value = self.required(name)?;
        Members::of(value, self.at(name))
    }

    /// Ends the reading.
    pub(super) fn done(self) -> Result<(), Malformed> {
        match self.object.iter().find(|(name, _)| !self.asked.contains(name)) {
            Some((name, _)) => Err(Malformed::Unknown(self.at(name))),
            None => Ok(()),
        }
    }

    pub(super) fn form(&self, name: &str, expected: &'static str) -> Malformed {
        Malformed::Form { pointer: self.at(name), expected }
    }

    /// The JSON pointer to a member.
    pub(super) fn at(&self, name: &str) -> String {
        format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"))
    }
}
