//! The drawn part of the signs: one SVG symbol each, 16 by 16.
//!
//! A page carries only those that it uses: [`sprite`] looks which are referred to. `class="cut"` takes the colour of the
//! surface, so that a glyph is cut out of its shape.

use super::html::Html;

/// Name and drawing. The shape is the family, the glyph says which: `LOOK` names them.
const SYMBOLS: &[(&str, &str)] = &[
    (
        "changed",
        r##"<symbol id="i-changed" viewBox="0 0 16 16"><path d="M8 .7 15.3 8 8 15.3.7 8z" fill="currentColor"/><path class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M5.2 6.7h5.6M5.2 9.3h5.6M9.5 4.9 6.5 11.1"/></symbol>"##,
    ),
    (
        "downgrade",
        r##"<symbol id="i-downgrade" viewBox="0 0 16 16"><path d="M8 .7 15.3 8 8 15.3.7 8z" fill="currentColor"/><path class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M8 4.6v6.2M5.4 8.4 8 11l2.6-2.6"/></symbol>"##,
    ),
    (
        "signer",
        r##"<symbol id="i-signer" viewBox="0 0 16 16"><path d="M8 .7 15.3 8 8 15.3.7 8z" fill="currentColor"/><path class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M5.3 10.9c.2-1.8 1.3-2.7 2.7-2.7s2.5.9 2.7 2.7"/><circle cx="8" cy="5.9" r="1.2" class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/></symbol>"##,
    ),
    (
        "endpoint",
        r##"<symbol id="i-endpoint" viewBox="0 0 16 16"><path d="M8 .7 15.3 8 8 15.3.7 8z" fill="currentColor"/><path class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M4.8 8h6.2M8.6 5.5 11.1 8l-2.5 2.5"/></symbol>"##,
    ),
    (
        "renamed",
        r##"<symbol id="i-renamed" viewBox="0 0 16 16"><path d="M8 .7 15.3 8 8 15.3.7 8z" fill="currentColor"/><path class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M5 6.6h5.8L9.3 5.1M11 9.4H5.2l1.5 1.5"/></symbol>"##,
    ),
    (
        "flagged",
        r##"<symbol id="i-flagged" viewBox="0 0 16 16"><path d="M8 1.6 15 14.2H1z" fill="currentColor" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round"/><path class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M8 6v3.6"/><circle cx="8" cy="12" r="1" class="cutf"/></symbol>"##,
    ),
    (
        "unknown",
        r##"<symbol id="i-unknown" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.7" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" stroke-dasharray="2.4 1.85"/><path fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" d="M6.2 6.3c.1-1 .8-1.7 1.9-1.7 1 0 1.7.6 1.7 1.5 0 1.3-1.7 1.3-1.7 2.7"/><circle cx="8.1" cy="11.2" r=".9" fill="currentColor"/></symbol>"##,
    ),
    (
        "expiring",
        r##"<symbol id="i-expiring" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.7" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor"/><path fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" d="M8 4.4V8l2.4 1.7"/></symbol>"##,
    ),
    (
        "expired",
        r##"<symbol id="i-expired" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7.4" fill="currentColor"/><path class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M8 4.4V8l2.4 1.7"/></symbol>"##,
    ),
    (
        "approved",
        r##"<symbol id="i-approved" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7.4" fill="currentColor"/><path class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="m4.9 8.3 2.1 2.1 4.1-4.6"/></symbol>"##,
    ),
    (
        "held",
        r##"<symbol id="i-held" viewBox="0 0 16 16"><rect x="1.3" y="1.3" width="13.4" height="13.4" rx="2.4" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor"/><path fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" d="M6.2 5.2v5.6M9.8 5.2v5.6"/></symbol>"##,
    ),
    (
        "rejected",
        r##"<symbol id="i-rejected" viewBox="0 0 16 16"><path d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" fill="currentColor"/><path class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="M5 8h6"/></symbol>"##,
    ),
    (
        "revoked",
        r##"<symbol id="i-revoked" viewBox="0 0 16 16"><path d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" fill="currentColor"/><path class="cut" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" d="m5.6 5.6 4.8 4.8M10.4 5.6l-4.8 4.8"/></symbol>"##,
    ),
    (
        "stale",
        r##"<symbol id="i-stale" viewBox="0 0 16 16"><path fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" d="M4 1.8h8M4 14.2h8M4.8 1.8c0 4 6.4 8.4 6.4 12.4M11.2 1.8c0 4-6.4 8.4-6.4 12.4"/></symbol>"##,
    ),
    (
        "incomplete",
        r##"<symbol id="i-incomplete" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.7" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor"/><path d="M8 1.3a6.7 6.7 0 0 0 0 13.4z" fill="currentColor"/></symbol>"##,
    ),
    (
        "ambiguous",
        r##"<symbol id="i-ambiguous" viewBox="0 0 16 16"><circle cx="5.7" cy="8" r="4.4" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor"/><circle cx="10.3" cy="8" r="4.4" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor"/></symbol>"##,
    ),
    (
        "unpinnable",
        r##"<symbol id="i-unpinnable" viewBox="0 0 16 16"><path d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor"/><path fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" d="M5 8h6"/></symbol>"##,
    ),
    (
        "lv3",
        r##"<symbol id="i-lv3" viewBox="0 0 16 16"><path d="M1 15V10.5h3.6V15zM6.2 15V6h3.6v9zM11.4 15V1.5H15V15z" fill="currentColor"/></symbol>"##,
    ),
    (
        "lv2",
        r##"<symbol id="i-lv2" viewBox="0 0 16 16"><path d="M1 15V10.5h3.6V15zM6.2 15V6h3.6v9z" fill="currentColor"/><path d="M11.9 14.5V2h2.6v12.5z" fill="none" stroke="currentColor"/></symbol>"##,
    ),
    (
        "lv1",
        r##"<symbol id="i-lv1" viewBox="0 0 16 16"><path d="M1 15V10.5h3.6V15z" fill="currentColor"/><path d="M6.7 14.5v-8h2.6v8zM11.9 14.5V2h2.6v12.5z" fill="none" stroke="currentColor"/></symbol>"##,
    ),
    (
        "step",
        r##"<symbol id="i-step" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.7" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor"/><path fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" d="m5.2 8.3 2 2 3.6-4.2"/></symbol>"##,
    ),
    (
        "ok",
        r##"<symbol id="i-ok" viewBox="0 0 16 16"><path fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" d="m2.6 8.6 3.4 3.4 7.4-8"/></symbol>"##,
    ),
    (
        "x",
        r##"<symbol id="i-x" viewBox="0 0 16 16"><path fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" d="m3.5 3.5 9 9M12.5 3.5l-9 9"/></symbol>"##,
    ),
    (
        "eye",
        r##"<symbol id="i-eye" viewBox="0 0 16 16"><path fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" d="M1 8c1.6-3 4-4.6 7-4.6S13.4 5 15 8c-1.6 3-4 4.6-7 4.6S2.6 11 1 8z"/><circle cx="8" cy="8" r="2" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor"/></symbol>"##,
    ),
    (
        "info",
        r##"<symbol id="i-info" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.7" fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor"/><path fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" stroke="currentColor" d="M8 7.4v3.8"/><circle cx="8" cy="4.9" r=".9" fill="currentColor"/></symbol>"##,
    ),
];

