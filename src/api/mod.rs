//! The HTTP API: which call is where, what it takes and answers. The names are a contract.
//!
//! A handler extracts, calls a service function and answers. Descriptors in requests are kept as the bytes they came in
//! (`RawValue`) until the strict parser has them; documents that were signed or are named by their digest go out as they
//! were kept.

#[expect(unused_qualifications, reason = "utoipa's macro writes them for query parameters")]
mod candidates;
mod check;
mod content;
mod health;
#[expect(unused_qualifications, reason = "utoipa's macro writes them for query parameters")]
mod log;
mod openapi;
pub(crate) mod page;
#[expect(unused_qualifications, reason = "utoipa's macro writes them for query parameters")]
mod pinsets;
mod releases;
mod schema;
#[expect(unused_qualifications, reason = "utoipa's macro writes them for query parameters")]
mod servers;
mod tagged;
mod urls;

pub use openapi::{Call, calls};
pub use urls::{admin_router, router};
