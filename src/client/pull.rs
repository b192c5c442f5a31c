//! Brings a state directory up to date: fetch, verify, and only then persist.

use std::path::{Path, PathBuf};

use crate::{
    canon::Sha256,
    clock::Timestamp,
    env::Clock,
    name::SetName,
    pinset::{
        PinSet,
        trust::{BadTrust, Trust},
        verify::{self, HeadAnswer, MAX_ANSWER_BYTES, Refused},
    },
};

use super::{
    Error, Registry, State, StateError, follow, rules,
    state::{Evidence, Place, Record},
};

/// A set of 100,000 aliases, or the pins of the largest server.
const MAX_DOCUMENT: u64 = 32 << 20;

/// What a pull did.
#[derive(Debug)]
pub struct Pulled {
    /// The set that counts now.
    pub set: PinSet,
    /// The version before, if there was one.
    pub before: Option<u64>,
    /// Documents that were fetched.
    pub fetched: usize,
    /// Whether a newer trust file took the place of the one in hand.
    pub new_trust: bool,
    /// The name that the registry had before, and where what it last said under it is kept, if it began a new epoch.
    pub left: Option<(String, PathBuf)>,
    /// Whether the set's scanner rules are at hand; without them, what no pin covers is blocked.
    pub rules: bool,
    /// Why the trust file that the registry serves was not taken, if it differs and wasn't.
    pub other_trust: Option<BadTrust>,
}

/// The state is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// The directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The registry can't be used.
    #[error(transparent)]
    Fetch(#[from] Error),
    /// What it answered must not be relied on.
    #[error("the registry's answer is refused: {why}")]
    Refused {
        /// Why.
        why: Refused,
        /// The folder where it is kept, if it contradicts what the registry said before.
        evidence: Option<PathBuf>,
    },
    /// The registry serves the head in hand again, and that has expired: it is frozen, or somebody in between replays it.
    #[error("the registry still serves the head that expired at {0}: it signs no new one, or old answers are replayed")]
    Frozen(Timestamp),
    /// The registry says that nothing changed, and the head in hand has expired. Nobody signs such an answer.
    #[error(
        "the registry says that nothing changed, but the head in hand expired at {0}: it signs no new one, or old answers are replayed"
    )]
    NotModified(Timestamp),
    /// The trust file is another registry's than the state.
    #[error("the state is of the registry {state}, the trust file of {trust}")]
    OtherRegistry {
        /// The origin of the state's own trust file.
        state: String,
        /// The origin of the one that was given.
        trust: String,
    },
    /// The registry says that nothing changed, and nothing was sent that could have been unchanged.
    #[error("the registry sent no head")]
    NoHead,
}

/// The trust file that a registry serves, signed by the root key it names and by nobody you know.
///
/// # Errors
/// [`PullError::Fetch`]; [`BadTrust`] as [`PullError::Refused`] says it.
pub async fn trust(registry: &Registry, clock: &dyn Clock) -> Result<Result<Trust, BadTrust>, Error> {
    let note = follow::newest(registry, clock).await?;
    Ok(Trust::first(&note))
}

/// Pulls a set into a directory. `first` starts a new one; in an old one its own copy of the trust file counts.
///
/// # Errors
/// [`PullError`]; nothing that counts has changed then.
pub async fn pull(
    registry: &Registry,
    directory: &Path,
    pinset: &SetName,
    first: Trust,
    clock: &dyn Clock,
) -> Result<Pulled, PullError> {
    let state = State::open(directory)?;
    let place = Place::take(directory, state.is_none())?;
    // Another pull may have ended between the look and the lock.
    let state = if state.is_some() { State::open(directory)? } else { None };
    let mut trust = match &state {
        Some(state) => {
            if state.pinset() != pinset {
                let (has, wanted) = (state.pinset().clone(), pinset.clone());
                return Err(StateError::OtherSet(directory.to_owned(), has, wanted).into());
            }
            let (own, given) = (state.trust().terms(), &first.terms().origin);
            if own.origin != *given && !own.former.contains(given) {
                return Err(PullError::OtherRegistry { state: own.origin.clone(), trust: given.clone() });
            }
            state.check_clock(clock.now())?;
            state.trust().clone()
        }
        None => first,
    };
    let (version, other_trust) = (trust.terms().version, follow::trust(registry, clock, &mut trust).await?);
    let new_trust = trust.terms().version != version;
    let mut work = Work { registry, clock, pinset, place: &place, state: state.as_ref(), fetched: 0 };
    let (record, set) = work.newest(&trust).await?;
    let ruleset = set.document().ruleset_sha256;
    let packs = rules::fetch(registry, clock, &ruleset, |id| place.read(id)).await;
    for document in packs.iter().flatten() {
        place.keep(document)?;
    }
    let fetched = work.fetched;
    let mut keep = vec![record.trust, record.answer];
    keep.extend(documents_of(&set));
    keep.extend(rules::parts(&ruleset, |id| place.read(id)));
    if let Some(old) = &state {
        keep.extend([old.record().trust, old.record().answer]);
        if let Ok(before) = old.pin_set(clock.now()) {
            keep.extend(documents_of(&before));
            keep.extend(rules::parts(&before.document().ruleset_sha256, |id| old.document(id)));
        }
    }
    // The floor of version and tree is of one epoch; what was last said under the name before is kept as evidence.
    let left = match state.as_ref().filter(|old| old.trust().terms().epoch != trust.terms().epoch) {
        Some(old) => {
            let answer = old.document(&old.record().answer).unwrap_or_default();
            let terms = old.trust().terms();
            Some((terms.origin.clone(), place.keep_epoch(terms.epoch, &answer)?))
        }
        None => None,
    };
    place.commit(&record)?;
    Place::prune(directory, &keep);
    let before = state.filter(|_| left.is_none()).map(|state| state.record().seen().version);
    let rules = packs.is_some();
    Ok(Pulled { set, before, fetched, new_trust, left, rules, other_trust })
}

