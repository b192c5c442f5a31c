//! Tokens: made for a program, shown once, revoked for good.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{Part, accounts, frame, parts};
use crate::{
    service::{
        WriteError,
        access::{AccountName, AddToken, Principal, RevokeToken, Scope, TokenRefused},
    },
    store::Token,
    ui::{
        around::{page, page_as, see},
        piece::{Note, Tab},
        sentence,
        when::{self, When},
    },
    web::{Admin, Form, Problem, Web},
};

/// Tokens.
#[derive(Template)]
#[template(path = "settings/tokens.html")]
pub(crate) struct TokensPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    /// A token just made: shown once.
    pub(crate) made: Option<String>,
    pub(crate) tokens: Vec<TokenRow>,
    pub(crate) users: Vec<String>,
    /// The form, as it was sent.
    pub(crate) scope: String,
    pub(crate) user: String,
    pub(crate) days: String,
    pub(crate) scope_error: Option<String>,
    pub(crate) user_error: Option<String>,
    pub(crate) days_error: Option<String>,
}

/// One token, without its secret.
pub(crate) struct TokenRow {
    pub(crate) id: String,
    pub(crate) scope: String,
    pub(crate) user: String,
    pub(crate) made: When,
    pub(crate) ends: Option<When>,
    pub(crate) used: Option<When>,
}

/// What is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ui) struct Sent {
    #[serde(default)]
    scope: String,
    #[serde(default)]
    user: String,
    #[serde(default)]
    days: String,
}

/// Which token is revoked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ui) struct Revoked {
    token: String,
}

/// What is wrong with each field.
#[derive(Default)]
struct Wrong {
    scope: Option<String>,
    user: Option<String>,
    days: Option<String>,
}

/// A quarter: long enough to be no burden, short enough that a forgotten token ends.
const DAYS: &str = "90";

/// `GET /settings/tokens`
pub(in crate::ui) async fn list(State(web): State<Web>, Admin(who): Admin) -> Result<Response, Problem> {
    page(frame(&web, &who, "Tokens").await?, body(&web).await?)
}

/// `POST /settings/tokens`
pub(in crate::ui) async fn make(
    State(web): State<Web>,
    Admin(who): Admin,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    let asked = match read(&sent, &who) {
        Ok(asked) => asked,
        Err(wrong) => return again(&web, &who, sent, wrong).await,
    };
    match web.app().add_token(asked).await {
        Ok(written) => {
            let made = Some(written.done.0.reveal().to_owned());
            page_as(StatusCode::CREATED, frame(&web, &who, "Tokens").await?, TokensPage { made, ..body(&web).await? })
        }
        Err(WriteError::Refused(refused)) => again(&web, &who, sent, wrong(&refused)).await,
        Err(e) => Err(e.into()),
    }
}

/// `POST /settings/tokens/revoke`
pub(in crate::ui) async fn revoke(
    State(web): State<Web>,
    Admin(who): Admin,
    Form(Revoked { token }): Form<Revoked>,
) -> Result<Response, Problem> {
    web.app().write(RevokeToken { id: token, by: who }).await?;
    Ok(see("/settings/tokens"))
}

fn read(sent: &Sent, who: &Principal) -> Result<AddToken, Wrong> {
    let scope = sent.scope.trim().parse::<Scope>().map_err(|e| sentence(&e));
    let account = sent.user.parse::<AccountName>().map_err(|e| sentence(&e));
    let days = sent.days.trim().parse::<u32>().map_err(|_| sentence(&TokenRefused::Days));
    match (scope, account, days) {
        (Ok(scope), Ok(account), Ok(days)) => Ok(AddToken { scope, account, days: Some(days), by: who.clone() }),
        (scope, user, days) => Err(Wrong { scope: scope.err(), user: user.err(), days: days.err() }),
    }
}

fn wrong(refused: &TokenRefused) -> Wrong {
    let words = Some(sentence(refused));
    match refused {
        TokenRefused::NoAccount(_) | TokenRefused::TooMany => Wrong { user: words, ..Wrong::default() },
        TokenRefused::Days => Wrong { days: words, ..Wrong::default() },
        TokenRefused::OthersVote | TokenRefused::NoToken(_) | TokenRefused::NoSet { .. } => {
            Wrong { scope: words, ..Wrong::default() }
        }
    }
}

async fn again(web: &Web, who: &Principal, sent: Sent, wrong: Wrong) -> Result<Response, Problem> {
    let body = TokensPage {
        scope: sent.scope,
        user: sent.user,
        days: sent.days,
        scope_error: wrong.scope,
        user_error: wrong.user,
        days_error: wrong.days,
        ..body(web).await?
    };
    page_as(StatusCode::UNPROCESSABLE_ENTITY, frame(web, who, "Tokens").await?, body)
}

async fn body(web: &Web) -> Result<TokensPage, Problem> {
    let now = web.app().clock().now();
    let mut tokens = web.app().reader().conn().await?.tokens().await?;
    tokens.retain(|token| token.revoked_at.is_none());
    let row = |token: Token| TokenRow {
        id: token.id,
        scope: token.scope,
        user: token.account,
        made: when::date(token.created_at, now),
        ends: token.expires_at.map(|ends| when::date(ends, now)),
        used: token.last_used_at.map(|used| when::minute(used, now)),
    };
    Ok(TokensPage {
        parts: parts(Part::Tokens, true),
        notes: Vec::new(),
        made: None,
        tokens: tokens.into_iter().map(row).collect(),
        users: accounts(web),
        scope: String::new(),
        user: String::new(),
        days: DAYS.to_owned(),
        scope_error: None,
        user_error: None,
        days_error: None,
    })
}
