//! Signing in and out, and what slows down those who guess.
//!
//! Every attempt is counted before its password is looked at, so that a burst of parallel guesses counts in full. Names
//! that nobody has are counted and hashed like others: neither time nor answer tells them apart.

use std::net::IpAddr;

use super::{
    AccountName, Principal, Secret,
    snapshot::{IDLE, LONGEST},
};
use crate::{
    canon::Sha256,
    clock::{Span, Timestamp},
    service::App,
    store::{Failures, Session, StoreError, WriteTx},
};

/// Somebody who has just signed in.
#[derive(Debug)]
pub struct SignedIn {
    /// For the cookie.
    pub secret: Secret,
    /// When the session ends at the latest.
    pub expires_at: Timestamp,
}

/// Nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Name or password is wrong, or the account is disabled; which of them is not told.
    #[error("name or password is wrong")]
    Wrong,
    /// Too many attempts: not before this moment.
    #[error("too many attempts: try again later")]
    Throttled(Timestamp),
    /// Too many sign-ins at once.
    #[error("too many sign-ins at once: try again")]
    Busy,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Failures that are not slowed down: people mistype.
const FREE_BY_ACCOUNT: i64 = 10;
/// A whole office may share an address.
const FREE_BY_ADDRESS: i64 = 30;
/// How long an account waits at most between attempts: long enough that guessing is hopeless, short enough that an
/// attacker can't keep its owner out for long.
const LONGEST_BY_ACCOUNT: Span = Span::minutes(1);
/// An address waits longer: nobody but its users suffers.
const LONGEST_BY_ADDRESS: Span = Span::minutes(15);
/// After so long without one, failures are forgotten.
const FORGET: Span = Span::hours(1);

/// What is counted, how many are free, and the longest wait after that.
type Counter = (String, i64, Span);

impl App {
    /// Signs somebody in.
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn sign_in(&self, name: &str, password: &str, address: Option<IpAddr>) -> Result<SignedIn, SignInError> {
        let core = &self.core;
        let name: Option<AccountName> = name.parse().ok();
        let counters = counters(name.as_ref(), address);
        let now = core.clock.now();
        self.count_attempt(&counters, now).await?;
        let account = match &name {
            Some(name) => core.reader.conn().await?.account(name.as_str()).await?,
            None => None,
        };
        let account = account.filter(|account| account.disabled_at.is_none());
        let hash = account.as_ref().map(|account| account.password.clone());
        let right = core.hashers.verify(password.to_owned(), hash).await.map_err(|_| SignInError::Busy)?;
        let Some(account) = account.filter(|_| right) else { return Err(SignInError::Wrong) };
        let secret = Secret::plain(core.rng.as_ref());
        let session = Session {
            sha256: secret.sha256(),
            account: account.name,
            created_at: now,
            seen_at: now,
            expires_at: now + LONGEST,
        };
        let mut tx = core.writer.begin().await?;
        for (key, ..) in &counters {
            tx.drop_failures(key).await?;
        }
        tx.put_session(&session).await?;
        tx.access_changed().await?;
        tx.commit().await?;
        core.reload_access().await?;
        Ok(SignedIn { secret, expires_at: session.expires_at })
    }

    /// Ends a session, in this process at once and in others with the next poll.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn sign_out(&self, session: Sha256) -> Result<(), StoreError> {
        let mut tx = self.core.writer.begin().await?;
        tx.drop_session(session).await?;
        tx.access_changed().await?;
        tx.commit().await?;
        self.core.reload_access().await
    }

    /// Writes down who was seen since the last time.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn write_seen(&self) -> Result<(), StoreError> {
        let used = self.access().take_used();
        if used.sessions.is_empty() && used.tokens.is_empty() {
            return Ok(());
        }
        let mut tx = self.core.writer.begin().await?;
        for (session, at) in used.sessions {
            tx.put_session_seen(session, at).await?;
        }
        for (token, at) in used.tokens {
            tx.put_used(&token, at).await?;
        }
        for (account, at) in used.accounts {
            tx.put_seen(&account, at).await?;
        }
        // Other processes judge idleness by what they have read.
        tx.access_changed().await?;
        tx.commit().await
    }

    async fn count_attempt(&self, counters: &[Counter], now: Timestamp) -> Result<(), SignInError> {
        let mut tx = self.core.writer.begin().await?;
        for (key, free, longest) in counters {
            let until = tx.failures(key).await?.map_or(Timestamp::EPOCH, |held| blocked_until(&held, *free, *longest));
            if until > now {
                return Err(SignInError::Throttled(until));
            }
        }
        for (key, ..) in counters {
            tx.add_failure(key, now, now.minus(FORGET)).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

impl Principal {
    /// The session, if it is one: for signing out.
    pub const fn session(&self) -> Option<Sha256> {
        match self {
            Self::Session(_, sha256) => Some(*sha256),
            Self::Anonymous | Self::Token(..) | Self::LocalOperator => None,
        }
    }
}

/// Removes sessions and failures that are over.
pub(in crate::service) async fn sweep(tx: &mut WriteTx, now: Timestamp) -> Result<(), StoreError> {
    tx.sweep_sessions(now, now.minus(IDLE)).await?;
    tx.sweep_failures(now.minus(FORGET)).await?;
    Ok(())
}

fn counters(name: Option<&AccountName>, address: Option<IpAddr>) -> Vec<Counter> {
    let account = name.map(|name| (format!("account:{name}"), FREE_BY_ACCOUNT, LONGEST_BY_ACCOUNT));
    let address = address.map(|ip| (format!("address:{}", network(ip)), FREE_BY_ADDRESS, LONGEST_BY_ADDRESS));
    account.into_iter().chain(address).collect()
}

/// Who has one IPv6 address has 2^64 of them.
fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) >> 64 << 64).into()),
        v4 => v4,
    }
}

/// Doubles from a second with each failure that isn't free.
fn blocked_until(held: &Failures, free: i64, longest: Span) -> Timestamp {
    if held.failures < free {
        return held.last_at;
    }
    let doublings = u32::try_from(held.failures - free).unwrap_or(u32::MAX).min(20);
    held.last_at + Span::seconds(1 << doublings).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_after_the_free_failures_up_to_its_bound() {
        let wait = |failures| {
            let held = Failures { key: String::new(), failures, last_at: Timestamp::EPOCH };
            blocked_until(&held, 10, Span::minutes(1)).since(Timestamp::EPOCH).as_seconds()
        };
        let table = [(1, 0), (9, 0), (10, 1), (11, 2), (15, 32), (16, 60), (1_000_000_000_000, 60)];
        for (failures, seconds) in table {
            assert_eq!(wait(failures), seconds, "{failures}");
        }
    }

    #[test]
    fn addresses_count_by_network() {
        for (ip, expected) in
            [("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"), ("::ffff:192.0.2.7", "192.0.2.7")]
        {
            assert_eq!(network(ip.parse().expect("an address")).to_string(), expected);
        }
    }
}
