//! Evidence: what ties a release to somebody.
//!
//! [`verify`] takes a submitted release, an attestation and the authorities that the registry knows, and makes a
//! [`Verified`] or says which single thing is wrong. A [`Level`] follows from the authority that the verified key
//! holds; nothing in a submission can raise it. The forms are DSSE ([`dsse`]) around an in-toto statement
//! ([`statement`]).
//!
//! No I/O and no clock: whether an authority holds was decided before, and a revoked one takes no new release. The bytes
//! of an attestation are kept as received and never written again.

mod authority;
pub mod dsse;
mod members;
mod predicate;
mod refused;
pub mod statement;
mod verify;

pub use authority::{Authorities, Authority, Level, NotASigner, Role, Scope, Signer};
pub use members::Malformed;
pub use predicate::{Artifact, MAX_DESTINATIONS, Predicate, Recorded, Server, Source};
pub use refused::Refused;
pub use statement::Statement;
pub use verify::{Verified, verify};
