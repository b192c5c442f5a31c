//! What gateways get: heads with their proofs, pins, documents, and verdicts. Reads only.

use std::sync::Arc;

use serde::Serialize;

use super::{App, Moment, NoProof, commit::JSON};
use crate::{
    canon::Sha256,
    descriptor::{Descriptor, Listed},
    name::{Kind, ServerName, SetName},
    pinset::{
        Pin, PinEvidence, PinSet, PinsDocument, SetDocument,
        verdict::{self, Action, Answer, Judged, Listing, Scan, Verdict},
        verify::{HeadAnswer, Refused},
    },
    review::CandidateId,
    store::{Content, Stage, StoreError},
};

/// A head can't be had.
#[derive(Debug, thiserror::Error)]
pub enum NoHead {
    /// No such pin set.
    #[error("there is no such pin set")]
    NoSet,
    /// No head of it has its witness quorum yet.
    #[error("no head of the pin set has the cosignatures of its witnesses yet")]
    Unreleased,
    /// The caller saw a longer log than the head was signed over.
    #[error("the head was signed over {signed} leaves, you saw {seen}")]
    Behind {
        /// Leaves under the head.
        signed: u64,
        /// Leaves the caller saw.
        seen: u64,
    },
    /// What is stored doesn't make an answer.
    #[error(transparent)]
    Answer(#[from] Refused),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A pin as the API shows it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ShownPin<'a> {
    /// The pin.
    #[serde(flatten)]
    pub pin: &'a Pin,
    /// Who vouches for it.
    pub by: Option<&'a PinEvidence>,
    /// Its server.
    pub server: &'a ServerName,
}

/// An answer with what review says about each item.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// The set's version.
    pub version: u64,
    /// SHA-256 of its document.
    pub set_sha256: Sha256,
    /// When its head runs out.
    pub expires: crate::clock::Timestamp,
    /// Whether every list was whole.
    pub complete: bool,
    /// One for each listed item.
    pub results: Vec<CheckedItem>,
}

/// One item of an answer.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedItem {
    /// The verdict and why.
    #[serde(flatten)]
    pub judged: Judged,
    /// Where its review stands; explains, never decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewOf>,
}

/// Where the review of a digest stands.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewOf {
    /// The candidate's state.
    pub state: Stage,
    /// The candidate.
    pub candidate: CandidateId,
}

/// What `GET head` answers: the head, the leaf of its version, that leaf's proof, and consistency from `seen`.
///
/// # Errors
/// [`NoHead`].
pub async fn head(app: &App, set: &SetName, seen: u64) -> Result<HeadAnswer, NoHead> {
    let moment = app.moment();
    let unreleased = || if moment.heads.contains_key(set) { NoHead::Unreleased } else { NoHead::NoSet };
    let head = moment.released.get(set).ok_or_else(unreleased)?;
    let signed = head.checkpoint_size;
    if seen > signed {
        return Err(NoHead::Behind { signed, seen });
    }
    let mut conn = app.reader().conn().await?;
    let corrupt = |what: &str| StoreError::Corrupt { table: "head", what: what.to_owned() };
    let version = conn.set_version(set, head.version).await?.ok_or_else(|| corrupt("a head without its version"))?;
    let leaf = conn.leaf(version.log_index).await?.ok_or_else(|| corrupt("a version without its leaf"))?;
    drop(conn);
    let beyond = |e| match e {
        NoProof::Beyond => corrupt("a head beyond the log").into(),
        NoProof::Store(e) => NoHead::Store(e),
    };
    let proof = app.inclusion_at(version.log_index, signed).await.map_err(beyond)?;
    let consistency = app.consistency(seen, signed).await.map_err(beyond)?;
    Ok(HeadAnswer { head: head.envelope.clone(), leaf, proof, consistency })
}

/// The pins of one qualified name.
pub fn pins<'a>(moment: &'a Moment, set: &SetName, kind: Option<Kind>, name: &str) -> Option<Vec<ShownPin<'a>>> {
    let set = moment.pin_set(set)?;
    let kinds: Vec<Kind> = kind.map_or_else(|| Kind::ALL.to_vec(), |kind| vec![kind]);
    let mut found = Vec::new();
    for (_, under) in set.aliases() {
        for pin in kinds.iter().flat_map(|kind| under.pins(*kind, name)) {
            found.push(ShownPin { pin, by: under.evidence(pin), server: &under.document().server });
        }
    }
    Some(found)
}

