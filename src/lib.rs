//! Countersign: the supply-chain registry and signing service for the descriptors that MCP servers advertise.

pub mod clock;

pub mod text;

pub mod canon;

pub mod name;

pub mod keys;

pub mod log;

pub mod descriptor;

pub mod attest;

pub mod scan;

pub mod review;

pub mod event;

pub mod pinset;

#[cfg(feature = "server")]
pub mod env;

#[cfg(feature = "server")]
pub mod config;

#[cfg(feature = "server")]
pub mod mcp;

#[cfg(feature = "server")]
pub mod client;

#[cfg(feature = "server")]
pub mod store;

#[cfg(feature = "server")]
pub mod service;

#[cfg(feature = "server")]
pub mod web;

#[cfg(feature = "server")]
pub mod api;

#[cfg(feature = "server")]
#[cfg_attr(not(test), expect(dead_code, reason = "the handlers that fill these pages come with the service"))]
mod ui;

#[cfg(feature = "server")]
pub mod cli;
