//! Opening a registry, which is also its recovery: whatever a crash left behind is checked here before anything is
//! served, by the same code that follows the log later on.

use std::{
    io,
    path::Path,
    sync::{Arc, RwLock},
};

use arc_swap::ArcSwap;

use super::{
    App, Core, Moment, ReadOnly,
    access::{Access, Hashers},
    anchor::{self, Anchor},
    commit, durable,
    keyring::{KeyError, KeyKind, Keyring},
    logs::Held,
    moment::Heads,
    proofs,
    queue::Queue,
    sign::{self, NoTrust, Signers},
    tiles,
    tip::{Lost, Tip},
    witness::{Gate, Witnesses},
    work::Work,
};
use crate::{
    clock::Timestamp,
    config::{self, Origin},
    env::{Clock, Rng},
    event::{Event, Leaf, PolicySet, RegistryCreated},
    log::{Checkpoint, empty_root, note::Verifier, open_checkpoint},
    name::BadName,
    pinset::State,
    review::{Policy, ReviewerId},
    scan::Ruleset,
    store::{self, AnchorError, Content, Reader, StoreError, Writer},
};

/// What opening needs besides the settings.
#[derive(Clone, Debug)]
pub struct Opening<'a> {
    /// Where everything is.
    pub registry: &'a config::Registry,
    /// The public host, where there is one: the registry's name if none was stated.
    pub host: Option<Origin>,
    /// The scanner's rules.
    pub rules: Arc<Ruleset>,
    /// Whether a registry is made where there is none.
    pub create: bool,
}

