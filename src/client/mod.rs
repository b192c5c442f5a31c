//! The registry's client: fetches what a registry serves, keeps it in a state directory, publishes releases, and collects
//! what proves a pin.
//!
//! Nothing fetched is believed because of where it came from. [`pull`] hands answers to [`crate::pinset::verify`] and
//! persists only what passed, last; [`State`] checks it all again each time it is opened, because a disk is not trusted
//! either. [`audit`] reads everything that a registry ever logged. What can't be read is an error and never a reason to
//! start over: only a person removes a state directory.

pub mod audit;
mod bundle;
mod fetch;
mod follow;
mod log;
mod publish;
mod pull;
mod rules;
mod state;

pub use bundle::{BundleError, Wanted, bundle};
pub use fetch::{Body, Error, Problem, Registry};
pub use follow::trust as follow_trust;
pub use log::{Log, LogError};
pub use publish::{Published, publish, submission};
pub use pull::{PullError, Pulled, pull, trust};
pub use rules::Rules;
pub use state::{State, StateError};
