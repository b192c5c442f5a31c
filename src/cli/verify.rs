//! `countersign verify`: what a bundle proves, offline.

use std::path::PathBuf;

use serde::{Serialize, de::IgnoredAny};

use crate::{
    attest::{Level, Role, Scope, Signer},
    canon::{Digest, Sha256},
    clock::Timestamp,
    env::Env,
    keys::KeyId,
    name::{Alias, Kind, QualifiedName, ServerName, SetName, Variant, Version},
    pinset::{
        bundle::{Broken, Bundle, MAX_BYTES, Proven},
        trust::Trust,
    },
    review::{Mode, ReviewerId},
};

use super::{Exit, Failure, files, print};

/// Check a bundle offline and say what it proves
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Follows every link: the trust file's log key signed a checkpoint; the log under it holds the decision, the \
release, the authority and the pin set's version; the head key signed that this version was the newest; its \
documents have the pin; the pin names the decision, the decision the digest and the attestation; the \
publisher's key signed the descriptor's digest; and the descriptor has that digest. It needs no network and no \
registry. The first link that breaks is named.

A bundle never ends. It proves what was approved, by whom, and that it was pinned when the head was issued; \
it does not prove that the descriptor is safe, nor that the pin is still live: `pull` and `check` tell that.

Ends with 0 if all of it holds, 1 if anything doesn't or is about something else than --name and --digest, \
3 if the file breaks off.

Examples:
  countersign verify notes.export.bundle.json --trust trust.txt
  countersign verify notes.export.bundle.json --trust trust.txt --name notes.export \\
      --digest jcs-sha256:<64 hex> --json")]
pub(super) struct Args {
    /// The bundle; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The trust file of the registry, whose fingerprint you compared
    #[arg(long, value_name = "FILE")]
    trust: PathBuf,
    /// The digest that it must be about, as `countersign digest` prints it
    #[arg(long, value_name = "DIGEST")]
    digest: Option<Digest>,
    /// The qualified name that it must be about, as notes.export
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print what is proved as JSON
    #[arg(long)]
    json: bool,
}

/// What `--json` prints of a bundle that holds.
#[derive(Serialize)]
struct Answer<'a> {
    proved: bool,
    registry: &'a str,
    epoch: u64,
    fingerprint: KeyId,
    pinset: &'a SetName,
    version: u64,
    alias: Option<&'a Alias>,
    server: &'a ServerName,
    variant: &'a Variant,
    kind: Kind,
    name: &'a QualifiedName,
    digest: Digest,
    descriptor_size: usize,
    attestation: Attested<'a>,
    decision: Decided<'a>,
    head: Headed,
    checkpoint: Tree,
}

#[derive(Serialize)]
struct Attested<'a> {
    sha256: Sha256,
    release: &'a str,
    version: &'a Version,
    role: Role,
    level: Level,
    signer: Signer,
    authority: &'a str,
    scope: &'a Scope,
    received_at: Timestamp,
    log_index: u64,
}

#[derive(Serialize)]
struct Decided<'a> {
    sha256: Sha256,
    mode: Mode,
    reviewers: Vec<&'a ReviewerId>,
    accepted_findings: &'a [String],
    approved_at: Timestamp,
    not_after: Timestamp,
    log_index: u64,
}

#[derive(Serialize)]
struct Headed {
    issued: Timestamp,
    expires: Timestamp,
}

#[derive(Serialize)]
struct Tree {
    size: u64,
    root: Sha256,
}

/// What `--json` prints of one that doesn't.
#[derive(Serialize)]
struct Refusal<'a> {
    proved: bool,
    link: &'a str,
    error: String,
}

pub(super) fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let digest = args.digest.map(files::deciding).transpose()?;
    let trust = files::trust(env, &args.trust)?;
    let bytes = files::read(env, &args.file, MAX_BYTES)?;
    let named = args.file.display();
    let proven = match Bundle::parse(&bytes).and_then(|bundle| bundle.verify(&trust)) {
        Ok(proven) => proven,
        Err(Broken::Form(_)) if breaks_off(&bytes) => {
            return Err(Failure::blind(format_args!("{named} breaks off")).next("copy it again, whole"));
        }
        Err(broken) => {
            return refused(args, env, broken.link(), &broken);
        }
    };
    let pin = proven.pin();
    if args.name.as_ref().is_some_and(|name| pin.name.as_str() != name) {
        return refused(args, env, "name", &format_args!("it is about {}, not about what --name says", pin.name));
    }
    if digest.is_some_and(|digest| pin.digests.jcs != digest) {
        let found = pin.digests.digest();
        return refused(args, env, "digest", &format_args!("it is about {found}, not about what --digest says"));
    }
    if args.json {
        print::json(env, &answer(&proven, &trust))?;
    } else {
        tell(&proven, &trust, env)?;
    }
    Ok(Exit::Done)
}

