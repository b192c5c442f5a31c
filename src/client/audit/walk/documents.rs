//! The documents of pin sets: what a source has, held to what the entries give, byte for byte.

use std::{collections::VecDeque, sync::Arc};

use tokio::task::JoinHandle;

use super::{Stop, Walk};
use crate::{
    client::audit::{Blind, Fault, FaultKind, Source},
    pinset::replay::{Due, Found},
};

/// Documents that are fetched at once.
const DOCUMENTS: usize = 8;
/// Expected documents that wait to be compared take no more memory than this and one version more.
const MAX_WAITING: usize = 16 << 20;

impl Walk {
    pub(super) async fn due(&mut self, due: Vec<Due>) -> Result<(), Stop> {
        if self.edge.size() <= self.report.resumed_at {
            due.iter().for_each(|due| self.replay.settle(&due.document.sha256, Found::Unasked));
            return Ok(());
        }
        self.waiting.extend(due);
        if self.waiting.iter().map(|due| due.bytes.len()).sum::<usize>() > MAX_WAITING {
            self.compare_documents().await?;
        }
        Ok(())
    }

    /// Looks for the documents that must be there.
    pub(super) async fn compare_documents(&mut self) -> Result<(), Stop> {
        let mut waiting = std::mem::take(&mut self.waiting).into_iter();
        let mut asked: VecDeque<JoinHandle<Result<(Due, Found), Blind>>> = VecDeque::new();
        loop {
            while asked.len() < DOCUMENTS
                && let Some(due) = waiting.next()
            {
                asked.push_back(tokio::spawn(look_for(Arc::clone(&self.source), due)));
            }
            let Some(looked) = asked.pop_front() else { break };
            let (due, found) = looked.await.map_err(|e| Blind::Form(format!("a task failed: {e}")))??;
            self.replay.settle(&due.document.sha256, found);
            if found == Found::Other {
                let what = format!("{} has other bytes than the log gives", due.document);
                self.fault(Fault::new(FaultKind::Document, what))?;
            }
        }
        self.missing(false)
    }

    pub(super) fn missing(&mut self, ended: bool) -> Result<(), Stop> {
        for document in self.replay.missing(ended) {
            let what = format!("{document} should be there and is missing");
            self.fault(Fault::new(FaultKind::MissingDocument, what))?;
        }
        Ok(())
    }
}

async fn look_for(source: Arc<dyn Source>, due: Due) -> Result<(Due, Found), Blind> {
    let Due { document, bytes } = &due;
    let found = match source.document(&document.set, document.sha256, bytes.len()).await? {
        None => Found::Absent,
        Some(served) if served == *bytes => Found::Equal,
        Some(_) => Found::Other,
    };
    Ok((due, found))
}
