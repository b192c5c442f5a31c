//! Refusals as RFC 9457 problem details. The `type` is a stable slug that scripts and pages go by; titles and details may
//! change.
//!
//! A problem that is ours to solve (5xx) shows the request id and nothing of its cause; the cause is logged where the
//! answer leaves, once.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{attest, canon};

/// A refusal on its way out. It travels in the response's extensions, too, so that pages can show it in their own form.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    kind: Kind,
    detail: Option<String>,
    members: Map<String, Value>,
    retry_after: Option<String>,
    cause: Option<String>,
}

/// Defines [`Kind`] with slug, status and title of each; the compiler sees to it that none is forgotten.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $status:ident $slug:literal $title:literal,)*) => {
        /// What went wrong.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Kind {
            $(#[doc = $title] $name,)*
            /// The strict parser refused a document.
            Json(canon::Code),
            /// An attestation doesn't hold; the slug is [`attest::Refused::slug`].
            Attestation(&'static str, Permitted),
        }

        impl Kind {
            /// The kinds that have no parts of their own.
            pub const PLAIN: &'static [Self] = &[$(Self::$name,)*];

            /// The stable slug, as `view-changed`.
            pub const fn slug(self) -> &'static str {
                match self {
                    $(Self::$name => $slug,)*
                    Self::Json(code) => code.as_str(),
                    Self::Attestation(slug, _) => slug,
                }
            }

            /// The status that goes with it.
            pub const fn status(self) -> StatusCode {
                match self {
                    $(Self::$name => StatusCode::$status,)*
                    Self::Json(_) | Self::Attestation(_, Permitted::Yes) => StatusCode::UNPROCESSABLE_ENTITY,
                    Self::Attestation(_, Permitted::No) => StatusCode::FORBIDDEN,
                }
            }

            /// A few words for people.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)*
                    Self::Json(_) => "The document is not strict JSON",
                    Self::Attestation(..) => "The attestation does not hold",
                }
            }
        }
    };
}

/// Whether the signer of a refused attestation could have had the right.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Permitted {
    /// The document is wrong.
    Yes,
    /// The key may not speak for the server.
    No,
}

