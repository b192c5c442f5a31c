//! Tokens: made for an account and one purpose, shown once, revoked for good.

use super::{AccountName, Principal, Scope, Secret};
use crate::{
    canon::Sha256,
    clock::Span,
    name::SetName,
    service::{App, Step, Stop, Work, WriteError, Written},
    store::Token,
};

/// Makes a token; see [`App::add_token`].
#[derive(Clone, Debug)]
pub struct AddToken {
    /// What it is for.
    pub scope: Scope,
    /// In whose name it acts.
    pub account: AccountName,
    /// After how many days it ends by itself.
    pub days: Option<u32>,
    /// Who makes it.
    pub by: Principal,
}

/// Revokes a token.
#[derive(Clone, Debug)]
pub struct RevokeToken {
    /// Its id.
    pub id: String,
    /// Who revokes it.
    pub by: Principal,
}

/// Why a token can't be made or revoked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TokenRefused {
    /// There is no such account, or it is disabled.
    #[error("there is no account {0} that could use a token")]
    NoAccount(String),
    /// There is no such token, or it is revoked.
    #[error("there is no token {0} that could be revoked")]
    NoToken(String),
    /// It would end too late, or at once.
    #[error("a token lives 1 to 3650 days")]
    Days,
    /// The account has all it may have.
    #[error("an account has at most 1000 tokens")]
    TooMany,
    /// It would be for a pin set that isn't there.
    #[error("there is no pin set {set}; there is {}", names(.there))]
    NoSet {
        /// The one asked for.
        set: SetName,
        /// Those that are there.
        there: Vec<SetName>,
    },
    /// It would vote in somebody else's name.
    #[error("a token that reviews is made by the reviewer it acts for, or with `countersign admin token add`")]
    OthersVote,
}

/// A program that is forgotten for ten years should stop.
const MAX_DAYS: u32 = 3_650;
/// Every process holds all tokens in memory.
const MAX_PER_ACCOUNT: usize = 1_000;

fn names(sets: &[SetName]) -> String {
    sets.iter().map(SetName::as_str).collect::<Vec<_>>().join(", ")
}

struct Keep {
    asked: AddToken,
    sha256: Sha256,
}

impl App {
    /// Makes a token. The secret is in the answer and nowhere else.
    ///
    /// # Errors
    /// [`WriteError`].
    pub async fn add_token(&self, token: AddToken) -> Result<Written<(Secret, Token)>, WriteError<TokenRefused>> {
        let secret = Secret::token(self.core.rng.as_ref());
        let Written { done, leaves, moment } = self.write(Keep { asked: token, sha256: secret.sha256() }).await?;
        Ok(Written { done: (secret, done), leaves, moment })
    }
}

impl Step for Keep {
    type Done = Token;
    type Refused = TokenRefused;

    async fn run(&self, work: &mut Work) -> Result<Token, Stop<TokenRefused>> {
        let AddToken { scope, account, days, by } = &self.asked;
        if days.is_some_and(|days| days == 0 || days > MAX_DAYS) {
            return Err(Stop::Refused(TokenRefused::Days));
        }
        let others = by.user().is_some_and(|user| user.account != account.as_str());
        if others && *scope == Scope::Review {
            return Err(Stop::Refused(TokenRefused::OthersVote));
        }
        if let Scope::Pull(set) | Scope::Report(set) = scope
            && work.state().set(set).is_none()
        {
            let there = work.state().sets().map(|set| set.name().clone()).collect();
            return Err(Stop::Refused(TokenRefused::NoSet { set: set.clone(), there }));
        }
        let usable = work.read().account(account.as_str()).await?.is_some_and(|account| account.disabled_at.is_none());
        if !usable {
            return Err(Stop::Refused(TokenRefused::NoAccount(account.to_string())));
        }
        let tokens = work.read().tokens().await?;
        let live = tokens.iter().filter(|token| token.account == account.as_str() && token.revoked_at.is_none());
        if live.count() >= MAX_PER_ACCOUNT {
            return Err(Stop::Refused(TokenRefused::TooMany));
        }
        let id: [u8; 8] = work.rng().bytes();
        let token = Token {
            id: format!("{:016x}", u64::from_be_bytes(id)),
            sha256: self.sha256,
            account: account.to_string(),
            scope: scope.to_string(),
            created_at: work.now(),
            expires_at: days.map(|days| work.now() + Span::days(days)),
            revoked_at: None,
            last_used_at: None,
        };
        work.write().put_token(&token).await?;
        work.audit(by.actor(), "token-add", &token.id, &format!("{} for {}", token.scope, token.account));
        work.access_changed().await?;
        Ok(token)
    }
}

impl Step for RevokeToken {
    type Done = ();
    type Refused = TokenRefused;

    async fn run(&self, work: &mut Work) -> Result<(), Stop<TokenRefused>> {
        let is_live = |token: &Token| token.id == self.id && token.revoked_at.is_none();
        if !work.read().tokens().await?.iter().any(is_live) {
            return Err(Stop::Refused(TokenRefused::NoToken(self.id.clone())));
        }
        let at = work.now();
        work.write().revoke_token(&self.id, at).await?;
        work.audit(self.by.actor(), "token-revoke", &self.id, "");
        work.access_changed().await?;
        Ok(())
    }
}
