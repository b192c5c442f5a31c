//! x
mod document;
pub use document::*;