kinds! {
    BodyMalformed = BAD_REQUEST "body-malformed" "The body has another form than expected",
    FormMalformed = BAD_REQUEST "form-malformed" "The form's fields are not those expected",
    QueryMalformed = BAD_REQUEST "query-malformed" "The query has other parameters than expected",
    CursorMalformed = BAD_REQUEST "cursor-malformed" "The cursor is none that this list gave out",
    TwoCredentials = BAD_REQUEST "two-credentials" "The request has a token and a session cookie",
    Unauthenticated = UNAUTHORIZED "unauthenticated" "The request needs a valid token or session",
    SignInWrong = UNAUTHORIZED "sign-in-wrong" "Name or password is wrong",
    Forbidden = FORBIDDEN "forbidden" "The token or account doesn't allow this",
    ForeignOrigin = FORBIDDEN "foreign-origin" "The request doesn't come from this registry's own pages",
    NotEligible = FORBIDDEN "not-eligible" "Only reviewers decide",
    OwnSubmission = FORBIDDEN "own-submission" "Nobody decides on their own submission",
    NotFound = NOT_FOUND "not-found" "There is nothing here",
    PinsetNotFound = NOT_FOUND "pinset-not-found" "There is no such pin set",
    ServerNotFound = NOT_FOUND "server-not-found" "There is no such server",
    ReleaseNotFound = NOT_FOUND "release-not-found" "There is no such release",
    CandidateNotFound = NOT_FOUND "candidate-not-found" "There is no such candidate",
    PinNotFound = NOT_FOUND "pin-not-found" "There is no such pin",
    AuthorityNotFound = NOT_FOUND "authority-not-found" "There is no such authority",
    AccountNotFound = NOT_FOUND "account-not-found" "There is no such account",
    TokenNotFound = NOT_FOUND "token-not-found" "There is no such token",
    NotInLog = NOT_FOUND "not-in-log" "The log has no such entry or tile",
    MethodNotAllowed = METHOD_NOT_ALLOWED "method-not-allowed" "This address doesn't take that method",
    ViewChanged = CONFLICT "view-changed" "What was shown has changed since",
    AliasUnbound = CONFLICT "alias-unbound" "The server has no alias in this pin set yet",
    AliasBound = CONFLICT "alias-bound" "Alias and server are bound otherwise, for good",
    AlreadyVoted = CONFLICT "already-voted" "Your ballot is already counted",
    LevelNotAllowed = CONFLICT "level-not-allowed" "The policy doesn't accept evidence of this level",
    Unpinnable = CONFLICT "unpinnable" "The descriptor can't be pinned",
    TransitionRefused = CONFLICT "transition-refused" "The candidate's state doesn't allow this",
    NameClash = CONFLICT "name-clash" "The name could be taken for a pinned one",
    NameTaken = CONFLICT "name-taken" "The name is registered in another spelling",
    ReleaseDiffers = CONFLICT "release-differs" "This version was released with other descriptors",
    HeadBehind = CONFLICT "head-behind" "The head was signed over fewer leaves than you saw",
    PinsetExists = CONFLICT "pinset-exists" "The pin set exists already",
    AuthorityGranted = CONFLICT "authority-granted" "The key has this authority already",
    AuthorityRevoked = CONFLICT "authority-revoked" "The authority is revoked already",
    NeedsQuorum = CONFLICT "needs-quorum" "Several people must agree on this",
    AccountExists = CONFLICT "account-exists" "There is an account of this name",
    LastAdmin = CONFLICT "last-admin" "This is the last administrator",
    TooManyTokens = CONFLICT "too-many-tokens" "The account has all the tokens it may have",
    SetupOver = GONE "setup-over" "The set-up link is used up",
    BodyTooLarge = PAYLOAD_TOO_LARGE "body-too-large" "The body is larger than this address takes",
    CaptureMalformed = UNPROCESSABLE_ENTITY "capture-malformed" "The capture has another form than expected",
    CaptureTruncated = UNPROCESSABLE_ENTITY "capture-truncated" "The capture breaks off",
    TooManyDescriptors = UNPROCESSABLE_ENTITY "too-many-descriptors" "The list is too long",
    ProtocolVersion = UNPROCESSABLE_ENTITY "protocol-version" "The protocol version is not known here",
    ReasonMalformed = UNPROCESSABLE_ENTITY "reason-malformed" "The reason is empty or too long",
    NotRead = UNPROCESSABLE_ENTITY "not-read" "The decision needs your word that you read it",
    FindingUnknown = UNPROCESSABLE_ENTITY "finding-unknown" "The report has no such finding",
    PolicyMalformed = UNPROCESSABLE_ENTITY "policy-malformed" "The policy is out of range",
    TokenDays = UNPROCESSABLE_ENTITY "token-days" "The token would live too short or too long",
    CheckpointForeign = UNPROCESSABLE_ENTITY "checkpoint-foreign" "This log didn't sign that checkpoint",
    RateLimited = TOO_MANY_REQUESTS "rate-limited" "Too many requests from this address",
    SignInThrottled = TOO_MANY_REQUESTS "sign-in-throttled" "Too many attempts to sign in",
    Internal = INTERNAL_SERVER_ERROR "internal" "Something went wrong here",
    Unavailable = SERVICE_UNAVAILABLE "database-unavailable" "The database doesn't answer",
    Unwitnessed = SERVICE_UNAVAILABLE "unwitnessed" "Witnesses have not cosigned the log yet",
    ReadOnly = SERVICE_UNAVAILABLE "read-only" "Nothing can be written here until an operator has looked",
    Busy = SERVICE_UNAVAILABLE "busy" "Too much is waiting here: try again",
    Stopping = SERVICE_UNAVAILABLE "stopping" "The service is about to end: try again",
    Timeout = SERVICE_UNAVAILABLE "timeout" "This took too long",
}

/// The media type of RFC 9457.
const MEDIA_TYPE: &str = "application/problem+json";

#[derive(Serialize)]
struct Document<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a str>,
    #[serde(flatten)]
    members: &'a Map<String, Value>,
}

impl Problem {
    /// A problem of this kind.
    pub fn new(kind: Kind) -> Self {
        Self { kind, detail: None, members: Map::new(), retry_after: None, cause: None }
    }

