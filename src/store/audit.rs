//! The audit trail: who did what to accounts, tokens and settings, beside the log that says what may be trusted.

use sqlx::FromRow;

use super::{Conn, Result, WriteTx};
use crate::clock::Timestamp;

/// One thing that was done, or tried.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct AuditRow {
    /// Its number; 0 before it is written.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// Who: an account's name, `local-operator`, or `anonymous`.
    pub actor: String,
    /// What, as `token-add`.
    pub action: String,
    /// To what.
    pub subject: String,
    /// Anything else worth knowing; never a secret.
    pub detail: String,
}

impl Conn {
    /// The trail, newest first, from before `before`.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn audit(&mut self, before: i64, limit: u32) -> Result<Vec<AuditRow>> {
        const SQL: &str =
            "SELECT id, at, actor, action, subject, detail FROM audit WHERE id < $1 ORDER BY id DESC LIMIT $2";
        let limit = i64::from(limit);
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(before).bind(limit).fetch_all(&mut **c).await?))
    }
}

impl WriteTx {
    /// Adds to the trail. PostgreSQL takes no NUL in text, so it goes in as a mark.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_audit(&mut self, row: &AuditRow) -> Result<()> {
        const SQL: &str = "INSERT INTO audit (at, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5)";
        let text = |text: &str| text.replace('\0', "\u{fffd}");
        run!(
            self,
            sqlx::query(SQL)
                .bind(row.at)
                .bind(text(&row.actor))
                .bind(text(&row.action))
                .bind(text(&row.subject))
                .bind(text(&row.detail))
        );
        Ok(())
    }
}
