//! One candidate: what it is, what changed, what the scanner found, who stands behind it, and the decision.

use askama::Template;

use super::{
    difftree::{DiffTree, View},
    figure::{Count, Short},
    html::Html,
    piece::{Link, Note, Tab},
    server::Bind,
    sign::{Level, Severity, Sign},
    symbol::icon,
    when::When,
};

/// A candidate with everything that its view is made from.
#[derive(Template)]
#[template(path = "candidate.html")]
pub(crate) struct CandidatePage {
    /// For the window's title: visible ASCII only.
    pub(crate) title: String,
    /// This page's address, without a query.
    pub(crate) page: String,
    pub(crate) server: Html,
    pub(crate) server_href: String,
    /// Version and variant.
    pub(crate) version: Html,
    pub(crate) kind: &'static str,
    /// "1 of 61" and the neighbours.
    pub(crate) place: Option<Place>,
    pub(crate) name: Html,
    pub(crate) sign: Sign,
    /// Further reasons, in order of urgency.
    pub(crate) also: Vec<Sign>,
    pub(crate) set: String,
    /// Alerts and hindrances: a stale view, no alias, too few reviewers.
    pub(crate) notes: Vec<Note>,
    /// Binding the alias that an approval needs.
    pub(crate) bind: Option<Bind>,
    pub(crate) lead: Lead,
    pub(crate) facts: Facts,
    pub(crate) diff: Diff,
    /// Strings that look different to a person and to a model.
    pub(crate) sees: Vec<Sees>,
    pub(crate) findings: Vec<FindingView>,
    /// "4 open, 0 accepted", or that the scan is incomplete.
    pub(crate) findings_lead: String,
    pub(crate) ruleset: Short,
    pub(crate) evidence: Vec<Step>,
    pub(crate) history: Vec<Past>,
    pub(crate) decision: Decision,
}

/// Where in the queue.
pub(crate) struct Place {
    pub(crate) index: Count,
    pub(crate) of: Count,
    pub(crate) before: Option<String>,
    pub(crate) next: Option<String>,
}

/// What it means for someone now.
pub(crate) struct Lead {
    pub(crate) headline: String,
    pub(crate) detail: Html,
    /// What gateways do until a decision.
    pub(crate) until: String,
}

/// The four facts.
pub(crate) struct Facts {
    pub(crate) digest: Short,
    /// "1.5.0, received 08:31".
    pub(crate) digest_note: Html,
    pub(crate) base: Option<Short>,
    pub(crate) base_note: Html,
    /// None for a sighting.
    pub(crate) level: Option<Level>,
    pub(crate) level_note: Html,
    pub(crate) wire: Option<String>,
    pub(crate) wire_note: String,
}

/// The descriptor, in one of its three views.
pub(crate) struct Diff {
    pub(crate) headline: &'static str,
    /// "5 changes: 2 let the tool do more, 1 lowers a safety hint".
    pub(crate) summary: String,
    pub(crate) view: View,
    /// Whether there is anything to compare with.
    pub(crate) compared: bool,
    /// The tree, in the first two views.
    pub(crate) tree: Option<DiffTree>,
    /// The bytes, in the third.
    pub(crate) raw: Option<Raw>,
}

/// A stretch of the bytes as they were received.
pub(crate) struct Raw {
    pub(crate) text: Html,
    /// "Bytes 0 to 65,536 of 1,048,576".
    pub(crate) range: String,
    pub(crate) before: Option<Link>,
    pub(crate) next: Option<Link>,
    /// The document itself, as a download.
    pub(crate) download: Link,
}

/// One string as a client draws it and as a model reads it.
pub(crate) struct Sees {
    pub(crate) pointer: Html,
    pub(crate) person: Html,
    pub(crate) model: Html,
}

