//! Versions of the trust file: drafted here, signed by the root key wherever that is, published here.
//!
//! A draft is what the present one says with one change, as a text that a person can read before the root key signs it. What
//! comes back is published only if a gateway that holds the present one would follow it, and if the keys that it names are
//! here to sign with. Publishing logs the keys; from then on the log says what signs.
//!
//! An epoch is begun in the same way. It is the one write that a registry takes whose database is an old copy: what the copy
//! lacks is given up, in the open, under another name.

mod draft;

use std::fmt;

pub use self::draft::{Change, Draft, Scheduled, discard, draft};

use super::{
    App, ReadOnly, Stop, Work, WriteError, Written, anchor, commit,
    commit::Failure,
    govern::Governor,
    keyring::{KeyError, KeyKind},
    logs::{Held, Logs},
    proofs,
};
use crate::{
    canon::Sha256,
    clock::{Span, Timestamp},
    event::{Continued, EpochStarted, Event, KeyActivated, KeyRotated, Tree, TrustFile},
    keys::{KeyId, SigningKey, VerifyingKey},
    pinset::trust::{BadTrust, Terms, Trust},
    store::{self, StoreError},
};

/// A trust file that was not drafted, signed or published.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// A gateway wouldn't take it in the present one's place.
    #[error(transparent)]
    Trust(#[from] BadTrust),
    /// It is in force already.
    #[error("this trust file is in force already")]
    InForce,
    /// It isn't the next one.
    #[error("the next version is {next}, this is {found}")]
    Version {
        /// What comes next.
        next: u64,
        /// What it has.
        found: u64,
    },
    /// Gateways would refuse the heads that this registry signs.
    #[error("heads live {0} seconds here, longer than the trust file allows")]
    Lifetime(i64),
    /// A key that counts, or will, isn't here.
    #[error("the {kind} key {id} is not in the directory of keys")]
    NoKey {
        /// What it signs.
        kind: KeyKind,
        /// Which.
        id: KeyId,
    },
    /// It leaves out a key that signs now: what that key signed could be verified no more.
    #[error("the key {0} has begun to count, and this trust file leaves it out")]
    Counts(KeyId),
    /// No rotation waits for its time.
    #[error("no {0} key waits for its time")]
    NonePending(KeyKind),
    /// A key can't be made or read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// An epoch is no way out of this.
    #[error("a new epoch doesn't mend this: {0}")]
    ReadOnly(ReadOnly),
}

/// What was published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Published {
    /// The trust file's version.
    pub version: u64,
    /// The registry's name.
    pub origin: String,
    /// The registry's epoch.
    pub epoch: u64,
}

/// A key that a trust file names, and whether it is here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KeyStatus {
    /// What it signs.
    pub kind: KeyKind,
    /// Which.
    pub id: KeyId,
    /// When it begins to count; the epoch stands for "from the beginning".
    pub from: Timestamp,
    /// When it counts no more, if that is known.
    pub until: Option<Timestamp>,
    /// Whether it counts now.
    pub state: KeyState,
    /// Whether its file is in this process's directory of keys.
    pub here: bool,
}

/// Whether a key counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyState {
    /// Not yet: nothing is signed with it.
    Pending,
    /// Now.
    Active,
    /// No more.
    Retired,
}

impl App {
    /// The keys of the trust file in force.
    pub fn keys(&self) -> Vec<KeyStatus> {
        let (moment, now) = (self.moment(), self.core.clock.now());
        let terms = moment.logs.trust.terms();
        let status = |kind, key: &VerifyingKey, from, until: Option<Timestamp>| {
            let ended = until.is_some_and(|until| until <= now);
            let state = match (from <= now, ended) {
                (_, true) => KeyState::Retired,
                (true, false) => KeyState::Active,
                (false, false) => KeyState::Pending,
            };
            let id = key.id();
            KeyStatus { kind, id, from, until, state, here: self.core.signers.key(id).is_some() }
        };
        let mut keys = vec![status(KeyKind::Root, &terms.root, Timestamp::EPOCH, None)];
        keys.extend(terms.logs.iter().map(|log| status(KeyKind::Log, &log.key, log.from, log.until)));
        let next = |i: usize| terms.heads.get(i + 1).map(|next| next.from);
        let heads = terms.heads.iter().enumerate();
        keys.extend(heads.map(|(i, head)| status(KeyKind::Head, &head.key, head.from, next(i))));
        keys
    }
}

