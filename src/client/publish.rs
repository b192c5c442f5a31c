//! Submits a release with its attestation.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::env::Clock;

use super::{Error, Registry};

/// The answer names a candidate for each descriptor and set.
const MAX_ANSWER: usize = 16 << 20;

/// What a registry answered to a submission.
#[derive(Clone, Debug)]
pub struct Published {
    /// Whether it knew the release already.
    pub again: bool,
    /// The answer, byte for byte.
    pub json: Vec<u8>,
    /// What of it is shown.
    pub answer: Answer,
}

/// The members that are shown; a newer registry may send more.
#[derive(Clone, Debug, Deserialize)]
pub struct Answer {
    /// The release's id.
    pub release: String,
    /// What the evidence is worth.
    pub level: String,
    /// What waits for a decision now.
    #[serde(default)]
    pub candidates: Vec<Candidate>,
    /// How many descriptors were decided before.
    #[serde(default)]
    pub unchanged: u64,
    /// Descriptors that can't be approved.
    #[serde(default)]
    pub unpinnable: Vec<Box<RawValue>>,
    /// How many findings the scanner has.
    #[serde(default)]
    pub findings: u64,
    /// Where it is logged.
    #[serde(default)]
    pub log: Option<Logged>,
}

/// One descriptor that waits.
#[derive(Clone, Debug, Deserialize)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// In which set.
    pub pinset: String,
    /// Which kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// The place in the log.
#[derive(Clone, Debug, Deserialize)]
pub struct Logged {
    /// The leaf's index.
    pub index: u64,
}

/// The body of a submission: the release's own bytes, with the attestation's as one more member.
///
/// `None` if either isn't one JSON object.
pub fn submission(release: &[u8], attestation: &[u8]) -> Option<Vec<u8>> {
    let is_object =
        |bytes: &[u8]| serde_json::from_slice::<&RawValue>(bytes).is_ok_and(|raw| raw.get().starts_with('{'));
    if !is_object(release) || !is_object(attestation) {
        return None;
    }
    let mut body = release.trim_ascii().strip_suffix(b"}")?.to_vec();
    body.extend_from_slice(b",\"attestation\":");
    body.extend_from_slice(attestation.trim_ascii());
    body.push(b'}');
    Some(body)
}

/// Submits what [`submission`] put together.
///
/// # Errors
/// [`Error`], also for an answer that isn't one.
pub async fn publish(registry: &Registry, clock: &dyn Clock, body: Vec<u8>) -> Result<Published, Error> {
    let body = registry.post(clock, &["v1", "releases"], body, MAX_ANSWER).await?;
    let answer =
        serde_json::from_slice(&body.bytes).map_err(|e| Error::Network(format!("its answer is unreadable: {e}")))?;
    Ok(Published { again: body.status == 200, json: body.bytes, answer })
}
