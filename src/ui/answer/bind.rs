//! An alias is bound to a server for good, from the server's page or from a candidate that waits for it.

use axum::{extract::State, response::Response};

use super::{candidate::known, form::Fields, neighbours, server};
use crate::{
    name::{Alias, ServerName, SetName},
    review::CandidateId,
    service::govern::{self, Bind, Governor},
    ui::{around, sentence},
    web::{Form, Kind, Path, Problem, Reviewer, Web, Who},
};

pub(super) async fn bind(
    State(web): State<Web>,
    Who(who): Who,
    reviewer: Reviewer,
    Path((namespace, name)): Path<(String, String)>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let server: ServerName = format!("{namespace}/{name}").parse().map_err(|_| Problem::new(Kind::ServerNotFound))?;
    let mut fields = Fields::new(fields);
    let (set, typed): (SetName, String) = (fields.parsed("set")?, fields.one("alias")?);
    let candidate: Option<CandidateId> = fields.optional("candidate")?.map(|id| known(&id)).transpose()?;
    fields.done()?;
    let back = candidate.as_ref().map_or_else(|| format!("/servers/{server}"), neighbours::address);
    let done = match typed.trim().parse::<Alias>() {
        Ok(alias) => {
            let by = Governor { by: reviewer.id, name: reviewer.account };
            let asked = Bind { pinset: set, alias, server: server.clone(), by };
            govern::bind(web.app(), asked).await.map(drop).map_err(Problem::from)
        }
        Err(e) => Err(Problem::new(Kind::FormMalformed).detail(e)),
    };
    match done {
        Ok(()) => Ok(around::see(&back)),
        Err(problem) if problem.kind().status().is_server_error() || problem.kind() == Kind::ServerNotFound => {
            Err(problem)
        }
        Err(problem) => {
            let error = sentence(&problem.says().unwrap_or(problem.kind().title()));
            let again =
                server::Again { alias: typed, candidate: candidate.map(|id| id.to_string()), error: Some(error) };
            server::respond(&web, &who, &server, &server::Asked::default(), again, problem.kind().status()).await
        }
    }
}
