//! Where a test makes the database fail: each statement that writes passes here before it is sent and after it is done,
//! and so do `COMMIT` and the reads that a commit rests on.
//!
//! A statement fails in two ways that its caller can't tell apart: it had no effect, or it had and the reply was lost.
//! Recovery has to be right after both, so a test must be able to bring about either. Nothing in the service makes a
//! probe, and no setting does: without one these calls return at once.

use std::sync::Arc;

use super::{Conn, Reader, Result, WriteTx, Writer};
use crate::env::BoxFuture;

/// Looks on, delays, or fails statements.
pub trait Probe: std::fmt::Debug + Send + Sync {
    /// A statement is about to be sent. An error takes its place: it has no effect.
    fn before<'a>(&'a self, sql: &'static str) -> BoxFuture<'a, Result<()>>;

    /// A statement was done. An error takes the place of its reply.
    fn after<'a>(&'a self, sql: &'static str) -> BoxFuture<'a, Result<()>>;
}

/// What [`Probe`] sees where a transaction ends.
pub const COMMIT: &str = "COMMIT";

pub(super) type Probed = Option<Arc<dyn Probe>>;

impl Reader {
    /// The same connections under a probe.
    #[must_use]
    pub fn probed(self, probe: Arc<dyn Probe>) -> Self {
        Self(self.0, Some(probe))
    }
}

impl Writer {
    /// The same connections under a probe.
    #[must_use]
    pub fn probed(self, probe: Arc<dyn Probe>) -> Self {
        Self(self.0, Some(probe))
    }
}

impl Conn {
    /// Call it before a statement that is to be seen.
    pub(super) async fn before(&self, sql: &'static str) -> Result<()> {
        match &self.1 {
            Some(probe) => probe.before(sql).await,
            None => Ok(()),
        }
    }
}

impl WriteTx {
    pub(super) async fn after(&self, sql: &'static str) -> Result<()> {
        match &self.0.1 {
            Some(probe) => probe.after(sql).await,
            None => Ok(()),
        }
    }
}
