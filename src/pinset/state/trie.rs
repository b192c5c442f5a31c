//! A map from hashes whose copies share what they have in common.
//!
//! Each batch of the log works on a copy of the state, and evidence is never dropped: a copied map would make every write
//! as dear as the log is long. Here a copy costs one pointer, and an insertion the nodes on the way to it, one a hex digit
//! until the key is alone: logarithmically many for hashes, and at most 64 for whoever grinds keys that look alike. In order
//! it is the order of the keys, as a `BTreeMap` has it.

use std::sync::Arc;

use crate::canon::Sha256;

/// A persistent map from [`Sha256`].
#[derive(Clone, Debug)]
pub(super) struct Trie<V>(Branch<V>);

/// One child a hex digit.
type Branch<V> = Arc<[Option<Node<V>>; 16]>;

#[derive(Clone, Debug)]
enum Node<V> {
    Leaf(Arc<(Sha256, V)>),
    Branch(Branch<V>),
}

impl<V> Trie<V> {
    pub(super) fn get(&self, key: &Sha256) -> Option<&V> {
        let mut branch = &self.0;
        for depth in 0..64 {
            match branch.get(digit(key, depth))?.as_ref()? {
                Node::Leaf(leaf) => return (leaf.0 == *key).then_some(&leaf.1),
                Node::Branch(next) => branch = next,
            }
        }
        None
    }

    pub(super) fn contains(&self, key: &Sha256) -> bool {
        self.get(key).is_some()
    }

    /// All entries in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Sha256, &V)> {
        let mut stack = vec![self.0.iter()];
        std::iter::from_fn(move || {
            loop {
                match stack.last_mut()?.next() {
                    None => drop(stack.pop()),
                    Some(None) => {}
                    Some(Some(Node::Leaf(leaf))) => return Some((&leaf.0, &leaf.1)),
                    Some(Some(Node::Branch(branch))) => stack.push(branch.iter()),
                }
            }
        })
    }
}

impl<V: Clone> Trie<V> {
    /// Adds an entry. One that has the key already stays.
    pub(super) fn insert(&mut self, key: Sha256, value: V) {
        if !self.contains(&key) {
            insert(&mut self.0, 0, Arc::new((key, value)));
        }
    }
}

impl<V> Default for Trie<V> {
    fn default() -> Self {
        Self(empty())
    }
}

fn empty<V>() -> Branch<V> {
    Arc::new([const { None }; 16])
}

/// Puts a leaf whose key isn't there below `branch`, which stands `depth` digits from the root.
fn insert<V: Clone>(branch: &mut Branch<V>, depth: usize, leaf: Arc<(Sha256, V)>) {
    let Some(place) = Arc::make_mut(branch).get_mut(digit(&leaf.0, depth)) else { return };
    match place {
        None => *place = Some(Node::Leaf(leaf)),
        Some(Node::Branch(next)) => insert(next, depth + 1, leaf),
        Some(Node::Leaf(other)) => {
            let mut next = empty();
            insert(&mut next, depth + 1, Arc::clone(other));
            insert(&mut next, depth + 1, leaf);
            *place = Some(Node::Branch(next));
        }
    }
}

/// The hex digit of a hash at a depth.
fn digit(key: &Sha256, depth: usize) -> usize {
    let byte = key.0.get(depth / 2).copied().unwrap_or_default();
    usize::from(if depth.is_multiple_of(2) { byte >> 4 } else { byte & 15 })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Keys that differ only in their last digits, as somebody would make them who wants deep trees.
    fn key() -> impl Strategy<Value = Sha256> {
        let alike = any::<u8>().prop_map(|last| {
            let mut bytes = [7; 32];
            bytes[31] = last;
            Sha256(bytes)
        });
        prop_oneof![any::<[u8; 32]>().prop_map(Sha256), alike]
    }

    proptest! {
        #[test]
        fn it_holds_what_a_btree_map_holds_in_its_order_and_copies_stay_as_they_were(
            entries in prop::collection::vec((key(), any::<u16>()), 0..200),
            more in prop::collection::vec((key(), any::<u16>()), 0..50),
        ) {
            let (mut trie, mut model) = (Trie::default(), BTreeMap::new());
            let add = |trie: &mut Trie<u16>, model: &mut BTreeMap<Sha256, u16>, (key, value)| {
                trie.insert(key, value);
                model.entry(key).or_insert(value);
            };
            entries.into_iter().for_each(|entry| add(&mut trie, &mut model, entry));
            let (copy, before) = (trie.clone(), model.clone());
            more.into_iter().for_each(|entry| add(&mut trie, &mut model, entry));
            for (trie, model) in [(&trie, &model), (&copy, &before)] {
                prop_assert!(trie.iter().eq(model.iter()));
                prop_assert!(model.iter().all(|(key, value)| trie.get(key) == Some(value)));
                prop_assert!(!trie.contains(&Sha256([8; 32])));
            }
        }
    }
}
