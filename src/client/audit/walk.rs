//! One audit, from the trust file to the last head.

mod documents;
mod heads;

use std::{collections::VecDeque, path::PathBuf, sync::Arc};

use tokio::task::JoinHandle;

use super::{Blind, Fault, FaultKind, Kept, Report, Resume, Source, Verified, transitions::Transitions};
use crate::{
    canon::Sha256,
    client::follow,
    clock::Timestamp,
    env::Clock,
    log::{BadCheckpoint, Bundle, Checkpoint, Edge, Hash, Tile, leaf_hash},
    pinset::{
        replay::{Due, Lie, Replay},
        trust::{Terms, Trust},
        verify,
    },
};

/// What is to be audited, and by what.
#[derive(Debug)]
pub struct Asked {
    /// Whose keys are believed.
    pub trust: Trust,
    /// What others kept of this registry.
    pub kept: Kept,
    /// How far an earlier run came.
    pub resume: Option<Resume>,
    /// Where it is written down how far this run came.
    pub save: Option<PathBuf>,
}

/// Why a walk ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// What follows can't be verified any more.
    Fault(Fault),
    /// There was no looking.
    Blind(Blind),
    /// There is enough to say no.
    Enough,
}

/// Bundles with their tiles that are fetched ahead.
const AHEAD: usize = 4;
/// How often it is written down how far the audit has come: what an interruption costs at most, in bundles.
const SAVE_EVERY: u64 = 16;
/// Whoever has read that many doesn't need the next.
const MAX_FAULTS: usize = 100;

