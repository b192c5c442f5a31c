//! Signing in and out: the session's cookie, and where to go afterwards.

use askama::Template;
use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use cookie::{Cookie, SameSite, time::Duration};
use serde::Deserialize;

use super::{
    around::{frame_before_sign_in, page, page_as, see},
    piece::Note,
    when,
};
use crate::{
    canon::Sha256,
    service::access::{SignInError, SignedIn},
    web::{Client, Form, Kind, Problem, Query, Web, Who},
};

/// Signing in.
#[derive(Template)]
#[template(path = "signin.html")]
pub(crate) struct SigninPage {
    pub(crate) notes: Vec<Note>,
    pub(crate) name: String,
    /// Where to go afterwards: a path of ours.
    pub(crate) next: String,
    /// The same words whether name or password was wrong.
    pub(crate) error: Option<String>,
}

/// What is asked of the page.
#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    next: String,
}

/// What is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sent {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    next: String,
}

/// Which session ends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ended {
    /// SHA-256 of its secret; one's own if empty.
    #[serde(default)]
    session: String,
}

/// Addresses of ours are shorter; what is longer was made up.
const MAX_PATH: usize = 1_024;

/// `GET /sign-in`
pub(super) async fn show(
    State(web): State<Web>,
    Who(who): Who,
    Query(Asked { next }): Query<Asked>,
) -> Result<Response, Problem> {
    let next = own_path(&next).unwrap_or("/").to_owned();
    if who.session().is_some() {
        return Ok(see(&next));
    }
    let frame = frame_before_sign_in(&web, "Sign in");
    page(frame, SigninPage { notes: Vec::new(), name: String::new(), next, error: None })
}

/// `POST /sign-in`
pub(super) async fn sign_in(
    State(web): State<Web>,
    Who(who): Who,
    Client(address): Client,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    let next = own_path(&sent.next).unwrap_or("/").to_owned();
    let signed = match web.app().sign_in(&sent.name, &sent.password, address).await {
        Ok(signed) => signed,
        Err(e) => return again(&web, sent.name, next, e),
    };
    if let Some(before) = who.session() {
        web.app().sign_out(before).await?;
    }
    Ok(with_cookie(see(&next), &session_cookie(&web, &signed)))
}

/// `POST /sign-out`
pub(super) async fn sign_out(
    State(web): State<Web>,
    Who(who): Who,
    Form(Ended { session }): Form<Ended>,
) -> Result<Response, Problem> {
    let (Some(own), Some(user)) = (who.session(), who.user()) else { return Ok(see("/sign-in")) };
    let ended: Sha256 = match session.as_str() {
        "" => own,
        text => text.parse().map_err(|_| Problem::new(Kind::NotFound))?,
    };
    if ended == own {
        web.app().sign_out(own).await?;
        return Ok(with_cookie(see("/sign-in"), &over(&web)));
    }
    let sessions = web.app().reader().conn().await?.sessions().await?;
    if !sessions.iter().any(|session| session.sha256 == ended && session.account == user.account) {
        return Err(Problem::new(Kind::NotFound));
    }
    web.app().sign_out(ended).await?;
    Ok(see("/settings"))
}

/// The page again, without the password. Wrong passwords are slowed down, and told so plainly.
fn again(web: &Web, name: String, next: String, refused: SignInError) -> Result<Response, Problem> {
    let error = match &refused {
        SignInError::Wrong => "Name or password is wrong.".to_owned(),
        SignInError::Throttled(until) => {
            let until = when::clock(*until, web.app().clock().now()).words();
            format!("Too many attempts: nothing was looked at. Try again after {until} UTC.")
        }
        SignInError::Busy | SignInError::Store(_) => return Err(refused.into()),
    };
    let body = SigninPage { notes: Vec::new(), name, next, error: Some(error) };
    let throttled = matches!(refused, SignInError::Throttled(_));
    let status = if throttled { StatusCode::TOO_MANY_REQUESTS } else { StatusCode::UNPROCESSABLE_ENTITY };
    page_as(status, frame_before_sign_in(web, "Sign in"), body)
}

/// Where to sign in and come back to `next` afterwards.
pub(super) fn sign_in_path(next: &str) -> String {
    match own_path(next) {
        None | Some("/") => "/sign-in".to_owned(),
        Some(next) => {
            let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
            format!("/sign-in?{query}")
        }
    }
}

/// The text if it can only be an address of this registry: browsers read `//host`, `/\host` and `/<tab>/host` as other
/// hosts.
fn own_path(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('/')?;
    let visible = text.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    (visible && !rest.starts_with('/') && text.len() <= MAX_PATH).then_some(text)
}

/// Signs in whoever has just proved who they are: after set-up, after a new password.
pub(super) fn signed_in(web: &Web, signed: &SignedIn, next: &str) -> Response {
    with_cookie(see(next), &session_cookie(web, signed))
}

/// `Lax`, so that a link from a chat arrives signed in; what a link can't do is write, which the origin check sees to.
fn session_cookie(web: &Web, signed: &SignedIn) -> Cookie<'static> {
    let left = signed.expires_at.since(web.app().clock().now());
    cookie(web, signed.secret.reveal().to_owned(), Duration::seconds(left.as_seconds()))
}

fn over(web: &Web) -> Cookie<'static> {
    cookie(web, String::new(), Duration::ZERO)
}

fn cookie(web: &Web, value: String, lasts: Duration) -> Cookie<'static> {
    let url = &web.settings().public_url;
    Cookie::build((url.cookie_name(), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(url.is_https())
        .max_age(lasts)
        .build()
}

fn with_cookie(mut response: Response, cookie: &Cookie<'_>) -> Response {
    match HeaderValue::from_str(&cookie.to_string()) {
        Ok(value) => {
            response.headers_mut().insert(header::SET_COOKIE, value);
            response
        }
        Err(e) => Problem::internal(e).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_a_path_of_this_registry() {
        let table = [
            ("/", Some("/")),
            ("/queue?state=pending&x=%0d", Some("/queue?state=pending&x=%0d")),
            ("", None),
            ("queue", None),
            ("//evil.example", None),
            ("/\\evil.example", None),
            ("/a\\b", None),
            ("/\t/evil.example", None),
            ("/a b", None),
            ("/ä", None),
            ("https://evil.example/", None),
            ("javascript:alert(1)", None),
        ];
        for (text, expected) in table {
            assert_eq!(own_path(text), expected, "{text:?}");
        }
        assert_eq!(own_path(&format!("/{}", "a".repeat(1_023))).map(str::len), Some(1_024));
        assert_eq!(own_path(&format!("/{}", "a".repeat(1_024))), None);
        assert_eq!(sign_in_path("/queue?a=b&c"), "/sign-in?next=%2Fqueue%3Fa%3Db%26c");
        assert_eq!(sign_in_path("//evil.example"), "/sign-in");
    }
}
