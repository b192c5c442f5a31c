//! Documents by their SHA-256, what the scanner said about them, and reasons of decisions.

use sqlx::FromRow;

use super::{Conn, Result, WriteTx};
use crate::{canon::Sha256, clock::Timestamp, name::SetName};

/// A document, byte for byte as it came in.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Content {
    /// SHA-256 of the bytes.
    pub sha256: Sha256,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What they are, as `application/json`.
    pub media_type: String,
    /// Whether something that readers may see refers to it.
    pub readable: bool,
    /// When it may be dropped; absent means never.
    pub keep_until: Option<Timestamp>,
}

/// What the scanner said about a subject under a rule set.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Scan {
    /// A descriptor's digest, or the id of a release.
    pub subject: String,
    /// The rule set.
    pub ruleset: Sha256,
    /// The report, a document.
    pub report: Sha256,
    /// Whether everything was looked at.
    pub complete: bool,
    /// How many findings.
    pub findings: i64,
    /// The gravest finding's severity, if there is one.
    pub gravest: Option<String>,
}

/// Why somebody decided.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Reason {
    /// SHA-256 of salt and text: what the log has.
    pub sha256: Sha256,
    /// 16 random bytes, so that a short text can't be guessed from its hash.
    pub salt: Vec<u8>,
    /// The text.
    pub text: String,
}

impl Content {
    /// A document to be kept for good.
    pub fn new(bytes: Vec<u8>, media_type: &str, readable: bool) -> Self {
        let sha256 = Sha256::of(&bytes);
        Self { sha256, bytes, media_type: media_type.to_owned(), readable, keep_until: None }
    }
}

impl Conn {
    /// A document.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn content(&mut self, sha256: Sha256) -> Result<Option<Content>> {
        const SQL: &str = "SELECT sha256, bytes, media_type, readable, keep_until FROM content WHERE sha256 = $1";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(sha256).fetch_optional(&mut **c).await?))
    }

    /// Whether a document is there.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn has_content(&mut self, sha256: Sha256) -> Result<bool> {
        const SQL: &str = "SELECT EXISTS (SELECT 1 FROM content WHERE sha256 = $1)";
        Ok(on!(&mut self.0, |c| sqlx::query_scalar(SQL).bind(sha256).fetch_one(&mut **c).await?))
    }

    /// What the scanner said about `subject` under `ruleset`.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn scan(&mut self, subject: &str, ruleset: Sha256) -> Result<Option<Scan>> {
        const SQL: &str = "SELECT subject, ruleset, report, complete, findings, gravest FROM scan \
             WHERE subject = $1 AND ruleset = $2";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(subject).bind(ruleset).fetch_optional(&mut **c).await?))
    }

    /// The salt and text behind a reason's hash.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn reason(&mut self, sha256: Sha256) -> Result<Option<Reason>> {
        const SQL: &str = "SELECT sha256, salt, text FROM reason WHERE sha256 = $1";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(sha256).fetch_optional(&mut **c).await?))
    }
}

impl WriteTx {
    /// Keeps a document. One that is there already stays as it is, but becomes readable if this one is, and is kept for
    /// good if this one is.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_content(&mut self, content: &Content) -> Result<()> {
        const SQL: &str = "INSERT INTO content (sha256, bytes, media_type, readable, keep_until) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (sha256) DO UPDATE SET \
             readable = content.readable OR excluded.readable, \
             keep_until = CASE WHEN content.keep_until > excluded.keep_until THEN content.keep_until \
             WHEN content.keep_until IS NULL THEN NULL ELSE excluded.keep_until END";
        run!(
            self,
            sqlx::query(SQL)
                .bind(content.sha256)
                .bind(&content.bytes)
                .bind(&content.media_type)
                .bind(content.readable)
                .bind(content.keep_until)
        );
        Ok(())
    }

    /// Says which documents the newest head of `pinset` names. Those it named before and doesn't any more are kept
    /// until `keep_until`; those it names are kept until it doesn't.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_named(&mut self, pinset: &SetName, named: &[Sha256], keep_until: Timestamp) -> Result<()> {
        const RETIRE: &str = "UPDATE content SET keep_until = $2 \
             WHERE sha256 IN (SELECT sha256 FROM named WHERE pinset = $1)";
        const FORGET: &str = "DELETE FROM named WHERE pinset = $1";
        const NAME: &str = "INSERT INTO named (pinset, sha256) VALUES ($1, $2)";
        const KEEP: &str = "UPDATE content SET keep_until = NULL WHERE sha256 = $1";
        run!(self, sqlx::query(RETIRE).bind(pinset).bind(keep_until));
        run!(self, sqlx::query(FORGET).bind(pinset));
        for sha256 in named {
            run!(self, sqlx::query(NAME).bind(pinset).bind(sha256));
            run!(self, sqlx::query(KEEP).bind(sha256));
        }
        Ok(())
    }

    /// Drops at most `limit` documents that nothing has named since their time came; how many it were.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn drop_content(&mut self, now: Timestamp, limit: u32) -> Result<u64> {
        const SQL: &str = "DELETE FROM content WHERE sha256 IN \
             (SELECT sha256 FROM content WHERE keep_until < $1 ORDER BY keep_until LIMIT $2)";
        let limit = i64::from(limit);
        let done = run!(self, sqlx::query(SQL).bind(now).bind(limit));
        Ok(done)
    }

    /// Keeps what the scanner said; a repeated scan under the same rules says the same.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_scan(&mut self, scan: &Scan) -> Result<()> {
        const SQL: &str = "INSERT INTO scan (subject, ruleset, report, complete, findings, gravest) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (subject, ruleset) DO NOTHING";
        run!(
            self,
            sqlx::query(SQL)
                .bind(&scan.subject)
                .bind(scan.ruleset)
                .bind(scan.report)
                .bind(scan.complete)
                .bind(scan.findings)
                .bind(&scan.gravest)
        );
        Ok(())
    }

    /// Keeps a reason.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_reason(&mut self, reason: &Reason) -> Result<()> {
        const SQL: &str = "INSERT INTO reason (sha256, salt, text) VALUES ($1, $2, $3) ON CONFLICT (sha256) DO NOTHING";
        run!(self, sqlx::query(SQL).bind(reason.sha256).bind(&reason.salt).bind(&reason.text));
        Ok(())
    }
}
