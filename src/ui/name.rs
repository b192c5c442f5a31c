//! Names that break across lines where a reader expects it.

use super::html::Html;
use crate::text::Reading;

/// A descriptor's, server's or file's name in `<bdi>`: marked as every text from outside, with a chance to break after
/// `_`, `.`, `/` and `-`.
pub(crate) fn name(text: &str) -> Html {
    let mut html = Html::new();
    html.tag("<bdi>");
    for part in text.split_inclusive(['_', '.', '/', '-']) {
        super::text::emit(&mut html, part, Reading::Name);
        if part.ends_with(['_', '.', '/', '-']) {
            html.tag("<wbr>");
        }
    }
    html.tag("</bdi>");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_breaks_after_its_separators() {
        assert_eq!(name("notes.share_link").as_str(), "<bdi>notes.<wbr>share_<wbr>link</bdi>");
        assert!(name("a\u{202e}b<i>").as_str().contains("RLO"));
        assert!(!name("a\u{202e}b<i>").as_str().contains("<i>"));
    }
}
