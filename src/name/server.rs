//! Who a descriptor comes from: namespace, server, version and variant of a release.

use std::str::FromStr;

use super::{BadName, text};

/// A server's name in the registry: a namespace in reverse-DNS form, a slash, and a name, as `com.example/notes`.
///
/// The syntax is the public MCP registry's. Case is kept; [`ServerName::folded`] is what must be unique.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ServerName(String);

/// The part of a server's name before the slash: what an authority may speak for.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Namespace(String);

/// A release's version as its publisher calls it: one version, never a range, and no order is derived from it.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Version(String);

/// A label for servers whose list depends on locale, plan or protocol era; empty for the usual list.
///
/// Each variant is attested, approved and superseded by itself.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Variant(String);

/// The public registry's bound on a whole server name.
const MAX_SERVER_NAME: usize = 200;
/// A DNS name's bound; a reversed one is as long.
const MAX_NAMESPACE: usize = 128;
/// The public registry's bound on a version.
const MAX_VERSION: usize = 255;
/// A label for people to read in a table cell.
const MAX_VARIANT: usize = 64;

text!(ServerName);
text!(Namespace);
text!(Version);
text!(Variant);

impl ServerName {
    /// The namespace before the slash.
    pub fn namespace(&self) -> Namespace {
        let (namespace, _) = self.parts();
        Namespace(namespace.to_owned())
    }

    /// The name after the slash.
    pub fn name(&self) -> &str {
        self.parts().1
    }

    /// The form that must be unique: two names with one folded form are the same to a person in a hurry.
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    fn parts(&self) -> (&str, &str) {
        // The constructor saw exactly one slash; an empty name could only come of a broken invariant and matches nothing.
        self.0.split_once('/').unwrap_or((&self.0, ""))
    }
}

impl FromStr for ServerName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let bad = |rule| Err(BadName::new("server name", rule, text));
        let Some((namespace, name)) = text.split_once('/') else {
            return bad("must be a namespace, a slash and a name, as com.example/notes");
        };
        if let Err(e) = namespace.parse::<Namespace>() {
            return bad(e.rule);
        }
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')) {
            return bad("after the slash only letters, digits, dot, underscore and hyphen, at least one");
        }
        if text.len() > MAX_SERVER_NAME {
            return bad("at most 200 characters");
        }
        Ok(Self(text.to_owned()))
    }
}

impl Namespace {
    /// The form that must be unique.
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl FromStr for Namespace {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let bad = |rule| Err(BadName::new("namespace", rule, text));
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-')) {
            return bad("before the slash only letters, digits, dot and hyphen, at least one");
        }
        if text.len() > MAX_NAMESPACE {
            return bad("a namespace has at most 128 characters");
        }
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for Version {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let bad = |rule| Err(BadName::new("version", rule, text));
        if text.is_empty() || text.len() > MAX_VERSION || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return bad("1 to 255 visible ASCII characters without spaces");
        }
        let range = text.starts_with(['^', '~', '<', '>', '=']) || text.contains(['*', '|', ',']) || text == "latest";
        if range {
            return bad("one version, not a range: no ^ ~ < > = at the start, no * | , inside, not 'latest'");
        }
        Ok(Self(text.to_owned()))
    }
}

impl Variant {
    /// Whether this is the usual list, without a label.
    pub fn is_default(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for Variant {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let legal = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if !legal || text.len() > MAX_VARIANT {
            let rule = "at most 64 letters, digits, dots, underscores and hyphens";
            return Err(BadName::new("variant", rule, text));
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_name_is_a_namespace_a_slash_and_a_name() {
        let name: ServerName = "io.github.Acme/notes-server_2.x".parse().expect("legal");
        assert_eq!(name.namespace().as_str(), "io.github.Acme");
        assert_eq!(name.name(), "notes-server_2.x");
        assert_eq!(name.folded(), "io.github.acme/notes-server_2.x");
        let longest = format!("{}/{}", "n".repeat(128), "m".repeat(71));
        assert!(longest.parse::<ServerName>().is_ok());
        for bad in [
            "",
            "notes",
            "/notes",
            "com.example/",
            "com.example/a/b",
            "com_example/a",
            "com.example/a b",
            "com.example/ä",
            "com.exаmple/a", // Cyrillic а
            &format!("{}/m", "n".repeat(129)),
            &format!("{longest}m"),
        ] {
            assert!(bad.parse::<ServerName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_version_is_one_version() {
        for good in ["1.4.0", "1.0.0-rc.1+build=7", "2026-12-01", "a", "1.0.0>2", &"9".repeat(255)] {
            assert!(good.parse::<Version>().is_ok(), "{good}");
        }
        for bad in
            ["", "^1.0", "~1", ">=1", "<2", "=1", "1.*", "1 2", "1||2", "1,2", "latest", "1\u{a0}", &"9".repeat(256)]
        {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_variant_is_a_short_label_or_nothing() {
        assert!("".parse::<Variant>().expect("legal").is_default());
        assert!("x".repeat(64).parse::<Variant>().is_ok());
        assert!("x".repeat(65).parse::<Variant>().is_err());
        assert!("de DE".parse::<Variant>().is_err());
    }
}
