//! The files that a log is published as, after C2SP tlog-tiles: rows of 256 hashes, and bundles of 256 leaves.

use std::{collections::BTreeMap, fmt, str::FromStr};

use super::{
    merkle::{Hash, MAX_SIZE, node_hash},
    plan::Node,
};
use crate::canon::Sha256;

/// The width of a full tile: it stands for a subtree of height 8.
pub const FULL: u16 = 256;

/// The longest leaf that a bundle's 16-bit length can announce: 64 KiB − 1.
pub const MAX_LEAF: usize = u16::MAX as usize;

/// The highest level of tiles: 256^8 leaves are more than a tree may have.
const MAX_LEVEL: u8 = 7;

/// A tile's place: `width` consecutive hashes of complete subtrees with 256^`level` leaves, from number 256 · `index`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Tile {
    level: u8,
    at: Place,
}

/// The place of an entry bundle: `width` consecutive leaves, from number 256 · `index`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Bundle {
    at: Place,
}

/// Which block of 256 on a level, and how much of it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Place {
    index: u64,
    width: u16,
}

/// Not the place or the content of a tile: an unusual path, an impossible place, or a length that doesn't fit.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a tile")]
pub struct NotATile;

impl Tile {
    /// The tile at this place.
    ///
    /// # Errors
    /// [`NotATile`] for a width of 0 or above 256, or a place beyond the largest tree.
    pub fn new(level: u8, index: u64, width: u16) -> Result<Self, NotATile> {
        if level > MAX_LEVEL {
            return Err(NotATile);
        }
        Ok(Self { level, at: Place::new(index, width, 8 * u32::from(level))? })
    }

    /// The tile that holds a node's hash, or the hashes under it, as wide as it is in a tree of this size; `None` if the
    /// tree lacks the node.
    pub fn holding(node: Node, size: u64) -> Option<Self> {
        let (level, first, count) = node_in_tiles(node)?;
        let index = first / u64::from(FULL);
        let tile = Self::new(level, index, width_at(level, index, size)?).ok()?;
        let end = first.checked_add(count)? - index * u64::from(FULL);
        (end <= u64::from(tile.width())).then_some(tile)
    }

    /// Whether a tree of this size has the tile; a partial one may since have grown.
    pub fn is_in(self, size: u64) -> bool {
        width_at(self.level, self.at.index, size).is_some_and(|width| width >= self.at.width)
    }

    /// The level; 0 holds the hashes of leaves.
    pub const fn level(self) -> u8 {
        self.level
    }

    /// The number on its level.
    pub const fn index(self) -> u64 {
        self.at.index
    }

    /// How many hashes, 1 to 256.
    pub const fn width(self) -> u16 {
        self.at.width
    }

    /// Whether it is full, and so never changes.
    pub const fn is_full(self) -> bool {
        self.at.width == FULL
    }
}

impl Bundle {
    /// The bundle at this place.
    ///
    /// # Errors
    /// [`NotATile`] for a width of 0 or above 256, or a place beyond the largest tree.
    pub fn new(index: u64, width: u16) -> Result<Self, NotATile> {
        Ok(Self { at: Place::new(index, width, 0)? })
    }

    /// The bundle that holds a leaf, as wide as it is in a tree of this size; `None` if the tree lacks the leaf.
    pub fn holding(leaf: u64, size: u64) -> Option<Self> {
        let index = leaf / u64::from(FULL);
        if leaf >= size { None } else { Self::new(index, width_at(0, index, size)?).ok() }
    }

    /// Whether a tree of this size has the bundle.
    pub fn is_in(self, size: u64) -> bool {
        width_at(0, self.at.index, size).is_some_and(|width| width >= self.at.width)
    }

    /// The number of the bundle.
    pub const fn index(self) -> u64 {
        self.at.index
    }

    /// How many leaves, 1 to 256.
    pub const fn width(self) -> u16 {
        self.at.width
    }

    /// Whether it is full, and so never changes.
    pub const fn is_full(self) -> bool {
        self.at.width == FULL
    }

    /// The numbers of its leaves.
    pub fn leaves(self) -> std::ops::Range<u64> {
        let first = self.at.index * u64::from(FULL);
        first..first + u64::from(self.at.width)
    }

