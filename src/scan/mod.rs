//! The scanner: static rules over everything a descriptor says, in every form in which it could be read.
//!
//! [`Ruleset::builtin`] compiles the packs in `packs/` and runs their examples; a set that fails one scans nothing.
//! [`Ruleset::scan_release`] visits every string and member name at any depth ([`View`] lists the forms), and runs
//! checks over the structure. A [`Finding`] points at what the publisher wrote, whichever form matched. It is evidence
//! for a reviewer: a report without findings proves nothing about a descriptor.
//!
//! Deterministic, offline, no I/O. Work is linear in the size of the descriptor: patterns are finite automata, every
//! form is made in one pass, a clause has a bounded length and is judged once a rule. Where a limit ends a search, a
//! finding says so and the report is incomplete. The descriptor is a stranger's text and nothing in it is trusted, its
//! annotations least.

mod check;
mod clause;
mod engine;
mod pack;
mod places;
mod report;
mod rule;
mod ruleset;
mod view;

pub use pack::PackError;
pub use report::{Finding, Report, Severity, Surface, View};
pub use ruleset::Ruleset;
