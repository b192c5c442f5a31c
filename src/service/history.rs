//! Pin sets as they were: versions whose documents are kept, or are made again from the log.
//!
//! Documents that no head names are swept out after 30 days; the log has all that they were made of, and the fold
//! refuses a version that doesn't come out as its leaf says. Making them again reads the log from its first leaf, so it is
//! done for one request at a time and not for a log of any length; beyond that a version is said not to be kept.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::Semaphore;

use super::App;
use crate::{
    canon::Sha256,
    pinset::{
        SetDocument, State,
        changes::{self, Change, Documents, Incomparable},
    },
    store::{Conn, SetVersion, StoreError},
};

/// Versions of one set, some of them with their documents.
#[derive(Debug)]
pub struct History {
    versions: Vec<(SetVersion, Option<Past>)>,
    documents: Documents,
}

/// A version as it was.
#[derive(Debug)]
pub struct Past {
    /// The set document's bytes.
    pub bytes: Vec<u8>,
    /// What they say.
    pub document: SetDocument,
    /// Whether it was swept out and made again from the log.
    pub made_again: bool,
}

/// How much is read for an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reach {
    /// Bytes of pins documents.
    pub bytes: u64,
    /// Leaves that are read again for versions that aren't kept.
    pub leaves: u64,
}

impl Reach {
    /// The longest log that is read again for a page: some seconds of work.
    const LEAVES: u64 = 100_000;

    /// As far as a page goes that reads pins documents of so many bytes.
    pub const fn of_bytes(bytes: u64) -> Self {
        Self { bytes, leaves: Self::LEAVES }
    }
}

/// Leaves read at a time.
const PIECE: u64 = 500;
/// Requests that read the log again, at once: whoever asks for old versions waits for others who do.
static REPLAYS: Semaphore = Semaphore::const_new(1);

/// The versions in `rows`, neighbours to be compared with each other. Comparisons that need more than is in reach say that
/// a document is missing.
///
/// # Errors
/// [`StoreError`] if the database fails or contradicts itself.
pub async fn load(app: &App, rows: Vec<SetVersion>, reach: Reach) -> Result<History, StoreError> {
    let mut conn = app.reader().conn().await?;
    let mut versions = Vec::with_capacity(rows.len());
    for row in rows {
        let past = kept(&mut conn, &row).await?;
        versions.push((row, past));
    }
    let mut history = History { versions, documents: Documents::new() };
    let mut states = BTreeMap::new();
    if history.versions.iter().any(|(_, past)| past.is_none()) {
        drop(conn);
        states = again(app, &mut history, reach.leaves).await?;
        conn = app.reader().conn().await?;
    }
    let (mut read, mut budget) = (BTreeSet::new(), reach.bytes);
    for pair in 1..history.versions.len() {
        for (sha256, size) in history.needed(pair - 1, pair) {
            if !read.contains(&sha256) && size <= budget {
                budget -= size;
                read.insert(sha256);
                history.read(&mut conn, sha256, &mut states).await?;
            }
        }
    }
    if history.lacks(&read) && states.is_empty() {
        // A sweep takes documents out one by one, so it may have left a set document without its pins.
        drop(conn);
        states = again(app, &mut history, reach.leaves).await?;
        conn = app.reader().conn().await?;
        for sha256 in read {
            history.read(&mut conn, sha256, &mut states).await?;
        }
    }
    Ok(history)
}

impl History {
    /// The version in this place; `None` if it isn't kept and can't be made again here.
    pub fn get(&self, place: usize) -> Option<&Past> {
        self.versions.get(place)?.1.as_ref()
    }

    /// What the log says of the version in this place.
    pub fn row(&self, place: usize) -> Option<&SetVersion> {
        Some(&self.versions.get(place)?.0)
    }

