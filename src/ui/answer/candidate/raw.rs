//! A stretch of the descriptor's bytes, as they were received.

use crate::{
    canon::Sha256,
    service::desk::Desk,
    text::Reading,
    ui::{
        candidate::Raw,
        figure::Count,
        html::Html,
        piece::Link,
        text::{Escape, Legend, Lines, Outside, floor},
    },
};

/// What a page shows at once; a mebibyte is sixteen of them.
const STRETCH: usize = 1 << 16;

pub(super) fn stretch(desk: &Desk, at: usize, address: &str) -> Raw {
    // The strict parser took these bytes, so they are text.
    let text = std::str::from_utf8(desk.descriptor.raw()).unwrap_or_default();
    let from = floor(text, at.min(text.len()));
    let to = floor(text, from.saturating_add(STRETCH).min(text.len()));
    let link =
        |at: usize, words: &str| Link { href: format!("{address}?view=raw&at={at}#h-diff"), words: words.to_owned() };
    let mut html = Html::new();
    html.tag("<bdi>");
    let outside = Outside::new(text, Reading::Prose, Escape::Plain);
    outside.write(&mut html, from..to, Lines::Break, &mut Legend::default());
    html.tag("</bdi>");
    Raw {
        text: html,
        range: format!("Bytes {} to {} of {}", Count(from as u64), Count(to as u64), Count(text.len() as u64)),
        before: (from > 0).then(|| link(from.saturating_sub(STRETCH), "Bytes before")),
        next: (to < text.len()).then(|| link(to, "More bytes")),
        download: Link {
            href: format!("/v1/content/{}", Sha256::of(desk.descriptor.raw())),
            words: "Download these bytes".to_owned(),
        },
    }
}
