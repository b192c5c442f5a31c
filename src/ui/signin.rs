//! The pages before a session: set-up with the first administrator, and signing in.

use askama::Template;

use super::piece::Note;

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
    pub(crate) who_error: Option<String>,
}

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
