//! Passwords: argon2id in PHC form, a few at a time, off the threads that serve requests.

use std::{fmt, str::FromStr, sync::Arc};

use argon2::{
    Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version,
    password_hash::phc::PasswordHash as Phc,
};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use crate::env::Rng;

/// A password of acceptable length. Wiped when dropped, never in `Debug`.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

/// A password's hash in PHC form.
#[derive(Clone)]
pub struct PasswordHash(pub(super) String);

/// The password is too short or too long.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a password has 12 to 1,024 characters")]
pub struct BadPassword;

/// Who hashes: so many at a time, and so many waiting.
pub(crate) struct Hashers(Arc<Semaphore>, Arc<Semaphore>);

/// Too many sign-ins at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Overrun;

/// Short ones are guessed even through a slow hash.
const MIN_CHARS: usize = 12;
/// A passphrase is shorter; a longer text is no password.
const MAX_CHARS: usize = 1_024;
/// 19 MiB, 2 passes, 1 lane: the first choice of OWASP's password storage recommendations for argon2id.
const MEMORY_KIB: u32 = 19 * 1_024;
const PASSES: u32 = 2;
/// Sign-ins that wait for a hasher: at two a second and a core, ten seconds' worth.
const MAX_WAITING: usize = 64;
/// Of no password: what is verified where there is no account, so that its absence takes as long as a wrong password.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGhhcyB0aGlz$\
                      9t1Cz0bBq0nHcXb2x1m3b7n4zCk5cQmPzq3s4Qf7x0E";

impl FromStr for Password {
    type Err = BadPassword;

    fn from_str(text: &str) -> Result<Self, BadPassword> {
        let length = text.chars().take(MAX_CHARS + 1).count();
        if (MIN_CHARS..=MAX_CHARS).contains(&length) { Ok(Self(text.to_owned().into())) } else { Err(BadPassword) }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

impl Hashers {
    pub(crate) fn new(at_once: usize) -> Self {
        Self(Arc::new(Semaphore::new(at_once)), Arc::new(Semaphore::new(at_once + MAX_WAITING)))
    }

    /// Hashes a new password.
    pub(super) async fn hash(&self, password: Password, rng: &dyn Rng) -> Result<PasswordHash, Overrun> {
        let salt: [u8; 16] = rng.bytes();
        let hashed = self.run(move || argon2()?.hash_password_with_salt(password.0.as_bytes(), &salt).ok()).await?;
        hashed.map(|hash| PasswordHash(hash.to_string())).ok_or(Overrun)
    }

    /// Whether the password is the one with this hash; `None` for an account that isn't there, which takes as long.
    pub(super) async fn verify(&self, password: String, hash: Option<String>) -> Result<bool, Overrun> {
        let password = Zeroizing::new(password);
        self.run(move || {
            let known = hash.is_some();
            let hash = hash.unwrap_or_else(|| NOBODY.to_owned());
            let same = Phc::new(&hash).is_ok_and(|hash| {
                argon2().is_some_and(|argon2| argon2.verify_password(password.as_bytes(), &hash).is_ok())
            });
            known && same
        })
        .await
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Overrun> {
        let _waiting = Arc::clone(&self.1).try_acquire_owned().map_err(|_| Overrun)?;
        let turn = Arc::clone(&self.0).acquire_owned().await.map_err(|_| Overrun)?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            // Held by the work itself: a client that goes away doesn't let another hash begin.
            drop(turn);
            done
        });
        done.await.map_err(|_| Overrun)
    }
}

fn argon2() -> Option<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None).ok()?;
    Some(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::SeededRng;

    #[tokio::test]
    async fn a_password_verifies_under_its_own_hash_alone() {
        let hashers = Hashers::new(2);
        let rng = SeededRng::new(1);
        let password: Password = "correct horse battery".parse().expect("long enough");
        let hash = hashers.hash(password.clone(), &rng).await.expect("hashed").0;
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        let other = hashers.hash(password, &rng).await.expect("hashed").0;
        assert_ne!(hash, other, "another salt");
        let verify = async |text: &str, hash: Option<String>| hashers.verify(text.to_owned(), hash).await;
        assert_eq!(verify("correct horse battery", Some(hash.clone())).await, Ok(true));
        assert_eq!(verify("correct horse batterz", Some(hash)).await, Ok(false));
        assert_eq!(verify("correct horse battery", None).await, Ok(false));
        assert_eq!(verify("correct horse battery", Some("no hash".to_owned())).await, Ok(false));
    }

    #[test]
    fn the_hash_of_nobody_is_as_costly_as_anybodys() {
        let nobody = Phc::new(NOBODY).expect("in PHC form");
        assert_eq!(nobody.params.to_string(), "m=19456,t=2,p=1");
        assert_eq!(nobody.hash.expect("has one").len(), 32);
    }

    #[test]
    fn a_password_has_12_to_1024_characters() {
        for (text, fits) in
            [("a".repeat(11), false), ("a".repeat(12), true), ("é".repeat(1_024), true), ("a".repeat(1_025), false)]
        {
            assert_eq!(text.parse::<Password>().is_ok(), fits, "{}", text.len());
        }
        assert_eq!(format!("{:?}", "correct horse battery".parse::<Password>()), "Ok(Password(..))");
    }

    #[tokio::test]
    async fn those_who_would_wait_too_long_are_sent_away() {
        let hashers = Hashers::new(1);
        let held = Arc::clone(&hashers.1).acquire_many_owned(65).await.expect("free");
        assert_eq!(hashers.verify("x".to_owned(), None).await, Err(Overrun));
        drop(held);
        assert_eq!(hashers.verify("x".to_owned(), None).await, Ok(false));
    }
}