    /// Its bytes: each leaf after its length in 16 bits, big-endian.
    ///
    /// # Errors
    /// [`BadBundle::Count`] unless there are as many leaves as the bundle is wide, [`BadBundle::Leaf`] for one that is
    /// longer than [`MAX_LEAF`].
    pub fn encode<L: AsRef<[u8]>>(self, leaves: &[L]) -> Result<Vec<u8>, BadBundle> {
        if leaves.len() != usize::from(self.at.width) {
            return Err(BadBundle::Count);
        }
        let mut bytes = Vec::with_capacity(leaves.iter().map(|leaf| leaf.as_ref().len() + 2).sum());
        for leaf in leaves {
            let length = u16::try_from(leaf.as_ref().len()).map_err(|_| BadBundle::Leaf)?;
            bytes.extend(length.to_be_bytes());
            bytes.extend(leaf.as_ref());
        }
        Ok(bytes)
    }

    /// The leaves in these bytes.
    ///
    /// # Errors
    /// [`BadBundle`] unless the bytes are exactly as many leaves as the bundle is wide.
    pub fn decode(self, bytes: &[u8]) -> Result<Vec<&[u8]>, BadBundle> {
        let mut leaves = Vec::with_capacity(usize::from(self.at.width));
        let mut rest = bytes;
        for _ in 0..self.at.width {
            let (length, after) = rest.split_first_chunk().ok_or(BadBundle::Count)?;
            let length = usize::from(u16::from_be_bytes(*length));
            let (leaf, after) = after.split_at_checked(length).ok_or(BadBundle::Leaf)?;
            leaves.push(leaf);
            rest = after;
        }
        if rest.is_empty() { Ok(leaves) } else { Err(BadBundle::Count) }
    }
}

/// Not an entry bundle.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadBundle {
    /// Other than as many leaves as the bundle's width.
    #[error("not as many leaves as the bundle's width")]
    Count,
    /// A leaf is longer than 64 KiB − 1 or is cut off.
    #[error("a leaf that is too long or cut off")]
    Leaf,
}

/// Tiles that were fetched, by place; a wider one serves for a narrower. They are not checked against anything.
#[derive(Clone, Debug, Default)]
pub struct Tiles(BTreeMap<(u8, u64), Vec<Hash>>);

impl Tiles {
    /// No tiles.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a tile's bytes in place.
    ///
    /// # Errors
    /// [`NotATile`] unless they are 32 for each hash of its width.
    pub fn insert(&mut self, tile: Tile, bytes: &[u8]) -> Result<(), NotATile> {
        let (hashes, rest) = bytes.as_chunks::<32>();
        if hashes.len() != usize::from(tile.width()) || !rest.is_empty() {
            return Err(NotATile);
        }
        let held = self.0.entry((tile.level, tile.at.index)).or_default();
        if held.len() < hashes.len() {
            *held = hashes.iter().copied().map(Sha256).collect();
        }
        Ok(())
    }

    /// Whether this tile was put in place, or a wider one.
    pub fn holds(&self, tile: Tile) -> bool {
        self.0.get(&(tile.level, tile.at.index)).is_some_and(|held| held.len() >= usize::from(tile.width()))
    }

    /// A node's hash, computed from its tile where it lies between two levels of tiles.
    pub fn node(&self, node: Node) -> Option<Hash> {
        let (level, first, count) = node_in_tiles(node)?;
        let row = self.0.get(&(level, first / u64::from(FULL)))?;
        let start = usize::try_from(first % u64::from(FULL)).ok()?;
        let mut hashes = row.get(start..start.checked_add(usize::try_from(count).ok()?)?)?.to_vec();
        while let [_, _, ..] = hashes[..] {
            hashes = hashes.chunks_exact(2).map(|pair| node_hash(&pair[0], &pair[1])).collect();
        }
        hashes.first().copied()
    }
}

/// Where a node's hash comes from: the level of tiles, the first hash on that level, and how many (1 to 128).
fn node_in_tiles(node: Node) -> Option<(u8, u64, u64)> {
    let (level, above) = (node.height / 8, node.height % 8);
    let first = node.index.checked_mul(1 << above)?;
    (level <= MAX_LEVEL).then_some((level, first, 1 << above))
}

/// How wide the tile at a place is in a tree of this size; `None` if it has none there.
fn width_at(level: u8, index: u64, size: u64) -> Option<u16> {
    let hashes = size.checked_shr(8 * u32::from(level))?;
    let width = hashes.checked_sub(index.checked_mul(u64::from(FULL))?)?.min(u64::from(FULL));
    u16::try_from(width).ok().filter(|width| *width > 0)
}

