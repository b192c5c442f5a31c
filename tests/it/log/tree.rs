//! Trees, proofs and tiles against the crate `tlog_tiles`, a port of Go's reference implementation.

use std::{cell::RefCell, collections::HashMap};

use countersign::log::{
    Bundle, Edge, Frontier, Hash, Node, Plan, ProofError, Side, Tile, Tiles, inclusion_path, leaf_hash, node_hash,
    verify_consistency, verify_inclusion,
};
use proptest::prelude::*;
use tlog_tiles::{HashReader as _, tlog};

/// The reference's store: its hashes by its own numbering.
#[derive(Default)]
struct Reference(RefCell<Vec<tlog::Hash>>);

impl tlog::HashReader for Reference {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<tlog::Hash>, tlog::Error> {
        Ok(indexes.iter().map(|index| self.0.borrow()[usize::try_from(*index).expect("small")]).collect())
    }
}

impl Reference {
    fn append(&self, index: u64, leaf: &[u8]) {
        let new = tlog::stored_hashes(index, leaf, self).expect("stores");
        self.0.borrow_mut().extend(new);
    }

    fn node(&self, node: Node) -> Option<Hash> {
        let index = tlog::stored_hash_index(node.height, node.index);
        self.0.borrow().get(usize::try_from(index).ok()?).map(|hash| ours(*hash))
    }
}

fn ours(hash: tlog::Hash) -> Hash {
    countersign::canon::Sha256(hash.0)
}

fn theirs(hashes: &[Hash]) -> Vec<tlog::Hash> {
    hashes.iter().map(|hash| tlog::Hash(hash.0)).collect()
}

fn leaf(index: u64) -> Vec<u8> {
    format!("leaf {index}").into_bytes()
}

/// Tiles that remember which nodes they have computed, because tests ask for the same ones a hundred thousand times.
struct Fetched(Tiles, RefCell<HashMap<Node, Option<Hash>>>);

impl Fetched {
    fn node(&self, node: Node) -> Option<Hash> {
        *self.1.borrow_mut().entry(node).or_insert_with(|| self.0.node(node))
    }
}

/// Both logs with this many leaves, the roots of all sizes on the way, and all our tiles.
fn grown(size: u64) -> (Reference, Vec<Hash>, Fetched) {
    let (reference, mut edge, mut tiles) = (Reference::default(), Edge::new(), Tiles::new());
    let mut roots = vec![edge.root()];
    for index in 0..size {
        reference.append(index, &leaf(index));
        edge.append(leaf_hash(&leaf(index)));
        roots.push(edge.root());
    }
    for (tile, bytes) in edge.tiles() {
        tiles.insert(tile, &bytes).expect("a tile");
    }
    (reference, roots, Fetched(tiles, RefCell::default()))
}

/// What a reader does: ask, fetch the tiles, compute.
fn computed(plan: &Plan, size: u64, tiles: &Fetched) -> Vec<Hash> {
    assert!(plan.tiles(size).iter().all(|tile| tile.is_in(size)));
    plan.compute(|node| tiles.node(node)).expect("every node is in a tile")
}

const SIZES: u64 = 300;

#[test]
fn roots_are_the_references_for_all_sizes_up_to_300() {
    let (reference, roots, tiles) = grown(SIZES);
    for size in 0..=SIZES {
        let root = roots[usize::try_from(size).expect("small")];
        assert_eq!(root, ours(tlog::tree_hash(size, &reference).expect("a root")), "size {size}");
        assert_eq!(computed(&Plan::root(size).expect("a tree"), size, &tiles), [root], "size {size}");
    }
}

#[test]
fn inclusion_proofs_are_the_references_for_all_leaves_of_all_sizes_up_to_300() {
    let (reference, roots, tiles) = grown(SIZES);
    for size in 1..=SIZES {
        let root = &roots[usize::try_from(size).expect("small")];
        for index in 0..size {
            let proof = computed(&Plan::inclusion(index, size).expect("a leaf"), size, &tiles);
            let expected = tlog::prove_record(size, index, &reference).expect("a proof");
            assert_eq!(theirs(&proof), expected, "leaf {index} of {size}");
            assert_eq!(verify_inclusion(index, size, &leaf_hash(&leaf(index)), &proof, root), Ok(()));
        }
    }
}

