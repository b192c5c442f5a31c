//! Drafts: what the present trust file says with one change, before the root key signs it.
//!
//! A new key that is to count before one that was announced takes its place: the announced one has signed nothing, and is
//! left out. A key that has begun to count is never left out for another; it ends. Whoever can't publish a draft in which a
//! key was made says so with [`discard`], so that no private key lies about that no trust file names.

use super::{App, Refused};
use crate::{
    clock::{Span, Timestamp},
    event::MAX_KEYS,
    keys::{KeyId, VerifyingKey},
    pinset::trust::{HeadKey, LogKey, Terms},
    service::keyring::{self, KeyKind},
};

/// What a draft changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Change {
    /// Nothing but the version, and the witnesses that the settings name or don't.
    Settings,
    /// A new key for heads, which is made here.
    Head {
        /// When it begins to count.
        from: Timestamp,
    },
    /// A new key for the log, which is made here.
    Log {
        /// When it begins to count.
        from: Timestamp,
        /// How long the one before signs along.
        overlap: Span,
    },
    /// No new key after all: those of a kind that have not begun to count are left out.
    Cancel(Scheduled),
    /// Another root key.
    Root(VerifyingKey),
    /// Another name, in the next epoch.
    Epoch {
        /// The name.
        origin: String,
        /// A version that is higher than any that a gateway has; absent means the next one.
        version: Option<u64>,
    },
}

/// A kind of keys that a rotation announces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scheduled {
    /// They sign heads.
    Head,
    /// They sign the log.
    Log,
}

/// A trust file that isn't signed yet.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What it says.
    pub terms: Terms,
    /// Keys that were announced and that it leaves out; they never counted.
    pub left_out: Vec<KeyId>,
    made: Option<(KeyKind, KeyId)>,
}

/// The present trust file's terms with one change, in the next version.
///
/// # Errors
/// [`Refused::Key`], [`Refused::NonePending`], and [`Refused::Trust`] if no trust file could say so.
pub fn draft(app: &App, change: Change) -> Result<Draft, Refused> {
    let (mut terms, now) = (app.moment().logs.trust.terms().clone(), app.core.clock.now());
    terms.version += 1;
    let make = |kind| keyring::make(&app.core.signers.dir, kind, app.core.rng.as_ref());
    let (mut left_out, mut made) = (Vec::new(), None);
    match change {
        Change::Settings => {
            terms.witnesses = app.core.witnesses.configured().map(|configured| configured.policy().for_readers());
        }
        Change::Head { from } => {
            left_out = without_heads(&mut terms, now, from);
            let key = make(KeyKind::Head)?;
            made = Some((KeyKind::Head, key.id()));
            terms.heads.push(HeadKey { key, from });
            terms.heads.drain(..terms.heads.len().saturating_sub(MAX_KEYS));
        }
        Change::Log { from, overlap } => {
            left_out = without_logs(&mut terms, now, from);
            let key = make(KeyKind::Log)?;
            made = Some((KeyKind::Log, key.id()));
            if let Some(before) = terms.logs.last_mut() {
                before.until = Some(from + overlap);
            }
            terms.logs.push(LogKey { key, from, until: None });
            terms.logs.drain(..terms.logs.len().saturating_sub(MAX_KEYS));
        }
        Change::Cancel(kind) => {
            let (kind, cancelled) = match kind {
                Scheduled::Head => (KeyKind::Head, without_heads(&mut terms, now, now)),
                Scheduled::Log => (KeyKind::Log, without_logs(&mut terms, now, now)),
            };
            if cancelled.is_empty() {
                return Err(Refused::NonePending(kind));
            }
            left_out = cancelled;
        }
        Change::Root(key) => terms.root = key,
        Change::Epoch { origin, version } => {
            terms.former.push(std::mem::replace(&mut terms.origin, origin));
            terms.epoch += 1;
            terms.version = version.unwrap_or(terms.version);
        }
    }
    let said = terms.text().and_then(|text| Terms::parse(&text));
    let draft = Draft { terms, left_out, made };
    match said {
        Ok(terms) => Ok(Draft { terms, ..draft }),
        Err(why) => {
            discard(app, &draft)?;
            Err(why.into())
        }
    }
}

/// Removes the key that was made for a draft which no trust file will say; not where it may have been published after all.
///
/// # Errors
/// [`Refused::Key`].
pub fn discard(app: &App, draft: &Draft) -> Result<(), Refused> {
    match draft.made {
        Some((kind, id)) => Ok(keyring::discard(&app.core.signers.dir, kind, id)?),
        None => Ok(()),
    }
}

/// Leaves out the keys that haven't begun to count and would not before `from`.
fn without_heads(terms: &mut Terms, now: Timestamp, from: Timestamp) -> Vec<KeyId> {
    let gone = terms.heads.extract_if(.., |head| head.from > now && head.from >= from);
    gone.map(|head| head.key.id()).collect()
}

/// The same for keys of the log. The one that is then the newest has no end.
fn without_logs(terms: &mut Terms, now: Timestamp, from: Timestamp) -> Vec<KeyId> {
    let gone = terms.logs.extract_if(.., |log| log.from > now && log.from >= from);
    let gone = gone.map(|log| log.key.id()).collect();
    if let Some(newest) = terms.logs.last_mut() {
        newest.until = None;
    }
    gone
}
