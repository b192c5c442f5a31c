//! The changes as a tree, for pages that draw one.

use std::collections::BTreeMap;

use super::Diff;
use crate::canon::pointer;

/// A place on the way to changes, or a change itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Node {
    /// The member name or index; empty for the root.
    pub token: String,
    /// Index into [`Diff::changes`], if this very place changed. Then it has no children.
    pub change: Option<usize>,
    /// The places inside, in the order of their first change.
    pub children: Vec<Self>,
}

impl Diff {
    /// The changes as a tree from the root of the value.
    pub fn tree(&self) -> Node {
        // Children are looked up by (parent, token), so that a flat object of many changes stays linear.
        let mut nodes = vec![Flat::default()];
        let mut known: BTreeMap<(usize, String), usize> = BTreeMap::new();
        for (i, change) in self.changes.iter().enumerate() {
            let mut at = 0;
            for token in pointer::tokens(&change.pointer).unwrap_or_default() {
                at = *known.entry((at, token.clone())).or_insert_with(|| {
                    nodes.push(Flat { token, ..Flat::default() });
                    let child = nodes.len() - 1;
                    nodes[at].children.push(child);
                    child
                });
            }
            nodes[at].change = Some(i);
        }
        assemble(&nodes, 0)
    }
}

#[derive(Default)]
struct Flat {
    token: String,
    change: Option<usize>,
    children: Vec<usize>,
}

fn assemble(nodes: &[Flat], at: usize) -> Node {
    let node = &nodes[at];
    let children = node.children.iter().map(|child| assemble(nodes, *child)).collect();
    Node { token: node.token.clone(), change: node.change, children }
}
