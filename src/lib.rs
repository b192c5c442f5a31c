//! Countersign: the supply-chain registry and signing service for the descriptors that MCP servers advertise.

pub mod clock;

pub mod text;

pub mod canon;

pub mod name;

pub mod keys;

#[cfg(feature = "server")]
#[cfg_attr(not(test), expect(dead_code, reason = "the handlers that fill these pages come with the service"))]
mod ui;