/// A reference to a symbol: the small picture beside a word.
pub(crate) fn icon(name: &'static str) -> Html {
    let mut html = Html::new();
    html.tag("<svg class=\"i\" aria-hidden=\"true\"><use href=\"#i-").tag(name).tag("\"/></svg>");
    html
}

/// A reference to a symbol that carries its state's colour itself.
pub(crate) fn coloured(name: &'static str, class: &'static str) -> Html {
    let mut html = Html::new();
    html.tag("<svg class=\"i ").tag(class).tag("\" aria-hidden=\"true\"><use href=\"#i-").tag(name).tag("\"/></svg>");
    html
}

/// The symbols that `body` refers to. Text can't refer to one: its quotation marks are escaped.
pub(super) fn sprite(body: &str) -> Html {
    let mut html = Html::new();
    html.tag("<svg class=\"sprite\" aria-hidden=\"true\">");
    for (name, drawing) in SYMBOLS {
        if body.contains(&format!("<use href=\"#i-{name}\"/>")) {
            html.tag(drawing);
        }
    }
    html.tag("</svg>");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_carries_the_symbols_it_uses_and_no_others() {
        let sprite = sprite(icon("held").as_str());
        assert!(sprite.as_str().contains("i-held"));
        assert_eq!(sprite.as_str().matches("<symbol").count(), 1);
    }
}
