//! The walk through what is stored, again and again: a bit that flips in a database shows here and not first at an auditor.
//!
//! Each turn reads one bundle's leaves and hashes them anew, compares the tiles that they belong to, and at the log's end
//! the root with the checkpoint that is served. It reads past every cache. What doesn't come out makes the registry
//! read-only, because whatever it signed from then on would contradict what it serves. Each process walks by itself; a
//! restart begins anew, after opening has read everything once anyway.

use super::{App, ReadOnly, tip};
use crate::{
    log::{Edge, FULL, leaf_hash},
    store::StoreError,
};

/// How far a walk has come.
#[derive(Debug, Default)]
pub(super) struct Walk {
    edge: Edge,
    passes: u64,
}

/// Where the walk is, to be shown.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Rechecked {
    /// Leaves that were read again since the walk last began.
    pub leaves: u64,
    /// How often it came to the log's end.
    pub passes: u64,
}

impl App {
    /// Reads the next bundle of stored leaves again; how far the walk has come. What contradicts itself makes the
    /// registry read-only, and the walk stays where it is.
    ///
    /// # Errors
    /// [`StoreError`] if the database doesn't answer; nothing is known then, and the next turn tries again.
    pub async fn recheck(&self) -> Result<Rechecked, StoreError> {
        let mut walk = self.core.walk.lock().await;
        match self.turn(&mut walk).await {
            Ok(()) => {}
            Err(tip::Lost::ReadOnly(reason)) => drop(self.core.stop_appending(reason)),
            // A missing leaf or a cut row is damage; a database that doesn't answer says nothing about what it holds.
            Err(tip::Lost::Store(e @ StoreError::Corrupt { .. })) => {
                drop(self.core.stop_appending(ReadOnly::Damaged(e.to_string())));
            }
            Err(tip::Lost::Store(e)) => return Err(e),
        }
        let rechecked = Rechecked { leaves: walk.edge.size(), passes: walk.passes };
        self.core.rechecked.store(std::sync::Arc::new(rechecked));
        Ok(rechecked)
    }

    /// Where the walk is.
    pub fn rechecked(&self) -> Rechecked {
        **self.core.rechecked.load()
    }

    async fn turn(&self, walk: &mut Walk) -> Result<(), tip::Lost> {
        let signed = self.moment().checkpoint.clone();
        let from = walk.edge.size();
        let to = signed.size.min(from + u64::from(FULL));
        let mut edge = walk.edge.clone();
        let mut conn = self.reader().conn().await?;
        for leaf in conn.leaves(from, to).await? {
            edge.append(leaf_hash(&leaf));
        }
        tip::compare_tiles(&edge, &mut conn).await?;
        edge.settle();
        if to < signed.size {
            walk.edge = edge;
            return Ok(());
        }
        if edge.root() != signed.root {
            let what = format!("its leaves do not hash to the checkpoint of size {}", signed.size);
            return Err(ReadOnly::Damaged(what).into());
        }
        *walk = Walk { edge: Edge::new(), passes: walk.passes + 1 };
        Ok(())
    }
}