impl Place {
    /// A place whose last leaf, where each hash stands for 2^`height` of them, is within the largest tree.
    fn new(index: u64, width: u16, height: u32) -> Result<Self, NotATile> {
        let end = index.checked_mul(u64::from(FULL)).and_then(|first| first.checked_add(u64::from(width)));
        let fits = end.is_some_and(|end| end <= MAX_SIZE >> height);
        if fits && (1..=FULL).contains(&width) { Ok(Self { index, width }) } else { Err(NotATile) }
    }

    /// Reads what `Display` writes, for a level whose hashes stand for 2^`height` leaves.
    fn parse(text: &str, height: u32) -> Result<Self, NotATile> {
        let (index, width) = match text.split_once(".p/") {
            None => (text, FULL),
            Some((index, width)) => (index, width.parse().ok().filter(|w| *w < FULL).ok_or(NotATile)?),
        };
        let mut number: u64 = 0;
        for digits in index.split('/').map(|part| part.strip_prefix('x').unwrap_or(part)) {
            let digits: u64 = digits.parse().map_err(|_| NotATile)?;
            number = number.checked_mul(1000).and_then(|n| n.checked_add(digits)).ok_or(NotATile)?;
        }
        let place = Self::new(number, width, height)?;
        // One spelling only: signs, missing or needless zeroes and x's come out otherwise.
        if place.to_string() == text { Ok(place) } else { Err(NotATile) }
    }
}

/// Three digits a path element, all but the last after an `x`; then `.p/` and the width, if partial.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut above = Vec::new();
        let mut rest = self.index / 1000;
        while rest > 0 {
            above.push(rest % 1000);
            rest /= 1000;
        }
        for part in above.iter().rev() {
            write!(f, "x{part:03}/")?;
        }
        write!(f, "{:03}", self.index % 1000)?;
        if self.width < FULL { write!(f, ".p/{}", self.width) } else { Ok(()) }
    }
}

/// The path below the log's prefix: `tile/<L>/<N>[.p/<W>]`.
impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile/{}/{}", self.level, self.at)
    }
}

impl FromStr for Tile {
    type Err = NotATile;

    fn from_str(path: &str) -> Result<Self, NotATile> {
        let (level, place) = path.strip_prefix("tile/").and_then(|rest| rest.split_once('/')).ok_or(NotATile)?;
        let level = match level.as_bytes() {
            [digit @ b'0'..=b'7'] => digit - b'0',
            _ => return Err(NotATile),
        };
        Ok(Self { level, at: Place::parse(place, 8 * u32::from(level))? })
    }
}

/// The path below the log's prefix: `tile/entries/<N>[.p/<W>]`.
impl fmt::Display for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile/entries/{}", self.at)
    }
}

impl FromStr for Bundle {
    type Err = NotATile;

