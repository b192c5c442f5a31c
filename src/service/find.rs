//! Where in the log something is: by the digests and ids that people carry around.

use super::App;
use crate::{
    canon::Sha256,
    log::{FULL, Hash},
    store::{Conn, StoreError},
};

/// What a search for a hash came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Found {
    /// The leaf of this index is it, or is about it.
    Entry(u64),
    /// Nothing is.
    Nothing,
    /// Nothing of what was looked at: hashes of leaves before this one were not.
    NothingSince(u64),
}

/// Leaf hashes are in no index, so the newest 1,048,576 of them are read, 32 MiB; older leaves are found by their number.
const TILES: u64 = 4_096;
/// Tiles read at a time: 512 KiB.
const PIECE: u64 = 64;

impl App {
    /// The leaf of a release, by its id.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn find_release(&self, id: &str) -> Result<Option<u64>, StoreError> {
        let release = self.reader().conn().await?.release(id).await?;
        Ok(release.map(|release| release.log_index).filter(|index| self.covers(*index)))
    }

    /// The leaf with this hash, or that a decision, an attestation or a version of a pin set with this SHA-256 is in.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn find_hash(&self, sha256: Sha256) -> Result<Found, StoreError> {
        let mut conn = self.reader().conn().await?;
        if let Some(index) = named(&mut conn, sha256).await?.filter(|index| self.covers(*index)) {
            return Ok(Found::Entry(index));
        }
        self.find_leaf(&mut conn, sha256).await
    }

    /// The leaf hashes are the hashes of the tiles of level 0.
    async fn find_leaf(&self, conn: &mut Conn, hash: Hash) -> Result<Found, StoreError> {
        let full = u64::from(FULL);
        let mut end = self.moment().checkpoint.size.div_ceil(full);
        let least = end.saturating_sub(TILES);
        while end > least {
            let from = end.saturating_sub(PIECE).max(least);
            for (tile, hashes) in conn.tiles(0, from, end).await?.into_iter().rev() {
                let place = hashes.chunks_exact(32).position(|one| one == hash.0);
                let index = place.and_then(|place| u64::try_from(place).ok()).map(|place| tile * full + place);
                if let Some(index) = index.filter(|index| self.covers(*index)) {
                    return Ok(Found::Entry(index));
                }
            }
            end = from;
        }
        Ok(if least == 0 { Found::Nothing } else { Found::NothingSince(least * full) })
    }

    /// What isn't under the checkpoint that is served isn't in the log yet.
    fn covers(&self, index: u64) -> bool {
        index < self.moment().checkpoint.size
    }
}

async fn named(conn: &mut Conn, sha256: Sha256) -> Result<Option<u64>, StoreError> {
    if let Some(decided) = conn.decision(sha256).await? {
        return Ok(Some(decided.log_index));
    }
    if let Some(attestation) = conn.attestation(sha256).await? {
        return Ok(Some(attestation.log_index));
    }
    Ok(conn.set_version_with(sha256).await?.map(|version| version.log_index))
}
