//! What surrounds every page: the bar, the skip link, the footer, and the drawings that the page uses.

use askama::Template;

use super::{
    figure::Count,
    html::Html,
    piece::Note,
    statics,
    symbol::{self, coloured, icon},
};

/// Where in the site a page is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Section {
    Queue,
    Dashboard,
    Pinsets,
    Servers,
    Check,
    Log,
    Settings,
}

/// Which keys the footer names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Keys {
    /// Only "all keys".
    Few,
    /// A list that `j` and `k` move through.
    List,
    /// A candidate.
    Candidate,
}

/// Who looks at the page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Viewer {
    /// The account's name, chosen by an administrator.
    pub(crate) name: String,
    /// Whether the queue is of use to them.
    pub(crate) reviews: bool,
}

/// The default set's head, in the bar.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct HeadLine {
    pub(crate) set: String,
    pub(crate) version: u64,
    /// How long it is good for; none once it ran out.
    pub(crate) good_for: Option<String>,
}

/// Everything around a page's body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) section: Option<Section>,
    pub(crate) viewer: Option<Viewer>,
    pub(crate) head: Option<HeadLine>,
    /// How many candidates wait.
    pub(crate) waiting: Option<Count>,
    /// What concerns every page: read-only, the anchor missing.
    pub(crate) notes: Vec<Note>,
    pub(crate) keys: Keys,
}

#[derive(Template)]
#[template(path = "frame.html")]
struct Layout<'a> {
    frame: &'a Frame,
    body: Html,
    sprite: Html,
    style: String,
    script: String,
    favicon: String,
}

impl Layout<'_> {
    fn icon_ok(&self) -> Html {
        coloured("ok", "ok")
    }

    fn icon_stale(&self) -> Html {
        icon("stale")
    }
}

impl Frame {
    /// The frame of a page that anyone may see, before sign-in.
    pub(crate) fn bare(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            section: None,
            viewer: None,
            head: None,
            waiting: None,
            notes: Vec::new(),
            keys: Keys::Few,
        }
    }

    /// The whole page.
    ///
    /// # Errors
    /// A template of ours failed to render, which is a mistake in it.
    pub(crate) fn page(&self, body: &impl Template) -> Result<Html, askama::Error> {
        let body = Html::from_template(body)?;
        let mut drawn = body.clone().into_string();
        drawn.extend(self.notes.iter().map(ToString::to_string));
        drawn.push_str("<use href=\"#i-ok\"/><use href=\"#i-stale\"/>");
        Html::from_template(&Layout {
            frame: self,
            sprite: symbol::sprite(&drawn),
            body,
            style: statics::address("style.css"),
            script: statics::address("countersign.js"),
            favicon: statics::address("favicon.svg"),
        })
    }

    fn is(&self, section: Section) -> bool {
        self.section == Some(section)
    }
}