/// A scanner finding; the number is its place on this page.
pub(crate) struct FindingView {
    pub(crate) number: usize,
    pub(crate) id: String,
    pub(crate) severity: Severity,
    pub(crate) title: String,
    /// What a reviewer can act on.
    pub(crate) message: Html,
    pub(crate) rule: String,
    pub(crate) surface: &'static str,
    /// Pointer and span.
    pub(crate) place: Html,
    /// The hit, in its surroundings.
    pub(crate) excerpt: Option<Html>,
    /// "open", "accepted until 28 Feb 2027".
    pub(crate) state: String,
    /// Whether the form offers to accept it.
    pub(crate) acceptable: bool,
    /// Whether the form already accepts it.
    pub(crate) accepted: bool,
}

/// A step of the evidence chain; the chain ends at one that failed.
pub(crate) struct Step {
    pub(crate) verified: bool,
    pub(crate) what: &'static str,
    pub(crate) detail: Html,
}

/// Something that happened to this name.
pub(crate) struct Past {
    pub(crate) at: When,
    pub(crate) sign: Sign,
    pub(crate) what: Html,
}

/// The panel: who signed, what signing does, and the form.
pub(crate) struct Decision {
    /// "1 of 2 ballots", "decided".
    pub(crate) count: String,
    pub(crate) lines: Vec<SignatureLine>,
    /// Why so many are needed, what is void.
    pub(crate) note: Option<String>,
    /// What approving does, in five lines at most.
    pub(crate) will: Vec<Html>,
    /// The form; none for those who may not vote, or in the reading step.
    pub(crate) form: Option<DecisionForm>,
    /// Where the decision is made, in the reading step; or why there is no form.
    pub(crate) instead: Option<Html>,
    /// The view that a ballot is bound to, short.
    pub(crate) view: String,
}

/// A ballot, or an empty line with who may give it.
pub(crate) enum SignatureLine {
    /// Given.
    Signed {
        /// Whose.
        by: String,
        /// "approved", "rejected".
        outcome: &'static str,
        /// When.
        at: When,
        /// The reason, in the reviewer's words.
        reason: String,
    },
    /// Missing.
    Missing {
        /// Who may give it: "you, Ines Marchetti or Ada Petrov".
        who: String,
    },
}

/// What is sent with a ballot.
pub(crate) struct DecisionForm {
    pub(crate) action: String,
    /// The `shown` digests that the ballot is bound to, as hidden fields.
    pub(crate) shown: Vec<(&'static str, String)>,
    /// The reason, kept when the form comes back.
    pub(crate) reason: String,
    /// Beginnings of a reason: links that fill the field.
    pub(crate) templates: Vec<Link>,
    /// What the reviewer says to have read: "I read all 5 changes."
    pub(crate) read: String,
    /// Whether approving is possible at all, or why not.
    pub(crate) approve: Result<(), String>,
    pub(crate) reject: bool,
    /// Offered for a decided candidate instead of the two.
    pub(crate) reopen: bool,
    /// What was wrong with the form that was sent.
    pub(crate) error: Option<String>,
    /// The next candidate, for who leaves this one to others.
    pub(crate) leave: Option<String>,
}

impl CandidatePage {
    /// The edge of the opening note: red where something was taken for something else, amber where care is due.
    const fn tone(&self) -> &'static str {
        match self.sign {
            Sign::Changed | Sign::Revoked | Sign::Rejected => "bad",
            Sign::Approved | Sign::Unknown | Sign::Expiring => "",
            _ => "warn",
        }
    }
}

impl Diff {
    /// The three views as links; the current one is marked.
    fn tabs(&self, page: &str) -> Vec<Tab> {
        let tab = |view: View, words: &str| Tab {
            href: if view == View::Changes {
                format!("{page}#h-diff")
            } else {
                format!("{page}?view={}#h-diff", view.word())
            },
            words: words.to_owned(),
            sign: None,
            count: None,
            current: view == self.view,
        };
        let mut tabs = vec![tab(View::Whole, "Whole descriptor"), tab(View::Raw, "Raw bytes")];
        if self.compared {
            tabs.insert(0, tab(View::Changes, "Only changes"));
        }
        tabs
    }
}

impl Step {
    fn icon(&self) -> Html {
        if self.verified { icon("step") } else { Sign::Revoked.picture() }
    }
}
