//! Everything that is tested from outside the crate, as one binary: one link, many tests.

#![cfg(test)]

mod cli_gateway;
mod cli_local;
mod doubles;
mod in_memory;
mod log;
mod mcp_http;
mod mcp_stdio;
mod registry;
mod shared;
mod terminal;
