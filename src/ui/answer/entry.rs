//! One entry of the log with the proof that the newest tree holds it.

use axum::{extract::State, response::Response};

use super::{people::People, words};
use crate::{
    event::Leaf,
    log::leaf_hash,
    ui::{
        around,
        figure::{Count, Short},
        frame::{Keys, Section},
        log::LogEntryPage,
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
    let proof = web.app().inclusion(index).await?;
    let bytes = web.app().reader().conn().await?.leaf(index).await?.ok_or_else(|| Problem::new(Kind::NotInLog))?;
    let leaf = Leaf::parse(&bytes).map_err(Problem::internal)?;
    let (size, now) = (size(&proof.checkpoint), web.app().clock().now());
    let link = |index: u64, words: &str| Link { href: format!("/log/entries/{index}"), words: words.to_owned() };
    let page = LogEntryPage {
        index: Count(index),
        size: Count(size),
        at: when::minute(leaf.at(), now),
        kind: leaf.event().kind(),
        what: words::words(leaf.event(), &People::for_eyes_of(&who, web.app())),
        leaf_hash: Short::hash("leaf hash", leaf_hash(&bytes)),
        leaf_bytes: Count(bytes.len() as u64),
        leaf: text::block(&String::from_utf8_lossy(&bytes), &[]),
        proof: proof.to_string(),
        previous: index.checked_sub(1).map(|before| link(before, "previous")),
        next: (index + 1 < size).then(|| link(index + 1, "next")),
    };
    let frame = around::frame(&web, &who, &format!("Log entry {index}"), Section::Log, Keys::Few).await?;
    around::page(frame, page)
}

/// The size that the proof's own checkpoint names: the second line of a note of ours.
fn size(checkpoint: &str) -> u64 {
    checkpoint.lines().nth(1).and_then(|line| line.parse().ok()).unwrap_or(0)
}
