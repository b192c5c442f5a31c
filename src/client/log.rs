//! A log as a registry serves it, read at one size: leaves out of bundles, proofs out of tiles.
//!
//! As C2SP tlog-tiles has it, readers derive what they need from files that are the same for everybody, so nobody learns
//! what they look for. Nothing read here is checked: whoever uses a proof holds it against a signed root.

use std::collections::BTreeMap;

use crate::{
    env::Clock,
    log::{BadBundle, Bundle, Hash, Impossible, MAX_LEAF, Missing, NotATile, Plan, Tile, Tiles},
};

use super::{Error, Registry};

/// A full tile: 256 hashes.
const MAX_TILE: usize = 256 * 32;
/// A full bundle of the longest leaves, each after its length.
const MAX_BUNDLE: usize = 256 * (MAX_LEAF + 2);

/// The log of a registry at the size of one of its checkpoints.
pub struct Log<'a> {
    registry: &'a Registry,
    clock: &'a dyn Clock,
    size: u64,
    tiles: Tiles,
    bundles: BTreeMap<u64, Vec<Vec<u8>>>,
}

/// The log can't be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// A file of it wasn't served.
    #[error("{path} of the log: {why}")]
    Fetch {
        /// Which file.
        path: String,
        /// Why.
        why: Error,
    },
    /// A tile has another length than it must.
    #[error("a tile of the log is cut off or too long: {0}")]
    Tile(#[from] NotATile),
    /// A bundle isn't one.
    #[error("a bundle of the log is damaged: {0}")]
    Bundle(#[from] BadBundle),
    /// The tree has no such leaf.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// A hash wasn't in the tiles.
    #[error(transparent)]
    Missing(#[from] Missing),
}

impl<'a> Log<'a> {
    /// The log when it had `size` leaves.
    pub fn at(registry: &'a Registry, clock: &'a dyn Clock, size: u64) -> Self {
        Self { registry, clock, size, tiles: Tiles::new(), bundles: BTreeMap::new() }
    }

    /// A leaf's bytes.
    ///
    /// # Errors
    /// [`LogError`].
    pub async fn leaf(&mut self, index: u64) -> Result<Vec<u8>, LogError> {
        let bundle = Bundle::holding(index, self.size).ok_or(Impossible { size: self.size })?;
        if !self.bundles.contains_key(&bundle.index()) {
            let leaves = match self.file(&bundle.to_string(), MAX_BUNDLE).await {
                Err(gone) if is_gone(&gone) && !bundle.is_full() => {
                    let full = Bundle::new(bundle.index(), crate::log::FULL)?;
                    owned(full.decode(&self.file(&full.to_string(), MAX_BUNDLE).await?)?)
                }
                bytes => owned(bundle.decode(&bytes?)?),
            };
            self.bundles.insert(bundle.index(), leaves);
        }
        let place = index - bundle.leaves().start;
        let held = self.bundles.get(&bundle.index()).zip(usize::try_from(place).ok());
        held.and_then(|(leaves, place)| leaves.get(place).cloned()).ok_or_else(|| BadBundle::Count.into())
    }

    /// The hashes of the proof that the tree holds a leaf.
    ///
    /// # Errors
    /// [`LogError`].
    pub async fn inclusion(&mut self, index: u64) -> Result<Vec<Hash>, LogError> {
        let plan = Plan::inclusion(index, self.size)?;
        for tile in plan.tiles(self.size) {
            if !self.tiles.holds(tile) {
                self.fetch(tile).await?;
            }
        }
        Ok(plan.compute(|node| self.tiles.node(node))?)
    }

    async fn fetch(&mut self, tile: Tile) -> Result<(), LogError> {
        match self.file(&tile.to_string(), MAX_TILE).await {
            // A partial tile may be gone once there is a full one.
            Err(gone) if is_gone(&gone) && !tile.is_full() => {
                let full = Tile::new(tile.level(), tile.index(), crate::log::FULL)?;
                let bytes = self.file(&full.to_string(), MAX_TILE).await?;
                Ok(self.tiles.insert(full, &bytes)?)
            }
            bytes => Ok(self.tiles.insert(tile, &bytes?)?),
        }
    }

    async fn file(&self, path: &str, max: usize) -> Result<Vec<u8>, LogError> {
        let segments: Vec<&str> = std::iter::once("log").chain(path.split('/')).collect();
        let body = self.registry.get(self.clock, &segments, &[], None, max).await;
        let why = |why| LogError::Fetch { path: path.to_owned(), why };
        Ok(body.map_err(why)?.map(|body| body.bytes).unwrap_or_default())
    }
}

fn is_gone(error: &LogError) -> bool {
    matches!(error, LogError::Fetch { why: Error::Status { status: 404 | 410, .. }, .. })
}

fn owned(leaves: Vec<&[u8]>) -> Vec<Vec<u8>> {
    leaves.into_iter().map(<[u8]>::to_vec).collect()
}
