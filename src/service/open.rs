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
    keyring::{KeyError, Keyring},
    moment::Heads,
    proofs,
    queue::Queue,
    sign::{self, Signers},
    tiles,
    tip::{Lost, Tip},
    witness::{Gate, Witnesses},
    work::Work,
};
use crate::{
    config::{self, Origin},
    env::{Clock, Rng},
    event::{Event, Leaf, PolicySet, RegistryCreated},
    keys::{KeyId, SigningKey},
    log::{Checkpoint, Edge, empty_root},
    name::BadName,
    pinset::{State, trust::Trust},
    review::{Policy, ReviewerId},
    scan::Ruleset,
    store::{self, Content, Reader, StoreError, Writer},
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
    OtherKey(&'static str),
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
        let (reader, writer) = store::open(&settings.database, settings.limits.read_connections).await?;
        let first = first_leaf(&reader).await?;
        if first.is_none() && !opening.create {
            return Err(OpenError::NoRegistry);
        }
        let keys = Keyring::open(&settings.keys, first.is_none(), rng.as_ref())?;
        let origin = origin(&opening, first.as_ref(), &keys)?;
        let signers = Signers::new(&origin, &keys).map_err(|_| OpenError::Origin(origin.clone()))?;
        let anchor = Anchor::new(settings.anchor.path.clone(), signers.log_verifier.clone());
        let found = Found { opening: &opening, keys: &keys, signers: &signers, anchor: &anchor, rng: Arc::clone(&rng) };
        let created = match first {
            Some(first) => first,
            None => found.create(&reader, &writer, clock.as_ref(), &origin).await?,
        };
        found.check_keys(&created)?;
        let (tip, moment, read_only) = found.read_log(&reader).await?;
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
            root: created.root_key,
            anchor,
            anchor_inside_data: settings.anchor.inside_data,
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

/// The log's name; before there is a log the stated one, else the public host, else one that no other registry has.
fn origin(opening: &Opening<'_>, first: Option<&RegistryCreated>, keys: &Keyring) -> Result<String, OpenError> {
    let stated = opening.registry.origin.as_ref().map(Origin::as_str);
    if let Some(created) = first {
        return match stated {
            Some(stated) if stated != created.origin => {
                Err(OpenError::OtherOrigin { registry: created.origin.clone(), stated: stated.to_owned() })
            }
            _ => Ok(created.origin.clone()),
        };
    }
    let host = opening.host.as_ref().map(Origin::as_str);
    let own = || format!("localhost-{:.8}", keys.log.verifying().id().to_string());
    Ok(stated.or(host).map_or_else(own, str::to_owned))
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
    /// What heads are released by.
    fn gate(&self, trust: &store::Trust) -> Gate {
        Gate::new(self.opening.registry.witnesses.as_ref(), trust)
    }

    fn check_keys(&self, created: &RegistryCreated) -> Result<(), OpenError> {
        let same = |key: &SigningKey, id: KeyId| key.verifying().id() == id;
        if !same(&self.keys.log, created.log_key) {
            return Err(OpenError::OtherKey("log"));
        }
        if !same(&self.keys.head, created.head_key) {
            return Err(OpenError::OtherKey("head"));
        }
        match &self.keys.root {
            Some(root) if !same(root, created.root_key) => Err(OpenError::OtherKey("root")),
            _ => Ok(()),
        }
    }

    /// Reads the whole log and compares it with its tiles, its checkpoint and the anchor.
    async fn read_log(&self, reader: &Reader) -> Result<(Tip, Moment, Option<ReadOnly>), OpenError> {
        // The anchor first: whatever is appended in between only makes the database longer.
        let anchored = self.anchor.read();
        let mut conn = reader.snapshot().await?;
        let head = conn.log_head().await?;
        let mut tip = Tip::default();
        let damaged = |what: &str| OpenError::Damaged(ReadOnly::Damaged(what.to_owned()));
        let signed = match tip.catch_up(&mut conn, &head, &self.signers.log_verifier, true).await {
            Ok(signed) => signed.ok_or_else(|| damaged("the log is empty"))?,
            Err(Lost::Store(e)) => return Err(e.into()),
            Err(Lost::ReadOnly(reason)) => return Err(OpenError::Damaged(reason)),
        };
        let trust = conn.trust().await?.ok_or_else(|| damaged("there is no trust file"))?;
        if Trust::first(&trust.note).is_err() {
            return Err(damaged("the trust file does not verify"));
        }
        let heads = Heads::read(&mut conn, &self.gate(&trust)).await?;
        let moment = Moment::new(tip.state.clone(), signed, heads, trust);
        let read_only = match anchored {
            Ok(anchored) => {
                let root_at = match &anchored {
                    Some(anchor) if anchor.size <= head.size => Some(proofs::root_at(&mut conn, anchor.size).await?),
                    _ => None,
                };
                anchor::compare(anchored.as_ref(), head.size, root_at.flatten()).err()
            }
            Err(reason) => Some(reason),
        };
        // Committed before a crash, but not anchored: that is made up for before it is served.
        let read_only = read_only.or_else(|| self.anchor.advance(&moment.checkpoint, &moment.note).err());
        Ok((tip, moment, read_only))
    }

    /// Makes the registry: its first leaves, the empty first version of `default`, and its trust file. Of several
    /// processes that try at once, all come out with the registry that one of them made.
    async fn create(
        &self,
        reader: &Reader,
        writer: &Writer,
        clock: &dyn Clock,
        origin: &str,
    ) -> Result<RegistryCreated, OpenError> {
        let damaged = |what: String| OpenError::Damaged(ReadOnly::Damaged(what));
        let root = self.keys.root.as_ref().ok_or(KeyError::Missing("root.pem"))?;
        let created = RegistryCreated {
            origin: origin.to_owned(),
            epoch: EPOCH,
            root_key: root.verifying().id(),
            log_key: self.keys.log.verifying().id(),
            head_key: self.keys.head.verifying().id(),
            ruleset: self.opening.rules.sha256(),
        };
        self.check_new_anchor(origin)?;
        let mut tx = writer.begin().await?;
        if tx.take_head().await?.size > 0 {
            drop(tx);
            return first_leaf(reader).await?.ok_or(OpenError::NoRegistry);
        }
        let heads = self.opening.registry.heads;
        let witnesses = self.opening.registry.witnesses.as_ref().map(config::Witnesses::policy);
        let trust = sign::trust(&created, root, self.keys, heads.lifetime, clock.now(), witnesses);
        let trust = trust.map_err(|e| damaged(e.to_string()))?;
        let gate = self.gate(&trust);
        tx.put_trust(&trust).await?;
        let policy = Policy::default();
        tx.put_content(&Content::new(policy.to_jcs(), commit::JSON, true)).await?;
        let mut work = Work::new(tx, State::default(), clock.now(), Arc::clone(&self.rng));
        let pinset = DEFAULT_SET.parse().map_err(|e: BadName| damaged(e.to_string()))?;
        let default = PolicySet { pinset, policy, by: ReviewerId::local_operator() };
        for event in [Event::RegistryCreated(created.clone()), Event::PinsetCreated(default)] {
            work.append(event).map_err(|e| damaged(e.to_string()))?;
        }
        commit::seal(self.signers, heads, &gate, &mut work, &Edge::new()).await.map_err(|lost| match lost {
            Lost::Store(e) => OpenError::Store(e),
            Lost::ReadOnly(reason) => OpenError::Damaged(reason),
        })?;
        work.tx.commit().await?;
        Ok(created)
    }

    /// An anchor beside an empty database was left by a registry that had leaves. Where there is none yet it is set to
    /// the empty log, before the log has a leaf: a crash in between must not look like a lost anchor.
    fn check_new_anchor(&self, origin: &str) -> Result<(), OpenError> {
        match self.anchor.read() {
            Ok(Some(anchor)) if anchor.size > 0 => {
                Err(OpenError::Damaged(ReadOnly::Behind { size: 0, anchored: anchor.size }))
            }
            Ok(_) => {
                let empty = Checkpoint { origin: origin.to_owned(), size: 0, root: empty_root() };
                let note = self.signers.checkpoint(&empty).map_err(OpenError::Damaged)?;
                self.anchor.advance(&empty, &note).map_err(OpenError::Damaged)
            }
            Err(reason) => Err(OpenError::Damaged(reason)),
        }
    }
}
