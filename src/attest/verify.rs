//! From a submitted release and its attestation to [`Verified`], or to the one reason why not.

use std::cmp::Ordering;

use super::{
    Authorities, Authority, Level, Refused, Role, Server, Signer, Statement, Subject,
    dsse::{self, Envelope},
    statement::PAYLOAD_TYPE,
};
use crate::{canon::Sha256, keys::KeyId};

/// A release whose attestation was verified. [`verify`] makes it and nothing else does: whoever holds one needn't ask
/// again who signed, with what authority, or whether the descriptors are those that were signed.
#[derive(Clone, Debug)]
pub struct Verified {
    envelope: Vec<u8>,
    statement: Statement,
    signer: Signer,
    level: Level,
    authority: String,
    holder: Option<String>,
}

/// The release that a submission claims to be.
#[derive(Clone, Copy, Debug)]
pub struct Submitted<'a> {
    /// Whether everything that the server lists is there.
    pub complete: bool,
    /// Server, version and variant.
    pub server: &'a Server,
    /// Every descriptor, sorted.
    pub subjects: &'a [Subject],
}

/// Checks an attestation against the release it came with.
///
/// Signature first, then meaning: nothing of the payload is looked at before a key with some authority over the
/// submitted server has signed it.
///
/// # Errors
/// The first thing that [`Refused`] lists.
pub fn verify(submitted: Submitted<'_>, attestation: &[u8], authorities: &Authorities) -> Result<Verified, Refused> {
    if !submitted.complete {
        return Err(Refused::Incomplete);
    }
    let name = &submitted.server.name;
    let envelope = Envelope::parse(attestation)?;
    let checked = envelope.verify(PAYLOAD_TYPE, &authorities.keys_over(name)).map_err(|refused| {
        let known = envelope.key_ids().any(|id| authorities.knows(&id));
        if refused == dsse::Refused::UnknownKey && known {
            Refused::NoAuthority(name.to_string())
        } else {
            refused.into()
        }
    })?;
    let statement = Statement::parse(checked.payload)?;
    same_release(&statement.predicate.server, submitted.server)?;
    let (key, authority) = authority(&checked.by, statement.predicate.role, submitted.server, authorities)?;
    same_subjects(&statement.subjects, submitted.subjects)?;
    Ok(Verified {
        envelope: attestation.to_vec(),
        signer: Signer::Key(key),
        level: authority.role.key_level(),
        authority: authority.id.clone(),
        holder: authority.holder.clone(),
        statement,
    })
}

impl Verified {
    /// What was signed.
    pub const fn statement(&self) -> &Statement {
        &self.statement
    }

    /// What the evidence is worth. It follows from the authority of the key, whatever the statement says.
    pub const fn level(&self) -> Level {
        self.level
    }

    /// Who signed.
    pub const fn signer(&self) -> &Signer {
        &self.signer
    }

    /// The id of the authority under which the signature counts.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The account whose key signed, if the authority names one.
    pub fn holder(&self) -> Option<&str> {
        self.holder.as_deref()
    }

    /// The attestation, byte for byte as it was received.
    pub fn envelope(&self) -> &[u8] {
        &self.envelope
    }

    /// The SHA-256 of the attestation: its name.
    pub fn sha256(&self) -> Sha256 {
        Sha256::of(&self.envelope)
    }
}

fn same_release(attested: &Server, submitted: &Server) -> Result<(), Refused> {
    if attested.name != submitted.name {
        return Err(Refused::Server { attested: attested.name.to_string(), submitted: submitted.name.to_string() });
    }
    if attested.version != submitted.version {
        let (attested, submitted) = (attested.version.to_string(), submitted.version.to_string());
        return Err(Refused::Version { attested, submitted });
    }
    if attested.variant != submitted.variant {
        let (attested, submitted) = (attested.variant.to_string(), submitted.variant.to_string());
        return Err(Refused::Variant { attested, submitted });
    }
    Ok(())
}

/// The authority in whose name the signature counts: the first live one of the claimed role, else why there is none.
fn authority<'a>(
    signers: &[KeyId],
    role: Role,
    server: &'a Server,
    authorities: &'a Authorities,
) -> Result<(KeyId, &'a Authority), Refused> {
    let mut refused = Refused::NoAuthority(server.name.to_string());
    for key in signers {
        for authority in authorities.of(key, &server.name) {
            if authority.role != role {
                // A revoked authority of the right role explains more than a live one of the wrong role.
                if !matches!(refused, Refused::Revoked(_)) {
                    refused = Refused::Role { claimed: role, held: authority.role };
                }
            } else if authority.revoked.is_some() {
                refused = Refused::Revoked(authority.id.clone());
            } else {
                return Ok((*key, authority));
            }
        }
    }
    Err(refused)
}

/// Both lists are sorted, so one walk finds the first difference.
fn same_subjects(attested: &[Subject], submitted: &[Subject]) -> Result<(), Refused> {
    let (mut attested, mut submitted) = (attested.iter(), submitted.iter());
    loop {
        let missing = |s: &Subject| Err(Refused::SubjectMissing(s.name.clone()));
        let extra = |s: &Subject| Err(Refused::SubjectExtra(s.name.clone()));
        match (attested.next(), submitted.next()) {
            (None, None) => return Ok(()),
            (None, Some(s)) => return missing(s),
            (Some(a), None) => return extra(a),
            (Some(a), Some(s)) => match a.name.cmp(&s.name) {
                Ordering::Less => return extra(a),
                Ordering::Greater => return missing(s),
                Ordering::Equal if a.sha256 != s.sha256 => return Err(Refused::SubjectDigest(a.name.clone())),
                Ordering::Equal => {}
            },
        }
    }
}
