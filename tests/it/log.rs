//! The log's arithmetic and texts against independent implementations, laws and hostile input.

mod notes;
mod texts;
mod tree;
