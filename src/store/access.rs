//! Accounts, their roles and reviewer ids, and tokens. Secrets are hashes here; what they allow is `service::access`'s.
//!
//! Whatever changes who may do what ends with [`WriteTx::access_changed`], or other processes don't notice.

use serde::{Deserialize, Serialize};
use sqlx::FromRow;

use super::{Conn, Result, Session, WriteTx};
use crate::{canon::Sha256, clock::Timestamp, review::ReviewerId};

/// Somebody who signs in, or in whose name a token acts.
#[derive(Clone, Eq, FromRow, PartialEq)]
pub struct Account {
    /// The name.
    pub name: String,
    /// The password's hash in PHC form.
    pub password: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Since when it may do nothing.
    pub disabled_at: Option<Timestamp>,
    /// When it was last seen, to the minute.
    pub last_seen_at: Option<Timestamp>,
    /// The id under which it appears in the log.
    pub reviewer: ReviewerId,
}

/// What an account may do.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Accounts, tokens, authorities, policies.
    Admin,
    /// Ballots, aliases, revocations.
    Reviewer,
    /// Reads everything, the audit trail too.
    Auditor,
}

/// A token, without its secret.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Token {
    /// What lists show and revocation names.
    pub id: String,
    /// SHA-256 of the secret.
    pub sha256: Sha256,
    /// The account in whose name it acts.
    pub account: String,
    /// What it may do, as `pull:default`.
    pub scope: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// Since when it is revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// All that decides who may do what, of one moment.
#[derive(Clone, Debug, Default)]
pub struct AccessSnapshot {
    /// How often it had changed.
    pub version: i64,
    /// Accounts.
    pub accounts: Vec<Account>,
    /// Account and role.
    pub roles: Vec<(String, Role)>,
    /// Tokens that aren't revoked.
    pub tokens: Vec<Token>,
    /// Sessions.
    pub sessions: Vec<Session>,
}

macro_rules! account {
    ($rest:literal) => {
        concat!(
            "SELECT account.name, account.password, account.created_at, account.disabled_at, account.last_seen_at, \
             reviewer.id AS reviewer FROM account JOIN reviewer ON reviewer.account = account.name ",
            $rest
        )
    };
}
macro_rules! token {
    ($rest:literal) => {
        concat!(
            "SELECT id, sha256, account, scope, created_at, expires_at, revoked_at, last_used_at FROM token ",
            $rest
        )
    };
}
pub(super) use {account, token};

/// Shows no hash of a password: it is what an attacker would guess against.
impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account").field("name", &self.name).field("reviewer", &self.reviewer).finish_non_exhaustive()
    }
}

impl Conn {
    /// All that decides who may do what. Read it on a [`super::Reader::snapshot`], so that it is of one moment.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn access(&mut self) -> Result<AccessSnapshot> {
        const VERSION: &str = "SELECT version FROM access_head";
        const ROLES: &str = "SELECT account, role FROM account_role ORDER BY account, role";
        const TOKENS: &str = token!("WHERE revoked_at IS NULL");
        let (version, accounts) =
            (on!(&mut self.0, |c| sqlx::query_scalar(VERSION).fetch_one(&mut **c).await?), self.accounts().await?);
        let sessions = self.sessions().await?;
        on!(&mut self.0, |c| {
            let roles = sqlx::query_as(ROLES).fetch_all(&mut **c).await?;
            let tokens = sqlx::query_as(TOKENS).fetch_all(&mut **c).await?;
            Ok(AccessSnapshot { version, accounts, roles, tokens, sessions })
        })
    }

    /// All accounts by name.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn accounts(&mut self) -> Result<Vec<Account>> {
        const SQL: &str = account!("ORDER BY account.name");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_all(&mut **c).await?))
    }

    /// One account.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn account(&mut self, name: &str) -> Result<Option<Account>> {
        const SQL: &str = account!("WHERE account.name = $1");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(name).fetch_optional(&mut **c).await?))
    }

    /// An account's roles.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn roles(&mut self, account: &str) -> Result<Vec<Role>> {
        const SQL: &str = "SELECT role FROM account_role WHERE account = $1 ORDER BY role";
        Ok(on!(&mut self.0, |c| sqlx::query_scalar(SQL).bind(account).fetch_all(&mut **c).await?))
    }

    /// Whether some account that isn't disabled has a role.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn has_role(&mut self, role: Role) -> Result<bool> {
        const SQL: &str = "SELECT EXISTS (SELECT 1 FROM account_role JOIN account ON account.name = account_role.account \
             WHERE account_role.role = $1 AND account.disabled_at IS NULL)";
        Ok(on!(&mut self.0, |c| sqlx::query_scalar(SQL).bind(role).fetch_one(&mut **c).await?))
    }

    /// All tokens, revoked ones too, newest first.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn tokens(&mut self) -> Result<Vec<Token>> {
        const SQL: &str = token!("ORDER BY created_at DESC, id");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_all(&mut **c).await?))
    }
}

