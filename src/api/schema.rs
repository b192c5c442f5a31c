//! Shapes that several calls answer with.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    canon::Digest,
    clock::Timestamp,
    name::{Kind, ServerName, SetName, Variant},
    review::{CandidateId, Reason},
    service::App,
    store::{self, Stage},
    web::Problem as Refusal,
};

/// A problem (RFC 9457). `type` is a stable slug after `/problems/`; a 5xx names the request, so that the operator finds
/// it in the log.
#[derive(Serialize, ToSchema)]
pub(super) struct Problem {
    /// `/problems/` and the slug, as `/problems/view-changed`.
    r#type: String,
    /// A few words.
    title: String,
    /// The status again.
    status: u16,
    /// What is wrong, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The request's id, in a 5xx.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
}

/// A leaf of the log, with its proof.
#[derive(Serialize, ToSchema)]
pub(super) struct Logged {
    /// The leaf's index.
    pub(super) index: u64,
    /// Its inclusion proof (C2SP tlog-proof), with the signed checkpoint.
    pub(super) proof: String,
}

/// A candidate as lists show it.
#[derive(Serialize, ToSchema)]
pub(super) struct CandidateItem {
    /// Its id.
    #[schema(value_type = String)]
    id: CandidateId,
    /// The pin set.
    #[schema(value_type = String)]
    pinset: SetName,
    /// The server.
    #[schema(value_type = String)]
    server: ServerName,
    /// The variant; mostly empty.
    #[schema(value_type = String)]
    variant: Variant,
    /// The kind of descriptor.
    #[schema(value_type = String)]
    kind: Kind,
    /// The descriptor's own name. One that is no legal name is shown escaped, after a space.
    name: String,
    /// The most urgent reason why it was opened.
    #[schema(value_type = String)]
    reason: Reason,
    /// The descriptor's digest with its recipe.
    #[schema(value_type = String)]
    digest: Digest,
    /// `pending`, `approved`, `rejected`, `revoked` or `held`.
    #[schema(value_type = String)]
    state: Stage,
    /// When it was opened.
    #[schema(value_type = String)]
    opened_at: Timestamp,
}

impl Logged {
    /// The leaf's proof under the newest checkpoint.
    pub(super) async fn at(app: &App, index: u64) -> Result<Self, Refusal> {
        Ok(Self { index, proof: app.inclusion(index).await?.to_string() })
    }
}

impl From<store::Candidate> for CandidateItem {
    fn from(row: store::Candidate) -> Self {
        Self {
            id: row.id,
            pinset: row.pinset,
            server: row.server,
            variant: row.variant,
            kind: row.kind,
            name: row.name,
            reason: row.reason,
            digest: Digest::jcs(row.digest),
            state: row.state,
            opened_at: row.opened_at,
        }
    }
}
