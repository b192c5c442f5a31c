//! A vote that comes in twice, because its first answer got lost on the way, is answered as it was the first time.

use super::desk::{Vote, Voted, after};
use crate::{
    event::{Event, Leaf},
    review::{Ballot, Mode},
    store::{Candidate, Conn, StoreError},
};

/// The decision that stands, if exactly this ballot was part of it.
pub(super) async fn decided(conn: &mut Conn, row: &Candidate, vote: &Vote) -> Result<Option<Voted>, StoreError> {
    if row.state != after(vote.outcome) {
        return Ok(None);
    }
    let Some(last) = conn.decisions(&row.id).await?.pop() else { return Ok(None) };
    let leaf = conn.leaf(last.log_index).await?.and_then(|leaf| Leaf::parse(&leaf).ok());
    let Some(Event::Decision(decision)) = leaf.map(|leaf| leaf.event().clone()) else { return Ok(None) };
    if !decision.ballots.iter().any(|ballot| is_of(ballot, vote)) {
        return Ok(None);
    }
    let ballots = u32::try_from(decision.ballots.len()).unwrap_or(u32::MAX);
    let needed = match decision.mode {
        Mode::Solo => 1,
        Mode::Ballots { needed, .. } => needed,
    };
    let (decision, log_index) = (Some(last.sha256), Some(last.log_index));
    Ok(Some(Voted { state: row.state, ballots, needed, decision, log_index, new: false }))
}

/// Whether a ballot is this very vote: by the same person, for the same, on the same view.
pub(super) fn is_of(ballot: &Ballot, vote: &Vote) -> bool {
    ballot.reviewer == vote.reviewer && ballot.outcome == vote.outcome && ballot.view == vote.shown.view
}
