//! The registry's own keys, and what people compare before they trust it.

use askama::Template;
use axum::{extract::State, response::Response};

use super::{Part, frame, parts};
use crate::{
    canon::Sha256,
    clock::Timestamp,
    pinset::trust::Trust,
    ui::{
        around::page,
        figure::Short,
        piece::{Note, Tab, Tone},
        when::{self, When},
    },
    web::{Admin, Problem, Web},
};

/// The registry's own keys.
#[derive(Template)]
#[template(path = "settings/keys.html")]
pub(crate) struct KeysPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) keys: Vec<KeyRow>,
    /// The fingerprint that gateways compare, in full.
    pub(crate) fingerprint: String,
    pub(crate) command: String,
}

/// One key.
pub(crate) struct KeyRow {
    pub(crate) what: &'static str,
    pub(crate) key: Short,
    /// Known for heads, which change their keys.
    pub(crate) since: Option<When>,
    pub(crate) place: String,
    pub(crate) signs: &'static str,
}

/// `GET /settings/keys`
pub(in crate::ui) async fn show(State(web): State<Web>, Admin(who): Admin) -> Result<Response, Problem> {
    let body = body(&web)?;
    page(frame(&web, &who, "Keys").await?, body)
}

/// From the trust file, which is what gateways go by.
fn body(web: &Web) -> Result<KeysPage, Problem> {
    let now = web.app().clock().now();
    let trust = Trust::first(&web.app().moment().trust.note).map_err(Problem::internal)?;
    let terms = trust.terms();
    let row = |what, key: Sha256, since: Option<Timestamp>, file: &str, signs| KeyRow {
        what,
        key: Short::key(key),
        since: since.map(|since| when::date(since, now)),
        place: file.to_owned(),
        signs,
    };
    let mut keys = vec![row("Root", terms.root.id().0, None, "root.pem", "the trust file")];
    for head in &terms.heads {
        keys.push(row("Head", head.key.id().0, Some(head.from), "head.pem", "heads of pin sets, every 15 minutes"));
    }
    keys.push(row("Log", terms.log.id().0, None, "log.pem", "checkpoints of the log"));
    let url = web.settings().public_url.as_str();
    Ok(KeysPage {
        parts: parts(Part::Keys, true),
        notes: vec![move_the_root()],
        keys,
        fingerprint: trust.fingerprint().to_string(),
        command: format!("countersign trust {url} -o trust.txt --fingerprint {}", trust.fingerprint()),
    })
}

fn move_the_root() -> Note {
    Note {
        tone: Tone::Plain,
        symbol: "info",
        headline: "The root key signs the trust file and nothing else.".to_owned(),
        detail: "The service runs without it. Whoever takes it can make gateways trust other keys: move root.pem off \
                 this machine, and keep it for rotations."
            .into(),
        link: None,
        alert: false,
    }
}
