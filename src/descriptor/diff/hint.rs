//! Tool annotations: hints that clients may act on, though nobody should trust them.

use super::{Class, Growth, say, walk::Verdict};
use crate::canon::Value;

/// The behaviour hints, and what the MCP specification takes an absent one for.
const HINTS: [(&str, bool); 4] =
    [("destructiveHint", true), ("idempotentHint", false), ("openWorldHint", true), ("readOnlyHint", false)];

/// One member of `annotations`.
pub(super) fn one(name: &str, old: Option<&Value<'_>>, new: Option<&Value<'_>>) -> Verdict {
    let flipped = flips(name, old, new);
    let said = if flipped { "hint flipped" } else { "annotation changed" };
    Verdict {
        class: Class::Hint,
        growth: flipped.then_some(Growth::HintFlipped),
        sentence: format!("{said}: {} {}", say::cut(name), say::arrow(old, new)),
    }
}

/// The whole of `annotations`, where it came, went, or isn't an object on one side.
pub(super) fn all(old: Option<&Value<'_>>, new: Option<&Value<'_>>) -> Verdict {
    let odd = [old, new].into_iter().flatten().any(|side| side.as_object().is_none());
    let mut flipped = Vec::new();
    for (name, _) in HINTS {
        let (old, new) = (old.and_then(|side| side.get(name)), new.and_then(|side| side.get(name)));
        if flips(name, old, new) {
            flipped.push(format!("{name} {}", say::arrow(old, new)));
        }
    }
    let sentence = if flipped.is_empty() {
        format!("annotations changed: {}", say::arrow(old, new))
    } else {
        format!("hints flipped: {}", flipped.join(", "))
    };
    let growth = (odd || !flipped.is_empty()).then_some(Growth::HintFlipped);
    Verdict { class: Class::Hint, growth, sentence }
}

/// Whether a client that believes the hint acts differently. A hint that is no boolean is never what it was: clients
/// differ in how they read it.
fn flips(name: &str, old: Option<&Value<'_>>, new: Option<&Value<'_>>) -> bool {
    let Some((_, absent)) = HINTS.into_iter().find(|(hint, _)| *hint == name) else { return false };
    let taken_as = |side: Option<&Value<'_>>| side.map_or(Some(absent), Value::as_bool);
    taken_as(old) != taken_as(new) || taken_as(new).is_none()
}
