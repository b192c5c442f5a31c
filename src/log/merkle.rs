//! Hashes of leaves and nodes, the right edge of a growing tree, and the two proof checks.

use sha2::Digest as _;

use crate::canon::Sha256;

/// The hash of a leaf or of a node.
pub type Hash = Sha256;

/// The largest tree: sizes are stored as signed 64-bit integers and shown in JSON, and an interior computation
/// (twice a size) must not overflow.
pub const MAX_SIZE: u64 = 1 << 62;

/// The hash of a leaf: SHA-256 over a zero byte and the leaf.
pub fn leaf_hash(leaf: &[u8]) -> Hash {
    Sha256(sha2::Sha256::new().chain_update([0]).chain_update(leaf).finalize().into())
}

/// The hash of the node over two subtrees: SHA-256 over a one byte and both hashes.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let mut bytes = [1; 65];
    bytes[1..33].copy_from_slice(&left.0);
    bytes[33..].copy_from_slice(&right.0);
    Sha256::of(&bytes)
}

/// The root of the tree without leaves: SHA-256 over nothing.
pub fn empty_root() -> Hash {
    Sha256::of(b"")
}

/// The root over complete subtrees that stand side by side, the largest first: combined from the right.
pub(super) fn fold(subtrees: &[Hash]) -> Hash {
    match subtrees.split_last() {
        None => empty_root(),
        Some((last, rest)) => rest.iter().rev().fold(*last, |right, left| node_hash(left, &right)),
    }
}

/// The right edge of a tree: the roots of the complete subtrees that its size is made of, the largest first. It is all
/// that appending and the root need.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Frontier {
    size: u64,
    /// As many as `size` has one bits.
    hashes: Vec<Hash>,
}

/// The hashes aren't as many as the size has one bits, or the size is beyond [`MAX_SIZE`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not the right edge of a tree of this size")]
pub struct NotAFrontier;

impl Frontier {
    /// The edge of the tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// The edge that [`Frontier::size`] and [`Frontier::hashes`] once told.
    ///
    /// # Errors
    /// [`NotAFrontier`] where the count of hashes doesn't fit the size. Wrong hashes of the right count give a wrong
    /// root: compare it with a signed one.
    pub fn from_hashes(size: u64, hashes: Vec<Hash>) -> Result<Self, NotAFrontier> {
        let fits = size <= MAX_SIZE && usize::try_from(size.count_ones()) == Ok(hashes.len());
        if fits { Ok(Self { size, hashes }) } else { Err(NotAFrontier) }
    }

    /// Appends a leaf by its hash.
    pub fn append(&mut self, leaf: Hash) {
        self.append_noting(leaf, |_, _| {});
    }

    /// Appends, and tells of each complete subtree that the leaf closes: its height, from 0 (the leaf itself), and root.
    pub(super) fn append_noting(&mut self, leaf: Hash, mut note: impl FnMut(u32, &Hash)) {
        let mut root = leaf;
        note(0, &root);
        // The trailing one bits of the size are the complete subtrees that the leaf joins, the smallest last.
        for height in 1..=self.size.trailing_ones() {
            let Some(left) = self.hashes.pop() else { break };
            root = node_hash(&left, &root);
            note(height, &root);
        }
        self.hashes.push(root);
        // From at most 2^62, one by one: nobody reaches 2^64.
        self.size = self.size.saturating_add(1);
    }

    /// How many leaves the tree has.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The tree's root.
    pub fn root(&self) -> Hash {
        fold(&self.hashes)
    }

    /// The roots of the complete subtrees, the largest first.
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }
}

/// A proof does not show what it should.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ProofError {
    /// No such leaf in a tree of that size, or a size beyond [`MAX_SIZE`].
    #[error("leaf {index} is not in a tree of {size}")]
    OutOfRange {
        /// The leaf's index.
        index: u64,
        /// The tree's size.
        size: u64,
    },
    /// The newer tree is smaller than the older one.
    #[error("a tree of {old} leaves shrank to {new}")]
    Shrunk {
        /// The older tree's size.
        old: u64,
        /// The newer tree's size.
        new: u64,
    },
    /// More or fewer hashes than the proof of these sizes has.
    #[error("a proof of the wrong length")]
    Length,
    /// The hashes don't lead to the root.
    #[error("the proof does not lead to the root")]
    Mismatch,
}

/// Checks that the leaf with this hash is number `index` of the tree with this size and root.
///
/// # Errors
/// [`ProofError`]: the proof shows nothing.
pub fn verify_inclusion(index: u64, size: u64, leaf: &Hash, proof: &[Hash], root: &Hash) -> Result<(), ProofError> {
    let reached = climb(index, size, leaf, proof, |_| {})?;
    if reached == *root { Ok(()) } else { Err(ProofError::Mismatch) }
}

