//! What an entry of the log says, as a sentence.

use super::{label, people::People, signs};
use crate::{
    event::{AuthorityGranted, Event, Evidence},
    review::Decision,
    ui::{
        figure::count,
        html::{Html, html},
    },
};

/// The event in words. Only what the leaf itself says; names of people are for those who may know them.
pub(super) fn words(event: &Event, people: &People) -> Html {
    match event {
        Event::RegistryCreated(created) => html!("The registry ", [label::mono(&created.origin)], " began"),
        Event::PinsetCreated(set) => html!("Pin set ", [set_link(&set.pinset)], " made by ", (people.name(&set.by))),
        Event::PolicySet(set) => {
            html!("Policy of ", [set_link(&set.pinset)], " set by ", (people.name(&set.by)), [solo(set.policy.solo)])
        }
        Event::ReleaseAttested(evidence) => attested("Release attested: ", evidence),
        Event::EvidenceAttached(evidence) => attested("Further evidence for ", evidence),
        Event::AuthorityGranted(granted) => authority(granted, people),
        Event::AuthorityRevoked(revoked) => {
            html!("Authority ", [label::mono(&revoked.authority)], " revoked by ", (people.name(&revoked.by)))
        }
        Event::SignerRevoked(revoked) => {
            html!("Signer ", [label::mono(&revoked.signer.to_string())], " revoked by ", (people.name(&revoked.by)))
        }
        Event::AliasBound(bound) => html!(
            "Alias <b class=\"mono\">",
            (&bound.alias),
            "</b> bound to ",
            [server_link(&bound.server)],
            " in ",
            [set_link(&bound.pinset)],
            " by ",
            (people.name(&bound.by))
        ),
        Event::ReviewerSet(set) => {
            let what = if set.active { " reviews from here on, set by " } else { " reviews no more, set by " };
            html!((people.name(&set.reviewer)), [what.into()], (people.name(&set.by)))
        }
        Event::Decision(decision) => decided(decision, people),
        Event::Held(held) => html!([label::mono(held.name.as_str())], " held by a rule in ", [set_link(&held.pinset)]),
        Event::RulesetSet(set) => {
            html!("Other scanner rules apply: <span class=\"mono\">", (label::short(set.ruleset)), "</span>")
        }
        Event::KeyRotated(rotated) => {
            html!("Version ", (rotated.trust.version), " of the trust file published by ", (people.name(&rotated.by)))
        }
        Event::KeyActivated(activated) => {
            html!("Key ", [label::mono(&activated.key.to_string())], " signs the log from here on")
        }
        Event::EpochStarted(started) => html!(
            "Epoch ",
            (started.epoch),
            ": the log goes on as ",
            [label::mono(&started.origin)],
            ", begun by ",
            (people.name(&started.by))
        ),
        Event::PinsetPublished(published) => html!(
            "<a href=\"/pinsets/",
            (&published.pinset),
            "/versions/",
            (published.set_sha256),
            "\">Version ",
            (published.version),
            "</a> of ",
            [set_link(&published.pinset)],
            " published"
        ),
    }
}

fn decided(decision: &Decision, people: &People) -> Html {
    let name = decision.qualified.as_ref().map_or(decision.name.as_str(), |name| name.as_str());
    let by: Vec<String> = decision.ballots.iter().map(|ballot| people.name(&ballot.reviewer)).collect();
    html!(
        [label::mono(name)],
        " ",
        (signs::did(decision.outcome)),
        " in ",
        [set_link(&decision.pinset)],
        " by ",
        (by.join(" and ")),
        ", ",
        (decision.mode)
    )
}

fn attested(words: &'static str, evidence: &Evidence) -> Html {
    let mut html = Html::new();
    html.tag(words)
        .html(&server_link(&evidence.server))
        .tag(" <a href=\"/releases/")
        .text(&evidence.release)
        .tag("\">");
    html.html(&label::version(evidence.version.as_str(), evidence.variant.as_str())).tag("</a>, ");
    html.text(&count(u64::from(evidence.subjects.count), "descriptor", "descriptors")).tag(", by level ");
    html.tag(evidence.level.as_str());
    html
}

fn authority(granted: &AuthorityGranted, people: &People) -> Html {
    let key = label::short(granted.key.id().0);
    html!(
        "Key <span class=\"mono\">",
        (key),
        "</span> may speak as ",
        (granted.role.as_str()),
        " for ",
        [label::mono(&granted.scope.to_string())],
        ", granted by ",
        (people.name(&granted.by))
    )
}

fn solo(solo: bool) -> Html {
    if solo { ": solo, one reviewer decides alone".into() } else { Html::new() }
}

fn set_link(set: &crate::name::SetName) -> Html {
    label::link(&format!("/pinsets/{set}"), set.as_str())
}

fn server_link(server: &crate::name::ServerName) -> Html {
    label::link(&format!("/servers/{server}"), server.as_str())
}
