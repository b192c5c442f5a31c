//! Asking one witness, and keeping what came of it: the cosignature, and with the quorum the release of heads.

use std::sync::Arc;

use crate::{
    clock::{Span, Timestamp},
    log::{Hash, Plan, policy::Witness},
    store::{Standing, StoreError},
};

use super::{
    super::{Core, proofs},
    ask::{Answer, Outcome, PATIENCE, Question, TRIES, Trouble},
};

/// How long the others leave a witness alone that one process asks: as long as a conversation can take, and some.
const CLAIM: Span = Span::seconds(45);
const _: () = assert!(CLAIM.as_seconds() > PATIENCE.as_seconds() * TRIES as i64);
/// The wait is a second after the first failure and twice as long after each further one, up to this: a witness that comes
/// back is noticed in far less than a head's life.
const MAX_BACK_OFF: Span = Span::minutes(5);

/// Asks witness `n` of the settings for the round's checkpoint, unless another process does or there is nothing to ask.
pub(super) async fn ask(core: &Arc<Core>, n: usize) -> Result<(), StoreError> {
    let Some((witness, url)) = core.witnesses.configured.as_ref().and_then(|w| w.each().nth(n)) else { return Ok(()) };
    let vkey = witness.key.to_string();
    let now = core.clock.now();
    let mut tx = core.writer.begin().await?;
    let claimed = tx.claim_witness(&vkey, now, now + CLAIM).await?;
    // Under the claim nobody else can add it: another process may have got it since we looked.
    let round = tx.round().await?.size;
    if tx.cosignatures(round).await?.iter().any(|(by, _)| *by == vkey) {
        return Ok(());
    }
    tx.commit().await?;
    if !claimed {
        return Ok(());
    }
    let mut conn = core.reader.conn().await?;
    let corrupt = |what: &str| StoreError::Corrupt { table: "witness_round", what: what.to_owned() };
    let (size, newest) = (conn.round().await?.size, conn.log_head().await?.size);
    let checkpoint = conn.checkpoint(size).await?.ok_or_else(|| corrupt("a round without its checkpoint"))?;
    let standing = conn.standings().await?.into_iter().find(|row| row.vkey == vkey);
    let standing = standing.ok_or_else(|| corrupt("a claim without its row"))?;
    drop(conn);
    let http = &core.witnesses.http;
    let question =
        Question { http, clock: &*core.clock, url, key: &witness.key, checkpoint: &checkpoint, size, newest };
    // What is noted as its size may be beyond this round by now; it will say so.
    let (mut old, mut outcome) = (standing.size.min(size), Outcome::Failed(Trouble::Conflict));
    for _ in 0..TRIES {
        match question.ask(old, consistency(core, old, size).await?).await {
            Answer::From(at) => old = at,
            Answer::Ends(ended) => {
                outcome = ended;
                break;
            }
        }
    }
    // Where it said that it is, if it did; else where we thought.
    keep(core, witness, Standing { size: old, ..standing }, size, outcome).await?;
    core.refresh().await
}

async fn consistency(core: &Core, old: u64, new: u64) -> Result<Vec<Hash>, StoreError> {
    let beyond = |_| StoreError::Corrupt { table: "witness_round", what: format!("no proof from {old} to {new}") };
    let plan = Plan::consistency(old, new).map_err(beyond)?;
    proofs::compute(&mut core.reader.conn().await?, &plan, new).await
}

async fn keep(
    core: &Core,
    witness: &Witness,
    mut row: Standing,
    size: u64,
    outcome: Outcome,
) -> Result<(), StoreError> {
    let now = core.clock.now();
    let before = row.trouble.take();
    let mut tx = core.writer.begin().await?;
    // Whoever signs or releases heads holds this row: a head that is signed anew at this moment waits, or finds the
    // quorum.
    tx.take_head().await?;
    match &outcome {
        Outcome::Cosigned(line) => {
            row = Standing {
                size,
                cosigned_at: Some(now),
                trouble: None,
                trouble_at: None,
                failures: 0,
                next_at: now,
                ..row
            };
            tx.put_cosignature(size, &row.vkey, line, now).await?;
            tracing::debug!(witness = witness.name, size, "a witness has cosigned");
        }
        Outcome::Beyond(at) => row = Standing { size: *at, trouble_at: None, failures: 0, next_at: now, ..row },
        Outcome::Failed(trouble) => {
            say(&witness.name, *trouble, size);
            let failures = row.failures.saturating_add(1);
            let next_at = back_off(now, failures);
            row =
                Standing { trouble: Some(trouble.word().to_owned()), trouble_at: Some(now), failures, next_at, ..row };
        }
    }
    tx.put_standing(&row).await?;
    let note = proofs::note_at(&mut tx, size).await?.unwrap_or_default();
    let news = row.trouble != before || !matches!(outcome, Outcome::Failed(..));
    if matches!(outcome, Outcome::Cosigned(_)) && core.served_gate().passes(&note, now) {
        tx.put_cosigned(size).await?;
        for head in tx.waiting_heads(size).await? {
            tx.release_head(&head).await?;
        }
    }
    if news {
        tx.witnesses_changed().await?;
    }
    // From here on the heads are released. If we stop before, the witness is asked again, and says the same.
    tx.commit().await
}

fn say(witness: &str, trouble: Trouble, size: u64) {
    if trouble.is_grave() {
        tracing::error!(witness, size, trouble = trouble.word(), "a witness has not cosigned: {trouble}");
    } else {
        tracing::warn!(witness, size, trouble = trouble.word(), "a witness has not cosigned: {trouble}");
    }
}

fn back_off(now: Timestamp, failures: u32) -> Timestamp {
    now + Span::seconds(1 << (failures.clamp(1, 16) - 1)).min(MAX_BACK_OFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_and_has_an_end() {
        let waits = |failures| back_off(Timestamp::EPOCH, failures).since(Timestamp::EPOCH).as_seconds();
        assert_eq!([1, 2, 3, 4, 8, 9, 10, 16, 4_000_000_000].map(waits), [1, 2, 4, 8, 128, 256, 300, 300, 300]);
    }
}
