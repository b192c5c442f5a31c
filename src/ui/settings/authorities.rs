//! Authorities: which key may speak for what.

use std::collections::HashMap;

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{Part, accounts, frame, governor, needs_quorum, parts};
use crate::{
    attest::{Role, Scope},
    keys::VerifyingKey,
    pinset::AuthorityState,
    review::ReviewerId,
    service::{
        WriteError,
        access::Principal,
        govern::{self, Grant, Refused},
    },
    ui::{
        around::{page, page_as, see},
        figure::Short,
        html::Html,
        name::name,
        piece::{Note, Tab},
        sentence,
        when::{self, When},
    },
    web::{Admin, Form, Problem, Web},
};

/// Who may speak for what.
#[derive(Template)]
#[template(path = "settings/authorities.html")]
pub(crate) struct AuthoritiesPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) authorities: Vec<AuthorityRow>,
    pub(crate) users: Vec<String>,
    /// The form, as it was sent.
    pub(crate) scope: String,
    pub(crate) key: String,
    pub(crate) role: String,
    pub(crate) holder: String,
    pub(crate) scope_error: Option<String>,
    pub(crate) key_error: Option<String>,
    pub(crate) role_error: Option<String>,
    pub(crate) holder_error: Option<String>,
}

/// One authority.
pub(crate) struct AuthorityRow {
    /// Namespace, server or `*`.
    pub(crate) scope: Html,
    pub(crate) role: &'static str,
    pub(crate) key: Short,
    pub(crate) holder: Option<String>,
    /// "an administrator", "DNS TXT, last seen today 06:00".
    pub(crate) proof: String,
    pub(crate) generation: u32,
    pub(crate) since: When,
    pub(crate) revoked: Option<When>,
    /// The page that revokes it.
    pub(crate) revoke: String,
}

/// What is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ui) struct Sent {
    #[serde(default)]
    scope: String,
    /// In PEM.
    #[serde(default)]
    key: String,
    #[serde(default)]
    role: String,
    /// An account, or nobody's.
    #[serde(default)]
    holder: String,
}

/// What is wrong with each field, and with the whole.
#[derive(Default)]
struct Wrong {
    scope: Option<String>,
    key: Option<String>,
    role: Option<String>,
    holder: Option<String>,
    note: Option<Note>,
}

/// `GET /settings/authorities`
pub(in crate::ui) async fn list(State(web): State<Web>, Admin(who): Admin) -> Result<Response, Problem> {
    page(frame(&web, &who, "Authorities").await?, body(&web).await?)
}

/// `POST /settings/authorities`
pub(in crate::ui) async fn grant(
    State(web): State<Web>,
    Admin(who): Admin,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    let (scope, key, role, holder) = match read(&web, &sent) {
        Ok(read) => read,
        Err(wrong) => return again(&web, &who, sent, *wrong).await,
    };
    let asked = Grant { scope, key, role, holder, by: governor(&who)?, alone: false };
    match govern::grant(web.app(), asked).await {
        Ok(_) => Ok(see("/settings/authorities")),
        Err(WriteError::Refused(refused)) => again(&web, &who, sent, wrong(&refused)).await,
        Err(e) => Err(e.into()),
    }
}

type Asked = (Scope, VerifyingKey, Role, Option<ReviewerId>);

fn read(web: &Web, sent: &Sent) -> Result<Asked, Box<Wrong>> {
    let scope = sent.scope.trim().parse::<Scope>().map_err(|e| sentence(&e));
    let key = VerifyingKey::from_pem(sent.key.trim()).map_err(|e| sentence(&e));
    let role = match (&scope, sent.role.parse::<Role>()) {
        (Ok(Scope::Any), Ok(Role::Publisher)) => {
            Err("No publisher speaks for every namespace: * goes with captures only.".to_owned())
        }
        (_, role) => role.map_err(|_| "Say whether the key speaks as publisher or as capture.".to_owned()),
    };
    let holder = holder(web, &sent.holder);
    match (scope, key, role, holder) {
        (Ok(scope), Ok(key), Ok(role), Ok(holder)) => Ok((scope, key, role, holder)),
        (scope, key, role, holder) => Err(Box::new(Wrong {
            scope: scope.err(),
            key: key.err(),
            role: role.err(),
            holder: holder.err(),
            note: None,
        })),
    }
}

fn holder(web: &Web, account: &str) -> Result<Option<ReviewerId>, String> {
    if account.is_empty() {
        return Ok(None);
    }
    let access = web.app().access();
    let user = access.user(account).ok_or_else(|| "There is no such account, or it is closed.".to_owned())?;
    Ok(Some(user.reviewer.clone()))
}

fn wrong(refused: &Refused) -> Wrong {
    match refused {
        Refused::NeedsQuorum(quorum) => {
            let note = needs_quorum(*quorum, "countersign admin authority add NAMESPACE --key FILE.pub");
            Wrong { note: Some(note), ..Wrong::default() }
        }
        other => Wrong { key: Some(sentence(other)), ..Wrong::default() },
    }
}

async fn again(web: &Web, who: &Principal, sent: Sent, wrong: Wrong) -> Result<Response, Problem> {
    let body = AuthoritiesPage {
        notes: wrong.note.into_iter().collect(),
        scope: sent.scope,
        key: sent.key,
        role: sent.role,
        holder: sent.holder,
        scope_error: wrong.scope,
        key_error: wrong.key,
        role_error: wrong.role,
        holder_error: wrong.holder,
        ..body(web).await?
    };
    page_as(StatusCode::UNPROCESSABLE_ENTITY, frame(web, who, "Authorities").await?, body)
}

async fn body(web: &Web) -> Result<AuthoritiesPage, Problem> {
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let names: HashMap<ReviewerId, String> = {
        let accounts = web.app().reader().conn().await?.accounts().await?;
        accounts.into_iter().map(|account| (account.reviewer, account.name)).collect()
    };
    let row = |authority: &AuthorityState| AuthorityRow {
        scope: name(&authority.facts.scope.to_string()),
        role: authority.facts.role.as_str(),
        key: Short::key(authority.facts.key.id().0),
        holder: authority.facts.holder.as_ref().and_then(|holder| names.get(holder)).cloned(),
        proof: authority.facts.proof.clone(),
        generation: authority.facts.generation,
        since: when::date(authority.granted_at, now),
        revoked: authority.revoked.map(|at| when::minute(at, now)),
        revoke: format!("/settings/authorities/{}", authority.facts.authority),
    };
    let mut authorities: Vec<&AuthorityState> = moment.state.authorities().collect();
    authorities.sort_by_key(|authority| (authority.revoked.is_some(), authority.facts.scope.to_string()));
    Ok(AuthoritiesPage {
        parts: parts(Part::Authorities, true),
        notes: Vec::new(),
        authorities: authorities.into_iter().map(row).collect(),
        users: accounts(web),
        scope: String::new(),
        key: String::new(),
        role: String::new(),
        holder: String::new(),
        scope_error: None,
        key_error: None,
        role_error: None,
        holder_error: None,
    })
}
