//! The list of pin sets.

use axum::{extract::State, response::Response};

use crate::{
    clock::Timestamp,
    name::SetName,
    pinset::SetState,
    review::Policy,
    service::Moment,
    store::{Count as Counted, Stage},
    ui::{
        around,
        figure::{Count, count},
        frame::{Keys, Section},
        pinset::{PinsetRow, PinsetsPage},
        when,
    },
    web::{Problem, Reader, Web},
};

pub(super) async fn show(State(web): State<Web>, Reader(who): Reader) -> Result<Response, Problem> {
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let counts = web.app().reader().conn().await?.candidate_counts().await?;
    let rows: Vec<PinsetRow> = moment.state.sets().map(|set| row(&moment, set, &counts, now)).collect();
    let lead = format!("{}, each with a policy, aliases and pins of its own.", count(rows.len() as u64, "set", "sets"));
    let frame = around::frame(&web, &who, "Pin sets", Section::Pinsets, Keys::List).await?;
    around::page(frame, PinsetsPage { lead, rows })
}

fn row(moment: &Moment, set: &SetState, counts: &[Counted], now: Timestamp) -> PinsetRow {
    let sum = |of: &dyn Fn(&crate::pinset::AliasState) -> usize| {
        Count(set.aliases().map(|(_, under)| of(under) as u64).sum())
    };
    PinsetRow {
        name: set.name().to_string(),
        version: set.document().map_or(0, |document| document.version),
        good_for: good_for(moment, set.name(), now),
        servers: Count(set.aliases().count() as u64),
        pins: sum(&|under| under.pins().count()),
        denied: sum(&|under| under.denied().count()),
        waiting: waiting(counts, set.name()),
        policy: policy(set.policy()),
        published: when::minute(set.document().map_or(Timestamp::EPOCH, |document| document.issued), now),
    }
}

/// How long the head that gateways get of a set is good for; none once it ran out, and before the first one.
pub(super) fn good_for(moment: &Moment, set: &SetName, now: Timestamp) -> Option<String> {
    let left = moment.released.get(set)?.expires.since(now);
    (left.as_seconds() > 0).then(|| when::length(left))
}

/// How many candidates of a set wait.
pub(super) fn waiting(counts: &[Counted], set: &SetName) -> Count {
    let of = |c: &&Counted| c.pinset == *set && c.state == Stage::Pending;
    Count(counts.iter().filter(of).map(|c| u64::try_from(c.n).unwrap_or(0)).sum())
}

/// How many must agree, in short.
pub(super) fn policy(policy: &Policy) -> String {
    match (policy.solo, policy.quorum, policy.quorum_risky) {
        (true, ..) => "solo".to_owned(),
        (false, plain, risky) if plain == risky => count(u64::from(plain), "ballot", "ballots"),
        (false, plain, risky) => format!("{}; {risky} if risky", count(u64::from(plain), "ballot", "ballots")),
    }
}
