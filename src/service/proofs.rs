//! Proofs and log files, from stored tiles.

use std::collections::BTreeSet;

use super::App;
use crate::{
    log::{Bundle, Hash, Plan, Proof, Tile, Tiles, empty_root},
    store::{Conn, StoreError},
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
    pub async fn tile(&self, tile: Tile) -> Result<Option<Vec<u8>>, StoreError> {
        if !tile.is_in(self.moment().checkpoint.size) {
            return Ok(None);
        }
        read(&mut self.reader().conn().await?, tile).await
    }

    /// A bundle of leaves, if the newest checkpoint covers it.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn bundle(&self, bundle: Bundle) -> Result<Option<Vec<u8>>, StoreError> {
        if !bundle.is_in(self.moment().checkpoint.size) {
            return Ok(None);
        }
        let leaves = bundle.leaves();
        let leaves = self.reader().conn().await?.leaves(leaves.start, leaves.end).await?;
        bundle.encode(&leaves).map(Some).map_err(|e| StoreError::Corrupt { table: "log_leaf", what: e.to_string() })
    }

    async fn compute(&self, plan: &Plan, size: u64) -> Result<Vec<Hash>, NoProof> {
        let mut conn = self.reader().conn().await?;
        Ok(compute(&mut conn, plan, size).await?)
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
    let corrupt = |what: String| StoreError::Corrupt { table: "log_tile", what };
    let mut tiles = Tiles::new();
    let needed: BTreeSet<Tile> = plan.tiles(size);
    for tile in needed {
        let bytes = read(conn, tile).await?.ok_or_else(|| corrupt(format!("tile {tile} is missing")))?;
        tiles.insert(tile, &bytes).map_err(|_| corrupt(format!("tile {tile} is cut off")))?;
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
