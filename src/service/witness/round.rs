//! Which checkpoint witnesses are asked for, and when that changes.

use crate::{
    clock::{Span, Timestamp},
    store::{Round, Standing},
};

use super::super::{Core, commit, commit::Failure};

/// How long one checkpoint is asked for while newer ones wait: several times as long as an honest witness takes. Heads
/// that wait for it get old meanwhile.
const ROUND: Span = Span::minutes(1);

/// Which witnesses are to be asked now, by their place in the settings; begins a round first if one is due.
pub(super) async fn due(core: &Core) -> Result<Vec<usize>, Failure> {
    let Some(configured) = &core.witnesses.configured else { return Ok(Vec::new()) };
    if let Some(reason) = core.read_only() {
        return Err(Failure::ReadOnly(reason));
    }
    let mut conn = core.reader.conn().await?;
    let (mut round, standings) = (conn.round().await?, conn.standings().await?);
    let newest = conn.log_head().await?.size;
    let now = core.clock.now();
    let gate = core.served_gate();
    let stuck = |round: &Round| !gate.could_pass(|vkey| may_cosign(&standings, vkey, round.size));
    if is_over(&round, newest, stuck(&round), now) {
        drop(conn);
        // Another process may have begun it meanwhile; that is seen under the head row.
        commit::begin_round(core, |round, newest| is_over(round, newest, stuck(round), now)).await?;
        conn = core.reader.conn().await?;
        round = conn.round().await?;
    }
    core.note_health(&round, &standings, newest);
    let cosigned = conn.cosignatures(round.size).await?;
    let is_due = |vkey: &str| {
        let free = standings.iter().find(|row| row.vkey == vkey).is_none_or(|row| row.next_at <= now);
        free && may_cosign(&standings, vkey, round.size) && !cosigned.iter().any(|(by, _)| by == vkey)
    };
    let due = configured.each().enumerate().filter(|(_, (witness, _))| is_due(&witness.key.to_string()));
    Ok(if round.size == 0 { Vec::new() } else { due.map(|(n, _)| n).collect() })
}

/// Whether the next round is to begin: the log has grown, and this one has its quorum, can't get it any more from the
/// witnesses that aren't beyond it already, or has had its time.
fn is_over(round: &Round, newest: u64, stuck: bool, now: Timestamp) -> bool {
    let done = round.size == 0 || round.cosigned >= round.size;
    newest > round.size && (done || stuck || now >= round.begun_at + ROUND)
}

/// A witness never cosigns less than it has cosigned.
fn may_cosign(standings: &[Standing], vkey: &str, size: u64) -> bool {
    standings.iter().find(|row| row.vkey == vkey).is_none_or(|row| row.size <= size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_its_quorum_without_hope_of_it_or_with_its_time_but_never_without_a_newer_checkpoint() {
        let at = |seconds| Timestamp::EPOCH + Span::seconds(seconds);
        for (what, size, cosigned, newest, stuck, now, expected) in [
            ("the first", 0, 0, 3, false, 0, true),
            ("no log", 0, 0, 0, false, 0, false),
            ("under way", 3, 0, 5, false, 59, false),
            ("had its time", 3, 0, 5, false, 60, true),
            ("had its time, but nothing is newer", 3, 0, 3, false, 600, false),
            ("has its quorum", 3, 3, 5, false, 1, true),
            ("has its quorum, and nothing is newer", 3, 3, 3, false, 1, false),
            ("a smaller one has its quorum", 3, 2, 5, false, 1, false),
            ("can't get its quorum", 3, 0, 5, true, 1, true),
        ] {
            let round = Round { size, begun_at: Timestamp::EPOCH, cosigned, changes: 0 };
            assert_eq!(is_over(&round, newest, stuck, at(now)), expected, "{what}");
        }
    }
}
