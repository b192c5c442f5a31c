//! Servers, their releases, what these list, and the attestations over them. None of it ever changes.

use sqlx::FromRow;

use super::{Conn, Result, WriteTx, int};
use crate::{
    attest::{Level, Role},
    canon::Sha256,
    clock::Timestamp,
    name::{Kind, Namespace, ServerName, Variant, Version},
};

/// A server that something was published for.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Server {
    /// Its name.
    pub name: ServerName,
    /// The part before the slash.
    pub namespace: Namespace,
    /// When its first release came.
    pub first_at: Timestamp,
    /// When its last release came.
    pub last_at: Timestamp,
    /// How many there are.
    pub releases: i64,
}

/// One capture attested for a server, version, variant and role.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Release {
    /// 128 bits of the digest of what it names.
    pub id: String,
    /// Its server.
    pub server: ServerName,
    /// Its version.
    pub version: Version,
    /// Its variant.
    pub variant: Variant,
    /// Who the first signer spoke as.
    pub role: Role,
    /// The release as submitted, a document.
    pub document: Sha256,
    /// SHA-256 of the list of subjects.
    pub subjects: Sha256,
    /// How many descriptors it lists.
    pub count: i64,
    /// The account that submitted it; absent for a local command.
    pub submitted_by: Option<String>,
    /// When.
    pub received_at: Timestamp,
    /// Its leaf.
    #[sqlx(try_from = "i64")]
    pub log_index: u64,
}

/// One entry of a release.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Descriptor {
    /// The release.
    pub release: String,
    /// Its place in the release.
    pub position: i64,
    /// Its kind.
    pub kind: Kind,
    /// Its name as [`listed_name`] shows it.
    pub name: String,
    /// By the deciding recipe; also names the document of its canonical bytes.
    pub digest: Sha256,
    /// By the other recipe.
    pub python_digest: Sha256,
    /// The raw bytes, a document.
    pub raw: Sha256,
    /// Canonical JSON: the digest of each top-level member.
    pub members: Vec<u8>,
    /// Why it can't be pinned, if it can't.
    pub unpinnable: Option<String>,
    /// Where in it the reason is.
    pub pointer: Option<String>,
}

/// A verified attestation over a release.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct Attestation {
    /// SHA-256 of the bytes as received, which are a document.
    pub sha256: Sha256,
    /// The release.
    pub release: String,
    /// The level that the signer's authority gave.
    pub level: Level,
    /// The signer.
    pub signer: String,
    /// The authority.
    pub authority: String,
    /// SHA-256 of the predicate, by which a repeated submission is known.
    pub predicate: Sha256,
    /// The account that submitted it; absent for a local command.
    pub submitted_by: Option<String>,
    /// When.
    pub received_at: Timestamp,
    /// Its leaf.
    #[sqlx(try_from = "i64")]
    pub log_index: u64,
}

/// The bound that the table has on a name; legal names are shorter.
const MAX_LISTED: usize = 1_024;

/// A listed name as the tables hold it: itself if it is 1 to 1,024 visible ASCII characters, as all legal names are;
/// otherwise escaped and cut, with a space before it, so that it equals no legal name. PostgreSQL takes no NUL in text,
/// and an index no long one.
pub fn listed_name(name: &str) -> String {
    if !name.is_empty() && name.len() <= MAX_LISTED && name.bytes().all(|b| b.is_ascii_graphic()) {
        return name.to_owned();
    }
    let mut shown = String::from(" ");
    for c in name.chars() {
        let escaped = c.escape_default();
        if shown.len() + escaped.len() > MAX_LISTED - 3 {
            shown.push_str("...");
            break;
        }
        shown.extend(escaped);
    }
    shown
}

macro_rules! server {
    ($rest:literal) => {
        concat!("SELECT name, namespace, first_at, last_at, releases FROM server ", $rest)
    };
}
macro_rules! release {
    ($rest:literal) => {
        concat!(
            "SELECT id, server, version, variant, role, document, subjects, count, submitted_by, received_at, \
             log_index FROM release ",
            $rest
        )
    };
}
macro_rules! descriptor {
    ($rest:literal) => {
        concat!(
            "SELECT release, position, kind, name, digest, python_digest, raw, members, unpinnable, pointer \
             FROM descriptor ",
            $rest
        )
    };
}
macro_rules! attestation {
    ($rest:literal) => {
        concat!(
            "SELECT sha256, release, level, signer, authority, predicate, submitted_by, received_at, log_index \
             FROM attestation ",
            $rest
        )
    };
}
pub(super) use {attestation, descriptor, release, server};

