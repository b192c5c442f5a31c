//! Countersign: the supply-chain registry and signing service for the descriptors that MCP servers advertise.

pub mod clock;

pub mod canon;

pub mod name;

pub mod keys;

pub mod descriptor;

pub mod attest;

pub mod scan;
