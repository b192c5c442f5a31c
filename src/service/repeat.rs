//! A vote that comes in twice, because its first answer got lost on the way, is answered as it was the first time.

use super::desk::{Revocation, Vote, Voted, after, bare};
use crate::{
    event::{Event, Leaf},
    pinset::{Denied, State},
    review::{Ballot, Decision, Mode, Outcome},
    store::{Candidate, Conn, Decided, Stage, StoreError},
};

/// The decision that stands, if exactly this ballot was part of it.
pub(super) async fn decided(conn: &mut Conn, row: &Candidate, vote: &Vote) -> Result<Option<Voted>, StoreError> {
    if row.state != after(vote.outcome) {
        return Ok(None);
    }
    let Some((last, decision)) = newest(conn, row).await? else { return Ok(None) };
    Ok(decision.ballots.iter().any(|ballot| is_of(ballot, vote)).then(|| answered(row.state, &last, &decision)))
}

/// The revocation that stands, if the same reviewer asked for it with the same words, and no pin has the digest again.
pub(super) async fn revoked(conn: &mut Conn, state: &State, asked: &Revocation) -> Result<Option<Voted>, StoreError> {
    let Some(set) = state.set(&asked.pinset) else { return Ok(None) };
    for (alias, under) in set.aliases() {
        let pinned = under
            .pins()
            .any(|pin| pin.kind == asked.kind && pin.name == asked.name && pin.digests.digest() == asked.digest);
        let denied = under.denied().find(|denied| {
            denied.kind == asked.kind
                && denied.name == asked.name
                && denied.digest == asked.digest
                && denied.state == Denied::Revoked
        });
        let (Some(denied), Some(name), false) = (denied, bare(alias, &asked.name), pinned) else { continue };
        let named = conn.candidates_named(&asked.pinset, under.server(), &denied.variant, asked.kind, &name).await?;
        for row in named.into_iter().filter(|row| row.state == Stage::Revoked && row.digest == asked.digest.sha256) {
            let Some((last, decision)) = newest(conn, &row).await? else { continue };
            let by = |ballot: &Ballot| ballot.reviewer == asked.reviewer && ballot.outcome == Outcome::Revoke;
            let reason = conn.reason(last.reason).await?;
            let same = reason.is_some_and(|reason| reason.text == asked.reason.as_str());
            if same && decision.ballots.iter().any(by) {
                return Ok(Some(answered(row.state, &last, &decision)));
            }
        }
    }
    Ok(None)
}

/// A candidate's newest decision with its record.
async fn newest(conn: &mut Conn, row: &Candidate) -> Result<Option<(Decided, Decision)>, StoreError> {
    let Some(last) = conn.decisions(&row.id).await?.pop() else { return Ok(None) };
    let leaf = conn.leaf(last.log_index).await?.and_then(|leaf| Leaf::parse(&leaf).ok());
    Ok(match leaf.map(|leaf| leaf.event().clone()) {
        Some(Event::Decision(decision)) => Some((last, *decision)),
        _ => None,
    })
}

fn answered(state: Stage, last: &Decided, decision: &Decision) -> Voted {
    let ballots = u32::try_from(decision.ballots.len()).unwrap_or(u32::MAX);
    let needed = match decision.mode {
        Mode::Solo => 1,
        Mode::Ballots { needed, .. } => needed,
    };
    let (decision, log_index) = (Some(last.sha256), Some(last.log_index));
    Voted { state, ballots, needed, decision, log_index, new: false }
}

/// Whether a ballot is this very vote: by the same person, for the same, on the same view.
pub(super) fn is_of(ballot: &Ballot, vote: &Vote) -> bool {
    ballot.reviewer == vote.reviewer && ballot.outcome == vote.outcome && ballot.view == vote.shown.view
}