/// Whether the root key in force is among these, or here.
///
/// # Errors
/// [`Refused::NoKey`].
pub fn signable(app: &App, roots: &[SigningKey]) -> Result<(), Refused> {
    let id = app.fingerprint();
    let given = roots.iter().any(|root| root.verifying().id() == id);
    if given || app.core.signers.key(id).is_some() { Ok(()) } else { Err(Refused::NoKey { kind: KeyKind::Root, id }) }
}

/// Signs with the keys given, and with the root key in force where that is here.
///
/// # Errors
/// [`Refused::NoKey`] if a root key is missing that gateways ask for.
pub fn sign(app: &App, terms: &Terms, mut roots: Vec<SigningKey>) -> Result<Trust, Refused> {
    let in_force = app.moment().logs.trust.fingerprint();
    for id in [in_force, terms.root.id()] {
        if roots.iter().any(|root| root.verifying().id() == id) {
            continue;
        }
        roots.push(app.core.signers.key(id).ok_or(Refused::NoKey { kind: KeyKind::Root, id })?);
    }
    Ok(terms.sign(&roots.iter().collect::<Vec<_>>())?)
}

/// Puts a signed trust file in force; the first of an epoch begins it.
///
/// # Errors
/// [`WriteError::Refused`].
pub async fn publish(app: &App, note: &str, by: Governor) -> Result<Published, WriteError<Refused>> {
    let present = app.moment().logs.trust.clone();
    let next = present.next(note).map_err(|e| WriteError::Refused(e.into()))?;
    let next = next.ok_or(WriteError::Refused(Refused::InForce))?;
    let epoch = next.terms().epoch != present.terms().epoch;
    let step = Publish { next, lifetime: app.core.heads.lifetime, by };
    step.check_keys(app).map_err(WriteError::Refused)?;
    let published = step.published();
    if epoch {
        start_epoch(app, step).await?;
    } else {
        app.write(step).await?;
    }
    Ok(published)
}

/// Keys of the log whose time has come begin to sign. How many they were.
///
/// # Errors
/// [`WriteError`] as for every write.
pub(super) async fn activate(app: &App) -> Result<usize, WriteError<Refused>> {
    let due = |app: &App| app.moment().state.registry().is_some_and(|r| !r.due(app.core.clock.now()).is_empty());
    if app.read_only().is_some() || !due(app) {
        return Ok(0);
    }
    let Written { done, .. } = app.write(Activate).await?;
    Ok(done)
}

struct Publish {
    next: Trust,
    lifetime: Span,
    by: Governor,
}

impl Publish {
    fn published(&self) -> Published {
        let terms = self.next.terms();
        Published { version: terms.version, origin: terms.origin.clone(), epoch: terms.epoch }
    }

    fn file(&self) -> TrustFile {
        let (terms, note) = (self.next.terms(), self.next.note());
        TrustFile { version: terms.version, sha256: Sha256::of(note.as_bytes()), keys: terms.keys() }
    }

    /// Every key that signs, or will, has to be here: at the moment when it is needed it is too late to look for it.
    fn check_keys(&self, app: &App) -> Result<(), Refused> {
        let (terms, now) = (self.next.terms(), app.core.clock.now());
        let logs = terms.logs.iter().filter(|log| log.until.is_none_or(|until| now < until));
        let logs = logs.map(|log| (KeyKind::Log, log.key.id()));
        let next = |i: usize| terms.heads.get(i + 1).map(|next| next.from);
        let heads = terms.heads.iter().enumerate().filter(|(i, _)| next(*i).is_none_or(|next| now < next));
        let heads = heads.map(|(_, head)| (KeyKind::Head, head.key.id()));
        let missing = logs.chain(heads).find(|(_, id)| app.core.signers.key(*id).is_none());
        missing.map_or(Ok(()), |(kind, id)| Err(Refused::NoKey { kind, id }))
    }

    /// What can only be known while the log's head row is held.
    fn check(&self, work: &Work) -> Result<(), Refused> {
        let terms = self.next.terms();
        let registry = work.state().registry();
        let (version, epoch) = registry.map_or((0, 0), |registry| (registry.trust_version, registry.epoch));
        if terms.version != version + 1 && terms.epoch == epoch {
            return Err(Refused::Version { next: version + 1, found: terms.version });
        }
        if terms.head_lifetime < self.lifetime {
            return Err(Refused::Lifetime(self.lifetime.as_seconds()));
        }
        // A draft may be signed days later, when a key that was pending has begun to sign.
        let (keys, at) = (terms.keys(), work.at());
        let counting = registry.map(|registry| registry.keys.logs_at(at).chain(registry.keys.head_at(at)));
        match counting.into_iter().flatten().find(|key| keys.all().all(|named| named != *key)) {
            Some(key) => Err(Refused::Counts(key)),
            None => Ok(()),
        }
    }