    /// What changed from one version to another; `None` if one of them isn't kept.
    pub fn between(&self, old: usize, new: usize) -> Option<Result<Vec<Change<'_>>, Incomparable>> {
        Some(changes::between(&self.get(old)?.document, &self.get(new)?.document, &self.documents))
    }

    /// Which documents a comparison needs, and how large they are.
    fn needed(&self, one: usize, other: usize) -> Vec<(Sha256, u64)> {
        let (Some(one), Some(other)) = (self.get(one), self.get(other)) else { return Vec::new() };
        let sizes: BTreeMap<Sha256, u64> = [one, other]
            .iter()
            .flat_map(|past| past.document.aliases.values())
            .map(|entry| (entry.pins_sha256, entry.pins_size))
            .collect();
        let needed = changes::needed(&one.document, &other.document);
        needed
            .into_iter()
            .filter_map(|sha256| sizes.get_key_value(&sha256))
            .map(|(sha256, size)| (*sha256, *size))
            .collect()
    }

    fn lacks(&self, read: &BTreeSet<Sha256>) -> bool {
        read.iter().any(|sha256| !self.documents.has(sha256))
    }

    /// Takes a pins document in, from what is kept or from a state that has it.
    async fn read(
        &mut self,
        conn: &mut Conn,
        sha256: Sha256,
        states: &mut BTreeMap<u64, State>,
    ) -> Result<(), StoreError> {
        let corrupt = |what: &str| StoreError::Corrupt { table: "content", what: format!("{sha256}: {what}") };
        if self.documents.has(&sha256) {
            return Ok(());
        }
        if let Some(content) = conn.content(sha256).await? {
            let added = self.documents.add(&content.bytes).map_err(|e| corrupt(&e.to_string()))?;
            return if added == sha256 { Ok(()) } else { Err(corrupt("its bytes have another digest")) };
        }
        let named = self.versions.iter().filter_map(|(row, past)| Some((row, past.as_ref()?)));
        for (row, past) in named {
            let alias = past.document.aliases.iter().find(|(_, entry)| entry.pins_sha256 == sha256);
            if let (Some((alias, _)), Some(state)) = (alias, states.get(&row.version)) {
                let document = state.pins_document(&row.pinset, alias).ok_or_else(|| corrupt("an alias is gone"))?;
                self.documents.add(&document.to_bytes()).map_err(|e| corrupt(&e.to_string()))?;
                return Ok(());
            }
        }
        Ok(())
    }
}

async fn kept(conn: &mut Conn, row: &SetVersion) -> Result<Option<Past>, StoreError> {
    let Some(content) = conn.content(row.set_sha256).await? else { return Ok(None) };
    past(content.bytes, row, false).map(Some)
}

fn past(bytes: Vec<u8>, row: &SetVersion, made_again: bool) -> Result<Past, StoreError> {
    let corrupt = |what: String| StoreError::Corrupt { table: "content", what: format!("{}: {what}", row.set_sha256) };
    let document = SetDocument::parse(&bytes).map_err(|e| corrupt(e.to_string()))?;
    let same = Sha256::of(&bytes) == row.set_sha256 && document.version == row.version;
    if same { Ok(Past { bytes, document, made_again }) } else { Err(corrupt("it is another version".to_owned())) }
}

/// Makes versions again that aren't kept; the state at each version of the history, unless the log is too long. Whoever
/// waits here for others holds no connection meanwhile.
async fn again(app: &App, history: &mut History, reach: u64) -> Result<BTreeMap<u64, State>, StoreError> {
    let mut states = BTreeMap::new();
    let Some(last) = history.versions.iter().map(|(row, _)| row.log_index).max() else { return Ok(states) };
    if last >= reach || last >= app.moment().checkpoint.size {
        return Ok(states);
    }
    let Ok(_alone) = REPLAYS.acquire().await else { return Ok(states) };
    let mut conn = app.reader().conn().await?;
    let mut state = State::default();
    while state.size() <= last {
        let from = state.size();
        let leaves = conn.leaves(from, (from + PIECE).min(last + 1)).await?;
        for (index, leaf) in (from..).zip(&leaves) {
            let effect = state
                .apply(index, leaf)
                .map_err(|e| StoreError::Corrupt { table: "log_leaf", what: format!("leaf {index}: {e}") })?;
            let Some(published) = effect.published else { continue };
            let found = history.versions.iter_mut().find(|(row, _)| row.log_index == index);
            if let Some((row, held)) = found {
                states.insert(row.version, state.clone());
                if held.is_none() {
                    *held = Some(past(published.set, row, true)?);
                }
            }
        }
    }
    Ok(states)
}