/// A document, if the reader may have it. What only reviewers may see and what isn't there look the same to others.
///
/// Besides what is kept as documents these are the leaves of decisions and the scanner's rules.
///
/// # Errors
/// [`StoreError`].
pub async fn content(app: &App, sha256: Sha256, sees_reviews: bool) -> Result<Option<Content>, StoreError> {
    let mut conn = app.reader().conn().await?;
    if let Some(content) = conn.content(sha256).await? {
        return Ok(Some(content).filter(|content| content.readable || sees_reviews));
    }
    if let Some(decided) = conn.decision(sha256).await? {
        let leaf = conn.leaf(decided.log_index).await?.filter(|leaf| Sha256::of(leaf) == sha256);
        return Ok(leaf.map(|leaf| Content::new(leaf, JSON, true)));
    }
    if app.rules().sha256() == sha256 {
        return Ok(Some(Content::new(app.rules().document().to_vec(), JSON, true)));
    }
    let pack = app.rules().packs().iter().find(|(_, _, digest)| *digest == sha256);
    Ok(pack.map(|(_, text, _)| Content::new(text.clone(), "application/toml", true)))
}

/// A set document or a document of pins, if it is one of this set's.
///
/// # Errors
/// [`StoreError`].
pub async fn set_document(app: &App, set: &SetName, sha256: Sha256) -> Result<Option<Vec<u8>>, StoreError> {
    let content = app.reader().conn().await?.content(sha256).await?.filter(|content| content.readable);
    let of_set = |bytes: &Vec<u8>| {
        SetDocument::parse(bytes).is_ok_and(|document| document.name == *set)
            || PinsDocument::parse(bytes).is_ok_and(|document| document.set == *set)
    };
    // Most are of the newest version, which is known without reading them again.
    let newest = app.moment().pin_set(set).is_some_and(|known| {
        known.sha256() == sha256 || known.document().aliases.values().any(|alias| alias.pins_sha256 == sha256)
    });
    Ok(content.map(|content| content.bytes).filter(|bytes| newest || of_set(bytes)))
}

/// Verdicts, before reviews are looked up to explain them.
#[derive(Clone, Debug)]
pub struct Judgement {
    set: SetName,
    pin_set: Arc<PinSet>,
    answer: Answer,
}

/// Judges lists against the newest version of a set. `None` if there is no such set. Scans what isn't approved, so a
/// long list takes its time.
pub fn judge(app: &App, set: &SetName, listings: &[Listing<'_>]) -> Option<Judgement> {
    let pin_set = Arc::clone(app.moment().pin_set(set)?);
    let answer = verdict::judge(&pin_set, listings, scan(app, &pin_set), app.clock().now());
    Some(Judgement { set: set.clone(), pin_set, answer })
}

/// Judges one descriptor before dispatch. `None` if there is no such set.
pub fn judge_dispatch(app: &App, set: &SetName, name: &str, item: &Listed) -> Option<Judgement> {
    let pin_set = Arc::clone(app.moment().pin_set(set)?);
    let answer = verdict::dispatch(&pin_set, name, item, scan(app, &pin_set), app.clock().now());
    Some(Judgement { set: set.clone(), pin_set, answer })
}

impl Judgement {
    /// The answer, with where the review of each item stands.
    ///
    /// # Errors
    /// [`StoreError`] from looking up reviews.
    pub async fn explained(self, app: &App) -> Result<Checked, StoreError> {
        explained(app, &self.set, &self.pin_set, self.answer).await
    }
}

/// Scans with the rules that the set names, or says that it can't.
fn scan<'a>(app: &'a App, set: &'a PinSet) -> impl FnMut(&Descriptor) -> Scan + 'a {
    let rules = app.rules();
    let same = rules.sha256() == set.document().ruleset_sha256;
    move |descriptor| {
        if !same {
            return Scan::Failed;
        }
        let report = rules.scan(descriptor);
        if report.complete { Scan::Done(report.worst()) } else { Scan::Failed }
    }
}

async fn explained(app: &App, set: &SetName, pin_set: &PinSet, answer: Answer) -> Result<Checked, StoreError> {
    let mut results = Vec::with_capacity(answer.results.len());
    let mut conn = None;
    for judged in answer.results {
        let review = if judged.action == Action::Allow || judged.verdict == Verdict::Stale {
            None
        } else {
            if conn.is_none() {
                conn = Some(app.reader().conn().await?);
            }
            match &mut conn {
                Some(conn) => review_of(conn, set, pin_set, &judged).await?,
                None => None,
            }
        };
        results.push(CheckedItem { judged, review });
    }
    let Answer { version, set_sha256, expires, complete, .. } = answer;
    Ok(Checked { version, set_sha256, expires, complete, results })
}

/// The newest candidate for exactly this digest under the name.
async fn review_of(
    conn: &mut crate::store::Conn,
    set: &SetName,
    pin_set: &PinSet,
    judged: &Judged,
) -> Result<Option<ReviewOf>, StoreError> {
    let Some(digest) = judged.digest else { return Ok(None) };
    for candidate in conn.candidates_with(set, judged.kind, digest.sha256).await?.into_iter().rev() {
        let alias = pin_set.document().aliases.iter().find(|(_, entry)| entry.server == candidate.server);
        let named = alias.map_or_else(|| candidate.name.clone(), |(alias, _)| format!("{alias}.{}", candidate.name));
        if named == judged.name || candidate.name == judged.name {
            return Ok(Some(ReviewOf { state: candidate.state, candidate: candidate.id }));
        }
    }
    Ok(None)
}
