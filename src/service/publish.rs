//! Publishing: from a submitted release to evidence in the log and candidates in the queues.
//!
//! Parsing, verifying and scanning happen before the queue, over what is known then. In its turn the step looks again at
//! what may have changed meanwhile: the authority, a first release of the same version, a namespace's spelling.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    App, Placed, Step, Stop, Work, WriteError, Written,
    commit::JSON,
    opening::{self, Brought, Opened},
    scanning::{self, Scanned},
};
use crate::{
    attest::{self, Level, Verified},
    canon::{Sha256, to_jcs},
    clock::Timestamp,
    descriptor::{CaptureError, Descriptor, Release},
    event::{Event, Evidence, Subjects},
    name::{Kind, ServerName, SetName},
    pinset::State,
    store::{self, Content, StoreError},
};

/// A release as it was submitted.
#[derive(Clone, Debug)]
pub struct Submission {
    release: Release,
    attestation: Vec<u8>,
}

/// What came of a submission.
#[derive(Clone, Debug)]
pub struct Published {
    /// The release's id.
    pub release: String,
    /// The level of the evidence.
    pub level: Level,
    /// Whether anything was logged; if not, this is the first answer's repetition.
    pub new: bool,
    /// The candidates that wait because of it, as they are now.
    pub candidates: Vec<store::Candidate>,
    /// How many descriptors have a live decision everywhere.
    pub unchanged: usize,
    /// Descriptors that can't be approved.
    pub unpinnable: Vec<UnpinnableItem>,
    /// How many findings the scanner has in all of it.
    pub findings: usize,
    /// The leaf that recorded the evidence.
    pub log_index: u64,
}

/// A descriptor that can't be approved, and why.
#[derive(Clone, Debug, Serialize)]
pub struct UnpinnableItem {
    /// Its kind.
    pub kind: Kind,
    /// Its name as listed.
    pub name: String,
    /// The stable code, as `schema-missing`.
    pub code: &'static str,
    /// Where.
    pub pointer: String,
}

