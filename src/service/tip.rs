//! The log's end as this process knows it: what the fold says there, and the tree's right edge.
//!
//! Only what was read back from the database goes in, and nothing stays in unless root and signed checkpoint agree with
//! it: a flipped bit, a missing row or a foreign one shows here, before anything is signed over it.

use std::sync::Arc;

use crate::{
    log::{Checkpoint, Edge, leaf_hash},
    pinset::State,
    store::{Conn, LogHead, StoreError},
};

use super::{ReadOnly, logs::Logs};

/// State and edge at one size of the log, and who signs there; nobody before the first leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Tip {
    pub(super) state: State,
    pub(super) edge: Edge,
    pub(super) logs: Option<Arc<Logs>>,
}

/// The log can't be followed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    ReadOnly(#[from] ReadOnly),
}

/// Leaves read at a time: at most 64 MiB, mostly far less.
const CHUNK: u64 = 1_024;

impl Tip {
    /// Reads what others have appended, up to `head`; `whole` also compares the stored tiles, as at start-up. On an error
    /// nothing has changed.
    pub(super) async fn catch_up(
        &mut self,
        conn: &mut Conn,
        head: &LogHead,
        whole: bool,
    ) -> Result<Option<(Checkpoint, String)>, Lost> {
        let known = self.state.size();
        if head.size < known {
            return Err(ReadOnly::Behind { size: head.size, anchored: known }.into());
        }
        let mut next = self.clone();
        while next.state.size() < head.size {
            let from = next.state.size();
            let leaves = conn.leaves(from, head.size.min(from + CHUNK)).await?;
            for (index, leaf) in (from..).zip(&leaves) {
                next.state.apply(index, leaf).map_err(|e| damaged(format!("leaf {index}: {e}")))?;
                next.edge.append(leaf_hash(leaf));
            }
            if whole {
                compare_tiles(&next.edge, conn).await?;
            }
            next.edge.settle();
        }
        if next.edge.root() != head.root {
            return Err(damaged(format!("its leaves do not hash to the root of size {}", head.size)));
        }
        if head.size == 0 {
            return Ok(None);
        }
        let note = conn.checkpoint(head.size).await?;
        let note = note.ok_or_else(|| damaged(format!("the checkpoint of size {} is missing", head.size)))?;
        let logs = next.read_logs(conn).await?;
        let checkpoint = logs.open(&note).map_err(|e| damaged(e.to_string()))?;
        if (checkpoint.size, checkpoint.root) != (head.size, head.root) {
            return Err(damaged(format!("the checkpoint of size {} says otherwise", head.size)));
        }
        *self = next;
        Ok(Some((checkpoint, note)))
    }

    /// Whose checkpoints count here: read again where the log names another trust file.
    async fn read_logs(&mut self, conn: &mut Conn) -> Result<Arc<Logs>, Lost> {
        let registry = self.state.registry().ok_or_else(|| damaged("there is no registry in it".to_owned()))?;
        if let Some(logs) = self.logs.as_ref().filter(|logs| logs.row.version == registry.trust_version) {
            return Ok(Arc::clone(logs));
        }
        let row = conn.trust_version(registry.trust_version).await?;
        let row = row.ok_or_else(|| damaged(format!("trust file {} is missing", registry.trust_version)))?;
        let logs = Arc::new(Logs::new(row, registry)?);
        self.logs = Some(Arc::clone(&logs));
        Ok(logs)
    }
}

/// Compares the tiles that changed since the edge was settled with those that are stored.
pub(super) async fn compare_tiles(edge: &Edge, conn: &mut Conn) -> Result<(), Lost> {
    let computed: Vec<_> = edge.tiles().collect();
    for (tile, bytes) in computed {
        let stored = conn.tile(tile.level(), tile.index()).await?;
        if !stored.is_some_and(|stored| stored.starts_with(&bytes)) {
            return Err(damaged(format!("tile {tile} is not made of its leaves")));
        }
    }
    Ok(())
}

fn damaged(what: String) -> Lost {
    ReadOnly::Damaged(what).into()
}
