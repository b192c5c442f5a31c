//! Answers to `GET head`, made once and given to every gateway that asks the same: heads and versions don't change
//! within a [`Moment`], so an answer is right as long as the moment is the one that is served.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;

use super::{
    App, Moment,
    distribute::{self, NoHead},
};
use crate::{canon::Sha256, name::SetName};

/// The answers of the newest moment.
#[derive(Debug, Default)]
pub struct KeptHeads(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    moment: Option<Arc<Moment>>,
    answers: HashMap<(SetName, u64), KeptHead>,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct KeptHead {
    /// Its JSON.
    pub json: Bytes,
    /// SHA-256 of that, for a tag.
    pub sha256: Sha256,
}

/// Gateways ask from the trees that they saw at their last pulls, which are few; whoever asks from every size there is
/// gets the answers made anew.
const MAX_ANSWERS: usize = 1_024;

impl KeptHeads {
    /// As [`distribute::head`].
    ///
    /// # Errors
    /// [`NoHead`].
    pub async fn head(&self, app: &App, set: &SetName, seen: u64) -> Result<KeptHead, NoHead> {
        let (moment, key) = (app.moment(), (set.clone(), seen));
        if let Some(kept) = self.of(&moment).answers.get(&key) {
            return Ok(kept.clone());
        }
        let json = distribute::head(app, set, seen).await?.to_json()?;
        let kept = KeptHead { sha256: Sha256::of(&json), json: json.into() };
        // The answer may be of a newer moment than this; it is found only as long as this is still the newest.
        let mut held = self.of(&moment);
        if held.answers.len() >= MAX_ANSWERS {
            held.answers.clear();
        }
        held.answers.insert(key, kept.clone());
        Ok(kept)
    }

    /// What is kept of this moment; what was kept of another is forgotten.
    fn of(&self, moment: &Arc<Moment>) -> std::sync::MutexGuard<'_, Kept> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.moment.as_ref().is_some_and(|held| Arc::ptr_eq(held, moment)) {
            *held = Kept { moment: Some(Arc::clone(moment)), answers: HashMap::new() };
        }
        held
    }
}