/// Audits. `progress` is told leaves read and leaves in all.
pub async fn audit(
    source: Arc<dyn Source>,
    asked: Asked,
    clock: &dyn Clock,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> Report {
    let Asked { trust, kept, resume, save } = asked;
    let report = Report {
        registry: trust.terms().origin.clone(),
        epoch: trust.terms().epoch,
        trust_version: trust.terms().version,
        size: 0,
        root: None,
        checkpoint: None,
        complete: false,
        resumed_at: resume.as_ref().map_or(0, |resume| resume.size),
        verified: Verified::default(),
        not_kept: 0,
        expired_heads: Vec::new(),
        unusable_heads: Vec::new(),
        faults: Vec::new(),
        stopped: None,
        not_verified: Vec::new(),
        blind: None,
    };
    let transitions = match &resume {
        Some(resume) => Transitions::after(resume.listed, resume.cursor.clone()),
        None => Transitions::default(),
    };
    let (now, edge, waiting) = (clock.now(), Edge::new(), Vec::new());
    let replay = Replay::new(now);
    let mut walk = Walk {
        source,
        now,
        trust,
        behind: false,
        kept,
        resume,
        save,
        edge,
        replay,
        transitions,
        waiting,
        reached: None,
        report,
    };
    let outcome = walk.run(progress).await;
    walk.report(outcome)
}

struct Walk {
    source: Arc<dyn Source>,
    now: Timestamp,
    trust: Trust,
    /// Whether there is a newer trust file that this one doesn't lead to: what it can't verify convicts nobody.
    behind: bool,
    kept: Kept,
    resume: Option<Resume>,
    save: Option<PathBuf>,
    edge: Edge,
    replay: Replay,
    transitions: Transitions,
    /// Documents that must be there, until somebody has looked.
    waiting: Vec<Due>,
    /// How far everything is verified.
    reached: Option<Resume>,
    report: Report,
}

/// What is fetched for one bundle.
struct Fetched {
    bundle: Bundle,
    entries: Option<Vec<u8>>,
    /// Its full tile, if that is to be compared.
    tile: Option<(Tile, Option<Vec<u8>>)>,
}

impl Walk {
    async fn run(&mut self, progress: &(dyn Fn(u64, u64) + Send + Sync)) -> Result<(), Stop> {
        self.newest_trust().await?;
        let trust = self.trust.clone();
        let (end, note) = self.newest_checkpoint(&trust).await?;
        (self.report.size, self.report.root) = (end.size, Some(end.root));
        self.report.checkpoint = Some(note.clone());
        if let Err(e) = verify::witnessed(&self.trust, &note, self.now) {
            self.report.not_verified.push(format!("that witnesses saw the same log: {e}"));
        }
        if let Some(resume) = &self.resume {
            self.kept.checkpoint(resume.checkpoint.clone(), "the file of an earlier run", &trust);
        }
        if self.resume.as_ref().is_some_and(|resume| resume.listed > end.size) {
            self.beyond(&end, &note)?;
            return Err(Stop::Enough);
        }
        self.hold_to_kept(&note)?;
        let mut ahead: VecDeque<JoinHandle<Result<Fetched, Blind>>> = VecDeque::new();
        let mut asked = 0;
        while self.edge.size() < end.size {
            while ahead.len() < AHEAD
                && let Some(bundle) = Bundle::holding(asked, end.size)
            {
                asked = bundle.leaves().end;
                let compare = bundle.is_full() && asked > self.report.resumed_at;
                ahead.push_back(tokio::spawn(fetch(Arc::clone(&self.source), bundle, compare)));
            }
            let Some(fetched) = ahead.pop_front() else { break };
            let fetched = fetched.await.map_err(|e| Blind::Form(format!("a task failed: {e}")))??;
            self.bundle(fetched, &trust, &note).await?;
            progress(self.edge.size(), end.size);
        }
        self.end(&end, &note).await?;
        self.served_heads(&note).await?;
        self.beyond(&end, &note)?;
        self.save_reached(true)
    }

    /// Takes the newest trust file that the one in hand leads to, version by version.
    async fn newest_trust(&mut self) -> Result<(), Stop> {
        let Some(note) = self.source.trust().await? else { return Ok(()) };
        let source = Arc::clone(&self.source);
        let refused = follow::to(&mut self.trust, &note, |version| source.trust_version(version)).await?;
        let terms = self.trust.terms();
        self.report.registry.clone_from(&terms.origin);
        (self.report.epoch, self.report.trust_version) = (terms.epoch, terms.version);
        if let Some(e) = refused {
            let newer = |offered: &Terms| {
                let same = offered.origin == terms.origin || offered.former.contains(&terms.origin);
                same && offered.version > terms.version
            };
            self.behind = Trust::first(&note).is_ok_and(|offered| newer(offered.terms()));
            self.transitions.behind = self.behind;
            let what = format!("the trust file that is served now, which was not believed: {e}");
            self.report.not_verified.push(what);
        }
        Ok(())
    }

    async fn newest_checkpoint(&self, trust: &Trust) -> Result<(Checkpoint, String), Stop> {
        let none = || Fault::new(FaultKind::Checkpoint, "there is no checkpoint");
        let note = self.source.checkpoint().await?.ok_or_else(none)?;
        match trust.open(&note) {
            Ok(checkpoint) => Ok((checkpoint, note)),
            Err(e) if self.behind => Err(Blind::newer_trust(format_args!("the newest checkpoint: {e}")).into()),
            Err(e) => {
                let wrong = matches!(e, BadCheckpoint::WrongLog { .. });
                let kind = if wrong { FaultKind::WrongLog } else { FaultKind::Checkpoint };
                Err(Fault::new(kind, format!("the newest checkpoint: {e}")).with([note]).into())
            }
        }
    }

    async fn bundle(&mut self, fetched: Fetched, trust: &Trust, note: &str) -> Result<(), Stop> {
        let Fetched { bundle, entries, tile } = fetched;
        let broken = |what: String| Fault::new(FaultKind::Bundle, what).with([note.to_owned()]);
        let entries = entries.ok_or_else(|| broken(format!("{bundle} is missing")))?;
        let leaves = bundle.decode(&entries).map_err(|e| broken(format!("{bundle}: {e}")))?;
        let hashes: Vec<Hash> = leaves.iter().map(|leaf| leaf_hash(leaf)).collect();
        if let Some((tile, served)) = tile {
            let first = bundle.leaves().start;
            self.compare_tile(tile, served, &bytes_of(&hashes), first)?;
        }
        for ((leaf, hash), index) in leaves.iter().zip(&hashes).zip(bundle.leaves()) {
            let due = self.replay.leaf(index, leaf).map_err(|e| {
                let what = format!("leaf {index} does not follow from the log before it: {e}");
                Fault::new(FaultKind::Leaf, what).with([note.to_owned()])
            })?;
            self.edge.append(*hash);
            self.report.verified.leaves += 1;
            self.due(due).await?;
            if self.edge.size() > self.report.resumed_at {
                self.transitions.at(&*self.source, trust, &self.edge).await?;
            }
            self.resumed(note)?;
            self.hold_to_kept(note)?;
        }
        self.compare_documents().await?;
        self.report.verified.bundles += 1;
        if bundle.is_full() {
            self.upper_tiles().await?;
            self.edge.settle();
            self.reach(note)?;
        }
        Ok(())
    }

    /// At the size where an earlier run ended the log must still have the root that it had.
    fn resumed(&mut self, note: &str) -> Result<(), Stop> {
        let Some(resume) = self.resume.as_ref().filter(|resume| resume.size == self.edge.size()) else { return Ok(()) };
        let root = self.edge.root();
        if root != resume.root {
            let what = format!(
                "the log has other entries than an earlier run verified: the root of its first {} leaves was {}, and is {root}",
                resume.size, resume.root
            );
            return Err(Fault::new(FaultKind::Fork, what).with([resume.checkpoint.clone(), note.to_owned()]).into());
        }
        self.replay.assume_absent(&resume.absent);
        Ok(())
    }

    /// Holds the registry to heads and checkpoints that somebody kept of this size.
    fn hold_to_kept(&mut self, note: &str) -> Result<(), Stop> {
        let size = self.edge.size();
        if !self.kept.checkpoints.contains_key(&size) && !self.kept.heads.contains_key(&size) {
            return Ok(());
        }
        let root = self.edge.root();
        for kept in self.kept.checkpoints.remove(&size).unwrap_or_default() {
            if kept.checkpoint.root != root {
                let what = format!(
                    "the checkpoint of {size} leaves that {} keeps is signed over the root {}, and the entries hash to {root}",
                    kept.by, kept.checkpoint.root
                );
                return Err(Fault::new(FaultKind::Fork, what).with([kept.note, note.to_owned()]).into());
            }
        }
        for kept in self.kept.heads.remove(&size).unwrap_or_default() {
            match self.replay.judge(&kept.head, &root) {
                Ok(()) => self.report.verified.kept_heads += 1,
                Err(lie) => {
                    let what = format!("a kept head of {}, issued {}: {lie}", kept.head.name, kept.head.issued);
                    self.fault(Fault::new(FaultKind::KeptHead, what).with([kept.envelope, note.to_owned()]))?;
                }
            }
        }
        Ok(())
    }

    /// What was kept of a longer log than there is convicts, too.
    fn beyond(&mut self, end: &Checkpoint, note: &str) -> Result<(), Stop> {
        let longer = end.size.saturating_add(1);
        for (size, kept) in self.kept.checkpoints.split_off(&longer) {
            for kept in kept {
                let what = format!(
                    "the log went back: {} keeps a checkpoint of {size} leaves, and it has {}",
                    kept.by, end.size
                );
                self.fault(Fault::new(FaultKind::Truncated, what).with([kept.note, note.to_owned()]))?;
            }
        }
        for kept in self.kept.heads.split_off(&longer).into_values().flatten() {
            let lie = Lie::LongerLog { signed: kept.head.checkpoint_size, log: end.size };
            let what = format!("a kept head of {}, issued {}: {lie}", kept.head.name, kept.head.issued);
            self.fault(Fault::new(FaultKind::Truncated, what).with([kept.envelope, note.to_owned()]))?;
        }
        Ok(())
    }

    /// Compares the full tiles above the entries' own that the last bundle has filled.
    async fn upper_tiles(&mut self) -> Result<(), Stop> {
        if self.edge.size() <= self.report.resumed_at {
            return Ok(());
        }
        let filled: Vec<_> = self.edge.tiles().filter(|(tile, _)| tile.is_full() && tile.level() > 0).collect();
        for (tile, bytes) in filled {
            let served = self.source.tile(tile).await?;
            self.compare_tile(tile, served, &bytes, tile.index() * 256)?;
        }
        Ok(())
    }

    /// `first` is the number of the tile's first hash on its level.
    fn compare_tile(&mut self, tile: Tile, served: Option<Vec<u8>>, computed: &[u8], first: u64) -> Result<(), Stop> {
        let fault = |what: String| Fault::new(FaultKind::Tile, what).with(self.report.checkpoint.clone());
        let served = served.ok_or_else(|| fault(format!("{tile} is missing")))?;
        if served == computed {
            self.report.verified.tiles += 1;
            return Ok(());
        }
        let (theirs, ours) = (served.chunks(32), computed.chunks(32));
        let Some((n, (theirs, ours))) = (first..).zip(theirs.zip(ours)).find(|(_, (theirs, ours))| theirs != ours)
        else {
            return Err(fault(format!("{tile} has {} bytes, not {}", served.len(), computed.len())).into());
        };
        let what = if tile.level() == 0 { "leaf" } else { "node" };
        let hex =
            |bytes: &[u8]| <[u8; 32]>::try_from(bytes).map_or_else(|_| "cut off".to_owned(), |b| Sha256(b).to_string());
        Err(fault(format!("{tile} says {} of {what} {n}, and the entries give {}", hex(theirs), hex(ours))).into())
    }

    /// The root, the partial tiles, the end of the list of checkpoints, and the documents of the newest versions.
    async fn end(&mut self, end: &Checkpoint, note: &str) -> Result<(), Stop> {
        let root = self.edge.root();
        if (self.edge.size(), root) != (end.size, end.root) {
            let what = format!(
                "the newest checkpoint is signed over the root {} of {} leaves, and the entries hash to {root}",
                end.root, end.size
            );
            return Err(Fault::new(FaultKind::Fork, what).with([note.to_owned()]).into());
        }
        if self.transitions.last != end.size {
            let what = format!(
                "the list of checkpoints ends at {}, and the newest is of {} leaves",
                self.transitions.last, end.size
            );
            return Err(Fault::new(FaultKind::Checkpoint, what).with([note.to_owned()]).into());
        }
        let ends: Vec<_> = self.edge.ends().collect();
        for (tile, bytes) in ends {
            let served = self.source.tile(tile).await?;
            self.compare_tile(tile, served, &bytes, tile.index() * 256)?;
        }
        self.waiting = self.replay.outstanding();
        self.compare_documents().await?;
        self.missing(true)
    }

    fn fault(&mut self, fault: Fault) -> Result<(), Stop> {
        self.report.faults.push(fault);
        if self.report.faults.len() < MAX_FAULTS { Ok(()) } else { Err(Stop::Enough) }
    }

    /// Everything up to here is verified; where something contradicts, the last point before it stays.
    fn reach(&mut self, note: &str) -> Result<(), Stop> {
        if self.save.is_none() || !self.report.faults.is_empty() || self.edge.size() <= self.report.resumed_at {
            return Ok(());
        }
        let absent = self.replay.absent().cloned().collect();
        let origin = &self.trust.terms().origin;
        let mut reached = Resume::new(origin, self.edge.size(), self.edge.root(), note, absent);
        reached.listed = self.transitions.last;
        reached.cursor.clone_from(&self.transitions.cursor);
        self.reached = Some(reached);
        let due = (self.edge.size() / 256).is_multiple_of(SAVE_EVERY);
        if due { self.save_reached(false) } else { Ok(()) }
    }

    /// Writes down how far the audit has come. One that ended well also keeps the checkpoint it ended with.
    fn save_reached(&mut self, ended: bool) -> Result<(), Stop> {
        let Some(path) = &self.save else { return Ok(()) };
        if ended && self.reached.is_none() && self.report.faults.is_empty() {
            // Nothing longer was verified than before, or nothing fills a bundle yet.
            let before = self.resume.clone();
            let note = self.report.checkpoint.clone().unwrap_or_default();
            let empty = || Resume::new(&self.trust.terms().origin, 0, Edge::new().root(), "", Vec::new());
            self.reached = Some(before.unwrap_or_else(empty).about(note));
        }
        match self.reached.take() {
            Some(reached) => Ok(reached.save(path).map_err(Blind::Resume)?),
            None => Ok(()),
        }
    }

    fn report(mut self, outcome: Result<(), Stop>) -> Report {
        match outcome {
            Ok(()) => self.report.complete = true,
            Err(Stop::Fault(fault)) => self.report.faults.push(fault),
            Err(Stop::Enough) => {}
            Err(Stop::Blind(blind)) => {
                // What was verified before isn't lost; if it can't be written, the first reason is the one to tell.
                let _ = self.save_reached(false);
                self.report.stopped = Some(blind.to_string());
                self.report.blind = Some(blind);
            }
        }
        let counts = self.replay.counts();
        let report = &mut self.report;
        (report.verified.versions, report.verified.documents) = (counts.versions, counts.equal);
        report.not_kept = counts.not_kept;
        report.verified.checkpoints = self.transitions.verified;
        report.unusable_heads = std::mem::take(&mut self.kept.unusable);
        let says_nothing = &mut report.not_verified;
        if counts.not_kept > 0 {
            says_nothing.push(format!("{} documents of older versions, which are not kept any more", counts.not_kept));
        }
        if report.resumed_at > 0 {
            let size = report.resumed_at;
            says_nothing.push(format!(
                "tiles, checkpoints and older documents of the first {size} leaves in this run: an earlier one verified them"
            ));
        }
        if report.verified.kept_heads == 0 {
            says_nothing
                .push("what others were shown: hold it to the heads that gateways keep, with --heads".to_owned());
        }
        says_nothing.push("that what was approved is harmless, or that who signed it is who you think".to_owned());
        self.report
    }
}

async fn fetch(source: Arc<dyn Source>, bundle: Bundle, compare: bool) -> Result<Fetched, Blind> {
    let entries = source.bundle(bundle).await?;
    let tile = match Tile::new(0, bundle.index(), bundle.width()) {
        Ok(tile) if compare => Some((tile, source.tile(tile).await?)),
        _ => None,
    };
    Ok(Fetched { bundle, entries, tile })
}

fn bytes_of(hashes: &[Hash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Blind> for Stop {
    fn from(blind: Blind) -> Self {
        Self::Blind(blind)
    }
}
