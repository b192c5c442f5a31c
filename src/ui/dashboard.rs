//! The first page: what needs someone now, and whether the rest is as it should be.

use askama::Template;

use super::{
    figure::Count,
    html::Html,
    piece::{Columns, Empty, Link, Note},
    sign::{Ballots, Level, Sign},
    symbol::coloured,
    when::When,
};

/// The dashboard.
#[derive(Template)]
#[template(path = "dashboard.html")]
pub(crate) struct DashboardPage {
    /// "3 things need someone now".
    pub(crate) headline: String,
    /// "Everything else is as it should be."
    pub(crate) detail: String,
    pub(crate) notes: Vec<Note>,
    /// What to do first, on a new registry.
    pub(crate) first_steps: Vec<FirstStep>,
    pub(crate) alerts: Vec<Alert>,
    pub(crate) sets: Vec<SetRow>,
    pub(crate) waiting: Count,
    /// "oldest 5 d".
    pub(crate) waiting_note: String,
    pub(crate) reasons: Vec<Line>,
    pub(crate) decisions: Vec<DecisionRow>,
    pub(crate) health: Vec<Health>,
    pub(crate) ending: Count,
    pub(crate) ending_chart: Option<Columns>,
    pub(crate) pins: Count,
    /// "in 2 sets, 57 servers".
    pub(crate) pins_note: String,
    pub(crate) levels: Vec<(Level, Count)>,
    pub(crate) denied: Vec<Line>,
    pub(crate) as_of: When,
}

/// Something that needs someone now.
pub(crate) struct Alert {
    pub(crate) sign: Sign,
    pub(crate) what: Html,
    pub(crate) next: Link,
}

/// A step of setting up, done or not.
pub(crate) struct FirstStep {
    pub(crate) done: bool,
    pub(crate) what: Html,
    pub(crate) next: Link,
}

/// A pin set.
pub(crate) struct SetRow {
    pub(crate) name: String,
    pub(crate) href: String,
    pub(crate) version: u64,
    /// How long the head is good for; none once it ran out.
    pub(crate) good_for: Option<String>,
    pub(crate) pins: Count,
    pub(crate) waiting: Count,
}

/// A sign with a figure.
pub(crate) struct Line {
    pub(crate) sign: Sign,
    pub(crate) words: String,
    pub(crate) figure: String,
}

/// One of the last decisions.
pub(crate) struct DecisionRow {
    pub(crate) sign: Sign,
    pub(crate) name: Html,
    pub(crate) href: String,
    pub(crate) set: String,
    pub(crate) ballots: Ballots,
    pub(crate) at: When,
}

/// Something the service watches about itself.
pub(crate) struct Health {
    /// None: still under way.
    pub(crate) good: Option<bool>,
    pub(crate) what: String,
    pub(crate) figure: String,
}

impl Health {
    fn icon(&self) -> Html {
        match self.good {
            Some(true) => coloured("ok", "ok"),
            Some(false) => coloured("revoked", "revoked"),
            None => coloured("info", "mut"),
        }
    }

    /// What the picture says, for screen readers.
    const fn word(&self) -> &'static str {
        match self.good {
            Some(true) => "good: ",
            Some(false) => "wrong: ",
            None => "",
        }
    }
}

impl FirstStep {
    fn icon(&self) -> Html {
        if self.done { coloured("step", "ok") } else { coloured("unknown", "unknown") }
    }
}

impl DashboardPage {
    /// What stands where there are no decisions yet.
    fn no_decisions(&self) -> Empty {
        Empty {
            headline: "No decision yet.".to_owned(),
            detail: "Approvals, rejections and revocations show up here.".to_owned(),
            link: None,
        }
    }
}
