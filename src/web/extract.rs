//! What is read from a request, each with a problem of its own where it can't be.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request},
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use serde::{Deserialize, de::DeserializeOwned};

use super::{Kind, Problem, Web};
use crate::canon::{self, Code};

/// A release of 2,000 descriptors fits; a queue of bodies of this size still fits a small machine.
pub const MAX_BODY: usize = 8 << 20;

/// Parts of the path. One that is not of its form names nothing that could be here.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

/// Parameters of the query; unknown and repeated ones are refused if the type says so.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

/// The body's bytes, at most [`MAX_BODY`].
#[derive(Clone, Debug)]
pub struct Body(pub Bytes);

/// The fields of a form.
#[derive(Clone, Copy, Debug)]
pub struct Form<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<Web> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let path = axum::extract::Path::from_request_parts(parts, web).await;
        path.map(|axum::extract::Path(value)| Self(value)).map_err(|_| Problem::new(Kind::NotFound))
    }
}

impl<T: DeserializeOwned> FromRequestParts<Web> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let query = axum::extract::Query::from_request_parts(parts, web).await;
        let malformed =
            |e: axum::extract::rejection::QueryRejection| Problem::new(Kind::QueryMalformed).detail(e.body_text());
        query.map(|axum::extract::Query(value)| Self(value)).map_err(malformed)
    }
}

impl FromRequest<Web> for Body {
    type Rejection = Problem;

    async fn from_request(request: Request, web: &Web) -> Result<Self, Problem> {
        if stated(request.headers()).is_some_and(|length| length > MAX_BODY as u64) {
            return Err(Problem::new(Kind::BodyTooLarge).with("limit", MAX_BODY));
        }
        Bytes::from_request(request, web).await.map(Self).map_err(|e| unread(e.status()))
    }
}

impl<T: DeserializeOwned> FromRequest<Web> for Form<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, web: &Web) -> Result<Self, Problem> {
        let form = axum::extract::RawForm::from_request(request, web).await;
        let axum::extract::RawForm(body) = form.map_err(|e| unread(e.status()))?;
        let fields = form_urlencoded::parse(&body);
        let read = T::deserialize(serde::de::value::MapDeserializer::new(fields));
        read.map(Self).map_err(|e: serde::de::value::Error| Problem::new(Kind::FormMalformed).detail(e))
    }
}

/// Reads a JSON body. Whatever a client means by a member that isn't known here, it would not be done: so types refuse
/// unknown members, and serde refuses repeated ones.
///
/// # Errors
/// [`Kind::BodyMalformed`], or the code where the bytes aren't UTF-8 text.
pub fn json<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Problem> {
    serde_json::from_str(text(body)?).map_err(|e| Problem::new(Kind::BodyMalformed).detail(e))
}

fn text(body: &[u8]) -> Result<&str, Problem> {
    let refused = |code, offset| canon::Refused { code, pointer: String::new(), offset };
    if body.starts_with(b"\xef\xbb\xbf") {
        return Err(refused(Code::Bom, 0).into());
    }
    Ok(std::str::from_utf8(body).map_err(|e| refused(Code::InvalidUtf8, e.valid_up_to()))?)
}

fn stated(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn unread(status: StatusCode) -> Problem {
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        return Problem::new(Kind::BodyTooLarge).with("limit", MAX_BODY);
    }
    Problem::new(Kind::BodyMalformed).detail("the body broke off")
}
