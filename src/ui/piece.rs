//! Small parts that many pages have: links, tabs, notes, empty places, bars.

use std::fmt;

use askama::filters::HtmlSafe;

use super::{
    figure::Count,
    html::{Html, display, html},
    sign::Sign,
    symbol::icon,
};

/// A link with its words. The address is always made here, never a stranger's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Link {
    pub(crate) href: String,
    pub(crate) words: String,
}

/// One of several views of the same thing, with how many are in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Tab {
    pub(crate) href: String,
    pub(crate) words: String,
    pub(crate) sign: Option<Sign>,
    pub(crate) count: Option<u64>,
    pub(crate) current: bool,
}

/// How urgent a note is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Tone {
    /// Something went wrong or is denied.
    Bad,
    /// Something needs care.
    Warn,
    /// Good to know.
    Plain,
}

/// What happened, what was not done, and the next step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Note {
    pub(crate) tone: Tone,
    pub(crate) symbol: &'static str,
    pub(crate) headline: String,
    pub(crate) detail: Html,
    pub(crate) link: Option<Link>,
    /// Read out at once: for the answer to what was just sent.
    pub(crate) alert: bool,
}

/// A place with nothing in it: one bold sentence, one line with what would fill it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Empty {
    pub(crate) headline: String,
    pub(crate) detail: String,
    pub(crate) link: Option<Link>,
}

/// One column of a small chart: its label, its value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Column {
    pub(crate) label: String,
    pub(crate) value: u64,
}

/// A column chart whose figures are also said in a sentence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Columns {
    pub(crate) sentence: String,
    pub(crate) columns: Vec<Column>,
}

impl Note {
    /// A note that answers what was just sent.
    pub(crate) fn refused(headline: &str, detail: Html) -> Self {
        Self { tone: Tone::Bad, symbol: "rejected", headline: headline.to_owned(), detail, link: None, alert: true }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, &html!("<a href=\"", (&self.href), "\">", (&self.words), "</a>"))
    }
}

impl fmt::Display for Tab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut html = html!("<a href=\"", (&self.href), "\"");
        html.tag(if self.current { " aria-current=\"true\">" } else { ">" });
        if let Some(sign) = self.sign {
            html.html(&sign.picture());
        }
        html.text(&self.words);
        if let Some(count) = self.count {
            html.tag(" <span class=\"n\">").show(Count(count)).tag("</span>");
        }
        html.tag("</a>");
        display(f, &html)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut html = Html::new();
        html.tag(match self.tone {
            Tone::Bad => "<div class=\"note bad\"",
            Tone::Warn => "<div class=\"note warn\"",
            Tone::Plain => "<div class=\"note\"",
        });
        html.tag(if self.alert { " role=\"alert\">" } else { ">" }).html(&icon(self.symbol)).tag("<div><p><b>");
        html.text(&self.headline).tag("</b> ").html(&self.detail).tag("</p>");
        if let Some(link) = &self.link {
            html.tag("<p>").safe(link).tag("</p>");
        }
        html.tag("</div></div>");
        display(f, &html)
    }
}

impl fmt::Display for Empty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut html = html!("<p class=\"empty\"><b>", (&self.headline), "</b>", (&self.detail));
        if let Some(link) = &self.link {
            html.tag(" ").safe(link);
        }
        html.tag("</p>");
        display(f, &html)
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The drawing's own units; the picture keeps its ratio.
        const WIDTH: u64 = 366;
        const FLOOR: u64 = 94;
        let step = WIDTH / (self.columns.len() as u64).max(1);
        let top = self.columns.iter().map(|column| column.value).max().unwrap_or(0).max(1);
        let mut html =
            html!("<svg class=\"chart\" viewBox=\"0 0 366 120\" role=\"img\" aria-label=\"", (&self.sentence));
        html.tag("\"><path class=\"c-edge\" d=\"M0 94H366\"/>");
        for (i, column) in self.columns.iter().enumerate() {
            let x = i as u64 * step + 4;
            let width = step.saturating_sub(8).max(2);
            let height = (column.value * 72).div_ceil(top);
            let middle = x + width / 2;
            if column.value > 0 {
                html.tag("<rect class=\"c-grey\" x=\"").show(x).tag("\" y=\"").show(FLOOR - height).tag("\" width=\"");
                html.show(width)
                    .tag("\" height=\"")
                    .show(height)
                    .tag("\"/><text text-anchor=\"middle\" x=\"")
                    .show(middle);
                html.tag("\" y=\"").show(FLOOR - height - 5).tag("\">").show(Count(column.value)).tag("</text>");
            }
            if !column.label.is_empty() {
                html.tag("<text text-anchor=\"middle\" y=\"112\" x=\"")
                    .show(middle)
                    .tag("\">")
                    .text(&column.label)
                    .tag("</text>");
            }
        }
        html.tag("</svg>");
        display(f, &html)
    }
}

impl HtmlSafe for Link {}
impl HtmlSafe for Tab {}
impl HtmlSafe for Note {}
impl HtmlSafe for Empty {}
impl HtmlSafe for Columns {}
