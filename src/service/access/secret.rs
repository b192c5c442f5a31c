//! Random secrets: of tokens, of sessions, of the set-up link.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use crate::{canon::Sha256, env::Rng};

/// 256 random bits as text. Shown once, wiped when dropped, never in `Debug`.
pub struct Secret(Zeroizing<String>);

/// By which scanners of repositories and logs recognise a token that got lost.
const TOKEN_PREFIX: &str = "cs_";
/// Longer than any secret: what a client sends instead is not even hashed.
const MAX_LENGTH: usize = 128;

impl Secret {
    /// A token's.
    pub(super) fn token(rng: &dyn Rng) -> Self {
        Self(format!("{TOKEN_PREFIX}{}", random(rng)).into())
    }

    /// A session's or a link's.
    pub(super) fn plain(rng: &dyn Rng) -> Self {
        Self(random(rng).into())
    }

    /// One that was made before and kept.
    pub(super) fn held(text: &str) -> Self {
        Self(text.to_owned().into())
    }

    /// The text itself: for the answer or the file that it is shown in, once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the database has.
    pub fn sha256(&self) -> Sha256 {
        Sha256::of(self.0.as_bytes())
    }

    /// What the database has of a secret that a client sent; `None` for what is too long to be one.
    pub(super) fn sha256_of(text: &str) -> Option<Sha256> {
        (text.len() <= MAX_LENGTH).then(|| Sha256::of(text.as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

fn random(rng: &dyn Rng) -> String {
    let bytes = Zeroizing::new(rng.bytes::<32>());
    URL_SAFE_NO_PAD.encode(bytes.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::SeededRng;

    #[test]
    fn secrets_differ_are_recognised_and_not_shown() {
        let rng = SeededRng::new(1);
        let (one, two) = (Secret::token(&rng), Secret::token(&rng));
        assert!(one.reveal().starts_with("cs_") && one.reveal().len() == 46);
        assert_ne!(one.reveal(), two.reveal());
        assert_eq!(Secret::sha256_of(one.reveal()), Some(one.sha256()));
        assert_eq!(Secret::sha256_of(&"x".repeat(129)), None);
        assert_eq!(format!("{one:?}"), "Secret(..)");
        assert_eq!(Secret::plain(&rng).reveal().len(), 43);
    }
}
