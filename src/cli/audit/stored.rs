//! A registry's database as the source of an audit: without a server, or beside one.

use crate::{
    canon::Sha256,
    client::audit::{Blind, Listed, Piece, Served, Source},
    env::BoxFuture,
    log::{Bundle, MAX_SIZE, Tile},
    name::SetName,
    store::{Conn, Reader, StoreError},
};

/// The database, opened to read.
pub(super) struct Stored(Reader);

/// Checkpoints that are read at once.
const PIECE: u32 = 500;

impl Stored {
    pub(super) const fn new(reader: Reader) -> Self {
        Self(reader)
    }

    async fn conn(&self) -> Result<Conn, Blind> {
        self.0.conn().await.map_err(blind)
    }
}

impl Source for Stored {
    fn trust(&self) -> BoxFuture<'_, Result<Option<String>, Blind>> {
        Box::pin(async { Ok(self.conn().await?.trust().await.map_err(blind)?.map(|trust| trust.note)) })
    }

    fn trust_version(&self, version: u64) -> BoxFuture<'_, Result<Option<String>, Blind>> {
        Box::pin(async move {
            let found = self.conn().await?.trust_version(version).await.map_err(blind)?;
            Ok(found.map(|trust| trust.note))
        })
    }

    fn checkpoint(&self) -> BoxFuture<'_, Result<Option<String>, Blind>> {
        Box::pin(async {
            let mut conn = self.conn().await?;
            let size = conn.log_head().await.map_err(blind)?.size;
            conn.checkpoint(size).await.map_err(blind)
        })
    }

    fn checkpoints(&self, cursor: Option<String>) -> BoxFuture<'_, Result<Piece, Blind>> {
        Box::pin(async move {
            let bad = || Blind::Form("the file to resume by is of an audit over HTTP".to_owned());
            let after = cursor.map_or(Ok(0), |cursor| cursor.parse::<u64>().map_err(|_| bad()))?;
            let found = self.conn().await?.checkpoints(after, MAX_SIZE, PIECE).await.map_err(blind)?;
            let next_cursor = found.last().map(|last| last.size.to_string());
            let items = found.into_iter().map(|row| Listed { size: row.size, note: row.note }).collect();
            Ok(Piece { items, next_cursor })
        })
    }

    fn bundle(&self, bundle: Bundle) -> BoxFuture<'_, Result<Option<Vec<u8>>, Blind>> {
        Box::pin(async move {
            let leaves = bundle.leaves();
            match self.conn().await?.leaves(leaves.start, leaves.end).await {
                Ok(leaves) => Ok(bundle.encode(&leaves).ok()),
                // One of them isn't there.
                Err(StoreError::Corrupt { .. }) => Ok(None),
                Err(e) => Err(blind(e)),
            }
        })
    }

    fn tile(&self, tile: Tile) -> BoxFuture<'_, Result<Option<Vec<u8>>, Blind>> {
        Box::pin(async move {
            let stored = self.conn().await?.tile(tile.level(), tile.index()).await.map_err(blind)?;
            let length = usize::from(tile.width()) * 32;
            Ok(stored.and_then(|bytes| bytes.get(..length).map(<[u8]>::to_vec)))
        })
    }

    fn document<'a>(
        &'a self,
        _: &'a SetName,
        sha256: Sha256,
        _: usize,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Blind>> {
        Box::pin(async move { Ok(self.conn().await?.content(sha256).await.map_err(blind)?.map(|found| found.bytes)) })
    }

    fn head<'a>(&'a self, set: &'a SetName) -> BoxFuture<'a, Result<Option<Served>, Blind>> {
        Box::pin(async move {
            let head = self.conn().await?.head(set).await.map_err(blind)?;
            Ok(head.map(|head| Served::Stored(head.envelope)))
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "to be given to map_err")]
fn blind(e: StoreError) -> Blind {
    Blind::Stored(e.to_string())
}
