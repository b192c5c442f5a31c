//! Who may do what: accounts, roles, sessions and tokens, and the [`Principal`] that they make a request act as.
//!
//! Requests are judged by a snapshot in memory that the poll refreshes, so a revoked token is dead within 250 ms in every
//! process. Secrets are 256 random bits and are kept as SHA-256 alone: finding one by its hash tells an attacker nothing
//! by its timing, because nobody can steer a hash towards another. Passwords are argon2id, hashed off the threads that
//! serve requests, a few at a time.

mod accounts;
mod password;
mod principal;
mod secret;
mod setup;
mod sign_in;
mod snapshot;
mod tokens;

pub use accounts::{AccountName, AccountRefused, AddAccount, BadAccountName, SetDisabled, SetPassword, SetRoles};
pub(super) use password::Hashers;
pub use password::{BadPassword, Password, PasswordHash};
pub use principal::{BadScope, Principal, Scope, User};
pub use secret::Secret;
pub use setup::{SETUP_LINK, SetUp, SetupError};
pub(super) use sign_in::sweep;
pub use sign_in::{SignInError, SignedIn};
pub use snapshot::Access;
pub use tokens::{AddToken, RevokeToken, TokenRefused};
