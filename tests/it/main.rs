//! Everything that is tested from outside the crate, as one binary: one link, many tests.

#![cfg(test)]

mod canon;
mod descriptor;
mod in_memory;
mod log;
mod shared;
