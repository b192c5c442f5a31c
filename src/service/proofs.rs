//! Proofs and log files, from stored tiles.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::{App, tiles::File};
use crate::{
    log::{BadBundle, Bundle, Hash, Plan, Proof, Tile, Tiles, empty_root},
    store::{Conn, SignedCheckpoint, StoreError},
};

/// There is no such proof, or it can't be had.
#[derive(Debug, thiserror::Error)]
pub enum NoProof {
    /// The log isn't that long, or is shorter than that.
    #[error("the log has no such leaf or size")]
    Beyond,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// That the log holds leaf `index`, under the newest checkpoint.
    ///
    /// # Errors
    /// [`NoProof::Beyond`] if the checkpoint doesn't cover it.
    pub async fn inclusion(&self, index: u64) -> Result<Proof, NoProof> {
        let moment = self.moment();
        let plan = Plan::inclusion(index, moment.checkpoint.size).map_err(|_| NoProof::Beyond)?;
        let hashes = self.compute(&plan, moment.checkpoint.size).await?;
        Ok(Proof { index, hashes, checkpoint: moment.note.to_string(), extra: None })
    }

    /// That the log held leaf `index` when it had `size` leaves, under the checkpoint of that size with the cosignatures
    /// that it has got so far.
    ///
    /// # Errors
    /// [`NoProof::Beyond`] if there is no such checkpoint, or it doesn't cover the leaf.
    pub async fn inclusion_at(&self, index: u64, size: u64) -> Result<Proof, NoProof> {
        if size > self.moment().checkpoint.size {
            return Err(NoProof::Beyond);
        }
        let plan = Plan::inclusion(index, size).map_err(|_| NoProof::Beyond)?;
        let hashes = self.compute(&plan, size).await?;
        let checkpoint = note_at(&mut self.reader().conn().await?, size).await?.ok_or(NoProof::Beyond)?;
        Ok(Proof { index, hashes, checkpoint, extra: None })
    }

    /// That the tree of size `new` continues the tree of size `old`.
    ///
    /// # Errors
    /// [`NoProof::Beyond`] unless `old` is at most `new` and that at most the newest checkpoint's size.
    pub async fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>, NoProof> {
        if new > self.moment().checkpoint.size {
            return Err(NoProof::Beyond);
        }
        self.compute(&Plan::consistency(old, new).map_err(|_| NoProof::Beyond)?, new).await
    }

    /// A tile's bytes, if the newest checkpoint covers it.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn tile(&self, tile: Tile) -> Result<Option<Bytes>, StoreError> {
        if !tile.is_in(self.moment().checkpoint.size) {
            return Ok(None);
        }
        let stored = async { read(&mut self.reader().conn().await?, tile).await };
        if tile.is_full() {
            return self.core.full.get(File::Tile(tile), stored).await;
        }
        Ok(stored.await?.map(Bytes::from))
    }

    /// A bundle of leaves, if the newest checkpoint covers it.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn bundle(&self, bundle: Bundle) -> Result<Option<Bytes>, StoreError> {
        if !bundle.is_in(self.moment().checkpoint.size) {
            return Ok(None);
        }
        let stored = async {
            let leaves = bundle.leaves();
            let leaves = self.reader().conn().await?.leaves(leaves.start, leaves.end).await?;
            let corrupt = |e: BadBundle| StoreError::Corrupt { table: "log_leaf", what: e.to_string() };
            bundle.encode(&leaves).map(Some).map_err(corrupt)
        };
        if bundle.is_full() {
            return self.core.full.get(File::Bundle(bundle), stored).await;
        }
        Ok(stored.await?.map(Bytes::from))
    }

    /// Signed checkpoints of sizes above `after`, the smallest first, up to the one that is served.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn checkpoints(&self, after: u64, limit: u32) -> Result<Vec<SignedCheckpoint>, StoreError> {
        let newest = self.moment().checkpoint.size;
        self.reader().conn().await?.checkpoints(after, newest, limit).await
    }

    async fn compute(&self, plan: &Plan, size: u64) -> Result<Vec<Hash>, NoProof> {
        let mut tiles = Tiles::new();
        for tile in plan.tiles(size) {
            let bytes = self.tile(tile).await?.ok_or_else(|| missing(tile))?;
            tiles.insert(tile, &bytes).map_err(|_| missing(tile))?;
        }
        Ok(plan.compute(|node| tiles.node(node)).map_err(|e| corrupt(e.to_string()))?)
    }
}

/// The checkpoint's note of this size, with the cosignatures that it has got so far.
pub(super) async fn note_at(conn: &mut Conn, size: u64) -> Result<Option<String>, StoreError> {
    let Some(mut note) = conn.checkpoint(size).await? else { return Ok(None) };
    for (_, line) in conn.cosignatures(size).await? {
        note.push_str(&line);
    }
    Ok(Some(note))
}

/// The log's root when it had `size` leaves; `None` if it never was that long.
pub(super) async fn root_at(conn: &mut Conn, size: u64) -> Result<Option<Hash>, StoreError> {
    if size == 0 {
        return Ok(Some(empty_root()));
    }
    if size > conn.log_head().await?.size {
        return Ok(None);
    }
    let Ok(plan) = Plan::root(size) else { return Ok(None) };
    Ok(compute(conn, &plan, size).await?.first().copied())
}

pub(super) async fn compute(conn: &mut Conn, plan: &Plan, size: u64) -> Result<Vec<Hash>, StoreError> {
    let mut tiles = Tiles::new();
    let needed: BTreeSet<Tile> = plan.tiles(size);
    for tile in needed {
        let bytes = read(conn, tile).await?.ok_or_else(|| missing(tile))?;
        tiles.insert(tile, &bytes).map_err(|_| missing(tile))?;
    }
    plan.compute(|node| tiles.node(node)).map_err(|e| corrupt(e.to_string()))
}

/// The stored tile may have grown since; its first hashes never change.
async fn read(conn: &mut Conn, tile: Tile) -> Result<Option<Vec<u8>>, StoreError> {
    let stored = conn.tile(tile.level(), tile.index()).await?;
    let length = usize::from(tile.width()) * 32;
    Ok(stored.filter(|bytes| bytes.len() >= length).map(|mut bytes| {
        bytes.truncate(length);
        bytes
    }))
}

fn missing(tile: Tile) -> StoreError {
    corrupt(format!("tile {tile} is missing or cut off"))
}

fn corrupt(what: String) -> StoreError {
    StoreError::Corrupt { table: "log_tile", what }
}