/// One step of a proof of inclusion, for a person to follow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PathStep {
    /// The level that the step starts from: 0 is that of the leaves.
    pub level: u32,
    /// Where the sibling stands.
    pub side: Side,
    /// The sibling, from the proof.
    pub sibling: Hash,
    /// The node over both, a level up.
    pub node: Hash,
}

/// The way from a leaf to the root that its proof leads to, which is checked against nothing.
///
/// # Errors
/// [`ProofError`] unless the proof has the length for this index and size.
pub fn inclusion_path(index: u64, size: u64, leaf: &Hash, proof: &[Hash]) -> Result<Vec<PathStep>, ProofError> {
    let mut steps = Vec::with_capacity(proof.len());
    climb(index, size, leaf, proof, |step| steps.push(step))?;
    Ok(steps)
}

/// The root that a proof of inclusion leads to.
fn climb(
    index: u64,
    size: u64,
    leaf: &Hash,
    proof: &[Hash],
    mut tell: impl FnMut(PathStep),
) -> Result<Hash, ProofError> {
    if index >= size || size > MAX_SIZE {
        return Err(ProofError::OutOfRange { index, size });
    }
    let mut at = Climb { node: index, last: size - 1, level: 0 };
    let mut hash = *leaf;
    for sibling in proof {
        let side = at.step()?;
        hash = match side {
            Side::Left => node_hash(sibling, &hash),
            Side::Right => node_hash(&hash, sibling),
        };
        tell(PathStep { level: at.level - 1, side, sibling: *sibling, node: hash });
    }
    at.arrived()?;
    Ok(hash)
}

/// Checks that the older tree is a prefix of the newer one. Every tree has the empty one as a prefix; the proof is then
/// empty, as it is between equal sizes.
///
/// # Errors
/// [`ProofError`]: not shown. With [`ProofError::Mismatch`] and two signed roots the log has forked: keep both.
pub fn verify_consistency(
    old_size: u64,
    old_root: &Hash,
    new_size: u64,
    new_root: &Hash,
    proof: &[Hash],
) -> Result<(), ProofError> {
    if new_size > MAX_SIZE {
        return Err(ProofError::OutOfRange { index: old_size, size: new_size });
    }
    if old_size > new_size {
        return Err(ProofError::Shrunk { old: old_size, new: new_size });
    }
    let same = |a: &Hash, b: &Hash| if a == b { Ok(()) } else { Err(ProofError::Mismatch) };
    if new_size == 0 {
        same(new_root, &empty_root())?;
    }
    if old_size == 0 || old_size == new_size {
        return match proof {
            [] if old_size == 0 => same(old_root, &empty_root()),
            [] => same(old_root, new_root),
            [_, ..] => Err(ProofError::Length),
        };
    }
    // Start at the largest complete subtree that ends where the old tree ends. When it is the whole old tree, its root is
    // known and the proof leaves it out.
    let height = old_size.trailing_zeros();
    let mut at = Climb { node: (old_size - 1) >> height, last: (new_size - 1) >> height, level: height };
    let (start, rest) = match proof {
        rest if old_size.is_power_of_two() => (old_root, rest),
        [start, rest @ ..] => (start, rest),
        [] => return Err(ProofError::Length),
    };
    let (mut old, mut new) = (*start, *start);
    for sibling in rest {
        match at.step()? {
            Side::Left => {
                old = node_hash(sibling, &old);
                new = node_hash(sibling, &new);
            }
            Side::Right => new = node_hash(&new, sibling),
        }
    }
    at.arrived()?;
    same(&old, old_root)?;
    same(&new, new_root)
}

/// A way from a node to the root: the node's number on its level, and that of the level's last node.
struct Climb {
    node: u64,
    last: u64,
    level: u32,
}

/// On which side of the path a sibling stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// It is hashed first.
    Left,
    /// It is hashed second.
    Right,
}

impl Climb {
    /// Goes up past the next sibling, over the levels where the rightmost node has none.
    fn step(&mut self) -> Result<Side, ProofError> {
        if self.last == 0 {
            return Err(ProofError::Length);
        }
        let side = if self.node & 1 == 1 {
            Side::Left
        } else if self.node < self.last {
            Side::Right
        } else {
            // Node and last are equal and even, and not 0, so a left sibling comes at the lowest one bit.
            let levels = self.node.trailing_zeros();
            self.node >>= levels;
            self.last >>= levels;
            self.level += levels;
            Side::Left
        };
        self.node >>= 1;
        self.last >>= 1;
        self.level += 1;
        Ok(side)
    }

