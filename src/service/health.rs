//! What the registry knows about itself, for people who look after it.

use super::{App, ReadOnly, logs};
use crate::{
    config::Heads,
    log::{BadProof, Checkpoint, Proof},
};

/// The anchor as it is now.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AnchorHealth {
    /// Where it is.
    pub place: String,
    /// Whether a restored copy of the data directory would bring it along.
    pub inside_data: bool,
    /// What is in it.
    pub held: Anchored,
}

/// What an anchor holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Anchored {
    /// A checkpoint of this log.
    Checkpoint(Checkpoint),
    /// A checkpoint under the name before, which the present epoch accounts for.
    LeftBehind,
    /// Nothing.
    Missing,
    /// It can't be read, or this log didn't sign what is there.
    Unusable(ReadOnly),
}

impl App {
    /// Reads the anchor.
    pub async fn anchor(&self) -> AnchorHealth {
        let held = match self.core.anchor.read().await {
            Err(why) => Anchored::Unusable(why),
            Ok(None) => Anchored::Missing,
            Ok(Some(note)) => match self.moment().logs.held(&note) {
                Err(why) => Anchored::Unusable(why),
                Ok(logs::Held::Checkpoint(checkpoint)) => Anchored::Checkpoint(checkpoint),
                Ok(logs::Held::LeftBehind) => Anchored::LeftBehind,
            },
        };
        AnchorHealth { place: self.core.anchor.place(), inside_data: self.anchor_is_inside_data(), held }
    }

    /// How long heads live and how often they are signed anew.
    pub fn heads(&self) -> Heads {
        self.core.heads
    }

    /// The checkpoint under which a proof shows a leaf, checked by the keys that the log has now.
    ///
    /// # Errors
    /// [`BadProof`].
    pub fn proven(&self, proof: &Proof, leaf: &[u8]) -> Result<Checkpoint, BadProof> {
        proof.verify_by(leaf, self.moment().logs.current())
    }
}
