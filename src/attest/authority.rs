//! Who may speak for which server, in which role, and what level of evidence that gives.
//!
//! How an authority was proved (DNS, a workflow identity, an administrator) is not known here; it was decided before
//! the authority was granted. An authority never comes out of a submission.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    clock::Timestamp,
    keys::{KeyId, VerifyingKey},
    name::{BadName, Namespace, ServerName},
};

/// As whom a signer speaks.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// For the namespace: these are my server's descriptors.
    Publisher,
    /// For the operator of the registry: this is what the server listed when I looked.
    Capture,
}

/// How much the evidence behind a release is worth; ordered, the best last.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The operator recorded what the server lists; the publisher signed nothing.
    Capture,
    /// A key that has authority over the namespace signed.
    Key,
    /// A workload identity signed, and a public log holds the signature.
    Sigstore,
}

/// For which servers an authority may speak; written `*`, `com.example` or `com.example/notes`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Scope {
    /// Every server.
    Any,
    /// Every server of one namespace, compared exactly.
    Namespace(Namespace),
    /// One server.
    Server(ServerName),
}

/// Who signed a release, as pins and releases show it: `key:<key id>`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Signer {
    /// The holder of an Ed25519 key.
    Key(KeyId),
}

/// The text names no signer of a known form.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a signer of the form key:<64 hex>")]
pub struct NotASigner;

/// A key that may speak for a scope.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Authority {
    /// Names the authority in the log and in releases.
    pub id: String,
    /// For which servers.
    pub scope: Scope,
    /// The key that signs.
    pub key: VerifyingKey,
    /// As whom it speaks; it follows which level its signatures have.
    pub role: Role,
    /// The account whose key it is; that account can't approve what the key signed.
    pub holder: Option<String>,
    /// Counts up when a namespace gets a key that the key before it didn't vouch for.
    pub generation: u32,
    /// When the registry granted it.
    pub granted_at: Timestamp,
    /// As of when it is revoked. Anything but `None` refuses new releases.
    pub revoked: Option<Timestamp>,
}

/// All authorities that a registry knows, revoked ones included.
#[derive(Clone, Debug, Default)]
pub struct Authorities {
    by_key: BTreeMap<KeyId, Vec<Authority>>,
}

impl Role {
    /// `publisher` or `capture`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Publisher => "publisher",
            Self::Capture => "capture",
        }
    }

    /// What a signature by a key of this role proves.
    pub const fn key_level(self) -> Level {
        match self {
            Self::Publisher => Level::Key,
            Self::Capture => Level::Capture,
        }
    }
}

impl Level {
    /// `capture`, `key` or `sigstore`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Capture => "capture",
            Self::Key => "key",
            Self::Sigstore => "sigstore",
        }
    }
}

impl Scope {
    /// Whether the scope includes this server. Letter case counts: a namespace in another case is another one.
    pub fn covers(&self, server: &ServerName) -> bool {
        match self {
            Self::Any => true,
            Self::Namespace(namespace) => *namespace == server.namespace(),
            Self::Server(own) => own == server,
        }
    }
}

impl Authorities {
    /// What `all` grants, in no particular order.
    pub fn new(all: impl IntoIterator<Item = Authority>) -> Self {
        let mut by_key: BTreeMap<KeyId, Vec<Authority>> = BTreeMap::new();
        for authority in all {
            by_key.entry(authority.key.id()).or_default().push(authority);
        }
        // The narrowest scope first, then the newest generation: the first that fits is the one a release names.
        for held in by_key.values_mut() {
            held.sort_by(|a, b| (&b.scope, b.generation, &a.id).cmp(&(&a.scope, a.generation, &b.id)));
        }
        Self { by_key }
    }

    /// Whether any authority, for whatever scope, is this key's.
    pub fn knows(&self, key: &KeyId) -> bool {
        self.by_key.contains_key(key)
    }

    /// The keys that hold any authority over this server, revoked ones included.
    pub fn keys_over(&self, server: &ServerName) -> BTreeMap<KeyId, VerifyingKey> {
        let over = |held: &&Authority| held.scope.covers(server);
        self.by_key.iter().filter_map(|(id, held)| Some((*id, held.iter().find(over)?.key))).collect()
    }