fn documents_of(set: &PinSet) -> impl Iterator<Item = Sha256> {
    let pins = set.document().aliases.values().map(|entry| entry.pins_sha256);
    std::iter::once(set.sha256()).chain(pins)
}

/// One pull, from the head down to the last document.
struct Work<'a> {
    registry: &'a Registry,
    clock: &'a dyn Clock,
    pinset: &'a SetName,
    place: &'a Place,
    state: Option<&'a State>,
    fetched: usize,
}

impl Work<'_> {
    async fn newest(&mut self, trust: &Trust) -> Result<(Record, PinSet), PullError> {
        // Versions and trees of an epoch before are no measure of this one.
        let state = self.state.filter(|state| state.trust().terms().epoch == trust.terms().epoch);
        let seen = state.map(|state| state.record().seen());
        let size = seen.as_ref().map(|seen| seen.checkpoint.size.to_string()).unwrap_or_default();
        let query = if size.is_empty() { vec![] } else { vec![("tree_size", size.as_str())] };
        let etag = state.and_then(|state| state.record().etag.as_deref());
        let path = ["v1", "pinsets", self.pinset.as_str(), "head"];
        let body = self.registry.get(self.clock, &path, &query, etag, MAX_ANSWER_BYTES).await?;
        let now = self.clock.now();
        let unsigned = body.is_none();
        let (answer, bytes, etag) = match (body, state) {
            (Some(body), _) => {
                let answer = HeadAnswer::parse(&body.bytes).map_err(refused)?;
                (answer, body.bytes, body.etag)
            }
            // Nobody signs a 304: the head in hand is asked again whether it still holds.
            (None, Some(state)) => {
                let bytes = state.document(&state.record().answer).ok_or(PullError::NoHead)?;
                (state.answer().clone(), bytes, state.record().etag.clone())
            }
            (None, None) => return Err(PullError::NoHead),
        };
        let cached = state.is_some_and(|state| *state.answer() == answer);
        // The consistency proof of a cached answer begins at an older tree; it was checked when it came.
        let since = if cached { None } else { seen.as_ref() };
        let head = verify::head(trust, self.pinset, since, &answer, now);
        let head = head.map_err(|why| self.contradicted(why, &answer, &bytes))?;
        let seen = head.seen();
        let again = self.state.is_some_and(|state| state.answer().head == answer.head);
        let head = head.fresh(now).map_err(|why| match why {
            Refused::Expired(at) if unsigned => PullError::NotModified(at),
            Refused::Expired(at) if again => PullError::Frozen(at),
            why => refused(why),
        })?;
        let (sha256, size) = (head.head().set_sha256, head.head().set_size);
        let document = self.document(sha256, size).await?;
        let set = head.with_set(&document).map_err(refused)?;
        for (sha256, size) in set.needs() {
            self.document(sha256, size).await?;
        }
        let set = set.with_pins(|sha256| self.place.read(sha256)).map_err(refused)?;
        let envelope = answer.head;
        let (trust, answer) = (self.place.keep(trust.note().as_bytes())?, self.place.keep(&bytes)?);
        if !cached {
            self.place.keep_head(&envelope)?;
        }
        Ok((Record::new(self.pinset.clone(), trust, answer, etag, seen), set))
    }

    /// A document by digest: from the directory, or else from the registry.
    async fn document(&mut self, sha256: Sha256, size: u64) -> Result<Vec<u8>, PullError> {
        if let Some(bytes) = self.place.read(&sha256) {
            return Ok(bytes);
        }
        let missing = || PullError::Refused { why: Refused::Document(sha256), evidence: None };
        let max = usize::try_from(size.min(MAX_DOCUMENT)).map_err(|_| missing())?;
        let name = sha256.to_string();
        let path = ["v1", "pinsets", self.pinset.as_str(), "sets", &name];
        let body = self.registry.get(self.clock, &path, &[], None, max).await?.ok_or_else(missing)?;
        if Sha256::of(&body.bytes) != sha256 {
            return Err(missing());
        }
        self.place.keep(&body.bytes)?;
        self.fetched += 1;
        Ok(body.bytes)
    }

    /// A refusal, whose evidence is kept where it contradicts what was accepted before.
    fn contradicted(&self, why: Refused, answer: &HeadAnswer, offered: &[u8]) -> PullError {
        let log = matches!(why, Refused::ShorterLog { .. } | Refused::SplitView(_) | Refused::Fork(_));
        let contradicts = log || matches!(why, Refused::Rollback { .. } | Refused::TwoSets(_));
        let accepted = self.state.and_then(|state| Some((state, state.document(&state.record().answer)?)));
        let (true, Some((state, accepted))) = (contradicts, &accepted) else { return refused(why) };
        let checkpoints = (state.answer().proof.checkpoint.as_str(), answer.proof.checkpoint.as_str());
        let evidence = Evidence { accepted, offered, checkpoints: log.then_some(checkpoints) };
        PullError::Refused { why, evidence: self.place.keep_evidence(&evidence).ok() }
    }
}

/// A refusal without a contradiction.
fn refused(why: Refused) -> PullError {
    PullError::Refused { why, evidence: None }
}