impl Conn {
    /// Servers by name, those after `after`.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn servers(&mut self, after: &str, limit: u32) -> Result<Vec<Server>> {
        const SQL: &str = server!("WHERE name > $1 ORDER BY name LIMIT $2");
        let limit = i64::from(limit);
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(after).bind(limit).fetch_all(&mut **c).await?))
    }

    /// A server, by its name in any case of letters.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn server(&mut self, name: &ServerName) -> Result<Option<Server>> {
        const SQL: &str = server!("WHERE folded = $1");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(name.folded()).fetch_optional(&mut **c).await?))
    }

    /// A server that is there under the same letters in another case, or in whose namespace they are.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn namesake(&mut self, name: &ServerName) -> Result<Option<ServerName>> {
        const SQL: &str = "SELECT name FROM server WHERE folded >= $1 AND folded < $2 \
             AND (namespace <> $3 OR (folded = $4 AND name <> $5)) ORDER BY folded LIMIT 1";
        let namespace = name.namespace();
        // A slash is the byte before the digit zero, so this is exactly the namespace's range.
        let (from, to) = (format!("{}/", namespace.folded()), format!("{}0", namespace.folded()));
        Ok(on!(&mut self.0, |c| sqlx::query_scalar(SQL)
            .bind(&from)
            .bind(&to)
            .bind(&namespace)
            .bind(name.folded())
            .bind(name)
            .fetch_optional(&mut **c)
            .await?))
    }

    /// A release by its id.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn release(&mut self, id: &str) -> Result<Option<Release>> {
        const SQL: &str = release!("WHERE id = $1");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(id).fetch_optional(&mut **c).await?))
    }

    /// The release of this server, version, variant and role: there is at most one.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn release_of(
        &mut self,
        server: &ServerName,
        version: &Version,
        variant: &Variant,
        role: Role,
    ) -> Result<Option<Release>> {
        const SQL: &str = release!("WHERE server = $1 AND version = $2 AND variant = $3 AND role = $4");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL)
            .bind(server)
            .bind(version)
            .bind(variant)
            .bind(role)
            .fetch_optional(&mut **c)
            .await?))
    }

    /// A server's releases, newest first, those logged before `before`.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn releases(&mut self, server: &ServerName, before: u64, limit: u32) -> Result<Vec<Release>> {
        const SQL: &str = release!("WHERE server = $1 AND log_index < $2 ORDER BY log_index DESC LIMIT $3");
        let (before, limit) = (int(before), i64::from(limit));
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(server).bind(before).bind(limit).fetch_all(&mut **c).await?))
    }

    /// A server's newest release of each variant and role, oldest first.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn newest_releases(&mut self, server: &ServerName) -> Result<Vec<Release>> {
        const SQL: &str = release!(
            "WHERE server = $1 AND log_index IN \
             (SELECT MAX(log_index) FROM release WHERE server = $1 GROUP BY variant, role) ORDER BY log_index"
        );
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(server).fetch_all(&mut **c).await?))
    }

    /// What a release lists, in its order.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn descriptors(&mut self, release: &str) -> Result<Vec<Descriptor>> {
        const SQL: &str = descriptor!("WHERE release = $1 ORDER BY position");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(release).fetch_all(&mut **c).await?))
    }

    /// One entry of a release.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn descriptor(&mut self, release: &str, position: i64) -> Result<Option<Descriptor>> {
        const SQL: &str = descriptor!("WHERE release = $1 AND position = $2");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(release).bind(position).fetch_optional(&mut **c).await?))
    }

    /// Entries with this digest in any release, at most `limit`.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn descriptors_with(&mut self, digest: Sha256, limit: u32) -> Result<Vec<Descriptor>> {
        const SQL: &str = descriptor!("WHERE digest = $1 ORDER BY release, position LIMIT $2");
        let limit = i64::from(limit);
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(digest).bind(limit).fetch_all(&mut **c).await?))
    }

    /// The attestations over a release, oldest first.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn attestations(&mut self, release: &str) -> Result<Vec<Attestation>> {
        const SQL: &str = attestation!("WHERE release = $1 ORDER BY log_index");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(release).fetch_all(&mut **c).await?))
    }

    /// One attestation.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn attestation(&mut self, sha256: Sha256) -> Result<Option<Attestation>> {
        const SQL: &str = attestation!("WHERE sha256 = $1");
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(sha256).fetch_optional(&mut **c).await?))
    }
}

