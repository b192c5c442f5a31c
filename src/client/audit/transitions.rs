//! The list of all checkpoints, held to the entries while they are read: each signed by the log, each of a longer log than
//! the one before, each with the root that the entries have at its size.

use std::collections::VecDeque;

use super::{Blind, Fault, FaultKind, Source, source::Listed, walk::Stop};
use crate::{log::Edge, pinset::trust::Trust};

/// How far the list was read.
#[derive(Debug, Default)]
pub(super) struct Transitions {
    piece: VecDeque<Listed>,
    /// Where the piece at hand began.
    pub(super) cursor: Option<String>,
    next: Option<String>,
    begun: bool,
    /// The last one that was verified.
    pub(super) last: u64,
    note: String,
    /// What an earlier run verified.
    skip: u64,
    pub(super) verified: u64,
    /// Whether there is a newer trust file that the one in hand doesn't lead to.
    pub(super) behind: bool,
}

impl Transitions {
    /// From where an earlier run ended.
    pub(super) fn after(last: u64, cursor: Option<String>) -> Self {
        Self { next: cursor, last, skip: last, ..Self::default() }
    }

    /// Verifies what is listed up to the size that was read.
    pub(super) async fn at(&mut self, source: &dyn Source, trust: &Trust, read: &Edge) -> Result<(), Stop> {
        let size = read.size();
        loop {
            if self.piece.is_empty() && !self.fetch(source).await? {
                return Ok(());
            }
            let Some(listed) = self.piece.front() else { return Ok(()) };
            if listed.size > size {
                return Ok(());
            }
            let Some(Listed { size: stated, note }) = self.piece.pop_front() else { return Ok(()) };
            if stated <= self.skip {
                continue;
            }
            let bad = |what: String| Fault::new(FaultKind::Checkpoint, what);
            let signed = trust.open_ever(&note).map_err(|e| {
                let what = format!("the listed checkpoint of {stated} leaves: {e}");
                if self.behind { Blind::newer_trust(what).into() } else { Stop::from(bad(what).with([note.clone()])) }
            })?;
            if signed.size != stated {
                let what = format!("the checkpoint listed for {stated} leaves is of {}", signed.size);
                return Err(bad(what).with([note]).into());
            }
            let root = read.root();
            if stated <= self.last {
                let what = format!("after the checkpoint of {} leaves another of {stated} is listed", self.last);
                let forked = stated == size && signed.root != root;
                let kind = if forked { FaultKind::Fork } else { FaultKind::Checkpoint };
                return Err(Fault::new(kind, what).with([self.note.clone(), note]).into());
            }
            if signed.root != root {
                let what = format!(
                    "the checkpoint of {stated} leaves is signed over the root {}, and the entries hash to {root}",
                    signed.root
                );
                return Err(Fault::new(FaultKind::Fork, what).with([note]).into());
            }
            (self.last, self.note) = (stated, note);
            self.verified += 1;
        }
    }

    /// Gets the next piece; whether there is one.
    async fn fetch(&mut self, source: &dyn Source) -> Result<bool, Stop> {
        if self.begun && self.next.is_none() {
            return Ok(false);
        }
        self.cursor = self.next.take();
        let piece = source.checkpoints(self.cursor.clone()).await?;
        self.begun = true;
        // A piece without items would lead on for ever.
        self.next = piece.next_cursor.filter(|_| !piece.items.is_empty());
        self.piece = piece.items.into();
        Ok(!self.piece.is_empty())
    }
}
