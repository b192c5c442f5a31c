//! Everything that is tested from outside the crate, as one binary: one link, many tests.

#![cfg(test)]

mod canon;
mod cli_gateway;
mod cli_local;
#[cfg(feature = "server")]
mod databases;
mod descriptor;
mod doubles;
mod in_memory;
mod log;
mod mcp_http;
mod mcp_stdio;
mod registry;
#[cfg(feature = "server")]
mod service;
mod shared;
#[cfg(feature = "server")]
mod store;
mod terminal;
