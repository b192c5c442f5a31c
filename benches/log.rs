//! Appending to the log in memory, against what no implementation can beat: two SHA-256 calls a leaf.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use countersign::log::{Edge, Frontier, leaf_hash};
use criterion::{Criterion, criterion_group};
use sha2::{Digest as _, Sha256};

const LEAVES: u64 = 1_000_000;

/// Short, so that what isn't hashing weighs the most.
const LEAF: usize = 32;

fn leaf(index: u64) -> [u8; LEAF] {
    let mut leaf = [0x5a; LEAF];
    leaf[..8].copy_from_slice(&index.to_be_bytes());
    leaf
}

/// One hash over a leaf's bytes and the byte before them, one over a node's.
fn bound() -> u8 {
    let (mut before, mut node) = ([0; LEAF + 1], [1; 65]);
    let mut out = 0;
    for index in 0..LEAVES {
        before[1..].copy_from_slice(&leaf(index));
        let hash = Sha256::digest(before);
        node[1..33].copy_from_slice(&hash);
        out ^= Sha256::digest(node)[0];
    }
    out
}

fn append() -> countersign::log::Hash {
    let mut tree = Frontier::new();
    (0..LEAVES).for_each(|index| tree.append(leaf_hash(&leaf(index))));
    tree.root()
}

fn append_with_tiles() -> usize {
    let mut tree = Edge::new();
    let mut tiles = 0;
    for index in 0..LEAVES {
        tree.append(leaf_hash(&leaf(index)));
        if index % 1000 == 999 {
            tiles += tree.tiles().count();
            tree.settle();
        }
    }
    tiles
}

fn benches(c: &mut Criterion) {
    let mut group = c.benchmark_group("log/1000000 leaves");
    group.sample_size(10).measurement_time(Duration::from_secs(8));
    group.throughput(criterion::Throughput::Elements(LEAVES));
    group.bench_function("bound", |b| b.iter(|| black_box(bound())));
    group.bench_function("append", |b| b.iter(|| black_box(append())));
    group.bench_function("append, tiles each 1000", |b| b.iter(|| black_box(append_with_tiles())));
    group.finish();
}

/// The best of several rounds that alternate, so that a busy machine slows both alike.
fn ratio() {
    #[expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
    fn timed<T>(work: fn() -> T) -> Duration {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    }
    let rounds: Vec<_> = (0..7).map(|_| (timed(bound), timed(append))).collect();
    let least = |of: fn(&(Duration, Duration)) -> Duration| rounds.iter().map(of).min().unwrap_or_default();
    let (bound, append) = (least(|r| r.0), least(|r| r.1));
    let percent = 100.0 * bound.as_secs_f64() / append.as_secs_f64();
    #[expect(clippy::print_stdout, reason = "a bench reports")]
    {
        println!("log: append of {LEAVES} leaves {append:?}, bound {bound:?}: {percent:.0} % of it (at least 80)");
    }
}

criterion_group!(log, benches);

fn main() {
    log();
    Criterion::default().configure_from_args().final_summary();
    ratio();
}
