//! Where an audit's bytes come from. None of them is trusted.

use std::{fmt, sync::Arc};

use serde::Deserialize;

use super::super::{Error, Registry};
use crate::{
    canon::Sha256,
    clock::Span,
    env::{BoxFuture, Clock},
    log::{Bundle, MAX_LEAF, Tile, note},
    name::SetName,
    pinset::verify::MAX_ANSWER_BYTES,
};

/// A registry's log and documents, from wherever. `None` says that it isn't there.
pub trait Source: Send + Sync {
    /// The newest trust file.
    fn trust(&self) -> BoxFuture<'_, Result<Option<String>, Blind>>;

    /// An older version of it.
    fn trust_version(&self, version: u64) -> BoxFuture<'_, Result<Option<String>, Blind>>;

    /// The newest checkpoint, a signed note.
    fn checkpoint(&self) -> BoxFuture<'_, Result<Option<String>, Blind>>;

    /// Checkpoints from a cursor on, the smallest first.
    fn checkpoints(&self, cursor: Option<String>) -> BoxFuture<'_, Result<Piece, Blind>>;

    /// A bundle of entries.
    fn bundle(&self, bundle: Bundle) -> BoxFuture<'_, Result<Option<Vec<u8>>, Blind>>;

    /// A tile of hashes.
    fn tile(&self, tile: Tile) -> BoxFuture<'_, Result<Option<Vec<u8>>, Blind>>;

    /// A set or pins document of a pin set, of this many bytes.
    fn document<'a>(
        &'a self,
        set: &'a SetName,
        sha256: Sha256,
        size: usize,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Blind>>;

    /// The head of a pin set.
    fn head<'a>(&'a self, set: &'a SetName) -> BoxFuture<'a, Result<Option<Served>, Blind>>;
}

/// A head as a source has it.
#[derive(Clone, Debug)]
pub enum Served {
    /// The answer to `GET head`, with its proofs, to be relied on now.
    Answer(Vec<u8>),
    /// A stored envelope, which nobody may be serving.
    Stored(Vec<u8>),
}

/// A piece of the list of checkpoints.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Piece {
    /// Sizes and notes, the smallest first.
    pub items: Vec<Listed>,
    /// Where the next piece begins.
    pub next_cursor: Option<String>,
}

/// A listed checkpoint.
#[derive(Clone, Debug, Deserialize)]
pub struct Listed {
    /// How many leaves it says it covers.
    pub size: u64,
    /// The signed note.
    pub note: String,
}

/// There was no looking.
#[derive(Debug, thiserror::Error)]
pub enum Blind {
    /// The registry didn't answer, or refused to.
    #[error(transparent)]
    Fetch(#[from] Error),
    /// The database didn't answer.
    #[error("{0}")]
    Stored(String),
    /// An answer that isn't in its form.
    #[error("{0}")]
    Form(String),
    /// The file to resume by can't be written.
    #[error("{0}")]
    Resume(String),
}

impl Blind {
    /// What the trust file in hand can't verify where there is a newer one, which it doesn't lead to.
    pub(super) fn newer_trust(what: impl fmt::Display) -> Self {
        Self::Form(format!("{what}; a newer trust file exists: fetch it with `countersign trust`, and compare it"))
    }
}

/// A registry over HTTP.
pub struct Http {
    registry: Registry,
    clock: Arc<dyn Clock>,
}

/// Trust files and checkpoints.
const MAX_NOTE: usize = note::MAX_BYTES;
/// Two hundred notes with the signatures of some witnesses.
const MAX_PIECE: usize = 8 << 20;
/// 256 leaves of the longest kind, each after its length.
const MAX_BUNDLE: usize = 256 * (MAX_LEAF + 2);
const MAX_TILE: usize = 256 * 32;
/// Checkpoints that are asked for at once.
const PIECE: &str = "200";
/// A registry that says "later" counts requests by the minute.
const LATER: Span = Span::seconds(5);
/// So often a request is made again before the audit gives up: two minutes.
const RETRIES: usize = 24;

impl Http {
    /// The registry.
    pub fn new(registry: Registry, clock: Arc<dyn Clock>) -> Self {
        Self { registry, clock }
    }

    /// The body, `None` for 404. Whatever is longer than it can be comes out empty, which isn't it either.
    async fn get(&self, path: &[&str], query: &[(&str, &str)], max: usize) -> Result<Option<Vec<u8>>, Blind> {
        let mut tries = 0;
        loop {
            match self.registry.get(&*self.clock, path, query, None, max).await {
                Ok(body) => return Ok(body.map(|body| body.bytes)),
                Err(Error::Status { status: 404, .. }) => return Ok(None),
                Err(Error::TooLarge(_)) => return Ok(Some(Vec::new())),
                Err(Error::Status { status: 429, .. }) if tries < RETRIES => {
                    tries += 1;
                    self.clock.until(self.clock.now() + LATER).await;
                }
                Err(e) => return Err(e.into()),
            }
        }
    }

    async fn text(&self, path: &[&str]) -> Result<Option<String>, Blind> {
        Ok(self.get(path, &[], MAX_NOTE).await?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    async fn file(&self, place: &str, max: usize) -> Result<Option<Vec<u8>>, Blind> {
        let path: Vec<&str> = ["log"].into_iter().chain(place.split('/')).collect();
        self.get(&path, &[], max).await
    }
}

impl Source for Http {
    fn trust(&self) -> BoxFuture<'_, Result<Option<String>, Blind>> {
        Box::pin(self.text(&["v1", "trust"]))
    }

    fn trust_version(&self, version: u64) -> BoxFuture<'_, Result<Option<String>, Blind>> {
        Box::pin(async move { self.text(&["v1", "trust", &version.to_string()]).await })
    }

    fn checkpoint(&self) -> BoxFuture<'_, Result<Option<String>, Blind>> {
        Box::pin(self.text(&["log", "checkpoint"]))
    }

    fn checkpoints(&self, cursor: Option<String>) -> BoxFuture<'_, Result<Piece, Blind>> {
        Box::pin(async move {
            let mut query = vec![("limit", PIECE)];
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let found = self.get(&["v1", "log", "checkpoints"], &query, MAX_PIECE).await?;
            let none = || Blind::Form("the registry lists no checkpoints: it is older than this program".to_owned());
            let form = |e| Blind::Form(format!("the list of checkpoints is not in its form: {e}"));
            serde_json::from_slice(&found.ok_or_else(none)?).map_err(form)
        })
    }

    fn bundle(&self, bundle: Bundle) -> BoxFuture<'_, Result<Option<Vec<u8>>, Blind>> {
        Box::pin(async move { self.file(&bundle.to_string(), MAX_BUNDLE).await })
    }

    fn tile(&self, tile: Tile) -> BoxFuture<'_, Result<Option<Vec<u8>>, Blind>> {
        Box::pin(async move { self.file(&tile.to_string(), MAX_TILE).await })
    }

    fn document<'a>(
        &'a self,
        set: &'a SetName,
        sha256: Sha256,
        size: usize,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Blind>> {
        Box::pin(async move {
            let name = sha256.to_string();
            self.get(&["v1", "pinsets", set.as_str(), "sets", &name], &[], size).await
        })
    }

    fn head<'a>(&'a self, set: &'a SetName) -> BoxFuture<'a, Result<Option<Served>, Blind>> {
        Box::pin(async move {
            let answer = self.get(&["v1", "pinsets", set.as_str(), "head"], &[], MAX_ANSWER_BYTES).await?;
            Ok(answer.map(Served::Answer))
        })
    }
}
