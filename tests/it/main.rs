//! Everything that is tested from outside the crate, as one binary: one link, many tests.

#![cfg(test)]

#[cfg(feature = "server")]
mod databases;
mod in_memory;
mod log;
#[cfg(feature = "server")]
mod service;
mod shared;
#[cfg(feature = "server")]
mod store;
