//! "Paste a tools/list": what a gateway would do with it.

use askama::Template;

use super::{
    figure::{Count, Short},
    html::{Html, html},
    piece::{Link, Note},
    sign::{Action, Sign},
};

/// The check page: the form and, once it was sent, the answer.
#[derive(Template)]
#[template(path = "check.html")]
pub(crate) struct CheckPage {
    pub(crate) notes: Vec<Note>,
    /// The list as it was sent, kept in the field.
    pub(crate) list: String,
    /// Name and words of each set: "default, v412".
    pub(crate) sets: Vec<SetChoice>,
    pub(crate) alias: String,
    pub(crate) variant: String,
    pub(crate) complete: bool,
    pub(crate) error: Option<String>,
    pub(crate) answer: Option<Answer>,
}

/// A set to check against.
pub(crate) struct SetChoice {
    pub(crate) name: String,
    pub(crate) words: String,
    pub(crate) chosen: bool,
}

/// What the verdict function said.
pub(crate) struct Answer {
    /// "against default v412, good until 11:21 UTC".
    pub(crate) against: Html,
    pub(crate) rows: Vec<Verdict>,
    /// The same on the command line.
    pub(crate) command: String,
    /// "exit code 1: at least one tool isn’t approved".
    pub(crate) exit: String,
}

/// One verdict.
pub(crate) struct Verdict {
    pub(crate) name: Html,
    /// Its kind, where it isn't a tool.
    pub(crate) kind: Option<&'static str>,
    pub(crate) why: Html,
    pub(crate) sign: Sign,
    pub(crate) also: Vec<Sign>,
    pub(crate) action: Action,
    /// None when it can't be hashed.
    pub(crate) digest: Option<Short>,
    pub(crate) next: Option<Link>,
}

impl Answer {
    fn count(&self, action: Action) -> u64 {
        self.rows.iter().filter(|row| row.action == action).count() as u64
    }

    /// "9 tools: 4 would be blocked, 2 quarantined, 3 allowed".
    fn headline(&self) -> String {
        let n = self.rows.len() as u64;
        let parts: Vec<String> =
            [(Action::Block, "would be blocked"), (Action::Quarantine, "quarantined"), (Action::Allow, "allowed")]
                .into_iter()
                .map(|(action, words)| (self.count(action), words))
                .filter(|(count, _)| *count > 0)
                .map(|(count, words)| format!("{} {words}", Count(count)))
                .collect();
        match n {
            0 => "The list is empty".to_owned(),
            n => format!("{} {}: {}", Count(n), if n == 1 { "descriptor" } else { "descriptors" }, parts.join(", ")),
        }
    }

    /// The three shares as one bar.
    fn bar(&self) -> Html {
        const WIDTH: u64 = 800;
        let total = (self.rows.len() as u64).max(1);
        let mut out = html!(
            "<svg class=\"bar\" viewBox=\"0 0 800 8\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
            (self.headline()),
            "\">"
        );
        let shares: Vec<(u64, &'static str)> =
            [(Action::Block, "c-red"), (Action::Quarantine, "c-amber"), (Action::Allow, "c-green")]
                .into_iter()
                .map(|(action, class)| (self.count(action), class))
                .filter(|(count, _)| *count > 0)
                .collect();
        let mut before = 0;
        for (count, class) in &shares {
            let (from, to) = (before * WIDTH / total, (before + count) * WIDTH / total);
            let gap = if before + count < total { 3 } else { 0 };
            out.tag("<rect class=\"").tag(class).tag("\" height=\"8\" x=\"").show(from).tag("\" width=\"");
            out.show((to - from).saturating_sub(gap).max(1)).tag("\"/>");
            before += count;
        }
        out.tag("</svg>");
        out
    }
}
