//! Collects what proves one pin, and checks it before it is handed out.

use serde::Deserialize;

use crate::{
    canon::Sha256,
    env::Clock,
    log::Proof,
    name::{Kind, SetName, Variant},
    pinset::{
        Pin, PinEvidence, PinsDocument, SetDocument,
        bundle::{Broken, Bundle, Logged, Proven},
        trust::Trust,
        verify::{self, HeadAnswer, MAX_ANSWER_BYTES, Refused},
    },
};

use super::{Error, Log, LogError, Registry};

/// A set document or a document of pins.
const MAX_DOCUMENT: usize = 32 << 20;
/// Canonical bytes of a descriptor of 1 MiB, whose numbers may be written longer; or an attestation of 4 MiB.
const MAX_CONTENT: usize = 8 << 20;
/// A release of 2,000 descriptors with long names, and its attestations.
const MAX_RELEASE: usize = 16 << 20;

/// Which pin. What isn't stated must not be needed to tell it from others.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The pin set.
    pub pinset: SetName,
    /// The qualified name, looked up as a whole.
    pub name: String,
    /// The kind.
    pub kind: Option<Kind>,
    /// The variant.
    pub variant: Option<Variant>,
    /// The digest.
    pub digest: Option<Sha256>,
}

/// There is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The registry can't be used.
    #[error(transparent)]
    Fetch(#[from] Error),
    /// Its log can't be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Its head or documents must not be relied on.
    #[error("the registry's answer is refused: {0}")]
    Refused(#[from] Refused),
    /// The newest version pins no such thing.
    #[error("version {version} of {pinset} pins nothing that is called {name} and fits")]
    NoPin {
        /// The pin set.
        pinset: SetName,
        /// Its newest version.
        version: u64,
        /// The name that was asked for.
        name: String,
    },
    /// Several pins fit; these are their kinds, variants and digests.
    #[error("several pins fit: {}", .0.join("; "))]
    Several(Vec<String>),
    /// What the registry says about the release names no such attestation, or not the leaf of its authority.
    #[error("the registry does not say which leaf granted the authority behind the attestation {0}")]
    NoAuthority(Sha256),
    /// What was collected proves nothing.
    #[error("what the registry serves does not prove the pin: {0}")]
    Broken(#[from] Broken),
}

/// What of a release's answer is needed; a hint that the bundle's verification checks.
#[derive(Deserialize)]
struct Release {
    attestations: Vec<Attestation>,
}

#[derive(Deserialize)]
struct Attestation {
    sha256: Sha256,
    authority_log_index: Option<u64>,
}

/// Collects the bundle of a pin in the newest version of its set, and verifies it against `trust`.
///
/// # Errors
/// [`BundleError`].
pub async fn bundle(
    registry: &Registry,
    trust: &Trust,
    wanted: &Wanted,
    clock: &dyn Clock,
) -> Result<(Bundle, Proven), BundleError> {
    let work = Work { registry, clock };
    let (answer, size, set, set_bytes) = work.newest(trust, wanted).await?;
    let (pin, by, pins) = work.pin(&set, wanted).await?;
    let authority = work.authority(&by, &pin).await?;
    // The size under the head: everything is proved in the tree that it was signed over.
    let mut log = Log::at(registry, clock, size);
    let checkpoint = answer.proof.checkpoint.clone();
    let bundle = Bundle {
        descriptor: work.content(&pin.digests.jcs).await?,
        attestation: work.content(&pin.evidence).await?,
        authority: logged(&mut log, authority, &checkpoint).await?,
        release: logged(&mut log, by.log_index, &checkpoint).await?,
        decision: logged(&mut log, pin.approval.log_index, &checkpoint).await?,
        published: Logged { leaf: answer.leaf, proof: answer.proof },
        head: answer.head,
        set: set_bytes,
        pins,
    };
    let proven = bundle.verify(trust)?;
    Ok((bundle, proven))
}

struct Work<'a> {
    registry: &'a Registry,
    clock: &'a dyn Clock,
}

impl Work<'_> {
    async fn newest(
        &self,
        trust: &Trust,
        wanted: &Wanted,
    ) -> Result<(HeadAnswer, u64, SetDocument, Vec<u8>), BundleError> {
        let path = ["v1", "pinsets", wanted.pinset.as_str(), "head"];
        let answer = HeadAnswer::parse(&self.get(&path, MAX_ANSWER_BYTES).await?)?;
        let now = self.clock.now();
        let head = verify::head(trust, &wanted.pinset, None, &answer, now)?.fresh(now)?;
        let (sha256, size) = (head.head().set_sha256, head.head().checkpoint_size);
        let bytes = self.document(&wanted.pinset, &sha256).await?;
        let set = head.with_set(&bytes)?.document().clone();
        Ok((answer, size, set, bytes))
    }

    /// The one pin that fits, who vouches for it, and the document that says so.
    async fn pin(&self, set: &SetDocument, wanted: &Wanted) -> Result<(Pin, PinEvidence, Vec<u8>), BundleError> {
        let mut found = Vec::new();
        // An alias only says which documents to fetch; the name is compared as a whole.
        let fits = |alias: &str| wanted.name.strip_prefix(alias).is_some_and(|rest| rest.starts_with('.'));
        for (_, entry) in set.aliases.iter().filter(|(alias, _)| fits(alias.as_str())) {
            let bytes = self.document(&wanted.pinset, &entry.pins_sha256).await?;
            let document = PinsDocument::parse(&bytes).map_err(Refused::from)?;
            for pin in document.pins.iter().filter(|pin| wanted.fits(pin)) {
                let by = document.evidence.get(&pin.evidence).ok_or(Refused::Foreign("a pins document"))?;
                found.push((pin.clone(), by.clone(), bytes.clone()));
            }
        }
        if found.len() > 1 {
            let of = |(pin, ..): &(Pin, _, _)| {
                format!("{}, variant {:?}, {}", pin.kind, pin.variant.as_str(), pin.digests.digest())
            };
            return Err(BundleError::Several(found.iter().map(of).collect()));
        }
        let (pinset, name) = (wanted.pinset.clone(), wanted.name.clone());
        found.pop().ok_or(BundleError::NoPin { pinset, version: set.version, name })
    }

    async fn authority(&self, by: &PinEvidence, pin: &Pin) -> Result<u64, BundleError> {
        let answer = self.get(&["v1", "releases", &by.release], MAX_RELEASE).await?;
        let unknown = || BundleError::NoAuthority(pin.evidence);
        let release: Release = serde_json::from_slice(&answer).map_err(|_| unknown())?;
        let of = release.attestations.iter().find(|attestation| attestation.sha256 == pin.evidence);
        of.and_then(|attestation| attestation.authority_log_index).ok_or_else(unknown)
    }

    async fn document(&self, set: &SetName, sha256: &Sha256) -> Result<Vec<u8>, BundleError> {
        let path = ["v1", "pinsets", set.as_str(), "sets", &sha256.to_string()];
        let bytes = self.get(&path, MAX_DOCUMENT).await?;
        if Sha256::of(&bytes) == *sha256 { Ok(bytes) } else { Err(Refused::Document(*sha256).into()) }
    }

    async fn content(&self, sha256: &Sha256) -> Result<Vec<u8>, BundleError> {
        self.get(&["v1", "content", &sha256.to_string()], MAX_CONTENT).await
    }

    async fn get(&self, path: &[&str], max: usize) -> Result<Vec<u8>, BundleError> {
        let body = self.registry.get(self.clock, path, &[], None, max).await?;
        Ok(body.map(|body| body.bytes).unwrap_or_default())
    }
}

impl Wanted {
    fn fits(&self, pin: &Pin) -> bool {
        pin.name.as_str() == self.name
            && self.kind.is_none_or(|kind| pin.kind == kind)
            && self.variant.as_ref().is_none_or(|variant| pin.variant == *variant)
            && self.digest.is_none_or(|digest| pin.digests.jcs == digest)
    }
}

async fn logged(log: &mut Log<'_>, index: u64, checkpoint: &str) -> Result<Logged, LogError> {
    let leaf = log.leaf(index).await?;
    let hashes = log.inclusion(index).await?;
    Ok(Logged { leaf, proof: Proof { index, hashes, checkpoint: checkpoint.to_owned(), extra: None } })
}