fn refused(args: &Args, env: &mut Env, link: &str, error: &dyn std::fmt::Display) -> Result<Exit, Failure> {
    if args.json {
        print::json(env, &Refusal { proved: false, link, error: error.to_string() })?;
    }
    Err(Failure::no(format_args!("{} proves nothing: {error}", args.file.display())))
}

/// Whether there would have been more: nobody knows what it would have said.
fn breaks_off(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_err_and(|e| e.is_eof())
}

fn answer<'a>(proven: &'a Proven, trust: &'a Trust) -> Answer<'a> {
    let (release, decision, pin, head) = (proven.release(), proven.decision(), proven.pin(), proven.head());
    let facts = &release.facts;
    Answer {
        proved: true,
        registry: &head.registry,
        epoch: head.epoch,
        fingerprint: trust.fingerprint(),
        pinset: &head.name,
        version: head.version,
        alias: decision.facts.alias.as_ref(),
        server: &facts.server,
        variant: &facts.variant,
        kind: pin.kind,
        name: &pin.name,
        digest: pin.digests.digest(),
        descriptor_size: proven.descriptor().len(),
        attestation: Attested {
            sha256: facts.attestation,
            release: &facts.release,
            version: &facts.version,
            role: facts.role,
            level: facts.level,
            signer: facts.signer,
            authority: &facts.authority,
            scope: &proven.authority().facts.scope,
            received_at: release.at,
            log_index: release.index,
        },
        decision: Decided {
            sha256: pin.approval.decision_sha256,
            mode: pin.approval.mode,
            reviewers: decision.facts.ballots.iter().map(|ballot| &ballot.reviewer).collect(),
            accepted_findings: &decision.facts.accepted,
            approved_at: decision.at,
            not_after: pin.approval.not_after,
            log_index: decision.index,
        },
        head: Headed { issued: head.issued, expires: head.expires },
        checkpoint: Tree { size: proven.checkpoint().size, root: proven.checkpoint().root },
    }
}

/// In plain words. Names and versions are a publisher's or a registry's text, so each goes through [`print::inert`].
fn tell(proven: &Proven, trust: &Trust, env: &mut Env) -> Result<(), Failure> {
    let Answer { attestation, decision, head, checkpoint, .. } = answer(proven, trust);
    let said = proven.head();
    let (pin, release) = (proven.pin(), &proven.release().facts);
    let variant = if release.variant.is_default() { String::new() } else { format!(", variant {}", release.variant) };
    let over = if env.clock.now() >= decision.not_after { ", which is over" } else { "" };
    let accepted = match decision.accepted_findings.len() {
        0 => String::new(),
        n => format!(", accepting {}", print::count(n, "finding", "findings")),
    };
    let reviewers: Vec<&str> = decision.reviewers.iter().map(|id| id.as_str()).collect();
    let lines = [
        format!(
            "proved, if {} is the fingerprint of the registry {} (trust file version {}, epoch {}):",
            trust.fingerprint(),
            said.registry,
            trust.terms().version,
            said.epoch
        ),
        format!("  pinned      {}, {} of {}{variant}", pin.name, a(pin.kind), release.server),
        format!(
            "              in {}, version {}, the newest when its head was issued at {}",
            said.name, said.version, head.issued
        ),
        format!("  descriptor  {}, {} bytes", pin.digests.digest(), proven.descriptor().len()),
        format!("  attested    by {}", attestation.signer),
        format!(
            "              as {} for {} (authority {}, level {}), in release {} version {}",
            attestation.role,
            attestation.scope,
            attestation.authority,
            attestation.level,
            attestation.release,
            attestation.version
        ),
        format!("              received {}, leaf {}", attestation.received_at, attestation.log_index),
        format!("  approved    {} by {}{accepted}", decision.mode, reviewers.join(", ")),
        format!(
            "              at {}, leaf {}, until {}{over}",
            decision.approved_at, decision.log_index, decision.not_after
        ),
        format!("  logged      under a signed checkpoint of {} leaves, root {}", checkpoint.size, checkpoint.root),
        "not proved:".to_owned(),
        "  that the descriptor is safe: a matching digest proves that it did not change".to_owned(),
        format!(
            "  that the pin is still live: it may have been revoked since {}; `pull` and `check` tell",
            head.issued
        ),
        "  who the reviewers are: the names behind the ids are the registry's".to_owned(),
        "  that the log shows everybody the same: an audit of the whole log does".to_owned(),
    ];
    for line in lines {
        print::line(env, print::inert(&line))?;
    }
    Ok(())
}

const fn a(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "a tool",
        Kind::Prompt => "a prompt",
        Kind::Resource => "a resource",
        Kind::ResourceTemplate => "a resource template",
        Kind::Instructions => "the instructions",
    }
}
