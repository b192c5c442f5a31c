//! Which names can't stand beside each other in one pin set.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use super::{Kind, QualifiedName, WireName};

/// The names one pin set uses, and whose they are.
///
/// A name is taken by the kind and qualified name that hold it, so that a newer digest of the same tool is no clash.
/// Four forms are compared: the wire name, the qualified name after case folding, and its skeleton of
/// confusable letters (Unicode TS #39). Wire names are compared over tools and prompts together, since a model API has
/// one name space for functions; case and look-alikes within a kind.
#[derive(Clone, Debug, Default)]
pub struct Names {
    wires: BTreeMap<String, Holder>,
    folded: BTreeMap<(Kind, String), Holder>,
    skeletons: BTreeMap<(Kind, String), Holder>,
    shortened: BTreeMap<String, Holder>,
}

type Holder = (Kind, String);

/// Why a name can't join the set, and who holds what it clashes with.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{name} can't be told apart from {holder}: {form}")]
pub struct Clash {
    /// The qualified name that was refused.
    pub name: String,
    /// The qualified name that is already there.
    pub holder: String,
    /// In which form the two are the same.
    pub form: Form,
}

/// The form in which two names are the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// The same wire name.
    Wire,
    /// The same but for letter case.
    Case,
    /// Letters that look alike.
    LookAlike,
    /// The same once a client has shortened them.
    Shortened,
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Wire => "both have the same wire name",
            Self::Case => "they differ only in upper and lower case",
            Self::LookAlike => "they differ only in letters that look alike",
            Self::Shortened => "clients that shorten long names make one of both",
        })
    }
}

/// Prefixes that clients put before a name of their own accord, longest last.
const CLIENT_PREFIXES: [&str; 3] = ["", "mcp_", "mcp__"];
/// A client that shortens does so above this length.
const CLIENT_MAX: usize = 63;

impl Names {
    /// Adds a name, or says with what it clashes and adds nothing.
    ///
    /// # Errors
    /// The first clash, in the order wire, case, look-alike, shortened.
    pub fn add(&mut self, kind: Kind, name: &QualifiedName, wire: Option<&WireName>) -> Result<(), Clash> {
        self.check(kind, name, wire)?;
        let holder = (kind, name.to_string());
        if let Some(wire) = wire {
            self.wires.insert(wire.as_str().to_lowercase(), holder.clone());
            for short in shortened(wire) {
                self.shortened.insert(short, holder.clone());
            }
        }
        self.folded.insert((kind, name.as_str().to_lowercase()), holder.clone());
        self.skeletons.insert((kind, skeleton(name.as_str())), holder);
        Ok(())
    }

    /// What [`Names::add`] would say, without adding.
    ///
    /// # Errors
    /// As [`Names::add`].
    pub fn check(&self, kind: Kind, name: &QualifiedName, wire: Option<&WireName>) -> Result<(), Clash> {
        let other = |found: Option<&Holder>, form| match found {
            Some((k, holder)) if *k != kind || holder != name.as_str() => {
                Err(Clash { name: name.to_string(), holder: holder.clone(), form })
            }
            _ => Ok(()),
        };
        if let Some(wire) = wire {
            other(self.wires.get(&wire.as_str().to_lowercase()), Form::Wire)?;
        }
        other(self.folded.get(&(kind, name.as_str().to_lowercase())), Form::Case)?;
        other(self.skeletons.get(&(kind, skeleton(name.as_str()))), Form::LookAlike)?;
        for short in wire.into_iter().flat_map(shortened) {
            other(self.shortened.get(&short), Form::Shortened)?;
        }
        Ok(())
    }
}

/// The form in which confusable letters are one (TS #39), folded for case before and after.
fn skeleton(text: &str) -> String {
    let lower = text.to_lowercase();
    let joined: String = unicode_security::skeleton(&lower).collect();
    joined.nfkd().collect::<String>().to_lowercase()
}

/// What known clients make of a wire name that is too long for them: head, tail, or head and tail.
fn shortened(wire: &WireName) -> Vec<String> {
    let mut forms = Vec::new();
    for prefix in CLIENT_PREFIXES {
        let whole = format!("{prefix}{wire}");
        if whole.len() <= CLIENT_MAX {
            continue;
        }
        // Wire names and prefixes are ASCII, so bytes are characters.
        let (head, tail) = (&whole[..30], &whole[whole.len() - 30..]);
        forms.push(format!("head {}", &whole[..CLIENT_MAX]));
        forms.push(format!("tail {}", &whole[whole.len() - CLIENT_MAX..]));
        forms.push(format!("both {head}...{tail}"));
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::{super::DescriptorName, *};

    fn names(kind: Kind, alias: &str, name: &str) -> (Kind, QualifiedName, Option<WireName>) {
        let alias = alias.parse().expect("legal alias");
        let name = DescriptorName::new(kind, name).expect("legal name");
        let qualified = QualifiedName::join(&alias, &name).expect("fits");
        (kind, qualified, WireName::join(&alias, &name).expect("fits"))
    }

    fn form(first: (Kind, &str, &str), second: (Kind, &str, &str)) -> Option<Form> {
        let mut held = Names::default();
        let (kind, name, wire) = names(first.0, first.1, first.2);
        held.add(kind, &name, wire.as_ref()).expect("the first name is free");
        let (kind, name, wire) = names(second.0, second.1, second.2);
        held.add(kind, &name, wire.as_ref()).err().map(|clash| clash.form)
    }

    #[test]
    fn names_that_could_be_taken_for_each_other_clash() {
        use Kind::{Prompt, Resource, Tool};
        let long = "approveQuarterlyLedgerWithAttachmentsOf";
        let rows = [
            ((Tool, "notes", "a.b"), (Tool, "notes", "a_b"), Some(Form::Wire)),
            ((Tool, "notes", "report"), (Prompt, "notes", "report"), Some(Form::Wire)),
            ((Tool, "notes", "Export"), (Tool, "notes", "export"), Some(Form::Wire)),
            ((Resource, "notes", "a:/B"), (Resource, "notes", "a:/b"), Some(Form::Case)),
            ((Tool, "notes", "list1"), (Tool, "notes", "listl"), Some(Form::LookAlike)),
            ((Tool, "notes", "rn"), (Tool, "notes", "m"), Some(Form::LookAlike)),
            (
                (Tool, "ledger-cloud-eu-west", &format!("{long}A")),
                (Tool, "ledger-cloud-eu-west", &format!("{long}B")),
                Some(Form::Shortened),
            ),
            ((Tool, "notes", "export"), (Tool, "notes", "export"), None),
            ((Tool, "crm", "eu_list"), (Tool, "crm-eu", "list"), None),
            ((Resource, "notes", "a:/b"), (Tool, "notes", "ab"), None),
        ];
        for (first, second, expected) in rows {
            assert_eq!(form(first, second), expected, "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_refused_name_is_not_added() {
        let mut held = Names::default();
        let (kind, name, wire) = names(Kind::Tool, "notes", "a.b");
        held.add(kind, &name, wire.as_ref()).expect("free");
        let (kind, name, wire) = names(Kind::Tool, "notes", "a_b");
        let clash = held.add(kind, &name, wire.as_ref()).expect_err("same wire name");
        assert_eq!(clash.to_string(), "notes.a_b can't be told apart from notes.a.b: both have the same wire name");
        let (kind, name, _) = names(Kind::Resource, "notes", "a_b");
        assert_eq!(held.check(kind, &name, None), Ok(()));
    }
}