#[test]
fn a_path_can_be_followed_by_hand_from_leaf_to_root() {
    let (_, roots, tiles) = grown(SIZES);
    for size in 1..=SIZES {
        let root = roots[usize::try_from(size).expect("small")];
        for index in 0..size {
            let (leaf, proof) =
                (leaf_hash(&leaf(index)), computed(&Plan::inclusion(index, size).expect("a leaf"), size, &tiles));
            let path = inclusion_path(index, size, &leaf, &proof).expect("of this length");
            assert_eq!(path.iter().map(|step| step.sibling).collect::<Vec<_>>(), proof);
            let mut hash = leaf;
            let mut least = 0;
            for step in &path {
                assert!(step.level >= least, "levels only grow: leaf {index} of {size}");
                least = step.level + 1;
                // A left sibling is a whole subtree, which the tiles know by its level and number.
                if step.side == Side::Left {
                    let number = (index >> step.level) - 1;
                    let sibling = computed(&Plan::root(1 << step.level).expect("a tree"), 1 << step.level, &tiles);
                    assert!(number > 0 || step.sibling == sibling[0], "leaf {index} of {size}, level {}", step.level);
                }
                hash = match step.side {
                    Side::Left => node_hash(&step.sibling, &hash),
                    Side::Right => node_hash(&hash, &step.sibling),
                };
                assert_eq!(step.node, hash);
            }
            assert_eq!(hash, root);
            assert_eq!(inclusion_path(index, size + 1_000_000, &leaf, &proof), Err(ProofError::Length));
        }
    }
}

#[test]
fn consistency_proofs_are_the_references_between_all_sizes_up_to_300() {
    let (reference, roots, tiles) = grown(SIZES);
    for new in 1..=SIZES {
        let new_root = &roots[usize::try_from(new).expect("small")];
        for old in 0..=new {
            let old_root = &roots[usize::try_from(old).expect("small")];
            let proof = computed(&Plan::consistency(old, new).expect("a prefix"), new, &tiles);
            // The reference has no proof from nothing.
            if old > 0 {
                let expected = tlog::prove_tree(new, old, &reference).expect("a proof");
                assert_eq!(theirs(&proof), expected, "{old} to {new}");
            }
            assert_eq!(verify_consistency(old, old_root, new, new_root, &proof), Ok(()), "{old} to {new}");
        }
    }
}

#[test]
fn tiles_are_the_references_at_the_sizes_where_levels_begin() {
    let (reference, mut edge) = (Reference::default(), Edge::new());
    for size in [1, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537] {
        for index in edge.size()..size {
            reference.append(index, &leaf(index));
            edge.append(leaf_hash(&leaf(index)));
        }
        let made: Vec<_> = edge.tiles().collect();
        let expected = tlog_tiles::Tile::new_tiles(8, 0, size);
        assert_eq!(made.len(), expected.len(), "size {size}");
        // The places of all, the bytes of the first and the last: the reference is slow.
        for (tile, expected) in made.iter().zip(&expected) {
            assert_eq!(tile.0.to_string(), expected.path().replacen("tile/8/", "tile/", 1));
            if tile.0.level() > 0 || tile.0.index() < 4 || tile.0.index() > 250 {
                assert_eq!(tile.1, expected.read_data(&reference).expect("its bytes"), "{} at {size}", tile.0);
            }
        }
    }
}

#[test]
fn an_edge_that_is_restored_after_each_batch_writes_the_same_tiles_as_one_that_never_stopped() {
    let mut whole = Edge::new();
    let (mut stopped, mut written) = (Edge::new(), Tiles::new());
    let mut index = 0;
    for batch in [1, 1, 3, 250, 1, 1, 255, 256, 257, 700, 66_000, 2, 0, 1] {
        for _ in 0..batch {
            whole.append(leaf_hash(&leaf(index)));
            stopped.append(leaf_hash(&leaf(index)));
            index += 1;
        }
        let mut changed = 0;
        for (tile, bytes) in stopped.tiles() {
            written.insert(tile, &bytes).expect("a tile");
            changed += 1;
        }
        assert_eq!(changed == 0, batch == 0, "nothing is written for nothing");
        stopped.settle();
        assert_eq!(stopped.tiles().count(), 0);
        // Only what it says it needs.
        let mut fetched = Tiles::new();
        for tile in Edge::needs(index) {
            let first = u64::from(tile.width()) + tile.index() * 256;
            let hashes = (tile.index() * 256..first)
                .flat_map(|number| written.node(Node { height: tile.level() * 8, index: number }).expect("written").0);
            fetched.insert(tile, &hashes.collect::<Vec<_>>()).expect("a tile");
        }
        let restored = Edge::restore(index, &fetched).expect("all that it needs is there");
        assert_eq!(restored, stopped, "size {index}");
        assert_eq!(restored.root(), whole.root(), "size {index}");
        stopped = restored;
    }
    let reread = whole.tiles().filter(|(tile, _)| tile.level() == 1).collect::<Vec<_>>();
    assert_eq!(reread.len(), 2, "256 and the rest");
    for (tile, bytes) in whole.tiles() {
        for (number, hash) in (tile.index() * 256..).zip(bytes.chunks_exact(32)) {
            let node = Node { height: tile.level() * 8, index: number };
            assert_eq!(written.node(node).map(|held| held.0.to_vec()), Some(hash.to_vec()));
        }
    }
    let missing = Edge::restore(index, &Tiles::new());
    assert_eq!(missing, Err(countersign::log::NotAnEdge));
}

