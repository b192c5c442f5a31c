//! The links of a bundle, in the order that the format's documentation lists them.

use super::{Bundle, Known, Logged, Proven};
use crate::{
    attest::{
        Level, Signer, Statement,
        dsse::{self, Envelope},
        statement::{NotAStatement, PAYLOAD_TYPE},
    },
    canon::{NotCanonical, Sha256, to_jcs},
    clock::Timestamp,
    descriptor::Subject,
    event::{AuthorityGranted, Event, Evidence, Leaf, NotALeaf, PinsetPublished},
    keys::{KeyId, VerifyingKey},
    log::{BadProof, Checkpoint},
    name::{DescriptorName, QualifiedName, WireName},
    pinset::{
        Pin, PinEvidence, PinsDocument, SetDocument,
        head::{Head, NotAHead},
        trust::Trust,
        verify::{self, CheckedHead, HeadAnswer},
    },
    review::{Decision, Outcome, Unsound},
};

/// The link of a bundle that doesn't hold.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The file isn't a bundle.
    #[error("not a bundle: {0}")]
    Form(String),
    /// A leaf isn't one.
    #[error("{part}: {why}")]
    NotALeaf {
        /// Which part of the bundle.
        part: &'static str,
        /// Why.
        why: NotALeaf,
    },
    /// A leaf says something else than the part is for.
    #[error("{part}: the leaf is of the type {found}")]
    OtherEvent {
        /// Which part of the bundle.
        part: &'static str,
        /// The leaf's type.
        found: &'static str,
    },
    /// A leaf isn't shown to be in the log.
    #[error("{part}: {why}")]
    NotLogged {
        /// Which part of the bundle.
        part: &'static str,
        /// Why.
        why: BadProof,
    },
    /// The leaves aren't shown to be in one tree.
    #[error("{0}: its proof carries another checkpoint than the published leaf's")]
    Checkpoint(&'static str),
    /// What rests on something stands before it in the log.
    #[error("{0}: its leaf does not come after what it rests on")]
    Order(&'static str),
    /// The head doesn't hold.
    #[error("head: {0}")]
    Head(verify::Refused),
    /// The set document isn't the head's.
    #[error("set: {0}")]
    Set(verify::Refused),
    /// The set document was issued at another time than its leaf.
    #[error("set: issued at another time than the version's leaf says")]
    Issued,
    /// The set document has no such alias, or for another server.
    #[error("pins: the set has no such alias for the server")]
    NoAlias,
    /// The pins document isn't the one that the set names.
    #[error("pins: another document than the set names")]
    OtherPins,
    /// The pins document isn't one.
    #[error("pins: {0}")]
    Pins(NotCanonical),
    /// A pin rests on evidence that isn't there.
    #[error("pins: the pin {0} names evidence that its document does not carry")]
    NoEvidence(QualifiedName),
    /// The decision's record doesn't hold together.
    #[error("decision: {0}")]
    Decision(#[from] Unsound),
    /// The decision approved nothing.
    #[error("decision: its outcome is {}", .0.as_str())]
    NotApproved(Outcome),
    /// The decision is another registry's, or its names aren't joined by the rules.
    #[error("decision: {0}")]
    Foreign(&'static str),
    /// No pin rests on the decision.
    #[error("pin: the pins document has no pin that is this decision's")]
    NoPin,
    /// The pin says something else than the decision.
    #[error("pin: its {0} is not the decision's")]
    OtherPin(&'static str),
    /// The evidence is another one.
    #[error("evidence: the {0} is not the one that the release's leaf records")]
    OtherEvidence(&'static str),
    /// The authority is another one.
    #[error("authority: the {0} is not the one that the release's leaf records")]
    OtherAuthority(&'static str),
    /// The attestation isn't the recorded one.
    #[error("attestation: its SHA-256 is not the one that the release's leaf records")]
    OtherAttestation,
    /// The key that may speak for the server didn't sign the attestation.
    #[error("attestation: {0}")]
    Unsigned(dsse::Refused),
    /// What was signed isn't a statement of ours.
    #[error("statement: {0}")]
    NotAStatement(NotAStatement),
    /// The statement says something else than the release's leaf.
    #[error("statement: its {0} is not the one that the release's leaf records")]
    OtherStatement(&'static str),
    /// The descriptor isn't among the subjects.
    #[error("subject: the statement names no such descriptor with the decided digest")]
    NoSubject,
    /// The descriptor's bytes have another digest.
    #[error("descriptor: its digest is {0}, which was not decided about")]
    OtherDescriptor(Sha256),
}

impl Broken {
    /// The link's name, as the documentation of the format and other verifiers say it.
    pub const fn link(&self) -> &'static str {
        match self {
            Self::Form(_) => "form",
            Self::NotALeaf { .. } | Self::OtherEvent { .. } => "leaf",
            Self::NotLogged { .. } => "log",
            Self::Checkpoint(_) => "checkpoint",
            Self::Order(_) => "order",
            Self::Head(_) => "head",
            Self::Set(_) | Self::Issued => "set",
            Self::NoAlias | Self::OtherPins | Self::Pins(_) | Self::NoEvidence(_) => "pins",
            Self::Decision(_) | Self::NotApproved(_) | Self::Foreign(_) => "decision",
            Self::NoPin | Self::OtherPin(_) => "pin",
            Self::OtherEvidence(_) => "evidence",
            Self::OtherAuthority(_) => "authority",
            Self::OtherAttestation | Self::Unsigned(_) => "attestation",
            Self::NotAStatement(_) | Self::OtherStatement(_) => "statement",
            Self::NoSubject => "subject",
            Self::OtherDescriptor(_) => "descriptor",
        }
    }
}

pub(super) fn verify(bundle: &Bundle, trust: &Trust) -> Result<Proven, Broken> {
    let authority = read("authority", &bundle.authority, |event| match event {
        Event::AuthorityGranted(facts) => Some(facts),
        _ => None,
    })?;
    let release = read("release", &bundle.release, |event| match event {
        Event::ReleaseAttested(facts) | Event::EvidenceAttached(facts) => Some(facts),
        _ => None,
    })?;
    let decision = read("decision", &bundle.decision, |event| match event {
        Event::Decision(facts) => Some(*facts),
        _ => None,
    })?;
    let published = read("published", &bundle.published, |event| match event {
        Event::PinsetPublished(facts) => Some(facts),
        _ => None,
    })?;
    let checkpoint = one_checkpoint(bundle, trust)?;
    order(&[
        ("release", (authority.index, authority.at), (release.index, release.at)),
        ("decision", (release.index, release.at), (decision.index, decision.at)),
        ("published", (decision.index, decision.at), (published.index, published.at)),
    ])?;
    let head = head(bundle, trust, &decision.facts)?;
    let (set, head) = set(head, &bundle.set, &published)?;
    let pins = pins(&bundle.pins, &set, &decision.facts)?;
    approves(&decision.facts, &set.registry)?;
    let pin = pin(&pins, &decision, Sha256::of(&bundle.decision.leaf))?;
    evidence(&pins, &decision.facts, &release)?;
    authorised(&release.facts, &authority.facts)?;
    let statement = signed(&bundle.attestation, &release.facts, &authority.facts.key)?;
    same_statement(&statement, &release.facts)?;
    let decided = &decision.facts;
    let subject = Subject { name: format!("{}/{}", decided.kind, decided.name), sha256: decided.digests.jcs };
    if !statement.subjects.contains(&subject) {
        return Err(Broken::NoSubject);
    }
    let sha256 = Sha256::of(&bundle.descriptor);
    if sha256 != decided.digests.jcs {
        return Err(Broken::OtherDescriptor(sha256));
    }
    Ok(Proven { descriptor: bundle.descriptor.clone(), authority, release, decision, published, pin, head, checkpoint })
}

fn read<T>(part: &'static str, logged: &Logged, facts: impl Fn(Event) -> Option<T>) -> Result<Known<T>, Broken> {
    let leaf = Leaf::parse(&logged.leaf).map_err(|why| Broken::NotALeaf { part, why })?;
    let (index, at) = (logged.proof.index, leaf.at());
    let facts = facts(leaf.event().clone());
    let facts = facts.ok_or_else(|| Broken::OtherEvent { part, found: leaf.event().kind() })?;
    Ok(Known { index, at, facts })
}

/// The one tree that holds all four leaves.
fn one_checkpoint(bundle: &Bundle, trust: &Trust) -> Result<Checkpoint, Broken> {
    let log = trust.logs().map_err(|e| Broken::Form(e.to_string()))?;
    let Bundle { authority, release, decision, published, .. } = bundle;
    let all = [("authority", authority), ("release", release), ("decision", decision), ("published", published)];
    let mut tree = None;
    for (part, logged) in all {
        let proved = logged.proof.verify_by(&logged.leaf, &log);
        tree = Some(proved.map_err(|why| Broken::NotLogged { part, why })?);
    }
    let elsewhere = |logged: &Logged| logged.proof.checkpoint != published.proof.checkpoint;
    match (all.into_iter().find(|(_, logged)| elsewhere(logged)), tree) {
        (None, Some(tree)) => Ok(tree),
        (found, _) => Err(Broken::Checkpoint(found.map_or("published", |(part, _)| part))),
    }
}

type Place = (u64, Timestamp);

fn order(steps: &[(&'static str, Place, Place)]) -> Result<(), Broken> {
    let backwards = |(_, before, after): &&(_, Place, Place)| before.0 >= after.0 || before.1 >= after.1;
    steps.iter().find(backwards).map_or(Ok(()), |(part, ..)| Err(Broken::Order(part)))
}

/// The head is judged at the moment that it runs out: whether that has come is nothing that a bundle proves, and witnesses
/// cosign after it was issued and while it lasts.
fn head(bundle: &Bundle, trust: &Trust, decision: &Decision) -> Result<CheckedHead, Broken> {
    let refused = |e: NotAHead| Broken::Head(e.into());
    let said = Head::open(&bundle.head, &trust.heads()).map_err(refused)?;
    let Logged { leaf, proof } = bundle.published.clone();
    let answer = HeadAnswer { head: bundle.head.clone(), leaf, proof, consistency: Vec::new() };
    verify::head(trust, &decision.pinset, None, &answer, said.expires).map_err(Broken::Head)
}

fn set(head: CheckedHead, bytes: &[u8], published: &Known<PinsetPublished>) -> Result<(SetDocument, Head), Broken> {
    let said = head.head().clone();
    let document = head.with_set(bytes).map_err(Broken::Set)?.document().clone();
    if document.issued == published.at { Ok((document, said)) } else { Err(Broken::Issued) }
}

fn pins(bytes: &[u8], set: &SetDocument, decision: &Decision) -> Result<PinsDocument, Broken> {
    let entry = decision.alias.as_ref().and_then(|alias| Some((alias, set.aliases.get(alias)?)));
    let (alias, entry) = entry.filter(|(_, entry)| entry.server == decision.server).ok_or(Broken::NoAlias)?;
    if bytes.len() as u64 != entry.pins_size || Sha256::of(bytes) != entry.pins_sha256 {
        return Err(Broken::OtherPins);
    }
    let pins = PinsDocument::parse(bytes).map_err(Broken::Pins)?;
    let same =
        (&pins.registry, &pins.set, &pins.alias, &pins.server) == (&set.registry, &set.name, alias, &entry.server);
    match pins.unvouched() {
        _ if !same => Err(Broken::OtherPins),
        Some(pin) => Err(Broken::NoEvidence(pin.name.clone())),
        None => Ok(pins),
    }
}

fn approves(decision: &Decision, registry: &str) -> Result<(), Broken> {
    decision.check()?;
    if decision.outcome != Outcome::Approve {
        return Err(Broken::NotApproved(decision.outcome));
    }
    if decision.ballots.iter().any(|ballot| ballot.registry != registry) {
        return Err(Broken::Foreign("a ballot names another registry"));
    }
    let joined = DescriptorName::new(decision.kind, &decision.name).ok().zip(decision.alias.as_ref());
    let joined = joined
        .and_then(|(name, alias)| Some((QualifiedName::join(alias, &name).ok()?, WireName::join(alias, &name).ok()?)));
    let stated = decision.qualified.clone().map(|qualified| (qualified, decision.wire.clone()));
    if joined == stated { Ok(()) } else { Err(Broken::Foreign("its names are joined otherwise")) }
}

fn pin(pins: &PinsDocument, decision: &Known<Decision>, sha256: Sha256) -> Result<Pin, Broken> {
    let Known { index, at, facts } = decision;
    let is_it = |pin: &&Pin| {
        pin.kind == facts.kind
            && Some(&pin.name) == facts.qualified.as_ref()
            && pin.variant == facts.variant
            && pin.digests == facts.digests
            && pin.approval.decision_sha256 == sha256
    };
    let pin = pins.pins.iter().find(is_it).ok_or(Broken::NoPin)?;
    let approval = &pin.approval;
    let differs = [
        ("wire name", pin.wire != facts.wire),
        ("log index", approval.log_index != *index),
        ("mode", approval.mode != facts.mode),
        ("time of approval", approval.approved_at != *at),
        // A later approval may have brought the end forward, nothing may put it off.
        ("end", facts.not_after.is_none_or(|end| approval.not_after > end)),
        ("evidence", pin.evidence != facts.attestation),
    ];
    match differs.into_iter().find(|(_, differs)| *differs) {
        Some((what, _)) => Err(Broken::OtherPin(what)),
        None => Ok(pin.clone()),
    }
}

fn evidence(pins: &PinsDocument, decision: &Decision, release: &Known<Evidence>) -> Result<(), Broken> {
    let Known { index, facts, .. } = release;
    let recorded = PinEvidence {
        release: facts.release.clone(),
        version: facts.version.clone(),
        role: facts.role,
        level: facts.level,
        signer: facts.signer,
        remotes: facts.remotes.clone(),
        artifacts: facts.artifacts.clone(),
        log_index: *index,
    };
    let differs = [
        ("decision's release", decision.release != facts.release),
        ("decision's attestation", decision.attestation != facts.attestation),
        ("decision's level", decision.level != facts.level),
        ("decision's signer", decision.signer != facts.signer),
        ("decision's server", decision.server != facts.server),
        ("decision's variant", decision.variant != facts.variant),
        ("pins document's evidence", pins.evidence.get(&facts.attestation) != Some(&recorded)),
    ];
    differs.into_iter().find(|(_, differs)| *differs).map_or(Ok(()), |(what, _)| Err(Broken::OtherEvidence(what)))
}

fn authorised(release: &Evidence, granted: &AuthorityGranted) -> Result<(), Broken> {
    let level: Level = granted.role.key_level();
    let differs = [
        ("id", release.authority != granted.authority),
        ("role", release.role != granted.role),
        ("scope", !granted.scope.covers(&release.server)),
        ("key", release.signer != Signer::Key(granted.key.id())),
        ("level", release.level != level),
    ];
    differs.into_iter().find(|(_, differs)| *differs).map_or(Ok(()), |(what, _)| Err(Broken::OtherAuthority(what)))
}

fn signed(attestation: &[u8], release: &Evidence, key: &VerifyingKey) -> Result<Statement, Broken> {
    if Sha256::of(attestation) != release.attestation {
        return Err(Broken::OtherAttestation);
    }
    let envelope = Envelope::parse(attestation).map_err(Broken::Unsigned)?;
    let known: [(KeyId, VerifyingKey); 1] = [(key.id(), *key)];
    let checked = envelope.verify(PAYLOAD_TYPE, &known.into()).map_err(Broken::Unsigned)?;
    Statement::parse(checked.payload).map_err(Broken::NotAStatement)
}

fn same_statement(statement: &Statement, release: &Evidence) -> Result<(), Broken> {
    let Statement { subjects, predicate } = statement;
    let differs = [
        ("server", predicate.server.name != release.server),
        ("version", predicate.server.version != release.version),
        ("variant", predicate.server.variant != release.variant),
        ("role", predicate.role != release.role),
        ("remotes", predicate.remotes != release.remotes),
        ("artifacts", predicate.artifacts != release.artifacts),
        ("number of subjects", u32::try_from(subjects.len()) != Ok(release.subjects.count)),
        ("list of subjects", Sha256::of(&to_jcs(subjects)) != release.subjects.sha256),
    ];
    differs.into_iter().find(|(_, differs)| *differs).map_or(Ok(()), |(what, _)| Err(Broken::OtherStatement(what)))
}
