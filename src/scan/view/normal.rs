//! NFKC, without invisible characters, in lower case.

use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};

use super::{Builder, Text};

/// Unicode's stream-safe bound on the marks that follow a letter; a longer pile is taken in parts, so that sorting it
/// stays linear.
const MAX_MARKS: usize = 30;

/// The form that most rules read.
pub(in crate::scan) fn normal<'t>(from: &'t Text<'t>, unusual: bool) -> Text<'t> {
    if !unusual {
        return Text { text: from.text.to_ascii_lowercase().into(), map: from.map.clone() };
    }
    let mut builder = Builder::new(from);
    let mut rest = from.text.char_indices().peekable();
    let mut cluster = String::new();
    while let Some((start, c)) = rest.next() {
        let mut end = start + c.len_utf8();
        if stripped(c) {
            builder.put("", start, end);
            continue;
        }
        if c.is_ascii() && rest.peek().is_none_or(|(_, next)| next.is_ascii()) {
            if c.is_ascii_uppercase() {
                builder.put_char(c.to_ascii_lowercase(), start, end);
            }
            continue;
        }
        cluster.clear();
        cluster.push(c);
        for _ in 0..MAX_MARKS {
            let Some((at, mark)) = rest.next_if(|(_, mark)| canonical_combining_class(*mark) != 0 || stripped(*mark))
            else {
                break;
            };
            end = at + mark.len_utf8();
            if !stripped(mark) {
                cluster.push(mark);
            }
        }
        let piece: String = cluster.nfkc().filter(|c| !stripped(*c)).flat_map(char::to_lowercase).collect();
        builder.put(&piece, start, end);
    }
    builder.finish().unwrap_or_else(|| Text { text: from.text.as_ref().into(), map: from.map.clone() })
}

/// Characters that nobody sees: format and filler characters, variation selectors, tags.
const fn invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

fn stripped(c: char) -> bool {
    invisible(c) || (c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(raw: &str) -> String {
        normal(&Text::raw(raw), true).text.into_owned()
    }

    #[test]
    fn what_looks_the_same_reads_the_same() {
        for (raw, expected) in [
            ("IGNORE all", "ignore all"),
            ("ig\u{200b}no\u{ad}re\u{feff}", "ignore"),
            ("\u{ff29}\u{ff47}\u{ff4e}\u{ff4f}\u{ff52}\u{ff45}", "ignore"),
            ("\u{1d422}\u{1d420}\u{1d427}", "ign"),
            ("\u{fb01}le", "file"),
            ("e\u{301}t\u{e9}", "\u{e9}t\u{e9}"),
            ("a\u{200d}\u{301}", "\u{e1}"),
            ("red \u{1b}[31mtext", "red [31mtext"),
            ("a\tb\nc", "a\tb\nc"),
            ("\u{e0061}\u{fe0f}x", "x"),
        ] {
            assert_eq!(read(raw), expected, "{raw:?}");
        }
    }

    #[test]
    fn spans_point_at_what_was_written() {
        let raw = "Please \u{ff29}g\u{200b}nore";
        let source = Text::raw(raw);
        let form = normal(&source, true);
        let at = form.text.find("ignore").expect("there");
        let (start, end) = form.origin(at, at + 6);
        assert_eq!(&raw[start..end], "\u{ff29}g\u{200b}nore");
    }

    #[test]
    fn a_pile_of_marks_stays_linear_and_in_place() {
        let raw = format!("a{}", "\u{301}".repeat(100_000));
        let source = Text::raw(&raw);
        let form = normal(&source, true);
        assert!(form.text.len() <= raw.len() + 8);
        assert_eq!(form.origin(0, form.text.len()), (0, raw.len()));
    }
}