impl WriteTx {
    /// Says that who may do what has changed.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn access_changed(&mut self) -> Result<()> {
        const SQL: &str = "UPDATE access_head SET version = version + 1";
        run!(self, sqlx::query(SQL));
        Ok(())
    }

    /// Makes an account; `false` if there is one of this name.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_account(&mut self, row: &Account) -> Result<bool> {
        const ACCOUNT: &str = "INSERT INTO account (name, password, created_at, disabled_at, last_seen_at) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING";
        const REVIEWER: &str = "INSERT INTO reviewer (id, account) VALUES ($1, $2)";
        let made = run!(
            self,
            sqlx::query(ACCOUNT)
                .bind(&row.name)
                .bind(&row.password)
                .bind(row.created_at)
                .bind(row.disabled_at)
                .bind(row.last_seen_at)
        );
        if made == 1 {
            run!(self, sqlx::query(REVIEWER).bind(&row.reviewer).bind(&row.name));
        }
        Ok(made == 1)
    }

    /// Replaces a password's hash.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn set_password(&mut self, account: &str, password: &str) -> Result<bool> {
        const SQL: &str = "UPDATE account SET password = $2 WHERE name = $1";
        let done = run!(self, sqlx::query(SQL).bind(account).bind(password));
        Ok(done == 1)
    }

    /// Disables an account, or enables it again.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn set_disabled(&mut self, account: &str, since: Option<Timestamp>) -> Result<bool> {
        const SQL: &str = "UPDATE account SET disabled_at = $2 WHERE name = $1";
        let done = run!(self, sqlx::query(SQL).bind(account).bind(since));
        Ok(done == 1)
    }

    /// Gives an account a role; `false` if it has it.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_role(&mut self, account: &str, role: Role) -> Result<bool> {
        const SQL: &str = "INSERT INTO account_role (account, role) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        let done = run!(self, sqlx::query(SQL).bind(account).bind(role));
        Ok(done == 1)
    }

    /// Takes a role from an account; `false` if it hasn't got it.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn drop_role(&mut self, account: &str, role: Role) -> Result<bool> {
        const SQL: &str = "DELETE FROM account_role WHERE account = $1 AND role = $2";
        let done = run!(self, sqlx::query(SQL).bind(account).bind(role));
        Ok(done == 1)
    }

    /// Writes when accounts were last seen.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_seen(&mut self, account: &str, at: Timestamp) -> Result<()> {
        const SQL: &str = "UPDATE account SET last_seen_at = $2 WHERE name = $1";
        run!(self, sqlx::query(SQL).bind(account).bind(at));
        Ok(())
    }

    /// Keeps a token.
    ///
    /// # Errors
    /// [`super::StoreError::Database`] also if there is one of its id or secret.
    pub async fn put_token(&mut self, row: &Token) -> Result<()> {
        const SQL: &str = "INSERT INTO token (id, sha256, account, scope, created_at, expires_at, revoked_at, \
             last_used_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        run!(
            self,
            sqlx::query(SQL)
                .bind(&row.id)
                .bind(row.sha256)
                .bind(&row.account)
                .bind(&row.scope)
                .bind(row.created_at)
                .bind(row.expires_at)
                .bind(row.revoked_at)
                .bind(row.last_used_at)
        );
        Ok(())
    }

    /// Revokes a token; `false` if there is none of this id that isn't revoked.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn revoke_token(&mut self, id: &str, at: Timestamp) -> Result<bool> {
        const SQL: &str = "UPDATE token SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
        Ok(run!(self, sqlx::query(SQL).bind(id).bind(at)) == 1)
    }

    /// Writes when a token was last used.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_used(&mut self, token: &str, at: Timestamp) -> Result<()> {
        const SQL: &str = "UPDATE token SET last_used_at = $2 WHERE id = $1";
        run!(self, sqlx::query(SQL).bind(token).bind(at));
        Ok(())
    }
}
