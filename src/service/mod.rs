//! The registry's service: every write is a [`Step`] in the commit queue, every read goes through a snapshot.

mod turn;

pub use turn::{Logged, Step, StepError, Turn};
