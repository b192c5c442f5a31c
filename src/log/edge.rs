//! The right edge of a growing tree, cut into tiles: what an appender keeps in memory and writes after each batch.

use super::{
    merkle::{Frontier, Hash, MAX_SIZE},
    plan::{Node, Plan},
    tile::{FULL, Tile, Tiles},
};

/// A tree's right edge: its [`Frontier`], and on each level of tiles the hashes since the last full one.
///
/// Append a batch; then [`Edge::tiles`] are the tiles that changed since [`Edge::settle`], each the widest of its place,
/// so that one write a tile replaces the narrower one. A narrower tile of an earlier size is a prefix of it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Edge {
    frontier: Frontier,
    /// One row a level of tiles, from level 0.
    rows: Vec<Row>,
}

/// The newest hashes of one level.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Row {
    /// The number on its level of the first hash in `hashes`; a multiple of 256.
    first: u64,
    /// Since the first tile that isn't settled.
    hashes: Vec<Hash>,
    /// How many of them were there when the edge was settled.
    settled: usize,
}

/// The tiles don't make up the right edge of a tree of this size.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the tiles are not the right edge of a tree of this size")]
pub struct NotAnEdge;

impl Edge {
    /// The edge of the tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tiles that [`Edge::restore`] needs for a tree of this size: on each level the partial one, and those that
    /// hold the frontier.
    pub fn needs(size: u64) -> std::collections::BTreeSet<Tile> {
        let mut tiles = Plan::root(size).map(|plan| plan.tiles(size)).unwrap_or_default();
        for level in 0..8 {
            let hashes = size >> (8 * u32::from(level));
            let width = u16::try_from(hashes % u64::from(FULL)).unwrap_or_default();
            tiles.extend(Tile::new(level, hashes / u64::from(FULL), width));
        }
        tiles
    }

    /// The settled edge of a tree of this size, from its tiles. Compare [`Edge::root`] with a signed root before
    /// appending: a flipped bit in a stored tile shows there and nowhere later.
    ///
    /// # Errors
    /// [`NotAnEdge`] if a tile is missing.
    pub fn restore(size: u64, tiles: &Tiles) -> Result<Self, NotAnEdge> {
        let plan = Plan::root(size).map_err(|_| NotAnEdge)?;
        let frontier: Option<Vec<Hash>> = plan.nodes().map(|node| tiles.node(node)).collect();
        let frontier = Frontier::from_hashes(size, frontier.ok_or(NotAnEdge)?).map_err(|_| NotAnEdge)?;
        let mut rows = Vec::new();
        for height in (0_u8..64).step_by(8) {
            let count = size >> height;
            if count == 0 {
                break;
            }
            let first = count - count % u64::from(FULL);
            let hashes: Option<Vec<Hash>> = (first..count).map(|index| tiles.node(Node { height, index })).collect();
            let hashes = hashes.ok_or(NotAnEdge)?;
            rows.push(Row { first, settled: hashes.len(), hashes });
        }
        Ok(Self { frontier, rows })
    }

    /// Appends a leaf by its hash.
    pub fn append(&mut self, leaf: Hash) {
        let Self { frontier, rows } = self;
        frontier.append_noting(leaf, |height, root| {
            if height % 8 == 0 {
                let level = usize::try_from(height / 8).unwrap_or(usize::MAX);
                if level == rows.len() {
                    rows.push(Row::default());
                }
                if let Some(row) = rows.get_mut(level) {
                    row.hashes.push(*root);
                }
            }
        });
    }

    /// The tiles that changed since the edge was settled, with their bytes.
    pub fn tiles(&self) -> impl Iterator<Item = (Tile, Vec<u8>)> {
        self.rows.iter().zip(0_u8..).flat_map(|(row, level)| {
            let tiles = row.hashes.chunks(usize::from(FULL)).zip(row.first / u64::from(FULL)..);
            let settled = row.settled;
            tiles.enumerate().filter_map(move |(n, (hashes, index))| {
                // Only the first tile can have settled hashes, and it changed if it has others too.
                let changed = n > 0 || hashes.len() > settled;
                let tile = Tile::new(level, index, u16::try_from(hashes.len()).ok()?).ok()?;
                changed.then(|| (tile, hashes.iter().flat_map(|hash| hash.0).collect()))
            })
        })
    }

    /// The partial tiles that a tree of this size ends with, one a level at most, with their bytes.
    pub fn ends(&self) -> impl Iterator<Item = (Tile, Vec<u8>)> {
        self.rows.iter().zip(0_u8..).filter_map(|(row, level)| {
            let full = row.hashes.len() - row.hashes.len() % usize::from(FULL);
            let rest = row.hashes.get(full..).filter(|rest| !rest.is_empty())?;
            let index = (row.first + u64::try_from(full).ok()?) / u64::from(FULL);
            let tile = Tile::new(level, index, u16::try_from(rest.len()).ok()?).ok()?;
            Some((tile, rest.iter().flat_map(|hash| hash.0).collect()))
        })
    }

    /// Marks what [`Edge::tiles`] tells as written, and forgets the full tiles.
    pub fn settle(&mut self) {
        for row in &mut self.rows {
            let full = row.hashes.len() - row.hashes.len() % usize::from(FULL);
            row.hashes.drain(..full);
            row.first = row.first.saturating_add(u64::try_from(full).unwrap_or(MAX_SIZE));
            row.settled = row.hashes.len();
        }
    }

    /// How many leaves the tree has.
    pub const fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// The tree's root.
    pub fn root(&self) -> Hash {
        self.frontier.root()
    }

    /// The frontier alone.
    pub const fn frontier(&self) -> &Frontier {
        &self.frontier
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::leaf_hash;

    #[test]
    fn a_tree_ends_with_the_partial_tiles_of_its_size_settled_or_not() {
        let mut edge = Edge::new();
        for n in 1_u64..=66_000 {
            edge.append(leaf_hash(&n.to_be_bytes()));
            let settle = n % 256 == 0;
            if settle {
                edge.settle();
            }
            if [1, 255, 256, 257, 65_535, 65_536, 65_537, 66_000].contains(&n) {
                let ends: Vec<_> = edge.ends().map(|(t, b)| (t.level(), t.index(), t.width(), b.len())).collect();
                let widths = (0_u32..8).map(|level| (level, n >> (8 * level))).filter(|(_, hashes)| hashes % 256 > 0);
                let expected: Vec<_> = widths
                    .map(|(level, hashes)| {
                        let width = u16::try_from(hashes % 256).expect("small");
                        (u8::try_from(level).expect("small"), hashes / 256, width, usize::from(width) * 32)
                    })
                    .collect();
                assert_eq!(ends, expected, "{n}");
            }
        }
    }
}
