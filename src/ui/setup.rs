//! The one-time page that makes the first administrator.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{
    around::{frame_before_sign_in, page, page_as, see},
    piece::Note,
    signin,
};
use crate::{
    canon::Sha256,
    service::access::{AccountName, Password, SetUp},
    web::{Client, Form, Kind, Path, Problem, Web},
};

/// The one-time page that makes the first administrator.
#[derive(Template)]
#[template(path = "setup.html")]
pub(crate) struct SetupPage {
    pub(crate) notes: Vec<Note>,
    /// Where the form goes; it carries the one-time secret.
    pub(crate) action: String,
    pub(crate) origin: String,
    pub(crate) fingerprint: String,
    pub(crate) name: String,
    pub(crate) name_error: Option<String>,
    pub(crate) password_error: Option<String>,
    pub(crate) again_error: Option<String>,
    pub(crate) who: String,
    pub(crate) who_error: Option<String>,
}

/// What is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sent {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    /// The password once more: nobody else could set another one yet.
    #[serde(default)]
    again: String,
    /// `team` or `solo`.
    #[serde(default)]
    who: String,
}

/// `GET /setup/{secret}`
pub(super) async fn show(State(web): State<Web>, Path(secret): Path<String>) -> Result<Response, Problem> {
    valid(&web, &secret).await?;
    page(frame_before_sign_in(&web, "Set up this registry"), empty(&web, &secret))
}

/// `POST /setup/{secret}`
pub(super) async fn make(
    State(web): State<Web>,
    Client(address): Client,
    Path(secret): Path<String>,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    valid(&web, &secret).await?;
    let (name, password, alone) = match read(&sent) {
        Ok(read) => read,
        Err(wrong) => return again(&web, &secret, sent, wrong),
    };
    let hashed = web.app().hash_password(password).await.ok_or_else(|| Problem::new(Kind::Busy))?;
    let secret = Sha256::of(secret.as_bytes());
    web.app().write(SetUp { secret, name, password: hashed, alone }).await?;
    match web.app().sign_in(&sent.name, &sent.password, address).await {
        Ok(signed) => Ok(signin::signed_in(&web, &signed, "/")),
        // The account is made; signing in by hand will say what is the matter.
        Err(_) => Ok(see("/sign-in")),
    }
}

/// What is wrong with each field.
#[derive(Default)]
struct Wrong {
    name: Option<String>,
    password: Option<String>,
    again: Option<String>,
    who: Option<String>,
}

fn read(sent: &Sent) -> Result<(AccountName, Password, bool), Wrong> {
    let alone = match sent.who.as_str() {
        "solo" => Ok(true),
        "team" => Ok(false),
        _ => Err("Say who reviews: it decides how many ballots an approval takes.".to_owned()),
    };
    let name = sent.name.parse::<AccountName>().map_err(|e| super::sentence(&e));
    let password = sent.password.parse::<Password>().map_err(|e| super::sentence(&e));
    match (name, password, alone) {
        (Ok(name), Ok(password), Ok(alone)) if sent.again == sent.password => Ok((name, password, alone)),
        (name, password, who) => {
            let again = (password.is_ok() && sent.again != sent.password)
                .then(|| "This is not the password above. Type both again.".to_owned());
            Err(Wrong { name: name.err(), password: password.err(), again, who: who.err() })
        }
    }
}

async fn valid(web: &Web, secret: &str) -> Result<(), Problem> {
    match web.app().is_setup_secret(secret).await? {
        true => Ok(()),
        false => Err(Problem::new(Kind::SetupOver)),
    }
}

fn empty(web: &Web, secret: &str) -> SetupPage {
    let origin = web.app().moment().checkpoint.origin.clone();
    SetupPage {
        notes: Vec::new(),
        action: format!("/setup/{secret}"),
        origin,
        fingerprint: web.app().fingerprint().to_string(),
        name: String::new(),
        name_error: None,
        password_error: None,
        again_error: None,
        who: String::new(),
        who_error: None,
    }
}

fn again(web: &Web, secret: &str, sent: Sent, wrong: Wrong) -> Result<Response, Problem> {
    let body = SetupPage {
        name: sent.name,
        name_error: wrong.name,
        password_error: wrong.password,
        again_error: wrong.again,
        who: sent.who,
        who_error: wrong.who,
        ..empty(web, secret)
    };
    page_as(StatusCode::UNPROCESSABLE_ENTITY, frame_before_sign_in(web, "Set up this registry"), body)
}
