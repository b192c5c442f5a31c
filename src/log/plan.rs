//! Which hashes a root or a proof is made of, apart from where they come from.

use std::collections::BTreeSet;

use super::{
    merkle::{Hash, MAX_SIZE, fold},
    tile::Tile,
};

/// A complete subtree: number `index` of those with 2^`height` leaves.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Node {
    /// The height; 0 is a leaf.
    pub height: u8,
    /// The number on its level, from the left.
    pub index: u64,
}

/// A computation over a tree's hashes: ask it what it needs, fetch that however you like, then compute.
///
/// ```
/// use countersign::log::{Edge, Plan, Tiles, leaf_hash, verify_inclusion};
/// let (mut edge, mut tiles) = (Edge::new(), Tiles::new());
/// for leaf in [b"a", b"b", b"c"] {
///     edge.append(leaf_hash(leaf));
/// }
/// let plan = Plan::inclusion(2, 3)?;
/// for tile in plan.tiles(3) {
///     // This is where a caller reads a database or a network.
///     let (_, bytes) = edge.tiles().find(|(held, _)| *held == tile).ok_or("absent")?;
///     tiles.insert(tile, &bytes)?;
/// }
/// let proof = plan.compute(|node| tiles.node(node))?;
/// verify_inclusion(2, 3, &leaf_hash(b"c"), &proof, &edge.root())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Plan {
    /// One range of leaves for each hash of the outcome. Each begins at a multiple of the power of two that reaches its
    /// length, which is what makes RFC 6962's subtrees.
    ranges: Vec<(u64, u64)>,
}

/// There is no such proof: the leaf or the older tree lies outside the tree, or the tree is too large.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no such proof in a tree of {size}")]
pub struct Impossible {
    /// The tree's size.
    pub size: u64,
}

/// A hash that the plan asked for was not given.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the hash of node {} at height {} is missing", .0.index, .0.height)]
pub struct Missing(pub Node);

impl Plan {
    /// The root of the tree of this size: one hash.
    ///
    /// # Errors
    /// [`Impossible`] beyond [`MAX_SIZE`].
    pub fn root(size: u64) -> Result<Self, Impossible> {
        if size > MAX_SIZE { Err(Impossible { size }) } else { Ok(Self { ranges: vec![(0, size)] }) }
    }

    /// The proof that [`verify_inclusion`](super::verify_inclusion) takes, from the leaf's sibling upwards.
    ///
    /// # Errors
    /// [`Impossible`] unless the tree has such a leaf.
    pub fn inclusion(index: u64, size: u64) -> Result<Self, Impossible> {
        if index >= size || size > MAX_SIZE {
            return Err(Impossible { size });
        }
        let mut ranges = Vec::new();
        let (mut low, mut high) = (0, size);
        while high - low > 1 {
            let middle = low + split(high - low);
            if index < middle {
                ranges.push((middle, high));
                high = middle;
            } else {
                ranges.push((low, middle));
                low = middle;
            }
        }
        ranges.reverse();
        Ok(Self { ranges })
    }

    /// The proof that [`verify_consistency`](super::verify_consistency) takes.
    ///
    /// # Errors
    /// [`Impossible`] unless the older tree is no larger than the newer one.
    pub fn consistency(old: u64, new: u64) -> Result<Self, Impossible> {
        if old > new || new > MAX_SIZE {
            return Err(Impossible { size: new });
        }
        let mut ranges = Vec::new();
        if old > 0 {
            let (mut low, mut high) = (0, new);
            // Down to the subtree that ends where the old tree ends, noting what stands beside the way.
            while high != old {
                let middle = low + split(high - low);
                if old <= middle {
                    ranges.push((middle, high));
                    high = middle;
                } else {
                    ranges.push((low, middle));
                    low = middle;
                }
            }
            // The whole old tree is known to whoever checks.
            if low > 0 {
                ranges.push((low, high));
            }
        }
        ranges.reverse();
        Ok(Self { ranges })
    }

    /// The complete subtrees whose hashes are needed.
    pub fn nodes(&self) -> impl Iterator<Item = Node> {
        self.ranges.iter().flat_map(|&(low, high)| subtrees(low, high))
    }

