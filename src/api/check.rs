//! Advice about what servers list, or about one descriptor before it is dispatched.
//!
//! Whatever of a list the strict parser refuses is judged as refused, beside its neighbours; the body around the
//! descriptors is ours and must be whole.

use axum::{Json, body::Bytes, extract::State};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::schema::Problem as Refusal;
use crate::{
    descriptor::{Listed, MAX_DESCRIPTORS},
    name::{Alias, Kind, SetName, Variant},
    pinset::verdict::Listing,
    service::{
        App,
        distribute::{self, Checked, Judgement},
    },
    web::{Body, Checker, Kind as Why, Path, Problem, Web, json},
};

/// More servers than a gateway stands before; each costs an alias to look up, listed or not.
const MAX_SERVERS: usize = 1_000;
/// Up to this size a body is judged where it was read: handing it to another thread costs more.
const SMALL: usize = 64 << 10;

/// Either what servers list, or one descriptor that is about to be called.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked<'a> {
    /// Each server's lists.
    #[serde(borrow)]
    servers: Option<Vec<ServerLists<'a>>>,
    /// One descriptor, under the name it is called by.
    #[serde(borrow)]
    dispatch: Option<Dispatch<'a>>,
}

/// What one server lists.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ServerLists<'a> {
    /// The server's alias, where it is known.
    #[schema(value_type = Option<String>)]
    alias: Option<Alias>,
    /// Whether this is all that it lists.
    complete: bool,
    /// Naming a variant admits its pins only.
    #[schema(value_type = Option<String>)]
    variant: Option<Variant>,
    /// The URL that the caller talks to.
    endpoint: Option<String>,
    /// The digest of the package that the caller runs.
    artifact: Option<String>,
    #[serde(borrow, default)]
    #[schema(value_type = Vec<Object>)]
    tools: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    #[schema(value_type = Vec<Object>)]
    prompts: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    #[schema(value_type = Vec<Object>)]
    resources: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    #[schema(value_type = Vec<Object>)]
    resource_templates: Vec<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    #[schema(value_type = Option<String>)]
    instructions: Option<&'a RawValue>,
}

/// A descriptor that is about to be called.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Dispatch<'a> {
    /// The qualified name.
    name: String,
    /// `tool` unless stated.
    #[serde(default = "tool")]
    #[schema(value_type = String)]
    kind: Kind,
    /// The descriptor as the server lists it.
    #[serde(borrow)]
    #[schema(value_type = Object)]
    descriptor: &'a RawValue,
}

/// One verdict for each listed item.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what the service answers")]
pub(super) struct CheckAnswer {
    /// The pin set's version.
    version: u64,
    /// SHA-256 of its document.
    set_sha256: String,
    /// When its head runs out.
    expires: String,
    /// Whether every list was whole.
    complete: bool,
    /// One for each listed item, in order.
    results: Vec<CheckResult>,
}

/// A verdict.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what the service answers")]
pub(super) struct CheckResult {
    /// The qualified name where an alias is known, else the name as listed.
    name: String,
    /// The kind.
    kind: String,
    /// The digest; null for an item that the strict parser refuses.
    digest: Option<String>,
    /// The first thing that applies.
    verdict: String,
    /// What else applies.
    also: Vec<String>,
    /// `allow`, `quarantine` or `block`.
    action: String,
    /// Why, for people.
    reason: String,
    /// `matched`, `unstated` or `unbound`.
    binding: String,
    /// Where its review stands.
    #[schema(value_type = Object, required = false)]
    review: serde_json::Value,
}

/// Judge what servers list, or one descriptor before it is called. Advice: a gateway enforces a set that it pulled.
#[utoipa::path(
    post, path = "/v1/pinsets/{set}/check", tag = "gateway", security(("token" = [])),
    params(("set" = String, Path, description = "The pin set")),
    request_body = Asked,
    responses(
        (status = 200, body = CheckAnswer),
        (status = "default", body = Refusal, content_type = "application/problem+json"),
    )
)]
pub(super) async fn check(
    State(web): State<Web>,
    Checker(checker): Checker,
    Path(set): Path<String>,
    Body(body): Body,
) -> Result<Json<Checked>, Problem> {
    let set: SetName = set.parse().map_err(|_| Problem::new(Why::PinsetNotFound))?;
    if !checker.may_check(&set) {
        return Err(Problem::new(Why::Forbidden).detail("the token is for another pin set"));
    }
    let judgement = if body.len() <= SMALL {
        judge(web.app(), &set, &body)?
    } else {
        let (app, set) = (web.app().clone(), set.clone());
        let judged = tokio::task::spawn_blocking(move || judge(&app, &set, &body)).await;
        judged.map_err(Problem::internal)??
    };
    Ok(Json(judgement.explained(web.app()).await?))
}

fn judge(app: &App, set: &SetName, body: &Bytes) -> Result<Judgement, Problem> {
    let asked: Asked<'_> = json(body)?;
    let judged = match (asked.servers, asked.dispatch) {
        (Some(servers), None) => lists(app, set, &servers)?,
        (None, Some(dispatch)) => {
            let item = Listed::new(dispatch.kind, dispatch.descriptor.get().as_bytes());
            distribute::judge_dispatch(app, set, &dispatch.name, &item)
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(Problem::new(Why::BodyMalformed).detail("either `servers` or `dispatch` must be given"));
        }
    };
    judged.ok_or_else(|| Problem::new(Why::PinsetNotFound))
}

fn lists(app: &App, set: &SetName, servers: &[ServerLists<'_>]) -> Result<Option<Judgement>, Problem> {
    if servers.len() > MAX_SERVERS {
        return Err(Problem::new(Why::TooManyDescriptors).detail(format!("more than {MAX_SERVERS} servers")));
    }
    if servers.iter().map(ServerLists::items).sum::<usize>() > MAX_DESCRIPTORS {
        return Err(Problem::new(Why::TooManyDescriptors).detail(format!("more than {MAX_DESCRIPTORS} descriptors")));
    }
    let listed: Vec<Vec<Listed>> = servers.iter().map(ServerLists::listed).collect();
    let listings: Vec<Listing<'_>> =
        servers.iter().zip(&listed).map(|(server, listed)| server.listing(listed)).collect();
    Ok(distribute::judge(app, set, &listings))
}

impl ServerLists<'_> {
    fn each(&self) -> impl Iterator<Item = (Kind, &&RawValue)> {
        let tools = self.tools.iter().map(|raw| (Kind::Tool, raw));
        let prompts = self.prompts.iter().map(|raw| (Kind::Prompt, raw));
        let resources = self.resources.iter().map(|raw| (Kind::Resource, raw));
        let templates = self.resource_templates.iter().map(|raw| (Kind::ResourceTemplate, raw));
        let instructions = self.instructions.iter().map(|raw| (Kind::Instructions, raw));
        tools.chain(prompts).chain(resources).chain(templates).chain(instructions)
    }

    fn items(&self) -> usize {
        self.each().count()
    }

    fn listed(&self) -> Vec<Listed> {
        self.each().map(|(kind, raw)| Listed::new(kind, raw.get().as_bytes())).collect()
    }

    fn listing<'a>(&'a self, listed: &'a [Listed]) -> Listing<'a> {
        Listing {
            alias: self.alias.as_ref(),
            complete: self.complete,
            variant: self.variant.as_ref(),
            endpoint: self.endpoint.as_deref(),
            artifact: self.artifact.as_deref(),
            listed,
        }
    }
}

const fn tool() -> Kind {
    Kind::Tool
}

/// `null` is a value here, not an absence.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}
