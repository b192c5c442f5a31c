//! One account: its roles, its password, and whether it may do anything.

use std::collections::BTreeSet;

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{
    Part, frame, needs_quorum, parts, password,
    users::{NO_ROLE, ticked},
};
use crate::{
    service::{
        Step, WriteError,
        access::{AccountName, AccountRefused, Principal, SetDisabled, SetPassword, SetRoles},
    },
    store::{Account, Role},
    ui::{
        around::{page, page_as, see},
        html::Html,
        piece::{Note, Tab},
        sentence,
    },
    web::{Admin, Form, Kind, Path, Problem, Web},
};

/// One account.
#[derive(Template)]
#[template(path = "settings/user.html")]
pub(crate) struct UserPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) name: String,
    /// Whether it is one's own.
    pub(crate) own: bool,
    pub(crate) roles: BTreeSet<Role>,
    pub(crate) closed: bool,
    /// A password just made: shown once.
    pub(crate) made: Option<String>,
    pub(crate) roles_error: Option<String>,
    pub(crate) password_error: Option<String>,
}

/// The boxes with the roles, empty where they aren't ticked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ui) struct Roles {
    #[serde(default)]
    admin: String,
    #[serde(default)]
    reviewer: String,
    #[serde(default)]
    auditor: String,
}

/// A new password, or none if one is to be made.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ui) struct NewPassword {
    /// For password managers.
    #[serde(default, rename = "username")]
    _username: String,
    #[serde(default)]
    password: String,
}

/// Whether the account is closed from now on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ui) struct Access {
    #[serde(default)]
    closed: String,
}

/// `GET /settings/users/{name}`
pub(in crate::ui) async fn show(
    State(web): State<Web>,
    Admin(who): Admin,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let (title, account) = (format!("Account {name}"), known(&web, &name).await?);
    page(frame(&web, &who, &title).await?, body(&web, &who, &account).await?)
}

/// `POST /settings/users/{name}/roles`
pub(in crate::ui) async fn set_roles(
    State(web): State<Web>,
    Admin(who): Admin,
    Path(name): Path<String>,
    Form(Roles { admin, reviewer, auditor }): Form<Roles>,
) -> Result<Response, Problem> {
    let account = known(&web, &name).await?;
    let roles = ticked(&admin, &reviewer, &auditor);
    if roles.is_empty() {
        let body = UserPage { roles, roles_error: Some(NO_ROLE.to_owned()), ..body(&web, &who, &account).await? };
        return again(&web, &who, body).await;
    }
    let step = SetRoles { name: own_name(&account)?, roles, by: who.clone() };
    done(&web, &who, &account, step).await
}

/// `POST /settings/users/{name}/password`
pub(in crate::ui) async fn set_password(
    State(web): State<Web>,
    Admin(who): Admin,
    Path(name): Path<String>,
    Form(NewPassword { password, .. }): Form<NewPassword>,
) -> Result<Response, Problem> {
    let account = known(&web, &name).await?;
    let fresh = match password::fresh(&web, &password).await? {
        Ok(fresh) => fresh,
        Err(e) => {
            let body = UserPage { password_error: Some(sentence(&e)), ..body(&web, &who, &account).await? };
            return again(&web, &who, body).await;
        }
    };
    let step = SetPassword { name: own_name(&account)?, password: fresh.hash, by: who.clone() };
    let answer = done(&web, &who, &account, step).await?;
    match fresh.made {
        Some(made) if answer.status() == StatusCode::SEE_OTHER => {
            let body = UserPage { made: Some(made.reveal().to_owned()), ..body(&web, &who, &account).await? };
            page(frame(&web, &who, &format!("Account {name}")).await?, body)
        }
        _ => Ok(answer),
    }
}

/// `POST /settings/users/{name}/access`
pub(in crate::ui) async fn set_access(
    State(web): State<Web>,
    Admin(who): Admin,
    Path(name): Path<String>,
    Form(Access { closed }): Form<Access>,
) -> Result<Response, Problem> {
    let account = known(&web, &name).await?;
    let disabled = match closed.as_str() {
        "yes" => true,
        "no" => false,
        _ => return Err(Problem::new(Kind::FormMalformed)),
    };
    let step = SetDisabled { name: own_name(&account)?, disabled, by: who.clone() };
    done(&web, &who, &account, step).await
}

/// Does it, and goes back to the account; what is refused stands above it.
async fn done<S>(web: &Web, who: &Principal, account: &Account, step: S) -> Result<Response, Problem>
where
    S: Step<Refused = AccountRefused>,
{
    let refused = match web.app().write(step).await {
        Ok(_) => return Ok(see(&format!("/settings/users/{}", account.name))),
        Err(WriteError::Refused(refused)) => refused,
        Err(e) => return Err(e.into()),
    };
    let note = match refused {
        AccountRefused::NeedsQuorum(quorum) => needs_quorum(quorum, "countersign admin user"),
        other => Note::refused(&sentence(&other), Html::from("Nothing was changed.")),
    };
    let body = UserPage { notes: vec![note], ..body(web, who, account).await? };
    again(web, who, body).await
}

async fn again(web: &Web, who: &Principal, body: UserPage) -> Result<Response, Problem> {
    let frame = frame(web, who, &format!("Account {}", body.name)).await?;
    page_as(StatusCode::UNPROCESSABLE_ENTITY, frame, body)
}

async fn known(web: &Web, name: &str) -> Result<Account, Problem> {
    let none = || Problem::new(Kind::AccountNotFound);
    let name: AccountName = name.parse().map_err(|_| none())?;
    web.app().reader().conn().await?.account(name.as_str()).await?.ok_or_else(none)
}

fn own_name(account: &Account) -> Result<AccountName, Problem> {
    account.name.parse().map_err(Problem::internal)
}

async fn body(web: &Web, who: &Principal, account: &Account) -> Result<UserPage, Problem> {
    let roles = web.app().reader().conn().await?.roles(&account.name).await?;
    Ok(UserPage {
        parts: parts(Part::Users, true),
        notes: Vec::new(),
        name: account.name.clone(),
        own: who.actor() == account.name,
        roles: roles.into_iter().collect(),
        closed: account.disabled_at.is_some(),
        made: None,
        roles_error: None,
        password_error: None,
    })
}
