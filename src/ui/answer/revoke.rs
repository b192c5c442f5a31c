//! A pin is taken back, from the page of the decision that made it.

use axum::{extract::State, response::Response};

use super::{
    decision::{self, Again},
    form::{Fields, reason},
};
use crate::{
    canon::Sha256,
    name::SetName,
    service::desk::{self, Revocation},
    ui::{around, piece::Note, sentence},
    web::{Form, Kind, Path, Problem, Reviewer, Web, Who},
};

pub(super) async fn revoke(
    State(web): State<Web>,
    Who(who): Who,
    reviewer: Reviewer,
    Path(set): Path<String>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let pinset: SetName = set.parse().map_err(|_| Problem::new(Kind::PinsetNotFound))?;
    let mut fields = Fields::new(fields);
    let (name, kind, digest) = (fields.parsed("name")?, fields.parsed("kind")?, fields.parsed("digest")?);
    let (decision, typed): (Sha256, String) = (fields.parsed("decision")?, fields.one("reason")?);
    fields.done()?;
    let done = match reason(&typed) {
        Ok(reason) => {
            let (reviewer, account) = (reviewer.id, reviewer.account);
            let asked = Revocation { pinset, name, kind, digest, reason, reviewer, account };
            desk::revoke(web.app(), asked).await.map_err(Problem::from)
        }
        Err(problem) => Err(problem),
    };
    match done {
        Ok(written) => Ok(around::see(&match written.done.decision {
            Some(made) => format!("/decisions/{made}"),
            None => format!("/pinsets/{set}"),
        })),
        Err(problem) if problem.kind().status().is_server_error() => Err(problem),
        Err(problem) => {
            let detail = sentence(&problem.says().unwrap_or(problem.kind().title()));
            let note = Note::refused("The pin was not revoked.", detail.as_str().into());
            let again = Again { reason: typed, error: Some(detail), note: Some(note) };
            decision::respond(&web, &who, decision, again, problem.kind().status()).await
        }
    }
}