#[test]
fn a_flipped_bit_in_a_stored_tile_shows_in_the_root_before_anything_is_signed() {
    let mut edge = Edge::new();
    (0..812).for_each(|index| edge.append(leaf_hash(&leaf(index))));
    let root = edge.root();
    for flipped in 0..32 * 44 {
        let mut tiles = Tiles::new();
        for (tile, mut bytes) in edge.tiles() {
            if tile.level() == 0 && tile.index() == 3 {
                bytes[flipped] ^= 1;
            }
            tiles.insert(tile, &bytes).expect("a tile");
        }
        assert_ne!(Edge::restore(812, &tiles).expect("complete").root(), root, "byte {flipped}");
    }
}

#[test]
fn a_bundle_covers_the_leaves_of_its_level_0_tile() {
    for size in [1_u64, 256, 257, 600] {
        for index in 0..size {
            let bundle = Bundle::holding(index, size).expect("in the tree");
            let tile = Tile::holding(Node { height: 0, index }, size).expect("in the tree");
            assert_eq!((bundle.index(), bundle.width()), (tile.index(), tile.width()));
            assert!(bundle.leaves().contains(&index) && bundle.is_in(size) && !bundle.is_in(bundle.leaves().end - 1));
        }
        assert_eq!(Bundle::holding(size, size), None);
    }
}

/// A tree that is never built: the hash of a complete subtree is the hash of its name, so that sizes may be huge. The
/// folds stay honest, and both implementations read the same leaves.
struct Imagined;

impl Imagined {
    fn node(node: Node) -> Hash {
        countersign::canon::Sha256::of(format!("{} {}", node.height, node.index).as_bytes())
    }
}

impl tlog::HashReader for Imagined {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<tlog::Hash>, tlog::Error> {
        let node = |index| {
            let (height, index) = tlog::split_stored_hash_index(index);
            tlog::Hash(Self::node(Node { height, index }).0)
        };
        Ok(indexes.iter().map(|index| node(*index)).collect())
    }
}

/// Sizes of all magnitudes that the reference's numbering can hold.
fn sizes() -> impl Strategy<Value = u64> {
    (0_u32..50).prop_flat_map(|bits| 1_u64..=1 << bits)
}