    /// The tiles of a tree of this size that hold them, each as wide as it is at that size.
    pub fn tiles(&self, size: u64) -> BTreeSet<Tile> {
        self.nodes().filter_map(|node| Tile::holding(node, size)).collect()
    }

    /// The outcome, from the hashes that `read` knows.
    ///
    /// # Errors
    /// [`Missing`] names the first hash that it doesn't.
    pub fn compute(&self, read: impl Fn(Node) -> Option<Hash>) -> Result<Vec<Hash>, Missing> {
        self.ranges
            .iter()
            .map(|&(low, high)| {
                let parts: Result<Vec<_>, _> =
                    subtrees(low, high).map(|node| read(node).ok_or(Missing(node))).collect();
                Ok(fold(&parts?))
            })
            .collect()
    }
}

/// The largest power of two below `n`, for `n` of at least 2: where RFC 6962 divides a tree.
fn split(n: u64) -> u64 {
    1 << (n - 1).ilog2()
}

/// The complete subtrees that make up a range of leaves, from the left.
fn subtrees(low: u64, high: u64) -> impl Iterator<Item = Node> {
    let mut low = low;
    std::iter::from_fn(move || {
        let height = high.checked_sub(low)?.checked_ilog2()?.min(low.trailing_zeros());
        let node = Node { height: u8::try_from(height).ok()?, index: low >> height };
        low += 1 << height;
        Some(node)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(plan: &Plan) -> Vec<(u8, u64)> {
        plan.nodes().map(|n| (n.height, n.index)).collect()
    }

    #[test]
    fn the_proofs_of_the_tree_of_seven_are_those_that_rfc_6962_lists() {
        // Section 2.1.3 names them: a..d are leaves, g, h, i, k, l the nodes above.
        for (index, expected) in [
            (0, vec![(0, 1), (1, 1), (1, 2), (0, 6)]),
            (3, vec![(0, 2), (1, 0), (1, 2), (0, 6)]),
            (4, vec![(0, 5), (0, 6), (2, 0)]),
            (6, vec![(1, 2), (2, 0)]),
        ] {
            assert_eq!(shown(&Plan::inclusion(index, 7).expect("in range")), expected, "leaf {index}");
        }
        for (old, expected) in [
            (3, vec![(0, 2), (0, 3), (1, 0), (1, 2), (0, 6)]),
            (4, vec![(1, 2), (0, 6)]),
            (6, vec![(1, 2), (0, 6), (2, 0)]),
            (7, vec![]),
            (0, vec![]),
        ] {
            assert_eq!(shown(&Plan::consistency(old, 7).expect("in range")), expected, "from {old}");
        }
    }

    #[test]
    fn what_no_tree_has_is_refused() {
        assert_eq!(Plan::inclusion(7, 7), Err(Impossible { size: 7 }));
        assert_eq!(Plan::inclusion(0, 0), Err(Impossible { size: 0 }));
        assert_eq!(Plan::consistency(8, 7), Err(Impossible { size: 7 }));
        for size in [MAX_SIZE + 1, u64::MAX] {
            assert_eq!(Plan::root(size), Err(Impossible { size }));
            assert_eq!(Plan::inclusion(0, size), Err(Impossible { size }));
            assert_eq!(Plan::consistency(1, size), Err(Impossible { size }));
        }
        for plan in [Plan::root(MAX_SIZE), Plan::inclusion(MAX_SIZE - 1, MAX_SIZE), Plan::consistency(1, MAX_SIZE)] {
            let plan = plan.expect("the largest tree has proofs");
            let first = plan.nodes().next().expect("of something");
            assert_eq!(plan.compute(|_| None), Err(Missing(first)));
        }
    }

    #[test]
    fn the_root_of_the_empty_tree_needs_nothing() {
        let plan = Plan::root(0).expect("a tree");
        assert_eq!(shown(&plan), vec![]);
        assert_eq!(plan.compute(|_| None), Ok(vec![super::super::empty_root()]));
    }
}
