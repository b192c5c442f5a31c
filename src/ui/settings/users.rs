//! Accounts: who there is, and a new one.

use std::collections::BTreeSet;

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{Part, frame, needs_quorum, parts, password, words};
use crate::{
    service::{
        WriteError,
        access::{AccountName, AccountRefused, AddAccount, Principal},
    },
    store::Role,
    ui::{
        around::{page, page_as, see},
        piece::{Note, Tab},
        sentence,
        when::{self, When},
    },
    web::{Admin, Form, Problem, Web},
};

/// Accounts.
#[derive(Template)]
#[template(path = "settings/users.html")]
pub(crate) struct UsersPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) users: Vec<UserRow>,
    /// An account just made with a password just made, shown once.
    pub(crate) made: Option<(String, String)>,
    /// The form, as it was sent.
    pub(crate) name: String,
    pub(crate) roles: BTreeSet<Role>,
    pub(crate) name_error: Option<String>,
    pub(crate) password_error: Option<String>,
    pub(crate) roles_error: Option<String>,
}

/// One account.
pub(crate) struct UserRow {
    pub(crate) name: String,
    pub(crate) roles: String,
    pub(crate) since: When,
    pub(crate) seen: Option<When>,
    /// Whether it may do nothing.
    pub(crate) closed: bool,
}

/// What is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ui) struct Sent {
    #[serde(default)]
    name: String,
    /// Empty if one is to be made.
    #[serde(default)]
    password: String,
    #[serde(default)]
    admin: String,
    #[serde(default)]
    reviewer: String,
    #[serde(default)]
    auditor: String,
}

/// What is wrong with each field, and with the whole.
#[derive(Default)]
struct Wrong {
    name: Option<String>,
    password: Option<String>,
    roles: Option<String>,
    note: Option<Note>,
}

/// Whoever has no role should have no account either.
pub(super) const NO_ROLE: &str = "Choose at least one role.";

/// `GET /settings/users`
pub(in crate::ui) async fn list(State(web): State<Web>, Admin(who): Admin) -> Result<Response, Problem> {
    page(frame(&web, &who, "Users").await?, body(&web).await?)
}

/// `POST /settings/users`
pub(in crate::ui) async fn add(
    State(web): State<Web>,
    Admin(who): Admin,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    let (name, roles) = match read(&sent) {
        Ok(read) => read,
        Err(wrong) => return again(&web, &who, &sent, *wrong).await,
    };
    let fresh = match password::fresh(&web, &sent.password).await? {
        Ok(fresh) => fresh,
        Err(e) => return again(&web, &who, &sent, Wrong { password: Some(sentence(&e)), ..Wrong::default() }).await,
    };
    let asked = AddAccount { name: name.clone(), password: fresh.hash, roles, by: who.clone() };
    match (web.app().write(asked).await, fresh.made) {
        (Ok(_), None) => Ok(see("/settings/users")),
        (Ok(_), Some(made)) => {
            let made = Some((name.to_string(), made.reveal().to_owned()));
            page_as(StatusCode::CREATED, frame(&web, &who, "Users").await?, UsersPage { made, ..body(&web).await? })
        }
        (Err(WriteError::Refused(refused)), _) => again(&web, &who, &sent, wrong(&refused)).await,
        (Err(e), _) => Err(e.into()),
    }
}

impl Sent {
    fn roles(&self) -> BTreeSet<Role> {
        ticked(&self.admin, &self.reviewer, &self.auditor)
    }
}

/// The roles whose boxes are ticked: a box that isn't sends nothing.
pub(super) fn ticked(admin: &str, reviewer: &str, auditor: &str) -> BTreeSet<Role> {
    let boxes = [(Role::Admin, admin), (Role::Reviewer, reviewer), (Role::Auditor, auditor)];
    boxes.into_iter().filter(|(_, sent)| !sent.is_empty()).map(|(role, _)| role).collect()
}

fn read(sent: &Sent) -> Result<(AccountName, BTreeSet<Role>), Box<Wrong>> {
    let roles = sent.roles();
    let roles_error = roles.is_empty().then(|| NO_ROLE.to_owned());
    match (sent.name.parse::<AccountName>(), roles_error) {
        (Ok(name), None) => Ok((name, roles)),
        (name, roles) => Err(Box::new(Wrong { name: name.err().map(|e| sentence(&e)), roles, ..Wrong::default() })),
    }
}

fn wrong(refused: &AccountRefused) -> Wrong {
    match refused {
        AccountRefused::NeedsQuorum(quorum) => {
            let note = needs_quorum(*quorum, "countersign admin user add NAME --role reviewer --password-stdin");
            Wrong { note: Some(note), ..Wrong::default() }
        }
        other => Wrong { name: Some(sentence(other)), ..Wrong::default() },
    }
}

async fn again(web: &Web, who: &Principal, sent: &Sent, wrong: Wrong) -> Result<Response, Problem> {
    let body = UsersPage {
        notes: wrong.note.into_iter().collect(),
        name: sent.name.clone(),
        roles: sent.roles(),
        name_error: wrong.name,
        password_error: wrong.password,
        roles_error: wrong.roles,
        ..body(web).await?
    };
    page_as(StatusCode::UNPROCESSABLE_ENTITY, frame(web, who, "Users").await?, body)
}

async fn body(web: &Web) -> Result<UsersPage, Problem> {
    let now = web.app().clock().now();
    let mut conn = web.app().reader().conn().await?;
    let mut users = Vec::new();
    for account in conn.accounts().await? {
        let roles = conn.roles(&account.name).await?.into_iter().collect();
        users.push(UserRow {
            name: account.name,
            roles: words(&roles),
            since: when::date(account.created_at, now),
            seen: account.last_seen_at.map(|seen| when::minute(seen, now)),
            closed: account.disabled_at.is_some(),
        });
    }
    Ok(UsersPage {
        parts: parts(Part::Users, true),
        notes: Vec::new(),
        users,
        made: None,
        name: String::new(),
        roles: BTreeSet::new(),
        name_error: None,
        password_error: None,
        roles_error: None,
    })
}