/// The registry can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The data directory can't be used.
    #[error("{path}: {error}")]
    Directory {
        /// Which.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// There is no registry, and none is to be made.
    #[error("there is no registry here: start `countersign serve` with these settings first")]
    NoRegistry,
    /// A key can't be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The keys aren't those that the log names.
    #[error("the {0} key is not the one that this registry was made with")]
    OtherKey(KeyKind),
    /// The anchor lies where a restore of the database reaches it.
    #[error("the anchor can't be used: {0}")]
    Anchor(AnchorError),
    /// The stated name isn't the registry's.
    #[error("the registry's name is {registry}, not {stated}; it is fixed by the first start")]
    OtherOrigin {
        /// The log's.
        registry: String,
        /// The setting's.
        stated: String,
    },
    /// The name can't be used.
    #[error("the registry can't be called {0}")]
    Origin(String),
    /// The log can't be read through to its end.
    #[error("{0}: restore the newest backup")]
    Damaged(ReadOnly),
    /// Witnesses can't be asked.
    #[error("witnesses can't be asked: {0}")]
    Witnesses(#[from] reqwest::Error),
    /// The database can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A new registry's first life under its root key.
const EPOCH: u64 = 1;
/// The pin set that every registry has.
const DEFAULT_SET: &str = "default";

impl App {
    /// Opens the registry, making it first where [`Opening::create`] says so and there is none.
    ///
    /// # Errors
    /// [`OpenError`]. A registry that must not append opens all the same, read-only.
    pub async fn open(opening: Opening<'_>, clock: Arc<dyn Clock>, rng: Arc<dyn Rng>) -> Result<Self, OpenError> {
        let settings = opening.registry;
        prepare(&settings.data, opening.create)?;
        let store = store::open(&settings.database, settings.limits.read_connections).await?;
        Self::open_on(store, opening, clock, rng).await
    }

    /// Opens the registry on a database that is open already.
    ///
    /// # Errors
    /// As [`App::open`].
    pub async fn open_on(
        (reader, writer): (Reader, Writer),
        opening: Opening<'_>,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
    ) -> Result<Self, OpenError> {
        let settings = opening.registry;
        prepare(&settings.data, opening.create)?;
        let first = first_leaf(&reader).await?;
        if first.is_none() && !opening.create {
            return Err(OpenError::NoRegistry);
        }
        let keys = Keyring::open(&settings.keys, first.is_none(), rng.as_ref())?;
        let name = origin(&opening, first.as_ref(), &keys)?;
        let anchor = Anchor::at(&settings.anchor, &name, &reader).await?;
        if let Anchor::Row(table, registry) = &anchor
            && let Err(e @ AnchorError::SameDatabase) = table.read(registry).await
        {
            return Err(OpenError::Anchor(e));
        }
        let signers = Signers::new(settings.keys.clone(), keys.clone());
        let found = Found { opening: &opening, keys: &keys, signers: &signers, anchor: &anchor, rng: Arc::clone(&rng) };
        if first.is_none() {
            found.create(&reader, &writer, clock.as_ref(), &name).await?;
        }
        let (tip, moment, read_only) = found.read_log(&reader, clock.now()).await?;
        if let Some(reason) = &read_only {
            tracing::error!(%reason, "opened read-only");
        }
        let access = Access::new(reader.snapshot().await?.access().await?);
        let core = Arc::new(Core {
            reader,
            writer,
            clock,
            rng,
            heads: settings.heads,
            limits: settings.limits,
            signers,
            anchor,
            anchor_inside_data: settings.anchor.is_inside_data(),
            rules: Arc::clone(&opening.rules),
            witnesses: Witnesses::new(settings.witnesses.clone())?,
            tip: tokio::sync::Mutex::new(tip),
            moment: ArcSwap::from_pointee(moment),
            access: ArcSwap::from_pointee(access),
            looking: tokio::sync::Mutex::new(()),
            hashers: Hashers::new(settings.limits.password_hashers),
            full: tiles::Full::new(),
            walk: tokio::sync::Mutex::default(),
            rechecked: ArcSwap::default(),
            read_only: RwLock::new(read_only),
        });
        let queue = Queue::start(Arc::clone(&core), settings.limits.write_queue);
        Ok(Self { core, queue })
    }
}

/// Whether this process runs as the owner of a registry's data directory; nobody else should touch it.
///
/// # Errors
/// If there is no such directory.
pub fn owns(data: &Path) -> io::Result<bool> {
    durable::is_ours(data)
}

fn prepare(data: &Path, create: bool) -> Result<(), OpenError> {
    let at = |error| OpenError::Directory { path: data.display().to_string(), error };
    if create {
        return durable::private_dir(data).map_err(at);
    }
    if data.is_dir() { Ok(()) } else { Err(OpenError::NoRegistry) }
}

async fn first_leaf(reader: &Reader) -> Result<Option<RegistryCreated>, OpenError> {
    let Some(bytes) = reader.conn().await?.leaf(0).await? else { return Ok(None) };
    match Leaf::parse(&bytes).map(|leaf| leaf.event().clone()) {
        Ok(Event::RegistryCreated(created)) => Ok(Some(created)),
        _ => Err(OpenError::Damaged(ReadOnly::Damaged("the first leaf is not the registry's".to_owned()))),
    }
}

/// The log's first name; before there is a log the stated one, else the public host, else one that no other registry has.
fn origin(opening: &Opening<'_>, first: Option<&RegistryCreated>, keys: &Keyring) -> Result<String, OpenError> {
    if let Some(created) = first {
        return Ok(created.origin.clone());
    }
    let stated = opening.registry.origin.as_ref().or(opening.host.as_ref());
    match stated {
        Some(stated) => Ok(stated.as_str().to_owned()),
        None => Ok(format!("localhost-{:.8}", keys.only(KeyKind::Log)?.verifying().id().to_string())),
    }
}

/// What is known before the log has been read.
struct Found<'a> {
    opening: &'a Opening<'a>,
    keys: &'a Keyring,
    signers: &'a Signers,
    anchor: &'a Anchor,
    rng: Arc<dyn Rng>,
}

impl Found<'_> {
    /// Name and keys as the log has them: what a person stated or put there must not be another registry's.
    fn check(&self, state: &State) -> Result<(), OpenError> {
        let Some(registry) = state.registry() else { return Err(OpenError::NoRegistry) };
        if let Some(kind) = self.keys.foreign(&registry.known) {
            return Err(OpenError::OtherKey(kind));
        }
        let names = registry.continues.iter().map(|former| &former.origin).chain([&registry.origin]);
        match self.opening.registry.origin.as_ref().map(Origin::as_str) {
            Some(stated) if !names.into_iter().any(|name| name == stated) => {
                Err(OpenError::OtherOrigin { registry: registry.origin.clone(), stated: stated.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Reads the whole log and compares it with its tiles, its checkpoint and the anchor.
    async fn read_log(&self, reader: &Reader, now: Timestamp) -> Result<(Tip, Moment, Option<ReadOnly>), OpenError> {
        // The anchor first: whatever is appended in between only makes the database longer.
        let held = self.anchor.read().await;
        let mut conn = reader.snapshot().await?;
        let head = conn.log_head().await?;
        let mut tip = Tip::default();
        let damaged = |what: &str| OpenError::Damaged(ReadOnly::Damaged(what.to_owned()));
        let signed = match tip.catch_up(&mut conn, &head, true).await {
            Ok(signed) => signed.ok_or_else(|| damaged("the log is empty"))?,
            Err(Lost::Store(e)) => return Err(e.into()),
            Err(Lost::ReadOnly(reason)) => return Err(OpenError::Damaged(reason)),
        };
        self.check(&tip.state)?;
        let empty = || damaged("the log is empty");
        let gate = Gate::new(self.opening.registry.witnesses.as_ref(), &tip.logs.as_ref().ok_or_else(empty)?.trust);
        let heads = Heads::read(&mut conn, &gate).await?;
        let moment = Moment::new(&tip, signed, heads).ok_or_else(empty)?;
        let held = match held {
            Ok(held) => held.as_deref().map(|held| moment.logs.held(held)).transpose(),
            Err(reason) => Err(reason),
        };
        let compared = match held {
            Ok(None) => anchor::compare(None, head.size, None),
            // A crash between the first commit of an epoch and its anchor: made up for below.
            Ok(Some(Held::LeftBehind)) => Ok(()),
            Ok(Some(Held::Checkpoint(anchor))) => {
                anchor::compare(Some(&anchor), head.size, proofs::root_at(&mut conn, anchor.size).await?)
            }
            Err(reason) => Err(reason),
        };
        let mut read_only = compared.err();
        if read_only.is_none() {
            // Committed before a crash, but not anchored: that is made up for before it is served.
            read_only = self.anchor.advance(&moment.checkpoint, &moment.note, &moment.logs).await.err();
        }
        if let (None, Some(registry)) = (&read_only, tip.state.registry()) {
            read_only = self.signers.check(registry, tip.state.next_at(now)).err();
        }
        Ok((tip, moment, read_only))
    }

    /// Makes the registry: its first leaves, the empty first version of `default`, and its trust file. Of several
    /// processes that try at once, all come out with the registry that one of them made.
    async fn create(&self, reader: &Reader, writer: &Writer, clock: &dyn Clock, origin: &str) -> Result<(), OpenError> {
        let damaged = |what: String| OpenError::Damaged(ReadOnly::Damaged(what));
        let id = |kind| self.keys.only(kind).map(|key| key.verifying().id());
        let created = RegistryCreated {
            origin: origin.to_owned(),
            epoch: EPOCH,
            root_key: id(KeyKind::Root)?,
            log_key: id(KeyKind::Log)?,
            head_key: id(KeyKind::Head)?,
            ruleset: self.opening.rules.sha256(),
        };
        self.check_new_anchor(origin).await?;
        let mut tx = writer.begin().await?;
        if tx.take_head().await?.size > 0 {
            drop(tx);
            return first_leaf(reader).await?.map(|_| ()).ok_or(OpenError::NoRegistry);
        }
        let heads = self.opening.registry.heads;
        let witnesses = self.opening.registry.witnesses.as_ref();
        let trust =
            sign::trust(&created, self.keys, heads.lifetime, clock.now(), witnesses.map(config::Witnesses::policy));
        let trust = trust.map_err(|e| match e {
            NoTrust::Key(e) => OpenError::Key(e),
            NoTrust::Trust(_) => OpenError::Origin(origin.to_owned()),
        })?;
        let trust = store::Trust { version: 1, note: trust.note().to_owned() };
        tx.put_trust(&trust).await?;
        let policy = Policy::default();
        tx.put_content(&Content::new(policy.to_jcs(), commit::JSON, true)).await?;
        let mut work = Work::new(tx, State::default(), clock.now(), Arc::clone(&self.rng));
        let pinset = DEFAULT_SET.parse().map_err(|e: BadName| damaged(e.to_string()))?;
        let default = PolicySet { pinset, policy, by: ReviewerId::local_operator() };
        for event in [Event::RegistryCreated(created.clone()), Event::PinsetCreated(default)] {
            work.append(event).map_err(|e| damaged(e.to_string()))?;
        }
        work.trust = Some(trust);
        commit::seal(self.signers, heads, witnesses, &mut work, &Tip::default()).await.map_err(|lost| match lost {
            Lost::Store(e) => OpenError::Store(e),
            Lost::ReadOnly(reason) => OpenError::Damaged(reason),
        })?;
        work.tx.commit().await?;
        Ok(())
    }

    /// An anchor beside an empty database was left by a registry that had leaves. Where there is none yet it is set to
    /// the empty log, before the log has a leaf: a crash in between must not look like a lost anchor.
    async fn check_new_anchor(&self, origin: &str) -> Result<(), OpenError> {
        let log = self.keys.only(KeyKind::Log)?;
        let empty = Checkpoint { origin: origin.to_owned(), size: 0, root: empty_root() };
        let Some(held) = self.anchor.read().await.map_err(OpenError::Damaged)? else {
            let note =
                sign::sign(&empty, std::slice::from_ref(log)).map_err(|_| OpenError::Origin(origin.to_owned()))?;
            return self.anchor.begin(&note).await.map_err(OpenError::Damaged);
        };
        let unusable = |e: &dyn std::fmt::Display| OpenError::Damaged(ReadOnly::Unusable(e.to_string()));
        let verifier = Verifier::new(origin, log.verifying()).map_err(|e| unusable(&e))?;
        match open_checkpoint(&held, &verifier).map_err(|e| unusable(&e))?.size {
            0 => Ok(()),
            anchored => Err(OpenError::Damaged(ReadOnly::Behind { size: 0, anchored })),
        }
    }
}
