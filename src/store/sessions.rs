//! Sessions, failed sign-ins, and the one-time set-up link.

use sqlx::FromRow;

use super::{Conn, Result, WriteTx};
use crate::{canon::Sha256, clock::Timestamp};

/// Somebody who is signed in, without the cookie's secret.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Session {
    /// SHA-256 of the secret.
    pub sha256: Sha256,
    /// Who.
    pub account: String,
    /// Since when.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub seen_at: Timestamp,
    /// When it ends however much it is used.
    pub expires_at: Timestamp,
}

/// Failed sign-ins of an account name or a client address since the last success.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Failures {
    /// `account:NAME` or `address:IP`.
    pub key: String,
    /// How many.
    pub failures: i64,
    /// When the last one was.
    pub last_at: Timestamp,
}

/// The one-time set-up link.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Setup {
    /// SHA-256 of its secret.
    pub sha256: Sha256,
    /// When it was made.
    pub created_at: Timestamp,
    /// Since when it is dead.
    pub used_at: Option<Timestamp>,
}

impl Conn {
    /// All sessions.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn sessions(&mut self) -> Result<Vec<Session>> {
        const SQL: &str = "SELECT sha256, account, created_at, seen_at, expires_at FROM session";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_all(&mut **c).await?))
    }

    /// Failed sign-ins under a key.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn failures(&mut self, key: &str) -> Result<Option<Failures>> {
        const SQL: &str = "SELECT key, failures, last_at FROM throttle WHERE key = $1";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(key).fetch_optional(&mut **c).await?))
    }

    /// The set-up link.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn setup(&mut self) -> Result<Option<Setup>> {
        const SQL: &str = "SELECT sha256, created_at, used_at FROM setup";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_optional(&mut **c).await?))
    }
}

impl WriteTx {
    /// Keeps a session.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_session(&mut self, row: &Session) -> Result<()> {
        const SQL: &str = "INSERT INTO session (sha256, account, created_at, seen_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5)";
        run!(
            self,
            sqlx::query(SQL)
                .bind(row.sha256)
                .bind(&row.account)
                .bind(row.created_at)
                .bind(row.seen_at)
                .bind(row.expires_at)
        );
        Ok(())
    }

    /// Writes when a session was last used.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_session_seen(&mut self, sha256: Sha256, at: Timestamp) -> Result<()> {
        const SQL: &str = "UPDATE session SET seen_at = $2 WHERE sha256 = $1 AND seen_at < $2";
        run!(self, sqlx::query(SQL).bind(sha256).bind(at));
        Ok(())
    }

    /// Ends a session.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn drop_session(&mut self, sha256: Sha256) -> Result<bool> {
        const SQL: &str = "DELETE FROM session WHERE sha256 = $1";
        Ok(run!(self, sqlx::query(SQL).bind(sha256)) == 1)
    }

    /// Ends all sessions of an account.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn drop_sessions_of(&mut self, account: &str) -> Result<u64> {
        const SQL: &str = "DELETE FROM session WHERE account = $1";
        Ok(run!(self, sqlx::query(SQL).bind(account)))
    }

    /// Forgets sessions that ended before `expired` or were last used before `idle`.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn sweep_sessions(&mut self, expired: Timestamp, idle: Timestamp) -> Result<u64> {
        const SQL: &str = "DELETE FROM session WHERE expires_at <= $1 OR seen_at <= $2";
        let done = run!(self, sqlx::query(SQL).bind(expired).bind(idle));
        Ok(done)
    }

    /// Counts a failed sign-in. Failures before `forget` are no longer held against anybody.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn add_failure(&mut self, key: &str, at: Timestamp, forget: Timestamp) -> Result<i64> {
        const SQL: &str = "INSERT INTO throttle (key, failures, last_at) VALUES ($1, 1, $2) \
             ON CONFLICT (key) DO UPDATE SET last_at = excluded.last_at, \
             failures = CASE WHEN throttle.last_at < $3 THEN 1 ELSE throttle.failures + 1 END RETURNING failures";
        Ok(returning!(self, fetch_one, sqlx::query_scalar(SQL).bind(key).bind(at).bind(forget)))
    }

    /// Forgets the failures under a key: the sign-in succeeded.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn drop_failures(&mut self, key: &str) -> Result<()> {
        const SQL: &str = "DELETE FROM throttle WHERE key = $1";
        run!(self, sqlx::query(SQL).bind(key));
        Ok(())
    }

    /// Forgets failures before `forget`, under every key.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn sweep_failures(&mut self, forget: Timestamp) -> Result<u64> {
        const SQL: &str = "DELETE FROM throttle WHERE last_at < $1";
        Ok(run!(self, sqlx::query(SQL).bind(forget)))
    }

    /// Keeps a new set-up link in place of the one before, unless that was used.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_setup(&mut self, sha256: Sha256, at: Timestamp) -> Result<bool> {
        const SQL: &str = "INSERT INTO setup (id, sha256, created_at, used_at) VALUES (1, $1, $2, NULL) \
             ON CONFLICT (id) DO UPDATE SET sha256 = excluded.sha256, created_at = excluded.created_at \
             WHERE setup.used_at IS NULL";
        Ok(run!(self, sqlx::query(SQL).bind(sha256).bind(at)) == 1)
    }

    /// Ends the set-up link; `false` if it had ended, or never was.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn end_setup(&mut self, at: Timestamp) -> Result<bool> {
        const SQL: &str = "UPDATE setup SET used_at = $1 WHERE used_at IS NULL";
        Ok(run!(self, sqlx::query(SQL).bind(at)) == 1)
    }
}