    async fn put(&self, work: &mut Work, event: Event) -> Result<(), Stop<Refused>> {
        work.append(event)?;
        let (version, note) = (self.next.terms().version, self.next.note().to_owned());
        let row = store::Trust { version, note };
        work.write().put_trust(&row).await?;
        work.trust = Some(row);
        work.audit(&self.by.name, "trust.publish", &format!("version {version}"), &self.next.terms().origin);
        Ok(())
    }
}

impl super::Step for Publish {
    type Done = ();
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<(), Stop<Refused>> {
        self.check(work).map_err(Stop::Refused)?;
        let event = Event::KeyRotated(KeyRotated { trust: self.file(), by: self.by.by.clone() });
        self.put(work, event).await
    }
}

struct Activate;

impl super::Step for Activate {
    type Done = usize;
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<usize, Stop<Refused>> {
        let due = work.state().registry().map(|registry| registry.due(work.at())).unwrap_or_default();
        for key in &due {
            work.append(Event::KeyActivated(KeyActivated { key: *key }))?;
        }
        Ok(due.len())
    }
}

/// Goes on under another name from wherever the database ends. The queue takes nothing while a registry is read-only, so
/// this transaction is made here, from the same parts.
async fn start_epoch(app: &App, step: Publish) -> Result<(), WriteError<Refused>> {
    let core = &app.core;
    match core.read_only() {
        None | Some(ReadOnly::Behind { .. } | ReadOnly::Fork(_) | ReadOnly::NoAnchor) => {}
        Some(other) => return Err(WriteError::Refused(Refused::ReadOnly(other))),
    }
    let held = core.anchor.read().await.map_err(WriteError::ReadOnly)?;
    let mut tip = core.tip.lock().await;
    let failed = |failure| match failure {
        Failure::Store(e) | Failure::Unconfirmed(e) => WriteError::Store(e),
        Failure::ReadOnly(reason) => WriteError::ReadOnly(reason),
        Failure::Step => WriteError::Closed,
    };
    let mut work = commit::begin(core, &mut tip).await.map_err(failed)?;
    step.check(&work).map_err(WriteError::Refused)?;
    let abandoned = abandoned(&mut work, tip.logs.as_deref(), held.as_deref()).await.map_err(failed)?;
    let (terms, size) = (step.next.terms(), work.state().size());
    let before = work.state().registry().map(|registry| registry.origin.clone()).unwrap_or_default();
    let event = Event::EpochStarted(EpochStarted {
        origin: terms.origin.clone(),
        epoch: terms.epoch,
        continues: Continued { origin: before, size, abandoned },
        trust: step.file(),
        by: step.by.by.clone(),
    });
    step.put(&mut work, event).await.map_err(|stop| match stop {
        Stop::Refused(why) => WriteError::Refused(why),
        Stop::Store(e) => WriteError::Store(e),
        Stop::Fold(e) => WriteError::Fold(e),
    })?;
    let sealed = commit::seal(&core.signers, core.heads, core.witnesses.configured(), &mut work, &tip).await;
    let sealed = sealed.map_err(|lost| failed(core.lost(lost)))?;
    // What was refused so far has changed nothing. From the commit on the old name signs no more.
    commit::finish(core, work, &mut tip, sealed).await.map_err(failed)?;
    core.read_only.write().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    Ok(())
}

/// The tree that the anchor knows and the database doesn't continue.
async fn abandoned(work: &mut Work, logs: Option<&Logs>, held: Option<&str>) -> Result<Option<Tree>, Failure> {
    let (Some(logs), Some(held)) = (logs, held) else { return Ok(None) };
    let Held::Checkpoint(anchor) = logs.held(held).map_err(Failure::ReadOnly)? else { return Ok(None) };
    let (size, root) = (work.state().size(), proofs::root_at(work.read(), anchor.size).await?);
    let continued = anchor::compare(Some(&anchor), size, root).is_ok();
    Ok((!continued).then_some(Tree { size: anchor.size, root: anchor.root }))
}

impl fmt::Display for KeyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Retired => "retired",
        })
    }
}

/// The trust file of one version, as it was signed.
///
/// # Errors
/// [`StoreError`].
pub async fn version(app: &App, version: u64) -> Result<Option<String>, StoreError> {
    let row = app.reader().conn().await?.trust_version(version).await?;
    // One that is committed and not yet anchored isn't served.
    Ok(row.filter(|row| row.version <= app.moment().trust.version).map(|row| row.note))
}