proptest! {
    #[test]
    fn huge_trees_ask_for_the_same_hashes_as_the_reference((size, index) in sizes().prop_flat_map(|n| (Just(n), 0..n))) {
        let read = |node| Some(Imagined::node(node));
        let root = Plan::root(size).expect("a tree").compute(read).expect("read");
        prop_assert_eq!(theirs(&root), vec![tlog::tree_hash(size, &Imagined).expect("a root")]);
        let inclusion = Plan::inclusion(index, size).expect("a leaf").compute(read).expect("read");
        prop_assert_eq!(theirs(&inclusion), tlog::prove_record(size, index, &Imagined).expect("a proof"));
        let consistency = Plan::consistency(index + 1, size).expect("a prefix").compute(read).expect("read");
        prop_assert_eq!(theirs(&consistency), tlog::prove_tree(size, index + 1, &Imagined).expect("a proof"));
    }

    #[test]
    fn every_needed_node_lies_in_a_needed_tile_that_exists((size, index) in sizes().prop_flat_map(|n| (Just(n), 0..n))) {
        for plan in [Plan::root(size), Plan::inclusion(index, size), Plan::consistency(index, size)] {
            let plan = plan.expect("possible");
            let tiles = plan.tiles(size);
            for node in plan.nodes() {
                let tile = Tile::holding(node, size).expect("in the tree");
                prop_assert!(tile.is_in(size) && tiles.contains(&tile));
                prop_assert!(tile.is_full() || !Tile::new(tile.level(), tile.index(), tile.width() + 1).expect("wider").is_in(size));
            }
        }
    }

    #[test]
    fn proofs_that_were_tampered_with_fail(
        size in 1_u64..600, at in any::<prop::sample::Index>(), old in any::<prop::sample::Index>(),
        fault in 0..5, hit in any::<prop::sample::Index>(), byte in 0_usize..32, bit in 0_u8..8,
    ) {
        let (_, roots, tiles) = grown(size);
        let root = |size: u64| &roots[usize::try_from(size).expect("small")];
        let index = u64::try_from(at.index(usize::try_from(size).expect("small"))).expect("small");
        let old = u64::try_from(old.index(usize::try_from(size).expect("small"))).expect("small") + 1;
        let spoil = |proof: &mut Vec<Hash>| match fault {
            0 if !proof.is_empty() => { let hit = hit.index(proof.len()); proof[hit].0[byte] ^= 1 << bit; true }
            1 => proof.pop().is_some(),
            2 => { proof.push(leaf_hash(b"more")); true }
            3 => { proof.insert(0, leaf_hash(b"more")); true }
            4 if proof.len() > 1 => { proof.swap(0, 1); true }
            _ => false,
        };
        let mut proof = computed(&Plan::inclusion(index, size).expect("a leaf"), size, &tiles);
        if spoil(&mut proof) {
            prop_assert!(verify_inclusion(index, size, &leaf_hash(&leaf(index)), &proof, root(size)).is_err());
        }
        let mut proof = computed(&Plan::consistency(old, size).expect("a prefix"), size, &tiles);
        if spoil(&mut proof) {
            prop_assert!(verify_consistency(old, root(old), size, root(size), &proof).is_err());
        }
    }

    #[test]
    fn both_checks_agree_on_arbitrary_proofs(
        size in sizes(), index in 0_u64..1 << 50, length in 0_usize..60, seed in any::<u8>(),
    ) {
        let hashes: Vec<Hash> = (0..length).map(|n| leaf_hash(&[seed, u8::try_from(n).expect("few")])).collect();
        let (leaf, root) = (leaf_hash(b"leaf"), leaf_hash(b"root"));
        let mine = verify_inclusion(index, size, &leaf, &hashes, &root);
        prop_assert!(mine.is_err());
        prop_assert_eq!(matches!(mine, Err(ProofError::OutOfRange { .. })), index >= size);
        let mine = verify_consistency(index, &leaf, size, &root, &hashes);
        prop_assert!(mine.is_err());
    }

    #[test]
    fn a_frontier_goes_on_where_its_hashes_left_off(before in 0_u64..2000, after in 0_u64..600) {
        let mut whole = Frontier::new();
        (0..before).for_each(|index| whole.append(leaf_hash(&leaf(index))));
        let mut again = Frontier::from_hashes(whole.size(), whole.hashes().to_vec()).expect("a frontier");
        for index in before..before + after {
            whole.append(leaf_hash(&leaf(index)));
            again.append(leaf_hash(&leaf(index)));
        }
        prop_assert_eq!(&again, &whole);
        prop_assert_eq!(again.root(), whole.root());
    }

    #[test]
    fn tile_paths_are_the_references(level in 0_u8..3, index in 0_u64..1 << 40, width in 1_u16..=256) {
        if let Ok(tile) = Tile::new(level, index, width) {
            let reference = tlog_tiles::Tile::new(8, level, index, u32::from(width), false);
            let path = reference.path().replacen("tile/8/", "tile/", 1);
            prop_assert_eq!(&tile.to_string(), &path);
            prop_assert_eq!(path.parse(), Ok(tile));
        }
    }
}

#[test]
fn the_reference_reads_what_it_wrote() {
    // Guards the doubles above: an imagined tree is read by the reference's own numbering.
    let hashes = Imagined.read_hashes(&[tlog::stored_hash_index(3, 5)]).expect("reads");
    assert_eq!(ours(hashes[0]), Imagined::node(Node { height: 3, index: 5 }));
    let (reference, _, tiles) = grown(9);
    let node = Node { height: 2, index: 1 };
    assert_eq!(reference.node(node), tiles.node(node));
}