    /// What this key may do for this server, the narrowest scope first, revoked ones included.
    pub fn of<'a>(&'a self, key: &KeyId, server: &'a ServerName) -> impl Iterator<Item = &'a Authority> {
        self.by_key.get(key).into_iter().flatten().filter(|held| held.scope.covers(server))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        match text {
            "publisher" => Ok(Self::Publisher),
            "capture" => Ok(Self::Capture),
            _ => Err(BadName { what: "role", rule: "publisher or capture", text: text.chars().take(120).collect() }),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Namespace(namespace) => namespace.fmt(f),
            Self::Server(server) => server.fmt(f),
        }
    }
}

impl FromStr for Scope {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        match text {
            "*" => Ok(Self::Any),
            _ if text.contains('/') => text.parse().map(Self::Server),
            _ => text.parse().map(Self::Namespace),
        }
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(id) => write!(f, "key:{id}"),
        }
    }
}

impl FromStr for Signer {
    type Err = NotASigner;

    fn from_str(text: &str) -> Result<Self, NotASigner> {
        let id = text.strip_prefix("key:").ok_or(NotASigner)?;
        id.parse().map(Self::Key).map_err(|_| NotASigner)
    }
}

/// Serde by the text form.
macro_rules! by_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
by_text!(Scope);
by_text!(Signer);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::SigningKey;

    fn authority(id: &str, scope: &str, seed: u8, generation: u32) -> Authority {
        Authority {
            id: id.to_owned(),
            scope: scope.parse().expect("a scope"),
            key: SigningKey::from_seed(&[seed; 32]).verifying(),
            role: Role::Publisher,
            holder: None,
            generation,
            granted_at: Timestamp::EPOCH,
            revoked: None,
        }
    }

    #[test]
    fn a_scope_covers_whole_segments_only() {
        for (scope, server, covers) in [
            ("*", "com.example/notes", true),
            ("com.example", "com.example/notes", true),
            ("com.example", "com.example.evil/notes", false),
            ("com.example", "com.example-mirror/notes", false),
            ("com.example", "com.Example/notes", false),
            ("com.example/notes", "com.example/notes", true),
            ("com.example/notes", "com.example/notes2", false),
            ("com.example/notes", "com.example/Notes", false),
        ] {
            let scope: Scope = scope.parse().expect("a scope");
            assert_eq!(scope.covers(&server.parse().expect("a server")), covers, "{scope} {server}");
        }
    }

    #[test]
    fn the_narrowest_and_newest_authority_comes_first() {
        let all = Authorities::new([
            authority("any", "*", 1, 1),
            authority("old", "com.example/notes", 1, 1),
            authority("space", "com.example", 1, 9),
            authority("new", "com.example/notes", 1, 2),
            authority("other key", "com.example/notes", 2, 3),
        ]);
        let key = SigningKey::from_seed(&[1; 32]).verifying().id();
        let server = "com.example/notes".parse().expect("a server");
        let ids: Vec<_> = all.of(&key, &server).map(|a| a.id.as_str()).collect();
        assert_eq!(ids, ["new", "old", "space", "any"]);
        assert_eq!(all.keys_over(&server).len(), 2);
        assert_eq!(all.keys_over(&"com.other/notes".parse().expect("a server")).len(), 1);
    }

    #[test]
    fn levels_are_ordered_and_texts_come_back() {
        assert!(Level::Capture < Level::Key && Level::Key < Level::Sigstore);
        for text in ["*", "com.example", "com.example/notes"] {
            assert_eq!(text.parse::<Scope>().expect("a scope").to_string(), text);
        }
        for bad in ["", "com.example/", "/notes", "a/b/c", "**"] {
            bad.parse::<Scope>().expect_err(bad);
        }
        let signer = Signer::Key(SigningKey::from_seed(&[1; 32]).verifying().id());
        assert_eq!(signer.to_string().parse(), Ok(signer));
        assert_eq!("key:00".parse::<Signer>(), Err(NotASigner));
    }
}
