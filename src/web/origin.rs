//! Writes by session come from this registry's own pages, or they aren't done: a cookie says who the browser belongs to,
//! not what made it send the request.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::{Kind, Problem, Web};

/// Refuses a write that doesn't come from a page of this registry: for all pages, whoever asks.
pub async fn same_origin(State(web): State<Web>, request: Request, next: Next) -> Response {
    if is_safe(request.method()) || is_own(request.headers(), web.settings().public_url.as_str()) {
        return next.run(request).await;
    }
    Problem::new(Kind::ForeignOrigin).into_response()
}

pub(super) fn check(web: &Web, method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if is_safe(method) || is_own(headers, web.settings().public_url.as_str()) {
        return Ok(());
    }
    Err(Problem::new(Kind::ForeignOrigin))
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// One of the two headers must speak for the request, and neither against it. Browsers send at least one with every
/// write, and no page can change either.
fn is_own(headers: &HeaderMap, own: &str) -> bool {
    let all = |name| headers.get_all(name).iter().map(|value| value.as_bytes()).collect::<Vec<_>>();
    let (origin, site) = (all(header::ORIGIN.as_str()), all("sec-fetch-site"));
    let says = |values: &[&[u8]], expected: &str| match values {
        [] => None,
        [one] => Some(*one == expected.as_bytes()),
        _ => Some(false),
    };
    match (says(&origin, own), says(&site, "same-origin")) {
        (None, None) => false,
        (origin, site) => origin != Some(false) && site != Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_comes_from_this_very_origin() {
        const SITE: &str = "sec-fetch-site";
        let table: [(&[(&str, &str)], bool); 12] = [
            (&[], false),
            (&[("origin", "https://pins.example")], true),
            (&[(SITE, "same-origin")], true),
            (&[("origin", "https://pins.example"), (SITE, "same-origin")], true),
            (&[("origin", "https://evil.example")], false),
            (&[("origin", "https://other.pins.example"), (SITE, "same-site")], false),
            (&[("origin", "https://pins.example"), (SITE, "same-site")], false),
            (&[("origin", "http://pins.example")], false),
            (&[("origin", "https://pins.example:8443")], false),
            (&[("origin", "null"), (SITE, "same-origin")], false),
            (&[(SITE, "none")], false),
            (&[("origin", "https://pins.example"), ("origin", "https://evil.example")], false),
        ];
        for (lines, expected) in table {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(*name, value.parse().expect("legal"));
            }
            assert_eq!(is_own(&headers, "https://pins.example"), expected, "{lines:?}");
        }
    }
}
