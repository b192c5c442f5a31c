//! Arrays: on one line where they are short, else element by element.

use std::ops::Range;

use similar::DiffOp;

use super::{super::html::Html, How, Node, View, align::align, tree::Drawing};

/// An array of scalars this short is written on one line.
pub(super) const INLINE_CHARS: usize = 96;

impl Drawing<'_, '_> {
    /// Arrays on both sides: on one line where elements only came, else element by element.
    pub(super) fn array(&mut self, depth: usize, key: Option<&str>, old: &[Node<'_>], new: &[Node<'_>], pointer: &str) {
        let ops = align(&keys(old), &keys(new));
        let scalars = |items: &[Node<'_>]| items.iter().all(Node::is_leaf) && inline_length(items) <= INLINE_CHARS;
        if scalars(old) && scalars(new) {
            self.inline_arrays(depth, key, old, new, &ops, pointer);
            return;
        }
        self.open(How::Inside, depth, key, "[", pointer);
        for op in ops {
            match op {
                DiffOp::Equal { new_index, len, .. } => {
                    let places = new_index..new_index + len;
                    let shown = self.input.view == View::Whole || self.input.unfold == Some(pointer);
                    let mut folded = Vec::new();
                    for at in places {
                        let place = format!("{pointer}/{at}");
                        if shown || self.is_about(&place) {
                            self.fold(depth + 1, &mut folded, &mut false, true, pointer);
                            self.whole(How::Same, depth + 1, None, &new[at], &place);
                        } else {
                            folded.push(at.to_string());
                        }
                    }
                    self.fold(depth + 1, &mut folded, &mut false, true, pointer);
                }
                _ => self.elements(depth + 1, old, op.old_range(), new, op.new_range(), pointer),
            }
        }
        self.close(How::Same, depth, "]", pointer);
    }

    /// A stretch of an array that differs: paired by place, the rest one-sided.
    fn elements(
        &mut self,
        depth: usize,
        old: &[Node<'_>],
        o: Range<usize>,
        new: &[Node<'_>],
        n: Range<usize>,
        pointer: &str,
    ) {
        let pairs = o.len().min(n.len());
        for i in 0..pairs {
            self.value(depth, None, &old[o.start + i], &new[n.start + i], &format!("{pointer}/{}", n.start + i));
        }
        for (how, items, range) in
            [(How::Removed, old, o.start + pairs..o.end), (How::Added, new, n.start + pairs..n.end)]
        {
            for at in range {
                let change = self.change();
                let first = self.lines.len();
                self.whole(how, depth, None, &items[at], &format!("{pointer}/{at}"));
                self.number(first, change);
            }
        }
    }

    fn inline_arrays(
        &mut self,
        depth: usize,
        key: Option<&str>,
        old: &[Node<'_>],
        new: &[Node<'_>],
        ops: &[DiffOp],
        pointer: &str,
    ) {
        let change = self.change();
        let only_added = !ops.iter().any(|op| matches!(op, DiffOp::Delete { .. } | DiffOp::Replace { .. }));
        let marked = |ops: &[DiffOp], range: fn(&DiffOp) -> Range<usize>| -> Vec<Range<usize>> {
            ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })).map(range).collect()
        };
        if !only_added {
            let body = self.inline_array(key, old, &marked(ops, DiffOp::old_range), true);
            self.code(How::Removed, depth, body, pointer, Some(change));
        }
        let body = self.inline_array(key, new, &marked(ops, DiffOp::new_range), false);
        let how = if only_added { How::Inside } else { How::Added };
        self.code(how, depth, body, pointer, only_added.then_some(change));
    }

    pub(super) fn inline_array(
        &mut self,
        key: Option<&str>,
        items: &[Node<'_>],
        marked: &[Range<usize>],
        removed: bool,
    ) -> Html {
        let mut body = self.key(key);
        body.tag("[");
        for (i, item) in items.iter().enumerate() {
            let differs = marked.iter().any(|range| range.contains(&i));
            body.tag(match (differs, removed) {
                (false, _) => "",
                (true, true) => "<del>",
                (true, false) => "<ins>",
            });
            body.tag(if i > 0 { ", " } else { "" });
            self.leaf(&mut body, item);
            body.tag(match (differs, removed) {
                (false, _) => "",
                (true, true) => "</del>",
                (true, false) => "</ins>",
            });
        }
        body.tag("]");
        body
    }
}

/// What elements are compared by: their meaning, written out.
fn keys(items: &[Node<'_>]) -> Vec<String> {
    let written = |item: &Node<'_>| {
        let mut out = String::new();
        item.meaning(&mut out);
        out
    };
    items.iter().map(written).collect()
}

pub(super) fn inline_length(items: &[Node<'_>]) -> usize {
    let length = |item: &Node<'_>| match item {
        Node::Scalar(text) => text.len(),
        Node::Text(text) => text.len() + 2,
        Node::Array(_) | Node::Object(_) => 2,
    };
    items.iter().map(|item| length(item) + 2).sum()
}