    /// Something that is ours to solve. What it was is logged and never shown.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Self::new(Kind::Internal).caused(cause)
    }

    /// Says more, for people.
    #[must_use]
    pub fn detail(mut self, detail: impl std::fmt::Display) -> Self {
        self.detail = Some(detail.to_string());
        self
    }

    /// Adds a member, for programs.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        self.members.insert(name.to_owned(), value);
        self
    }

    /// Says when to try again: seconds, or a date.
    #[must_use]
    pub fn retry_after(mut self, when: impl std::fmt::Display) -> Self {
        self.retry_after = Some(when.to_string());
        self
    }

    /// Keeps what is logged with a 5xx.
    #[must_use]
    pub fn caused(mut self, cause: impl std::fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// What went wrong.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// What is said about it besides the title.
    pub fn says(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// What is logged.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// The answer, with the request's id where it is ours to solve.
    pub(crate) fn render(&self, request: Option<&str>) -> Response {
        let status = self.kind.status();
        let document = Document {
            r#type: format!("/problems/{}", self.kind.slug()),
            title: self.kind.title(),
            status: status.as_u16(),
            detail: self.detail.as_deref(),
            request: request.filter(|_| status.is_server_error()),
            members: &self.members,
        };
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, MEDIA_TYPE)], body).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"countersign\""));
        }
        if let Some(when) = self.retry_after.as_deref().and_then(|when| when.parse().ok()) {
            headers.insert(header::RETRY_AFTER, when);
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.render(None);
        response.extensions_mut().insert(self);
        response
    }
}

impl From<canon::Refused> for Problem {
    fn from(refused: canon::Refused) -> Self {
        let problem = Self::new(Kind::Json(refused.code)).detail(&refused);
        problem.with("pointer", &refused.pointer).with("offset", refused.offset)
    }
}

impl From<attest::Refused> for Problem {
    fn from(refused: attest::Refused) -> Self {
        use attest::Refused as R;
        let detail = refused.to_string();
        let kind = match &refused {
            R::Descriptor { index, refused } => return Self::from(refused.clone()).detail(detail).with("index", index),
            R::UnknownKey | R::NoAuthority(_) | R::Revoked(_) | R::Role { .. } => Permitted::No,
            R::Incomplete
            | R::Envelope(_)
            | R::PayloadType(_)
            | R::Unsigned
            | R::Signature
            | R::RepeatedKey
            | R::Statement(_)
            | R::StatementType(_)
            | R::PredicateType(_)
            | R::UnknownMember(_)
            | R::Canonicalization(_)
            | R::Server { .. }
            | R::Version { .. }
            | R::Variant { .. }
            | R::SubjectsUnsorted(_)
            | R::SubjectMissing(_)
            | R::SubjectExtra(_)
            | R::SubjectDigest(_) => Permitted::Yes,
        };
        Self::new(Kind::Attestation(refused.slug(), kind)).detail(detail)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_kind_has_a_slug_of_its_own() {
        let slugs: BTreeSet<_> = Kind::PLAIN.iter().map(|kind| kind.slug()).collect();
        assert_eq!(slugs.len(), Kind::PLAIN.len());
        for kind in Kind::PLAIN {
            assert!(kind.slug().bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{kind:?}");
            assert!(kind.status().is_client_error() || kind.status().is_server_error(), "{kind:?}");
        }
    }

    #[tokio::test]
    async fn only_a_5xx_names_the_request_and_none_shows_its_cause() {
        for (problem, expected) in [
            (
                Problem::internal("password=hunter2"),
                r#"{"type":"/problems/internal","title":"Something went wrong here","status":500,"request":"r1"}"#,
            ),
            (
                Problem::new(Kind::NotFound).detail("no").with("n", 1).caused("x"),
                r#"{"type":"/problems/not-found","title":"There is nothing here","status":404,"detail":"no","n":1}"#,
            ),
        ] {
            let body = axum::body::to_bytes(problem.render(Some("r1")).into_body(), 4096).await.expect("short");
            assert_eq!(String::from_utf8_lossy(&body), expected);
        }
    }
}
