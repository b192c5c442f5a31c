//! Descriptors, captures and releases, from outside.

mod corpus;
mod files;
mod pinning;
mod strict;