/// Why a submission was refused. Nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Not the JSON of a submission.
    #[error("the body is not a release with an attestation: {0}")]
    Body(String),
    /// The capture breaks a limit or its form.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The attestation doesn't hold for this release.
    #[error(transparent)]
    Attestation(#[from] attest::Refused),
    /// A server or namespace with the same letters in another case is there.
    #[error("{0} is registered; names that differ in case alone are one name")]
    NameTaken(ServerName),
    /// The version was released with other descriptors.
    #[error("this version was released with other descriptors")]
    ReleaseDiffers {
        /// SHA-256 of the first release's subject list.
        first: Sha256,
        /// SHA-256 of the submitted subject list.
        submitted: Sha256,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body<'a> {
    #[serde(borrow)]
    server: &'a RawValue,
    #[serde(borrow)]
    capture: &'a RawValue,
    #[serde(borrow)]
    attestation: &'a RawValue,
}

impl Submission {
    /// Reads `{"server", "capture", "attestation"}`. Descriptors and attestation keep their bytes.
    ///
    /// # Errors
    /// [`Refused::Body`] and [`Refused::Capture`].
    pub fn parse(body: &[u8]) -> Result<Self, Refused> {
        let body: Body<'_> = serde_json::from_slice(body).map_err(|e| Refused::Body(e.to_string()))?;
        let document = format!("{{\"server\":{},\"capture\":{}}}", body.server, body.capture);
        Ok(Self {
            release: Release::parse(document.as_bytes())?,
            attestation: body.attestation.get().as_bytes().to_vec(),
        })
    }

    /// The server it is for.
    pub const fn server(&self) -> &ServerName {
        &self.release.server
    }
}

/// Publishes a release in the name of `account` (none for a local command).
///
/// # Errors
/// [`WriteError::Refused`] with the reason; nothing was stored then.
pub async fn publish(
    app: &App,
    account: Option<String>,
    submission: Submission,
) -> Result<Written<Published>, WriteError<Refused>> {
    let authorities = app.moment().state.verifying_authorities();
    let rules = Arc::clone(app.rules());
    let checked = tokio::task::spawn_blocking(move || {
        let verified = attest::verify(submission.release, &submission.attestation, &authorities)?;
        let scanned = scanning::all(&rules, verified.release())?;
        Ok::<_, Refused>((verified, scanned))
    });
    let (verified, scanned) = checked
        .await
        .map_err(|e| WriteError::Store(StoreError::Corrupt { table: "", what: e.to_string() }))?
        .map_err(WriteError::Refused)?;
    app.write(Publish { account, verified, scanned }).await
}

/// The step in the queue.
struct Publish {
    account: Option<String>,
    verified: Verified,
    scanned: Vec<Scanned>,
}

impl Step for Publish {
    type Done = Published;
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<Published, Stop<Refused>> {
        let release = self.verified.release();
        self.still_holds(work.state())?;
        let role = self.verified.statement().predicate.role;
        let first = work.read().release_of(&release.server, &release.version, &release.variant, role).await?;
        match first {
            Some(first) if first.subjects != self.subjects() => {
                let refused = Refused::ReleaseDiffers { first: first.subjects, submitted: self.subjects() };
                Err(Stop::Refused(refused))
            }
            Some(first) => match self.repeated(work, &first).await? {
                Some(known) => self.again(work, &first, &known).await,
                None => self.attach(work, first).await,
            },
            None => {
                if let Some(taken) = work.read().namesake(&release.server).await? {
                    return Err(Stop::Refused(Refused::NameTaken(taken)));
                }
                self.record(work).await
            }
        }
    }
}

impl Publish {
    /// The authority held when the attestation was verified; it must hold still.
    fn still_holds(&self, state: &State) -> Result<(), Stop<Refused>> {
        let authority = state.authority(self.verified.authority());
        if authority.is_some_and(|authority| authority.revoked.is_none()) {
            return Ok(());
        }
        let refused = attest::Refused::Revoked(self.verified.authority().to_owned());
        Err(Stop::Refused(refused.into()))
    }

    fn subjects(&self) -> Sha256 {
        Sha256::of(&to_jcs(&self.verified.release().subjects()))
    }

    fn predicate(&self) -> Sha256 {
        Sha256::of(&to_jcs(&self.verified.statement().predicate))
    }

    /// The known attestation that says the same by the same signer, if there is one.
    async fn repeated(
        &self,
        work: &mut Work,
        first: &store::Release,
    ) -> Result<Option<store::Attestation>, Stop<Refused>> {
        let same = |known: &store::Attestation| {
            known.signer == self.verified.signer().to_string()
                && known.level == self.verified.level()
                && known.predicate == self.predicate()
        };
        Ok(work.read().attestations(&first.id).await?.into_iter().find(same))
    }

    /// Nothing new: the first answer, with the candidates as they are now.
    async fn again(
        &self,
        work: &mut Work,
        first: &store::Release,
        known: &store::Attestation,
    ) -> Result<Published, Stop<Refused>> {
        let candidates = work.read().candidates_of_release(&first.id).await?;
        let brought = self.brought(&first.id, work.at(), known.log_index);
        let unchanged = opening::unchanged(work.state(), &brought);
        Ok(self.published(first.id.clone(), false, Opened { candidates, unchanged }, known.log_index))
    }

    /// Further evidence over a known release.
    async fn attach(&self, work: &mut Work, first: store::Release) -> Result<Published, Stop<Refused>> {
        let event = Event::EvidenceAttached(self.evidence(&first.id));
        let placed = work.append(event)?;
        self.write_evidence(work, &first.id, &placed).await?;
        let opened = opening::in_all_sets(work, &self.brought(&first.id, placed.at, placed.index)).await?;
        Ok(self.published(first.id, true, opened, placed.index))
    }

    /// A release that wasn't there before.
    async fn record(&self, work: &mut Work) -> Result<Published, Stop<Refused>> {
        let id = self.release_id();
        let placed = work.append(Event::ReleaseAttested(self.evidence(&id)))?;
        self.write_release(work, &id, &placed).await?;
        self.write_evidence(work, &id, &placed).await?;
        let opened = opening::in_all_sets(work, &self.brought(&id, placed.at, placed.index)).await?;
        Ok(self.published(id, true, opened, placed.index))
    }

    fn release_id(&self) -> String {
        #[derive(Serialize)]
        struct Named<'a> {
            r#type: &'static str,
            server: &'a attest::Server,
            role: attest::Role,
            subjects: Sha256,
        }
        let predicate = &self.verified.statement().predicate;
        let (server, role) = (&predicate.server, predicate.role);
        let named = Named { r#type: "countersign/release/v1", server, role, subjects: self.subjects() };
        Sha256::of(&to_jcs(&named)).id()
    }

    fn evidence(&self, release: &str) -> Evidence {
        let predicate = &self.verified.statement().predicate;
        let listed = self.verified.statement().subjects.len();
        Evidence {
            release: release.to_owned(),
            server: predicate.server.name.clone(),
            version: predicate.server.version.clone(),
            variant: predicate.server.variant.clone(),
            role: predicate.role,
            level: self.verified.level(),
            signer: *self.verified.signer(),
            authority: self.verified.authority().to_owned(),
            attestation: self.verified.sha256(),
            subjects: Subjects { count: u32::try_from(listed).unwrap_or(u32::MAX), sha256: self.subjects() },
            remotes: predicate.remotes.clone(),
            artifacts: predicate.artifacts.clone(),
        }
    }

    fn descriptors(&self) -> impl Iterator<Item = &Descriptor> {
        self.verified.release().capture.listed.iter().filter_map(|listed| listed.parsed.as_ref().ok())
    }

    fn brought<'a>(&'a self, release: &'a str, opened_at: Timestamp, log_index: u64) -> Brought<'a> {
        let predicate = &self.verified.statement().predicate;
        Brought {
            release,
            server: &predicate.server.name,
            variant: &predicate.server.variant,
            attestation: self.verified.sha256(),
            level: self.verified.level(),
            signer: *self.verified.signer(),
            remotes: &predicate.remotes,
            artifacts: &predicate.artifacts,
            descriptors: self.descriptors().collect(),
            scanned: &self.scanned,
            opened_at,
            log_index,
        }
    }

    async fn write_release(&self, work: &mut Work, id: &str, placed: &Placed) -> Result<(), StoreError> {
        let release = self.verified.release();
        let document = Content::new(release.to_json(), JSON, true);
        let tx = work.write();
        tx.put_content(&document).await?;
        let row = store::Release {
            id: id.to_owned(),
            server: release.server.clone(),
            version: release.version.clone(),
            variant: release.variant.clone(),
            role: self.verified.statement().predicate.role,
            document: document.sha256,
            subjects: self.subjects(),
            count: i64::try_from(release.capture.listed.len()).unwrap_or(i64::MAX),
            submitted_by: self.account.clone(),
            received_at: placed.at,
            log_index: placed.index,
        };
        tx.put_release(&row).await?;
        for (position, (descriptor, scanned)) in (0..).zip(self.descriptors().zip(&self.scanned)) {
            // The canonical bytes are named by the deciding digest itself.
            tx.put_content(&Content::new(descriptor.canonical().to_vec(), JSON, true)).await?;
            let raw = Content::new(descriptor.raw().to_vec(), JSON, true);
            tx.put_content(&raw).await?;
            let broken = descriptor.unpinnable();
            let row = store::Descriptor {
                release: id.to_owned(),
                position,
                kind: descriptor.kind(),
                name: descriptor.listed_name().to_owned(),
                digest: descriptor.digest().sha256,
                python_digest: descriptor.python_digest().sha256,
                raw: raw.sha256,
                members: to_jcs(&member_digests(descriptor)),
                unpinnable: broken.map(|broken| broken.code.as_str().to_owned()),
                pointer: broken.map(|broken| broken.pointer.clone()),
            };
            tx.put_descriptor(&row).await?;
            scanned.write(tx).await?;
        }
        Ok(())
    }

    async fn write_evidence(&self, work: &mut Work, release: &str, placed: &Placed) -> Result<(), StoreError> {
        let tx = work.write();
        tx.put_content(&Content::new(self.verified.envelope().to_vec(), JSON, true)).await?;
        let row = store::Attestation {
            sha256: self.verified.sha256(),
            release: release.to_owned(),
            level: self.verified.level(),
            signer: self.verified.signer().to_string(),
            authority: self.verified.authority().to_owned(),
            predicate: self.predicate(),
            submitted_by: self.account.clone(),
            received_at: placed.at,
            log_index: placed.index,
        };
        tx.put_attestation(&row).await
    }

    fn published(&self, release: String, new: bool, opened: Opened, log_index: u64) -> Published {
        let unpinnable = self.descriptors().filter_map(|descriptor| {
            let broken = descriptor.unpinnable()?;
            Some(UnpinnableItem {
                kind: descriptor.kind(),
                name: descriptor.listed_name().to_owned(),
                code: broken.code.as_str(),
                pointer: broken.pointer.clone(),
            })
        });
        Published {
            release,
            level: self.verified.level(),
            new,
            unpinnable: unpinnable.collect(),
            findings: self.scanned.iter().map(|scanned| scanned.report.findings.len()).sum(),
            candidates: opened.candidates,
            unchanged: opened.unchanged,
            log_index,
        }
    }
}

/// The digest of each top-level member: which part moved, for people; it admits nothing.
fn member_digests(descriptor: &Descriptor) -> std::collections::BTreeMap<&str, Sha256> {
    descriptor.members().iter().map(|member| (member.name.as_str(), member.sha256)).collect()
}

/// The pin sets in which a server's releases open candidates: those where it has an alias, else `default`.
pub(super) fn sets_of(state: &State, server: &ServerName) -> Vec<SetName> {
    let bound: Vec<SetName> =
        state.sets().filter(|set| set.alias_of(server).is_some()).map(|set| set.name().clone()).collect();
    if bound.is_empty() {
        state.sets().map(|set| set.name().clone()).filter(|name| name.as_str() == "default").collect()
    } else {
        bound
    }
}
