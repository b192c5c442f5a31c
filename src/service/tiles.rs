//! The log's full files in memory: readers of old parts of the log ask the database once for each.
//!
//! A full tile and a full bundle never change, so nothing here goes stale; partial ones grow with each write and are read
//! from the database. What is kept is bounded by its bytes. Of several readers that miss the same file at once one reads
//! it and the others wait for that. The re-check of stored leaves doesn't look in here.

use std::{
    future::Future,
    sync::atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use quick_cache::{OptionsBuilder, Weighter, sync::Cache};

use crate::{
    log::{Bundle, Tile},
    store::StoreError,
};

/// Some 250 bundles of ordinary leaves, or 4,000 tiles: what auditors and gateways that start anew read at one time.
const CAPACITY: u64 = 32 << 20;
/// A bundle of the longest leaves has 16 MiB; in one of two parts it still finds room.
const PARTS: usize = 2;
/// Beside its bytes, an entry has keys and links of about this size.
const OVERHEAD: u64 = 128;

/// Full tiles and bundles.
pub(super) struct Full {
    files: Cache<File, Bytes, Size>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// One file of the log.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum File {
    Tile(Tile),
    Bundle(Bundle),
}

/// How the memory was used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CacheUse {
    /// Files that were found.
    pub hits: u64,
    /// Files that the database was asked for.
    pub misses: u64,
    /// Bytes in use.
    pub bytes: u64,
}

#[derive(Clone)]
struct Size;

impl Weighter<File, Bytes> for Size {
    fn weight(&self, _: &File, bytes: &Bytes) -> u64 {
        bytes.len() as u64 + OVERHEAD
    }
}

impl Full {
    pub(super) fn new() -> Self {
        Self::with_capacity(CAPACITY)
    }

    fn with_capacity(bytes: u64) -> Self {
        let items = usize::try_from(bytes / (8 << 10)).unwrap_or(usize::MAX);
        let options = OptionsBuilder::new()
            .shards(PARTS)
            .estimated_items_capacity(items)
            .weight_capacity(bytes)
            // A part of half the capacity, all of it open to one large bundle.
            .hot_allocation(0.9)
            .build();
        let files = match options {
            Ok(options) => Cache::with_options(options, Size, Default::default(), Default::default()),
            // Every option is set above.
            Err(_) => Cache::with_weighter(items, bytes, Size),
        };
        Self { files, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// The file, by `read` if it isn't here. What `read` doesn't find isn't remembered as absent.
    pub(super) async fn get(
        &self,
        file: File,
        read: impl Future<Output = Result<Option<Vec<u8>>, StoreError>>,
    ) -> Result<Option<Bytes>, StoreError> {
        match self.files.get_value_or_guard_async(&file).await {
            Ok(bytes) => {
                self.hits.fetch_add(1, Ordering::Relaxed);
                Ok(Some(bytes))
            }
            Err(guard) => {
                self.misses.fetch_add(1, Ordering::Relaxed);
                let Some(bytes) = read.await?.map(Bytes::from) else { return Ok(None) };
                // Only a cache that was emptied meanwhile refuses it.
                let _ = guard.insert(bytes.clone());
                Ok(Some(bytes))
            }
        }
    }

    pub(super) fn used(&self) -> CacheUse {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CacheUse { hits: count(&self.hits), misses: count(&self.misses), bytes: self.files.weight() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(index: u64) -> File {
        File::Bundle(Bundle::new(index, 256).expect("a place"))
    }

    #[tokio::test]
    async fn a_file_is_read_once_and_what_is_not_found_is_looked_for_again() {
        let cache = Full::new();
        let tile = File::Tile(Tile::new(0, 0, 256).expect("a place"));
        assert_eq!(cache.get(tile, async { Ok(None) }).await.expect("reads"), None);
        assert_eq!(cache.get(tile, async { Ok(Some(vec![1])) }).await.expect("reads").as_deref(), Some(&[1][..]));
        assert_eq!(cache.get(tile, async { panic!("asked again") }).await.expect("is here").as_deref(), Some(&[1][..]));
        // A tile and a bundle of one place are two files.
        assert_eq!(cache.get(bundle(0), async { Ok(Some(vec![2])) }).await.expect("reads").as_deref(), Some(&[2][..]));
        assert_eq!((cache.used().hits, cache.used().misses), (1, 3));
    }

    #[tokio::test]
    async fn it_holds_no_more_than_its_bytes() {
        let cache = Full::with_capacity(64 << 10);
        for index in 0..100 {
            let kept = cache.get(bundle(index), async { Ok(Some(vec![0; 4 << 10])) }).await.expect("reads");
            assert_eq!(kept.map(|bytes| bytes.len()), Some(4 << 10));
            assert!(cache.used().bytes <= 64 << 10, "{:?}", cache.used());
        }
        assert!(cache.used().bytes > 32 << 10, "{:?}", cache.used());
    }
}