impl WriteTx {
    /// Keeps a release, and its server if it is new.
    ///
    /// # Errors
    /// [`super::StoreError::Database`] also if there is one of its server, version, variant and role.
    pub async fn put_release(&mut self, release: &Release) -> Result<()> {
        const SERVER: &str = "INSERT INTO server (name, namespace, folded, first_at, last_at, releases) \
             VALUES ($1, $2, $3, $4, $4, 1) \
             ON CONFLICT (name) DO UPDATE SET last_at = excluded.last_at, releases = server.releases + 1";
        const RELEASE: &str = "INSERT INTO release (id, server, version, variant, role, document, subjects, count, \
             submitted_by, received_at, log_index) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
        run!(
            self,
            sqlx::query(SERVER)
                .bind(&release.server)
                .bind(release.server.namespace())
                .bind(release.server.folded())
                .bind(release.received_at)
        );
        run!(
            self,
            sqlx::query(RELEASE)
                .bind(&release.id)
                .bind(&release.server)
                .bind(&release.version)
                .bind(&release.variant)
                .bind(release.role)
                .bind(release.document)
                .bind(release.subjects)
                .bind(release.count)
                .bind(&release.submitted_by)
                .bind(release.received_at)
                .bind(int(release.log_index))
        );
        Ok(())
    }

    /// Keeps an entry of a release.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn put_descriptor(&mut self, row: &Descriptor) -> Result<()> {
        const SQL: &str = "INSERT INTO descriptor (release, position, kind, name, digest, python_digest, raw, members, \
             unpinnable, pointer) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        run!(
            self,
            sqlx::query(SQL)
                .bind(&row.release)
                .bind(row.position)
                .bind(row.kind)
                .bind(listed_name(&row.name))
                .bind(row.digest)
                .bind(row.python_digest)
                .bind(row.raw)
                .bind(&row.members)
                .bind(&row.unpinnable)
                .bind(row.pointer.as_deref().map(listed_name))
        );
        Ok(())
    }

    /// Keeps an attestation.
    ///
    /// # Errors
    /// [`super::StoreError::Database`] also if it is there already.
    pub async fn put_attestation(&mut self, row: &Attestation) -> Result<()> {
        const SQL: &str = "INSERT INTO attestation (sha256, release, level, signer, authority, predicate, submitted_by, \
             received_at, log_index) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        run!(
            self,
            sqlx::query(SQL)
                .bind(row.sha256)
                .bind(&row.release)
                .bind(row.level)
                .bind(&row.signer)
                .bind(&row.authority)
                .bind(row.predicate)
                .bind(&row.submitted_by)
                .bind(row.received_at)
                .bind(int(row.log_index))
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_name_is_itself_or_no_legal_name() {
        let long = "a".repeat(1_024);
        let table = [
            ("export", "export".to_owned()),
            ("file:///a?b={c}", "file:///a?b={c}".to_owned()),
            (&long, long.clone()),
            ("", " ".to_owned()),
            ("a b", " a b".to_owned()),
            ("nul\0", " nul\\u{0}".to_owned()),
            ("\u{202e}x", " \\u{202e}x".to_owned()),
            ("naïve", " na\\u{ef}ve".to_owned()),
        ];
        for (name, expected) in table {
            assert_eq!(listed_name(name), expected, "{name:?}");
        }
        let cut = listed_name(&"é".repeat(100_000));
        assert!(cut.len() <= 1_024 && cut.ends_with("..."), "{}", cut.len());
    }
}
