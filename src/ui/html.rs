//! Markup that is known to be ours.

use std::fmt::{self, Write};

use askama::filters::HtmlSafe;

/// HTML that goes into a page as it is. It grows by literals of this program and by escaped text, never by a string that
/// came from elsewhere: possession of the type is the proof that nothing in it is a stranger's markup.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Html(String);

impl Html {
    /// Nothing yet.
    pub(crate) const fn new() -> Self {
        Self(String::new())
    }

    /// Appends markup of ours. Only a literal fits.
    pub(crate) fn tag(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Appends text, escaped for content and for quoted attributes.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        let mut done = 0;
        for (at, b) in text.bytes().enumerate() {
            let escaped = match b {
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'&' => "&amp;",
                b'"' => "&quot;",
                b'\'' => "&#39;",
                _ => continue,
            };
            self.0.push_str(&text[done..at]);
            self.0.push_str(escaped);
            done = at + 1;
        }
        self.0.push_str(&text[done..]);
        self
    }

    /// Appends anything that can be shown, escaped.
    pub(crate) fn show(&mut self, what: impl fmt::Display) -> &mut Self {
        self.text(&what.to_string())
    }

    /// Appends markup of ours that was made apart.
    pub(crate) fn html(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Appends what shows itself as markup of ours.
    pub(crate) fn safe(&mut self, what: &(impl HtmlSafe + ?Sized)) -> &mut Self {
        // Writing to a String can't fail.
        let _ = write!(self.0, "{what}");
        self
    }

    /// Renders a template of ours; askama has escaped what it was given.
    pub(crate) fn from_template(template: &impl askama::Template) -> Result<Self, askama::Error> {
        template.render().map(Self)
    }

    /// Whether there is nothing in it.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The markup.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The markup, given away: for a response body.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Html {}

/// Sentences of ours, escaped: for the places that take either a sentence or markup.
impl From<&str> for Html {
    fn from(text: &str) -> Self {
        let mut html = Self::new();
        html.text(text);
        html
    }
}

/// Builds [`Html`] from literals and arguments: literals are markup, arguments in braces are escaped.
///
/// `html!("<b>", name, "</b>")`: every second argument is an expression, the others must be literals.
macro_rules! html {
    (@ $html:ident) => {};
    (@ $html:ident $markup:literal) => { $html.tag($markup); };
    (@ $html:ident $markup:literal, $($rest:tt)*) => { $html.tag($markup); html!(@ $html $($rest)*); };
    (@ $html:ident [$other:expr]) => { $html.html(&$other); };
    (@ $html:ident [$other:expr], $($rest:tt)*) => { $html.html(&$other); html!(@ $html $($rest)*); };
    (@ $html:ident ($text:expr)) => { $html.show($text); };
    (@ $html:ident ($text:expr), $($rest:tt)*) => { $html.show($text); html!(@ $html $($rest)*); };
    ($($part:tt)*) => {{
        let mut html = $crate::ui::html::Html::new();
        html!(@ html $($part)*);
        html
    }};
}
pub(crate) use html;

/// Writes a `Display` of markup: for the small signs that templates print by name.
pub(super) fn display(f: &mut fmt::Formatter<'_>, html: &Html) -> fmt::Result {
    f.write_str(html.as_str())
}

/// The same figures with thin grouping as people read them: `1,204`.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        // Writing to a String can't fail.
        let _ = out.write_char(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_for_content_and_attributes_and_literals_are_not() {
        let name = "<img src=x onerror='a(\"b\")'> & co";
        assert_eq!(
            html!("<b title=\"", (name), "\">", (name), "</b>").as_str(),
            "<b title=\"&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt; &amp; co\">\
             &lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt; &amp; co</b>"
        );
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (n, expected) in [(0, "0"), (999, "999"), (1_204, "1,204"), (74_002, "74,002"), (1_000_000, "1,000,000")] {
            assert_eq!(number(n), expected);
        }
    }
}
