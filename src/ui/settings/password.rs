//! A new password for somebody else's account: one that an administrator chose, or one that is made and shown once.

use crate::{
    service::access::{BadPassword, Password, PasswordHash, Secret},
    web::{Kind, Problem, Web},
};

/// A password that can be given to an account.
pub(super) struct Fresh {
    pub(super) hash: PasswordHash,
    /// To be shown, once.
    pub(super) made: Option<Secret>,
}

/// Hashes the chosen password; an empty one means that one is to be made.
///
/// # Errors
/// [`Problem`] if too many are being hashed; [`BadPassword`] inside.
pub(super) async fn fresh(web: &Web, chosen: &str) -> Result<Result<Fresh, BadPassword>, Problem> {
    let made = chosen.is_empty().then(|| web.app().make_password());
    let password: Password = match made.as_ref().map_or(chosen, Secret::reveal).parse() {
        Ok(password) => password,
        Err(e) => return Ok(Err(e)),
    };
    let hash = web.app().hash_password(password).await.ok_or_else(|| Problem::new(Kind::Busy))?;
    Ok(Ok(Fresh { hash, made }))
}
