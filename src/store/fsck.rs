//! Reads every row by its row type, and checks what the tables say about each other.
//!
//! SQLite reads a NULL into a text as an empty one and takes text where an integer should be; a restored or edited
//! database can hold what no statement of ours wrote. The log's own arithmetic is checked when the service starts.

use super::{Conn, Count, Result, StoreError, access, candidates, int, pinsets, releases, votes, witness};
use crate::{canon::Sha256, name::SetName};

/// Something that isn't as this program would have written it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The table.
    pub table: &'static str,
    /// What is wrong.
    pub what: String,
}

/// Rows read at a time; a document has at most 8 MiB.
const PAGE: i64 = 64;

macro_rules! read_all {
    ($conn:expr, $faults:expr, $($table:literal: $row:ty, $sql:expr;)+) => {
        $(
            let rows: std::result::Result<Vec<$row>, sqlx::Error> =
                on!(&mut $conn.0, |c| sqlx::query_as($sql).fetch_all(&mut **c).await);
            note($faults, $table, rows.map(drop).map_err(StoreError::from))?;
        )+
    };
}

impl Conn {
    /// Reads everything; no fault means that every row is one that this program could have written.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database doesn't answer; what it answers wrongly is a fault.
    pub async fn fsck(&mut self) -> Result<Vec<Fault>> {
        let mut faults = Vec::new();
        read_all!(self, &mut faults,
            "log_head": super::LogHead, "SELECT size, last_at, root FROM log_head";
            "log_tile": (i64, i64, Vec<u8>), "SELECT level, idx, hashes FROM log_tile";
            "checkpoint": (i64, String, i64), "SELECT size, note, signed_at FROM checkpoint ORDER BY size";
            "named": (SetName, Sha256), "SELECT pinset, sha256 FROM named";
            "scan": super::Scan, "SELECT subject, ruleset, report, complete, findings, gravest FROM scan";
            "reason": super::Reason, "SELECT sha256, salt, text FROM reason";
            "server": super::Server, releases::server!("");
            "release": super::Release, releases::release!("");
            "descriptor": super::Descriptor, releases::descriptor!("");
            "attestation": super::Attestation, releases::attestation!("");
            "set_version": super::SetVersion, pinsets::set_version!("");
            "head": super::Head, pinsets::head!("");
            "head_waiting": super::Head, witness::waiting!("");
            "head_released": super::Head, witness::released!("");
            "cosignature": (i64, String, String, i64), "SELECT size, witness, line, received_at FROM cosignature";
            "witness": super::Standing, witness::standing!("");
            "witness_round": super::Round, witness::ROUND;
            "trust": super::Trust, "SELECT version, note FROM trust";
            "candidate": super::Candidate, candidates::candidate!("");
            "candidate_count": Count, "SELECT pinset, state, n FROM candidate_count";
            "ballot": super::Ballot, votes::ballot!("");
            "decision": super::Decided, votes::decided!("");
            "account": super::Account, access::account!("");
            "account_role": (String, super::Role), "SELECT account, role FROM account_role";
            "token": super::Token, access::token!("");
            "session": super::Session, "SELECT sha256, account, created_at, seen_at, expires_at FROM session";
            "throttle": super::Failures, "SELECT key, failures, last_at FROM throttle";
            "setup": super::Setup, "SELECT sha256, created_at, used_at FROM setup";
            "audit": super::AuditRow, "SELECT id, at, actor, action, subject, detail FROM audit";
        );
        let leaves = self.all_leaves().await;
        note(&mut faults, "log_leaf", leaves)?;
        self.documents(&mut faults).await?;
        let counts = self.miscounted().await;
        note(&mut faults, "candidate_count", counts)?;
        Ok(faults)
    }

    async fn all_leaves(&mut self) -> Result<()> {
        let size = self.log_head().await?.size;
        let mut from = 0;
        while from < size {
            let to = size.min(from + PAGE.unsigned_abs());
            self.leaves(from, to).await?;
            from = to;
        }
        match self.leaf(size).await? {
            None => Ok(()),
            Some(_) => Err(corrupt("log_leaf", format!("there is a leaf {} beyond the log's end", int(size)))),
        }
    }

    /// Every document has the hash that it is stored under.
    async fn documents(&mut self, faults: &mut Vec<Fault>) -> Result<()> {
        const SQL: &str = "SELECT sha256, bytes, media_type, readable, keep_until FROM content \
             WHERE sha256 > $1 ORDER BY sha256 LIMIT $2";
        let mut after = Vec::new();
        loop {
            let page: std::result::Result<Vec<super::Content>, sqlx::Error> =
                on!(&mut self.0, |c| sqlx::query_as(SQL).bind(&after).bind(PAGE).fetch_all(&mut **c).await);
            let page = match page.map_err(StoreError::from) {
                Ok(page) => page,
                // Nothing tells which row it was, so the walk can't go on after it.
                Err(e) => return note(faults, "content", Err(e)),
            };
            let Some(last) = page.last() else { return Ok(()) };
            after = last.sha256.0.to_vec();
            for row in page {
                if Sha256::of(&row.bytes) != row.sha256 {
                    faults.push(Fault { table: "content", what: format!("{} has other bytes", row.sha256) });
                }
            }
        }
    }

    async fn miscounted(&mut self) -> Result<()> {
        const SQL: &str = "SELECT pinset, state, CAST(COUNT(*) AS BIGINT) AS n FROM candidate \
             GROUP BY pinset, state ORDER BY pinset, state";
        let counted: Vec<Count> = on!(&mut self.0, |c| sqlx::query_as(SQL).fetch_all(&mut **c).await?);
        let kept: Vec<Count> = self.candidate_counts().await?.into_iter().filter(|count| count.n != 0).collect();
        if counted == kept {
            return Ok(());
        }
        Err(corrupt("candidate_count", format!("says {kept:?}, but there are {counted:?}")))
    }
}

fn corrupt(table: &'static str, what: String) -> StoreError {
    StoreError::Corrupt { table, what }
}

/// A corrupt row is a fault to go on after; a database that doesn't answer ends the check.
fn note(faults: &mut Vec<Fault>, table: &'static str, read: Result<()>) -> Result<()> {
    match read {
        Err(StoreError::Corrupt { what, .. }) => faults.push(Fault { table, what }),
        Err(StoreError::Database(sqlx::Error::Decode(e))) => faults.push(Fault { table, what: e.to_string() }),
        other => return other,
    }
    Ok(())
}
