//! Which elements of two sequences belong together, at a bounded cost.

use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Comparing costs length times differences; above this product the middle counts as replaced whole.
const MAX_COST: usize = 4_000_000;

/// The steps from `old` to `new`: what both begin and end with apart, the middle by Myers' algorithm.
pub(super) fn align<T: Eq + Hash + Ord + Clone>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let same = |(a, b): &(&T, &T)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let room = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(room).take_while(same).count();
    let (old_middle, new_middle) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut ops = Vec::new();
    if head > 0 {
        ops.push(DiffOp::Equal { old_index: 0, new_index: 0, len: head });
    }
    if old_middle.len().saturating_mul(new_middle.len()) > MAX_COST {
        ops.push(DiffOp::Replace {
            old_index: head,
            old_len: old_middle.len(),
            new_index: head,
            new_len: new_middle.len(),
        });
    } else {
        ops.extend(capture_diff_slices(Algorithm::Myers, old_middle, new_middle).into_iter().map(|op| moved(op, head)));
    }
    if tail > 0 {
        ops.push(DiffOp::Equal { old_index: old.len() - tail, new_index: new.len() - tail, len: tail });
    }
    ops
}

fn moved(op: DiffOp, by: usize) -> DiffOp {
    match op {
        DiffOp::Equal { old_index, new_index, len } => {
            DiffOp::Equal { old_index: old_index + by, new_index: new_index + by, len }
        }
        DiffOp::Delete { old_index, old_len, new_index } => {
            DiffOp::Delete { old_index: old_index + by, old_len, new_index: new_index + by }
        }
        DiffOp::Insert { old_index, new_index, new_len } => {
            DiffOp::Insert { old_index: old_index + by, new_index: new_index + by, new_len }
        }
        DiffOp::Replace { old_index, old_len, new_index, new_len } => {
            DiffOp::Replace { old_index: old_index + by, old_len, new_index: new_index + by, new_len }
        }
    }
}
