//! What the registry knows about itself, for people who look after it.

use super::{App, ReadOnly};
use crate::{config::Heads, log::Checkpoint};

/// The anchor as it is now.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AnchorHealth {
    /// The file.
    pub path: String,
    /// Whether a restored copy of the data directory would bring it along.
    pub inside_data: bool,
    /// The checkpoint in it, or why there is none to be had.
    pub held: Result<Option<Checkpoint>, ReadOnly>,
}

impl App {
    /// Reads the anchor.
    pub async fn anchor(&self) -> AnchorHealth {
        let anchor = self.core.anchor.clone();
        let path = anchor.path().display().to_string();
        let held = tokio::task::spawn_blocking(move || anchor.read()).await;
        AnchorHealth {
            path,
            inside_data: self.anchor_is_inside_data(),
            held: held.unwrap_or_else(|e| Err(ReadOnly::Unusable(e.to_string()))),
        }
    }

    /// How long heads live and how often they are signed anew.
    pub fn heads(&self) -> Heads {
        self.core.heads
    }
}
