//! Everything that is tested from outside the crate, as one binary: one link, many tests.

#![cfg(test)]

mod api;
mod audit;
mod browser;
mod browser_walk;
mod bundle;
mod canon;
mod cli_gateway;
mod cli_local;
mod cli_operator;
mod cli_witnesses;
mod databases;
mod descriptor;
mod doubles;
mod filled;
mod go_log;
mod in_memory;
mod keys;
mod log;
mod mcp_http;
mod mcp_stdio;
mod pages;
mod pages_check;
mod pages_doors;
mod pages_hostile;
mod pages_review;
mod pages_settings;
mod process;
mod readme;
mod registry;
mod scan;
mod serve;
mod service;
mod shared;
mod store;
mod terminal;
mod verifiers;
mod whole;
