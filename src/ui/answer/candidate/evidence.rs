//! The chain from the descriptor to who may speak for its server. It ends at the first step that doesn't hold.

use super::Known;
use crate::{
    attest::Role,
    ui::{
        answer::label,
        candidate::Step,
        figure::{Short, count},
        html::{Html, html},
        when,
    },
};

pub(super) fn chain(known: &Known) -> Vec<Step> {
    let evidence = &known.desk.view.evidence;
    let Some(state) = known.moment.state.evidence(&evidence.attestation) else { return Vec::new() };
    let facts = &state.facts;
    let step = |what, detail| Step { verified: true, what, detail };
    let subjects = count(u64::from(facts.subjects.count), "subject", "subjects");
    let mut steps = vec![
        step(
            "Descriptor",
            html!(
                "one of ",
                (subjects),
                " of <a href=\"/releases/",
                (&facts.release),
                "\">the release</a>; the sets are equal"
            ),
        ),
        step(
            "Attestation",
            html!(
                "DSSE envelope over server, version, variant and role <b>",
                (role(facts.role)),
                "</b>, <a href=\"/v1/content/",
                (evidence.attestation),
                "\">as it was received</a>; strict Ed25519 signature"
            ),
        ),
    ];
    let Some(authority) = known.moment.state.authority(&facts.authority) else { return steps };
    let mut key = Html::new();
    key.safe(&Short::key(authority.facts.key.id().0))
        .tag(" enrolled ")
        .safe(&when::date(authority.granted_at, known.now));
    steps.push(step("Key", key));
    let speaks = html!(
        "speaks as ",
        (role(authority.facts.role)),
        " for ",
        [label::mono(&authority.facts.scope.to_string())],
        "; ",
        (&authority.facts.proof),
        "; generation ",
        (authority.facts.generation)
    );
    match authority.revoked {
        None => {
            steps.push(step("Authority", speaks));
            steps.push(step(
                "Log",
                html!([label::entry(state.log_index)], ", received ", [minute(state.received_at, known)]),
            ));
        }
        Some(since) => {
            let detail = html!([speaks], "; <b>revoked</b> as of ", [minute(since, known)]);
            steps.push(Step { verified: false, what: "Authority", detail });
        }
    }
    steps
}

fn minute(at: crate::clock::Timestamp, known: &Known) -> Html {
    let mut html = Html::new();
    html.safe(&when::minute(at, known.now)).tag(" UTC");
    html
}

const fn role(role: Role) -> &'static str {
    role.as_str()
}