    fn from_str(path: &str) -> Result<Self, NotATile> {
        Ok(Self { at: Place::parse(path.strip_prefix("tile/entries/").ok_or(NotATile)?, 0)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for (path, level, index, width) in [
            ("tile/0/000", 0, 0, 256),
            ("tile/0/000.p/1", 0, 0, 1),
            ("tile/0/x001/x234/067", 0, 1_234_067, 256),
            ("tile/1/x001/000.p/255", 1, 1000, 255),
            ("tile/7/000.p/64", 7, 0, 64),
        ] {
            let tile = Tile::new(level, index, width).expect("a place");
            assert_eq!(tile.to_string(), path);
            assert_eq!(path.parse(), Ok(tile));
        }
        for path in [
            "",
            "tile",
            "tile/0",
            "tile/0/",
            "tile/0/0",
            "tile/0/00",
            "tile/0/0000",
            "tile/0/+01",
            "tile/0/-01",
            "tile/0/x000/001",
            "tile/0/001/001",
            "tile/0/x001/x001",
            "tile/0/x001",
            "tile/0/X001/001",
            "tile/0/001/",
            "tile/0//001",
            "tile/0/000.p/0",
            "tile/0/000.p/01",
            "tile/0/000.p/256",
            "tile/0/000.p/+1",
            "tile/0/000.p/1.p/1",
            "tile/0/000.p",
            "tile/0/000.p/",
            "tile/00/000",
            "tile/8/000",
            "tile/63/000",
            "tile/7/000",
            "tile/7/000.p/65",
            "tile/+1/000",
            "tile/entries/000",
            "tile/data/000",
            "/tile/0/000",
            "tile/0/000 ",
            "tile/0/\u{0660}\u{0660}\u{0660}",
            "tile/0/x999/x999/x999/x999/x999/x999/x999/x999/999",
        ] {
            assert_eq!(path.parse::<Tile>(), Err(NotATile), "{path}");
        }
        assert_eq!("tile/entries/x001/000.p/3".parse(), Bundle::new(1000, 3));
        assert_eq!(Bundle::new(1000, 3).expect("a place").to_string(), "tile/entries/x001/000.p/3");
        assert_eq!("tile/0/000".parse::<Bundle>(), Err(NotATile));
    }

    #[test]
    fn a_tree_of_70_000_has_the_tiles_that_the_specification_names() {
        let width = |level, index| width_at(level, index, 70_000);
        assert_eq!(
            [width(0, 272), width(0, 273), width(0, 274)],
            [Some(256), Some(112), None],
            "273 full tiles and one of 112"
        );
        assert_eq!([width(1, 0), width(1, 1), width(1, 2)], [Some(256), Some(17), None]);
        assert_eq!([width(2, 0), width(2, 1), width(3, 0)], [Some(1), None, None]);
        assert_eq!([width_at(0, 0, 256), width_at(0, 1, 256), width_at(1, 0, 256)], [Some(256), None, Some(1)]);
        let partial = Tile::new(0, 273, 112).expect("a place");
        assert!(partial.is_in(70_000) && partial.is_in(70_001) && !partial.is_in(69_999));
    }

    #[test]
    fn a_bundle_is_exactly_its_leaves() {
        let three = Bundle::new(0, 3).expect("a place");
        let leaves: [&[u8]; 3] = [b"a", b"", b"bc"];
        let bytes = three.encode(&leaves).expect("encodes");
        assert_eq!(bytes, b"\x00\x01a\x00\x00\x00\x02bc");
        assert_eq!(three.decode(&bytes).expect("decodes"), leaves);
        for (name, bytes, expected) in [
            ("cut in a leaf", &bytes[..8], BadBundle::Leaf),
            ("cut in a length", &bytes[..6], BadBundle::Count),
            ("a leaf short", &bytes[..5], BadBundle::Count),
            ("a byte too many", b"\x00\x01a\x00\x00\x00\x02bc\x00", BadBundle::Count),
            ("a leaf too many", b"\x00\x01a\x00\x00\x00\x02bc\x00\x00", BadBundle::Count),
            ("nothing", b"", BadBundle::Count),
        ] {
            assert_eq!(three.decode(bytes), Err(expected), "{name}");
        }
        assert_eq!(three.encode(&leaves[..2]), Err(BadBundle::Count));
    }

    #[test]
    fn a_leaf_of_64_kib_less_one_fits_and_one_more_byte_does_not() {
        let one = Bundle::new(0, 1).expect("a place");
        let bytes = one.encode(&[vec![7; MAX_LEAF]]).expect("fits");
        assert_eq!(one.decode(&bytes).expect("decodes"), [vec![7; MAX_LEAF]]);
        assert_eq!(one.encode(&[vec![7; MAX_LEAF + 1]]), Err(BadBundle::Leaf));
    }

    #[test]
    fn a_wider_tile_serves_for_a_narrower_and_a_wrong_length_is_refused() {
        let (mut tiles, wide, narrow) = (Tiles::new(), Tile::new(0, 0, 3), Tile::new(0, 0, 2));
        let (wide, narrow) = (wide.expect("a place"), narrow.expect("a place"));
        tiles.insert(wide, &[7; 96]).expect("three hashes");
        tiles.insert(narrow, &[8; 64]).expect("two hashes");
        assert_eq!(tiles.node(Node { height: 0, index: 2 }), Some(Sha256([7; 32])));
        assert_eq!(tiles.node(Node { height: 0, index: 3 }), None);
        assert_eq!(tiles.node(Node { height: 1, index: 1 }), None);
        assert_eq!(tiles.node(Node { height: 255, index: u64::MAX }), None);
        for length in [0, 63, 65, 95, 97, 128] {
            assert_eq!(tiles.insert(wide, &vec![0; length]), Err(NotATile), "{length} bytes");
        }
    }
}
