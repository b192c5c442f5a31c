//! What stands around a candidate in the queue, and where a reviewer goes once it is decided.

use crate::{
    review::CandidateId,
    store::{Candidate, Conn, QueueKey, Search, Stage, StoreError},
    ui::{candidate::Place, figure::Count},
};

/// A candidate's page.
pub(super) fn address(id: &CandidateId) -> String {
    format!("/candidates/{id}")
}

/// Its place among those that wait; none once it is decided.
pub(super) async fn place(conn: &mut Conn, row: &Candidate) -> Result<Option<Place>, StoreError> {
    if row.state != Stage::Pending {
        return Ok(None);
    }
    let key = row.key();
    let before = conn.queue_length_before(Stage::Pending, &key).await?;
    let waiting = conn.candidate_counts().await?.into_iter().filter(|count| count.state == Stage::Pending);
    let previous = conn.queue_previous(Stage::Pending, &key).await?;
    let next = after(conn, &key).await?;
    let figure = |n: i64| Count(u64::try_from(n).unwrap_or(0));
    Ok(Some(Place {
        index: figure(before + 1),
        of: figure(waiting.map(|count| count.n).sum()),
        before: previous.map(|row| address(&row.id)),
        next: next.map(|row| address(&row.id)),
    }))
}

/// The next one that waits after a place; from the end back to the most urgent one.
pub(super) async fn next(conn: &mut Conn, key: &QueueKey, but: &CandidateId) -> Result<Option<Candidate>, StoreError> {
    let next = match after(conn, key).await? {
        Some(row) => Some(row),
        None => after(conn, &QueueKey::START).await?,
    };
    Ok(next.filter(|row| row.id != *but))
}

async fn after(conn: &mut Conn, key: &QueueKey) -> Result<Option<Candidate>, StoreError> {
    let found = conn.queue_search(Stage::Pending, &Search::default(), key, 1).await?;
    Ok(found.into_iter().next())
}
