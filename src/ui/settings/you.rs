//! One's own account: its sessions and its password.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{Part, frame, parts, words};
use crate::{
    canon::Sha256,
    service::access::{AccountName, Password, Principal, SetPassword, SignInError, User},
    ui::{
        around::{page, page_as, see},
        piece::{Note, Tab},
        sentence, signin,
        when::{self, When},
    },
    web::{Client, Form, Kind, Problem, Web, Who},
};

/// One's own account.
#[derive(Template)]
#[template(path = "settings/you.html")]
pub(crate) struct YouPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) name: String,
    pub(crate) roles: String,
    pub(crate) sessions: Vec<SessionRow>,
    /// About the password as it is.
    pub(crate) old_error: Option<String>,
    /// About the new one.
    pub(crate) error: Option<String>,
}

/// One of their sessions.
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) began: When,
    pub(crate) seen: When,
    pub(crate) this: bool,
}

/// What is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ui) struct Sent {
    /// For password managers.
    #[serde(default, rename = "username")]
    _username: String,
    #[serde(default)]
    old: String,
    #[serde(default)]
    new: String,
}

/// What is wrong with each field.
#[derive(Default)]
struct Wrong {
    old: Option<String>,
    new: Option<String>,
}

/// `GET /settings`
pub(in crate::ui) async fn show(State(web): State<Web>, who: Who) -> Result<Response, Problem> {
    let (who, user, session) = signed_in(who)?;
    let body = body(&web, &who, &user, session, Wrong::default()).await?;
    page(frame(&web, &who, "Settings").await?, body)
}

/// `POST /settings/password`
pub(in crate::ui) async fn change_password(
    State(web): State<Web>,
    who: Who,
    Client(address): Client,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    let (who, user, session) = signed_in(who)?;
    let again = async |wrong| {
        let body = body(&web, &who, &user, session, wrong).await?;
        page_as(StatusCode::UNPROCESSABLE_ENTITY, frame(&web, &who, "Settings").await?, body)
    };
    let new: Password = match sent.new.parse() {
        Ok(new) => new,
        Err(e) => return again(Wrong { new: Some(sentence(&e)), old: None }).await,
    };
    // Counted and slowed down like any sign-in: an open session doesn't let anybody guess the password.
    if let Err(e) = web.app().sign_in(&user.account, &sent.old, address).await {
        return again(wrong_old(&web, e)?).await;
    }
    let password = web.app().hash_password(new).await.ok_or_else(|| Problem::new(Kind::Busy))?;
    let name: AccountName = user.account.parse().map_err(Problem::internal)?;
    web.app().write(SetPassword { name, password, by: who.clone() }).await?;
    let signed = web.app().sign_in(&user.account, &sent.new, address).await;
    Ok(signed.map_or_else(|_| see("/sign-in"), |signed| signin::signed_in(&web, &signed, "/settings")))
}

fn signed_in(Who(who): Who) -> Result<(Principal, User, Sha256), Problem> {
    match who {
        Principal::Session(user, session) => Ok((Principal::Session(user.clone(), session), user, session)),
        Principal::Token(..) => Err(Problem::new(Kind::Forbidden)),
        Principal::Anonymous | Principal::LocalOperator => Err(Problem::new(Kind::Unauthenticated)),
    }
}

fn wrong_old(web: &Web, refused: SignInError) -> Result<Wrong, Problem> {
    let old = match refused {
        SignInError::Wrong => "This is not your password.".to_owned(),
        SignInError::Throttled(until) => {
            let until = when::clock(until, web.app().clock().now()).words();
            format!("Too many attempts: nothing was looked at. Try again after {until} UTC.")
        }
        SignInError::Busy | SignInError::Store(_) => return Err(refused.into()),
    };
    Ok(Wrong { old: Some(old), new: None })
}

async fn body(web: &Web, who: &Principal, user: &User, own: Sha256, wrong: Wrong) -> Result<YouPage, Problem> {
    let now = web.app().clock().now();
    let mut sessions = web.app().reader().conn().await?.sessions().await?;
    sessions.retain(|session| session.account == user.account && session.expires_at > now);
    sessions.sort_by_key(|session| (session.sha256 != own, std::cmp::Reverse(session.created_at)));
    let row = |session: &crate::store::Session| SessionRow {
        id: session.sha256.to_string(),
        began: when::minute(session.created_at, now),
        seen: when::minute(session.seen_at, now),
        this: session.sha256 == own,
    };
    Ok(YouPage {
        parts: parts(Part::You, who.may_administer()),
        notes: Vec::new(),
        name: user.account.clone(),
        roles: words(&user.roles),
        sessions: sessions.iter().map(row).collect(),
        old_error: wrong.old,
        error: wrong.new,
    })
}
