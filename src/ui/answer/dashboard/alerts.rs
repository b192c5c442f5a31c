//! What needs someone now; and on a new registry, what to do first.

use super::reviews;
use crate::{
    clock::Timestamp,
    review::Reason,
    service::{Moment, access::Principal},
    store::ReasonCount,
    ui::{
        answer::{pinsets::good_for, signs},
        dashboard::{Alert, FirstStep},
        figure::count,
        html::{Html, html},
        piece::Link,
        sign::Sign,
    },
    web::Web,
};

fn link(href: &str, words: &str) -> Link {
    Link { href: href.to_owned(), words: words.to_owned() }
}

pub(super) fn alerts(web: &Web, moment: &Moment, reasons: &[ReasonCount], now: Timestamp) -> Vec<Alert> {
    let mut alerts = Vec::new();
    for reason in Reason::ALL.into_iter().filter(|reason| !matches!(reason, Reason::Unknown | Reason::Expiring)) {
        let n: i64 = reasons.iter().filter(|of| of.reason == reason).map(|of| of.n).sum();
        if n > 0 {
            let words = count(u64::try_from(n).unwrap_or(0), "candidate waits as", "candidates wait as");
            let what = html!("<b>", (words), " ", (reason), ".</b> ", (signs::of_reason(reason).meaning()));
            let next = Link { href: format!("/queue?reason={reason}"), words: "Review".to_owned() };
            alerts.push(Alert { sign: signs::of_reason(reason), what, next });
        }
    }
    for head in moment.heads.values().filter(|head| good_for(moment, &head.pinset, now).is_none()) {
        let what = if moment.released.get(&head.pinset) == Some(head) {
            html!(
                "<b>The head of ",
                (&head.pinset),
                " ran out.</b> Gateways let nothing through until it is signed again."
            )
        } else {
            html!(
                "<b>The head of ",
                (&head.pinset),
                " waits for its witnesses.</b> Gateways let nothing through until enough of them have cosigned the log."
            )
        };
        alerts.push(Alert {
            sign: Sign::Stale,
            what,
            next: Link { href: format!("/pinsets/{}", head.pinset), words: "Pin set".to_owned() },
        });
    }
    if web.app().read_only().is_some() {
        let what: Html = html!("<b>This registry is read-only.</b> Nothing is recorded until an operator has looked.");
        alerts.push(Alert { sign: Sign::Held, what, next: link("/log", "Log") });
    }
    alerts
}

/// The way from an empty registry to the first approval; gone once something was decided.
pub(super) fn first_steps(
    web: &Web,
    who: &Principal,
    moment: &Moment,
    (published, undecided): (bool, bool),
) -> Vec<FirstStep> {
    if !undecided || !reviews(who) {
        return Vec::new();
    }
    let step = |done: bool, what: Html, next: Link| FirstStep { done, what, next };
    let keys = moment.state.authorities().any(|authority| authority.revoked.is_none());
    let bound = moment.state.sets().any(|set| set.aliases().next().is_some());
    vec![
        step(web.app().access().has_admin(), "Make the first administrator".into(), link("/settings", "Settings")),
        step(keys, "Let a key speak for a namespace".into(), link("/settings/authorities", "Authorities")),
        step(published, "Publish a first release".into(), link("/docs#publish", "How")),
        step(bound, "Bind an alias to its server".into(), link("/servers", "Servers")),
        step(false, "Review what waits".into(), link("/queue", "Queue")),
    ]
}
