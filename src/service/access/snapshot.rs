//! Accounts, tokens and sessions of one moment, found by the hash of the secret that a client brings.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Secret,
    principal::{Principal, Scope, User},
};
use crate::{
    canon::Sha256,
    clock::{Span, Timestamp},
    store::{AccessSnapshot, Role, Session, Token},
};

/// Who may do what, as of the last look at the database.
#[derive(Debug, Default)]
pub struct Access {
    version: i64,
    users: HashMap<String, User>,
    tokens: HashMap<Sha256, (Token, Scope)>,
    sessions: HashMap<Sha256, Session>,
    has_admin: bool,
    /// Uses since the snapshot was taken; written to the database once a minute.
    used: Arc<Mutex<Used>>,
}

/// Who was seen since the last time it was written down.
#[derive(Debug, Default)]
pub(super) struct Used {
    pub(super) sessions: HashMap<Sha256, Timestamp>,
    pub(super) tokens: HashMap<String, Timestamp>,
    pub(super) accounts: HashMap<String, Timestamp>,
}

/// A session that nobody used for a working day is over.
pub(super) const IDLE: Span = Span::hours(8);
/// However much it is used, a session ends and the password is asked for again.
pub(super) const LONGEST: Span = Span::days(7);

impl Access {
    /// The snapshot of these rows. Rows that this program wouldn't have written allow nothing.
    pub(in crate::service) fn new(rows: AccessSnapshot) -> Self {
        let mut roles: HashMap<String, BTreeSet<Role>> = HashMap::new();
        for (account, role) in rows.roles {
            roles.entry(account).or_default().insert(role);
        }
        let enabled = rows.accounts.into_iter().filter(|account| account.disabled_at.is_none());
        let users: HashMap<String, User> = enabled
            .map(|account| {
                let roles = roles.remove(&account.name).unwrap_or_default();
                (account.name.clone(), User { account: account.name, reviewer: account.reviewer, roles })
            })
            .collect();
        let tokens = rows.tokens.into_iter().filter_map(|token| {
            let scope = token.scope.parse().ok()?;
            Some((token.sha256, (token, scope)))
        });
        Self {
            version: rows.version,
            has_admin: users.values().any(|user| user.roles.contains(&Role::Admin)),
            users,
            tokens: tokens.collect(),
            sessions: rows.sessions.into_iter().map(|session| (session.sha256, session)).collect(),
            used: Arc::default(),
        }
    }

    /// The uses that were noted under the snapshot before go on into this one.
    pub(in crate::service) fn succeed(mut self, before: &Self) -> Self {
        self.used = Arc::clone(&before.used);
        self
    }

    pub(in crate::service) const fn version(&self) -> i64 {
        self.version
    }

    /// Whether there is an administrator, so that set-up is over.
    pub const fn has_admin(&self) -> bool {
        self.has_admin
    }

    /// Everybody who may do anything.
    pub fn users(&self) -> impl Iterator<Item = &User> {
        self.users.values()
    }

    /// One of them.
    pub fn user(&self, account: &str) -> Option<&User> {
        self.users.get(account)
    }

    /// Who the bearer of a token acts as; `None` if there is no such token, or it is revoked, has ended, or its account is
    /// disabled.
    pub fn token(&self, secret: &str, now: Timestamp) -> Option<Principal> {
        let (token, scope) = self.tokens.get(&Secret::sha256_of(secret)?)?;
        if token.expires_at.is_some_and(|end| end <= now) {
            return None;
        }
        let user = self.users.get(&token.account)?.clone();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.tokens.insert(token.id.clone(), now);
        Some(Principal::Token(user, scope.clone()))
    }

    /// Who the bearer of a session's secret acts as; `None` if there is no such session, or it has ended, or its account
    /// is disabled.
    pub fn session(&self, secret: &str, now: Timestamp) -> Option<Principal> {
        let session = self.sessions.get(&Secret::sha256_of(secret)?)?;
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = used.sessions.get(&session.sha256).map_or(session.seen_at, |seen| session.seen_at.max(*seen));
        if session.expires_at <= now || seen + IDLE <= now {
            return None;
        }
        let user = self.users.get(&session.account)?.clone();
        used.sessions.insert(session.sha256, now);
        used.accounts.insert(user.account.clone(), now);
        Some(Principal::Session(user, session.sha256))
    }

    /// Takes what was noted since the last time.
    pub(super) fn take_used(&self) -> Used {
        std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
