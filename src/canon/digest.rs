//! SHA-256 values and digests that say by which recipe they were made.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Digest as _;

/// A SHA-256 value; written as 64 lower-case hex digits.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Sha256(pub [u8; 32]);

/// How the bytes under a digest were made. A new recipe gets a new name, never a changed meaning.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Recipe {
    /// RFC 8785 over the strictly parsed object; it alone decides equality.
    JcsSha256,
    /// CPython's `json.dumps(obj, sort_keys=True, separators=(",", ":"))` in UTF-8; for display and migration.
    PythonSortedSha256,
}

/// A SHA-256 with its recipe, written `jcs-sha256:<64 hex>`.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Digest {
    /// How the hashed bytes were made.
    pub recipe: Recipe,
    /// The hash.
    pub sha256: Sha256,
}

/// The text isn't 64 lower-case hex digits.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not 64 lower-case hex digits")]
pub struct NotHex;

/// The text isn't a digest with a recipe this version knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a digest of the form jcs-sha256:<64 hex>")]
pub struct NotADigest;

impl Sha256 {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first 128 bits in hex: the form of ids that name what was hashed.
    pub fn id(&self) -> String {
        self.to_string().split_at(32).0.to_owned()
    }
}

impl Digest {
    /// A digest by the deciding recipe.
    pub const fn jcs(sha256: Sha256) -> Self {
        Self { recipe: Recipe::JcsSha256, sha256 }
    }
}

impl Recipe {
    /// The recipe's name as digests carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JcsSha256 => "jcs-sha256",
            Self::PythonSortedSha256 => "python-sorted-sha256",
        }
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256 {
    type Err = NotHex;

    fn from_str(text: &str) -> Result<Self, NotHex> {
        let digit = |b: u8| match b {
            b'0'..=b'9' => Ok(b - b'0'),
            b'a'..=b'f' => Ok(b - b'a' + 10),
            _ => Err(NotHex),
        };
        let text: &[u8; 64] = text.as_bytes().try_into().map_err(|_| NotHex)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.recipe.as_str(), self.sha256)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let (recipe, hex) = text.split_once(':').ok_or(NotADigest)?;
        let recipe = [Recipe::JcsSha256, Recipe::PythonSortedSha256].into_iter().find(|r| r.as_str() == recipe);
        Ok(Self { recipe: recipe.ok_or(NotADigest)?, sha256: hex.parse().map_err(|_| NotADigest)? })
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
by_text!(Sha256);
by_text!(Digest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_says_its_recipe_and_has_one_spelling() {
        let digest = Digest::jcs(Sha256::of(b"{}"));
        let text = "jcs-sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse(), Ok(digest));
        assert_eq!(digest.sha256.id(), "44136fa355b3678a1146ad16f7e8649e");
        for bad in [&text[11..], &text.replace("jcs-", "md5-"), &text.to_uppercase(), &text[..74], &format!("{text}0")]
        {
            assert_eq!(bad.parse::<Digest>(), Err(NotADigest), "{bad}");
        }
    }
}
