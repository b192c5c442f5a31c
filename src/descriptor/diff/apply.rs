//! Replays changes on the old value: the proof that a diff hides nothing.

use std::borrow::Cow;

use super::{Change, Diff};
use crate::canon::{Value, pointer};

/// The value isn't the one the diff was made from.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the diff doesn't fit the value at {0:?}")]
pub struct NotApplicable(pub String);

impl Diff {
    /// The new value, made of the old one and the changes.
    ///
    /// # Errors
    /// Where the value doesn't have what a change says was there.
    pub fn apply(&self, old: &Value<'_>) -> Result<Value<'static>, NotApplicable> {
        let mut value = old.clone().into_owned();
        for change in &self.changes {
            one(&mut value, change).ok_or_else(|| NotApplicable(change.pointer.clone()))?;
        }
        Ok(value)
    }
}

fn one(root: &mut Value<'static>, change: &Change) -> Option<()> {
    if let (Some(old), Some(new)) = (&change.old, &change.new) {
        let place = root.pointer_mut(&change.pointer)?;
        if place != old {
            return None;
        }
        *place = new.clone();
        return Some(());
    }
    // Only members come and go; a list that grows or shrinks is one change.
    let (parent, token) = change.pointer.rsplit_once('/')?;
    let name = pointer::tokens(&format!("/{token}"))?.pop()?;
    let Value::Object(object) = root.pointer_mut(parent)? else { return None };
    match (&change.old, &change.new) {
        (None, Some(new)) => object.insert(Cow::Owned(name), new.clone()).is_none().then_some(()),
        (Some(old), None) => (object.remove(&name)? == *old).then_some(()),
        (None, None) | (Some(_), Some(_)) => None,
    }
}
