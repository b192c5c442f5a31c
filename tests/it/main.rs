//! Everything that is tested from outside the crate, as one binary: one link, many tests.

#![cfg(test)]

mod canon;
#[cfg(feature = "server")]
mod cli_gateway;
#[cfg(feature = "server")]
mod cli_local;
#[cfg(feature = "server")]
mod cli_operator;
#[cfg(feature = "server")]
mod databases;
mod descriptor;
#[cfg(feature = "server")]
mod doubles;
mod in_memory;
mod log;
#[cfg(feature = "server")]
mod mcp_http;
#[cfg(feature = "server")]
mod mcp_stdio;
#[cfg(feature = "server")]
mod registry;
#[cfg(feature = "server")]
mod service;
mod shared;
#[cfg(feature = "server")]
mod store;
#[cfg(feature = "server")]
mod terminal;
