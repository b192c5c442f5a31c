//! Who is asking: a token in `Authorization`, or a session in a cookie, never both.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use cookie::Cookie;

use super::{Kind, Problem, Web, origin};
use crate::{
    clock::Timestamp,
    review::ReviewerId,
    service::access::{Principal, Scope, User},
};

/// Whoever asks, nobody in particular included.
#[derive(Clone, Debug)]
pub struct Who(pub Principal);

/// Whoever may read.
#[derive(Clone, Debug)]
pub struct Reader(pub Principal);

/// Whoever may see the queue and its candidates.
#[derive(Clone, Debug)]
pub struct ReviewReader(pub Principal);

/// Whoever may vote, bind aliases and revoke.
#[derive(Clone, Debug)]
pub struct Reviewer {
    /// In the log.
    pub id: ReviewerId,
    /// In the audit trail.
    pub account: String,
}

/// A program that publishes; of which namespace it may is asked once the release is known.
#[derive(Clone, Debug)]
pub struct Publisher {
    /// To ask for the namespace.
    pub principal: Principal,
    /// In whose name it publishes.
    pub account: String,
}

/// A program that checks; for which pin set it may is asked once that is known.
#[derive(Clone, Debug)]
pub struct Checker(pub Principal);

/// Whoever may administer.
#[derive(Clone, Debug)]
pub struct Admin(pub Principal);

impl Who {
    /// Refuses unless `may`: whoever brought nothing is asked for credentials, others are told that theirs don't do.
    ///
    /// # Errors
    /// [`Kind::Unauthenticated`] or [`Kind::Forbidden`].
    pub fn allowed(self, may: bool) -> Result<Principal, Problem> {
        match self.0 {
            principal if may => Ok(principal),
            Principal::Anonymous => Err(Problem::new(Kind::Unauthenticated)),
            _ => Err(Problem::new(Kind::Forbidden)),
        }
    }
}

impl FromRequestParts<Web> for Who {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let token = bearer(&parts.headers)?;
        let session = cookie(&parts.headers, web.settings().public_url.cookie_name());
        let (access, now) = (web.app().access(), web.app().clock().now());
        match (token, session) {
            (Some(_), Some(_)) => Err(Problem::new(Kind::TwoCredentials)),
            (Some(token), None) => match access.token(token, now) {
                Some(principal) => Ok(Self(principal)),
                None => made_a_moment_ago(web, token, now).await,
            },
            (None, Some(session)) => {
                // A browser goes on sending the cookie of a session that is over; that makes it nobody.
                let Some(principal) = access.session(&session, now) else { return Ok(Self(Principal::Anonymous)) };
                origin::check(web, &parts.method, &parts.headers)?;
                Ok(Self(principal))
            }
            (None, None) => Ok(Self(Principal::Anonymous)),
        }
    }
}

/// A token that `admin` or another replica made since the last poll is good at once: whoever just made one uses it.
async fn made_a_moment_ago(web: &Web, token: &str, now: Timestamp) -> Result<Who, Problem> {
    if let Err(error) = web.app().refresh().await {
        return Err(Problem::internal(error));
    }
    web.app().access().token(token, now).map(Who).ok_or_else(|| Problem::new(Kind::Unauthenticated))
}

impl FromRequestParts<Web> for Reader {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let who = Who::from_request_parts(parts, web).await?;
        let may = who.0.may_read(web.settings().readers);
        who.allowed(may).map(Self)
    }
}

impl FromRequestParts<Web> for ReviewReader {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let who = Who::from_request_parts(parts, web).await?;
        let may = who.0.may_see_reviews();
        who.allowed(may).map(Self)
    }
}

impl FromRequestParts<Web> for Reviewer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let who = Who::from_request_parts(parts, web).await?;
        let may = who.0.may_review();
        match who.allowed(may)?.user() {
            Some(User { account, reviewer, .. }) => Ok(Self { id: reviewer.clone(), account: account.clone() }),
            None => Err(Problem::new(Kind::Forbidden)),
        }
    }
}

impl FromRequestParts<Web> for Publisher {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let who = Who::from_request_parts(parts, web).await?;
        let may = matches!(who.0, Principal::Token(_, Scope::Publish(_)));
        let principal = who.allowed(may)?;
        Ok(Self { account: principal.actor().to_owned(), principal })
    }
}

impl FromRequestParts<Web> for Checker {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let who = Who::from_request_parts(parts, web).await?;
        let may = matches!(who.0, Principal::Token(_, Scope::Pull(_)));
        who.allowed(may).map(Self)
    }
}

impl FromRequestParts<Web> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let who = Who::from_request_parts(parts, web).await?;
        let may = who.0.may_administer();
        who.allowed(may).map(Self)
    }
}

/// The token, if the header is there. One that isn't `Bearer` and a token is no token that could be valid.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter();
    let Some(line) = lines.next() else { return Ok(None) };
    let token = line.to_str().ok().and_then(|line| line.split_once(' '));
    match (token, lines.next()) {
        (Some((scheme, token)), None) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token.trim())),
        _ => Err(Problem::new(Kind::Unauthenticated)),
    }
}

/// The session's secret. Of two cookies of the name, one may have been planted by a sibling host: then neither counts.
fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let cookies = lines.flat_map(|line| Cookie::split_parse(line).filter_map(Result::ok).map(Cookie::into_owned));
    let mut found = cookies.filter(|cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned());
    match (found.next(), found.next()) {
        (Some(one), None) => Some(one),
        // Still a cookie beside a token; and no session has the empty secret.
        (Some(_), Some(_)) => Some(String::new()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().expect("legal"));
        }
        headers
    }

    #[test]
    fn a_bearer_token_is_one_header_of_two_words() {
        let read = |lines: &[(&'static str, &str)]| {
            bearer(&headers(lines)).map(|token| token.map(str::to_owned)).map_err(|problem| problem.kind())
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[("authorization", "Bearer cs_x")]), Ok(Some("cs_x".to_owned())));
        assert_eq!(read(&[("authorization", "bearer cs_x")]), Ok(Some("cs_x".to_owned())));
        for bad in ["cs_x", "Basic YTpi", "Bearer"] {
            assert_eq!(read(&[("authorization", bad)]), Err(Kind::Unauthenticated), "{bad}");
        }
        let twice = [("authorization", "Bearer a"), ("authorization", "Bearer b")];
        assert_eq!(read(&twice), Err(Kind::Unauthenticated));
    }

    #[test]
    fn two_session_cookies_are_none() {
        let read = |line| cookie(&headers(&[("cookie", line)]), "session");
        assert_eq!(read("a=b; session=x"), Some("x".to_owned()));
        assert_eq!(read("a=b"), None);
        assert_eq!(read("__Host-session=x"), None);
        assert_eq!(read("session=x; session=y"), Some(String::new()));
    }
}
