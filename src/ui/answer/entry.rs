//! One entry of the log with the proof that the newest tree holds it, and where it matters.

mod matters;
mod slot;

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};

use super::{label, people::People, words};
use crate::{
    canon::Sha256,
    config::Readers,
    event::{Event, Leaf},
    log::{PathStep, Proof, Side, inclusion_path, leaf_hash},
    pinset::State as Fold,
    review::Outcome,
    ui::{
        around,
        figure::{Count, Short},
        frame::{Keys, Section},
        html::{Html, html},
        log::{LogEntryPage, PathRow},
        piece::Link,
        text, when,
    },
    web::{Kind, Path, Problem, Reader, Web},
};

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Path(index): Path<u64>,
) -> Result<Response, Problem> {
    let (proof, bytes) = entry(&web, index).await?;
    let leaf = Leaf::parse(&bytes).map_err(Problem::internal)?;
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let people = People::for_eyes_of(&who, web.app());
    let mut conn = web.app().reader().conn().await?;
    let about = matters::About { moment: &moment, people: &people, who: &who, index, bytes: &bytes, now };
    let matters = about.rows(&mut conn, leaf.event()).await?;
    drop(conn);
    // The page says that the proof leads to the signed root, so that is checked here first.
    let checkpoint = web.app().proven(&proof, &bytes).map_err(Problem::internal)?;
    let hash = leaf_hash(&bytes);
    let path = inclusion_path(index, checkpoint.size, &hash, &proof.hashes).map_err(Problem::internal)?;
    let link = |index: u64, words: &str| Link { href: format!("/log/entries/{index}"), words: words.to_owned() };
    let page = LogEntryPage {
        index: Count(index),
        at: when::minute(leaf.at(), now),
        kind: leaf.event().kind(),
        what: words::words(leaf.event(), &people),
        matters,
        leaf_hash: Short::hash("leaf hash", hash),
        leaf_bytes: Count(bytes.len() as u64),
        leaf: text::block(&String::from_utf8_lossy(&bytes), &[]),
        size: Count(checkpoint.size),
        root: Short::hash("root hash", checkpoint.root),
        signed_by: signed_by(&proof.checkpoint),
        path: path.iter().map(step).collect(),
        commands: commands(&web, index, leaf.event()),
        proof: proof.to_string(),
        previous: index.checked_sub(1).map(|before| link(before, "previous")),
        next: (index + 1 < checkpoint.size).then(|| link(index + 1, "next")),
    };
    let frame = around::frame(&web, &who, &format!("Log entry {index}"), Section::Log, Keys::Few).await?;
    around::page(frame, page)
}

/// The leaf's bytes, to be kept.
pub(super) async fn leaf(
    State(web): State<Web>,
    Reader(_): Reader,
    Path(index): Path<u64>,
) -> Result<Response, Problem> {
    let (_, bytes) = entry(&web, index).await?;
    file("application/json", &format!("entry-{index}.json"), bytes)
}

/// The proof, to be kept.
pub(super) async fn proof(
    State(web): State<Web>,
    Reader(_): Reader,
    Path(index): Path<u64>,
) -> Result<Response, Problem> {
    let (proof, _) = entry(&web, index).await?;
    file("text/plain; charset=utf-8", &format!("entry-{index}.tlog-proof"), proof.to_string().into_bytes())
}

async fn entry(web: &Web, index: u64) -> Result<(Proof, Vec<u8>), Problem> {
    let proof = web.app().inclusion(index).await?;
    let bytes = web.app().reader().conn().await?.leaf(index).await?.ok_or_else(|| Problem::new(Kind::NotInLog))?;
    Ok((proof, bytes))
}

fn file(media_type: &'static str, name: &str, bytes: Vec<u8>) -> Result<Response, Problem> {
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")).map_err(Problem::internal)?;
    let kind = HeaderValue::from_static(media_type);
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, disposition)], bytes).into_response())
}

/// The names on the checkpoint: the log's, and those of witnesses.
fn signed_by(checkpoint: &str) -> Html {
    let names = checkpoint.lines().filter_map(|line| line.strip_prefix("— ")?.split(' ').next());
    let mut html = Html::new();
    for (n, name) in names.enumerate() {
        html.tag(if n > 0 { ", " } else { "" }).html(&label::mono(name));
    }
    html
}

fn step(step: &PathStep) -> PathRow {
    PathRow {
        level: step.level,
        side: match step.side {
            Side::Left => "left",
            Side::Right => "right",
        },
        sibling: Short::hash("sibling hash", step.sibling),
        node: Short::hash("node hash", step.node),
    }
}

/// What keeps leaf and proof, and lets somebody see for themselves that the hash is the leaf's.
fn commands(web: &Web, index: u64, event: &Event) -> Vec<(&'static str, String)> {
    let url = web.settings().public_url.as_str();
    let token = match web.settings().readers {
        Readers::Anonymous => "",
        Readers::Token => "-H \"Authorization: Bearer $COUNTERSIGN_TOKEN\" ",
    };
    let get =
        |what: &str, name: &str| format!("curl -fsS {token}{url}/log/entries/{index}/{what} -o entry-{index}.{name}");
    let mut commands = vec![
        ("The leaf, byte for byte:", get("leaf", "json")),
        ("The proof of it:", get("proof", "tlog-proof")),
        ("The leaf hash, made anew:", format!("(printf '\\0'; cat entry-{index}.json) | sha256sum")),
    ];
    if let Some(bundle) = bundle(url, event) {
        commands.push(("All that proves the pin, for somebody who has nothing but the trust file:", bundle));
    }
    commands
}

/// The command that collects what proves an approval.
fn bundle(url: &str, event: &Event) -> Option<String> {
    let Event::Decision(decision) = event else { return None };
    let name = decision.qualified.as_ref().filter(|_| decision.outcome == Outcome::Approve)?;
    let name = quoted(name.as_str());
    let kind = match decision.kind {
        crate::name::Kind::Tool => String::new(),
        other => format!(" --kind {other}"),
    };
    let variant = match decision.variant.is_default() {
        true => String::new(),
        false => format!(" --variant {}", quoted(decision.variant.as_str())),
    };
    let (set, digest) = (&decision.pinset, decision.digest());
    Some(format!(
        "countersign bundle {name} --registry {url} --pinset {set}{kind}{variant} --digest {digest} --trust trust.txt \
         -o pin.bundle.json && countersign verify pin.bundle.json --trust trust.txt"
    ))
}

/// As one word of a shell, whatever is in it.
fn quoted(text: &str) -> String {
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/:@".contains(&b));
    if plain && !text.starts_with('-') { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// The entries and pages that an entry refers to, in a line.
pub(super) fn refers(event: &Event, bytes: &[u8], state: &Fold) -> Html {
    let granted = |authority: &str| state.authority(authority).map(|authority| label::entry(authority.log_index));
    match event {
        Event::Decision(decision) => {
            let mut html = label::link(&format!("/decisions/{}", Sha256::of(bytes)), "decision");
            if let Some(evidence) = state.evidence(&decision.attestation) {
                html.html(&html!(" on the evidence of ", [label::entry(evidence.log_index)]));
            }
            html
        }
        Event::ReleaseAttested(evidence) | Event::EvidenceAttached(evidence) => {
            granted(&evidence.authority).map_or_else(Html::new, |entry| html!("by the authority of ", [entry]))
        }
        Event::AuthorityRevoked(revoked) => {
            granted(&revoked.authority).map_or_else(Html::new, |entry| html!("it was granted by ", [entry]))
        }
        _ => Html::new(),
    }
}
