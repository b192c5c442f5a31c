//! The registry's own keys, and what people compare before they trust it.

use askama::Template;
use axum::{extract::State, response::Response};

use super::{Part, frame, parts};
use crate::{
    clock::Timestamp,
    pinset::trust::Trust,
    service::{KeyKind, trust::KeyStatus},
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
    /// Since when it counts; none from the first start on.
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
    let row = |key: &KeyStatus| {
        let (what, signs) = match key.kind {
            KeyKind::Root => ("Root", "the trust file"),
            KeyKind::Log => ("Log", "checkpoints of the log"),
            KeyKind::Head => ("Head", "heads of pin sets, every 15 minutes"),
        };
        let here = if key.here { "on this machine" } else { "not on this machine" };
        let since = (key.from > Timestamp::EPOCH).then(|| when::date(key.from, now));
        KeyRow { what, key: Short::key(key.id.0), since, place: format!("{}, {here}", key.state), signs }
    };
    let keys = web.app().keys().iter().map(row).collect();
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