    fn arrived(&self) -> Result<(), ProofError> {
        if self.last == 0 { Ok(()) } else { Err(ProofError::Length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roots_of_the_first_trees_are_those_of_rfc_6962_test_vectors() {
        // The leaves and roots that certificate-transparency's reference implementations share.
        let leaves: [&[u8]; 8] = [
            b"",
            &[0x00],
            &[0x10],
            &[0x20, 0x21],
            &[0x30, 0x31],
            &[0x40, 0x41, 0x42, 0x43],
            &[0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57],
            &[0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f],
        ];
        let roots = [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let mut frontier = Frontier::new();
        assert_eq!(frontier.root().to_string(), roots[0]);
        for (leaf, root) in leaves.iter().zip(&roots[1..]) {
            frontier.append(leaf_hash(leaf));
            assert_eq!(frontier.root().to_string(), *root, "size {}", frontier.size());
        }
    }

    #[test]
    fn a_frontier_needs_as_many_hashes_as_its_size_has_one_bits() {
        let hash = leaf_hash(b"x");
        for (size, count, fits) in [
            (0, 0, true),
            (0, 1, false),
            (1, 1, true),
            (6, 2, true),
            (6, 3, false),
            (6, 1, false),
            (MAX_SIZE, 1, true),
            (MAX_SIZE + 1, 2, false),
            (u64::MAX, 64, false),
        ] {
            let made = Frontier::from_hashes(size, vec![hash; count]);
            assert_eq!(made.is_ok(), fits, "{size} with {count}");
        }
    }

    #[test]
    fn a_leaf_is_never_taken_for_a_node() {
        let (left, right) = (leaf_hash(b"l"), leaf_hash(b"r"));
        let mut joined = left.0.to_vec();
        joined.extend(right.0);
        assert_ne!(leaf_hash(&joined), node_hash(&left, &right));
        assert_ne!(leaf_hash(b""), empty_root());
    }

    #[test]
    fn consistency_at_the_edges() {
        let empty = empty_root();
        let one = leaf_hash(b"1");
        let two = node_hash(&one, &leaf_hash(b"2"));
        for (name, old, new, proof, expected) in [
            ("empty to empty", (0, empty), (0, empty), vec![], Ok(())),
            ("empty to one", (0, empty), (1, one), vec![], Ok(())),
            ("an empty tree of another root", (0, one), (1, one), vec![], Err(ProofError::Mismatch)),
            ("two empty trees of another root", (0, one), (0, one), vec![], Err(ProofError::Mismatch)),
            ("empty to one with a hash too many", (0, empty), (1, one), vec![one], Err(ProofError::Length)),
            ("the same", (2, two), (2, two), vec![], Ok(())),
            ("one size, two roots", (2, two), (2, one), vec![], Err(ProofError::Mismatch)),
            ("the same with a hash too many", (2, two), (2, two), vec![one], Err(ProofError::Length)),
            ("one to two", (1, one), (2, two), vec![leaf_hash(b"2")], Ok(())),
            ("one to two without proof", (1, one), (2, two), vec![], Err(ProofError::Length)),
            ("shrunk", (2, two), (1, one), vec![], Err(ProofError::Shrunk { old: 2, new: 1 })),
            (
                "too large",
                (1, one),
                (MAX_SIZE + 1, one),
                vec![],
                Err(ProofError::OutOfRange { index: 1, size: MAX_SIZE + 1 }),
            ),
        ] {
            assert_eq!(verify_consistency(old.0, &old.1, new.0, &new.1, &proof), expected, "{name}");
        }
    }

    #[test]
    fn inclusion_at_the_edges() {
        let one = leaf_hash(b"1");
        let out = |index, size| Err(ProofError::OutOfRange { index, size });
        assert_eq!(verify_inclusion(0, 1, &one, &[], &one), Ok(()));
        assert_eq!(verify_inclusion(0, 1, &one, &[one], &one), Err(ProofError::Length));
        assert_eq!(verify_inclusion(1, 1, &one, &[], &one), out(1, 1));
        assert_eq!(verify_inclusion(0, 0, &one, &[], &empty_root()), out(0, 0));
        assert_eq!(verify_inclusion(u64::MAX, u64::MAX, &one, &[], &one), out(u64::MAX, u64::MAX));
        assert_eq!(verify_inclusion(0, MAX_SIZE, &one, &[one; 62], &one), Err(ProofError::Mismatch));
        assert_eq!(verify_inclusion(0, MAX_SIZE, &one, &[one; 63], &one), Err(ProofError::Length));
    }
}
