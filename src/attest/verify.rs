//! From a submitted release and its attestation to [`Verified`], or to the one reason why not.

use std::cmp::Ordering;

use super::{
    Authorities, Authority, Level, Refused, Role, Server, Signer, Statement,
    dsse::{self, Envelope},
    statement::PAYLOAD_TYPE,
};
use crate::{
    canon::Sha256,
    descriptor::{Release, Subject},
    keys::KeyId,
};

/// A release whose attestation was verified. [`verify`] makes it and nothing else does: whoever holds one needn't ask
/// again who signed, with what authority, or whether the descriptors are those that were signed.
#[derive(Clone, Debug)]
pub struct Verified {
    release: Release,
    envelope: Vec<u8>,
    statement: Statement,
    signer: Signer,
    level: Level,
    authority: String,
    holder: Option<String>,
}

/// Checks an attestation against the release it came with.
///
/// Signature first, then meaning: nothing of the payload is looked at before a key with some authority over the
/// submitted server has signed it.
///
/// # Errors
/// The first thing that [`Refused`] lists.
pub fn verify(release: Release, attestation: &[u8], authorities: &Authorities) -> Result<Verified, Refused> {
    if !release.capture.complete {
        return Err(Refused::Incomplete);
    }
    release.descriptors().map_err(|(index, refused)| Refused::Descriptor { index, refused })?;
    let submitted = Server::of(&release);
    let envelope = Envelope::parse(attestation)?;
    let checked = envelope.verify(PAYLOAD_TYPE, &authorities.keys_over(&submitted.name)).map_err(|refused| {
        let known = envelope.key_ids().any(|id| authorities.knows(&id));
        if refused == dsse::Refused::UnknownKey && known {
            Refused::NoAuthority(submitted.name.to_string())
        } else {
            refused.into()
        }
    })?;
    let statement = Statement::parse(checked.payload)?;
    same_release(&statement.predicate.server, &submitted)?;
    let (key, authority) = authority(&checked.by, statement.predicate.role, &submitted, authorities)?;
    same_subjects(&statement.subjects, &release.subjects())?;
    Ok(Verified {
        envelope: attestation.to_vec(),
        signer: Signer::Key(key),
        level: authority.role.key_level(),
        authority: authority.id.clone(),
        holder: authority.holder.clone(),
        release,
        statement,
    })
}

impl Verified {
    /// The release, whose descriptors are exactly those that were signed.
    pub const fn release(&self) -> &Release {
        &self.release
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{attest::Scope, clock::Timestamp, descriptor::Capture, keys::SigningKey};

    const PUBLISHER: u8 = 1;
    const OPERATOR: u8 = 2;
    const FORMER: u8 = 3;
    const NEIGHBOUR: u8 = 4;
    const STRANGER: u8 = 5;

    fn authorities() -> Authorities {
        let authority = |seed: u8, scope: &str, role, revoked| Authority {
            id: format!("authority {seed}"),
            scope: scope.parse::<Scope>().expect("a scope"),
            key: SigningKey::from_seed(&[seed; 32]).verifying(),
            role,
            holder: Some("ada".to_owned()),
            generation: 1,
            granted_at: Timestamp::EPOCH,
            revoked,
        };
        Authorities::new([
            authority(PUBLISHER, "com.example", Role::Publisher, None),
            authority(OPERATOR, "*", Role::Capture, None),
            authority(FORMER, "com.example", Role::Publisher, Some(Timestamp::EPOCH)),
            authority(NEIGHBOUR, "com.example-mirror", Role::Publisher, None),
        ])
    }

    fn server(name: &str, version: &str, variant: &str) -> Server {
        Server {
            name: name.parse().expect("a server"),
            version: version.parse().expect("a version"),
            variant: variant.parse().expect("a variant"),
        }
    }

    fn notes() -> Server {
        server("com.example/notes", "1.4.0", "")
    }

    const TOOLS: &[&str] = &[r#"{"name":"export","inputSchema":{}}"#, r#"{"name":"import","inputSchema":{}}"#];

    /// The release `notes` with these tools.
    fn release(complete: bool, tools: &[&str]) -> Release {
        let capture = format!(r#"{{"complete":{complete},"tools":[{}]}}"#, tools.join(","));
        let capture = Capture::parse(capture.as_bytes()).expect("a capture");
        let Server { name, version, variant } = notes();
        Release::new(name, version, variant, capture)
    }

    fn subjects(tools: &[&str]) -> Vec<Subject> {
        release(true, tools).subjects()
    }

    fn sign(statement: &Statement, seed: u8) -> Vec<u8> {
        dsse::sign(PAYLOAD_TYPE, &statement.to_payload(), &SigningKey::from_seed(&[seed; 32]))
    }

    /// Signs a statement over `attested` as `role` with a key, and submits it with the release `notes` and [`TOOLS`].
    fn submit(attested: Server, role: Role, tools: &[&str], seed: u8) -> Result<Verified, Refused> {
        let attestation = sign(&Statement::new(attested, role, subjects(tools)), seed);
        judge(&attestation)
    }

    fn judge(attestation: &[u8]) -> Result<Verified, Refused> {
        verify(release(true, TOOLS), attestation, &authorities())
    }

    #[test]
    fn a_publishers_signature_gives_level_key_and_an_operators_level_capture() {
        for (role, seed, level) in [(Role::Publisher, PUBLISHER, Level::Key), (Role::Capture, OPERATOR, Level::Capture)]
        {
            let verified = submit(notes(), role, TOOLS, seed).expect("verifies");
            assert_eq!(verified.level(), level);
            assert_eq!(verified.authority(), format!("authority {seed}"));
            assert_eq!(verified.holder(), Some("ada"));
            let key = SigningKey::from_seed(&[seed; 32]).verifying().id();
            assert_eq!(verified.signer().to_string(), format!("key:{key}"));
            assert_eq!(verified.statement().subjects, subjects(TOOLS));
            assert_eq!(verified.sha256(), Sha256::of(verified.envelope()));
        }
    }

    #[test]
    fn each_thing_that_is_wrong_has_its_own_slug() {
        use Role::{Capture, Publisher};
        let other = |name, version, variant| server(name, version, variant);
        let rows = [
            ("attestation-server", submit(other("com.example/notes2", "1.4.0", ""), Publisher, TOOLS, PUBLISHER)),
            ("attestation-version", submit(other("com.example/notes", "1.4.1", ""), Publisher, TOOLS, PUBLISHER)),
            ("attestation-variant", submit(other("com.example/notes", "1.4.0", "de"), Publisher, TOOLS, PUBLISHER)),
            ("attestation-role", submit(notes(), Capture, TOOLS, PUBLISHER)),
            ("attestation-role", submit(notes(), Publisher, TOOLS, OPERATOR)),
            ("attestation-authority-revoked", submit(notes(), Publisher, TOOLS, FORMER)),
            ("attestation-no-authority", submit(notes(), Publisher, TOOLS, NEIGHBOUR)),
            ("attestation-unknown-key", submit(notes(), Publisher, TOOLS, STRANGER)),
            ("attestation-subject-missing", submit(notes(), Publisher, &TOOLS[..1], PUBLISHER)),
            ("attestation-subject-missing", submit(notes(), Publisher, &TOOLS[1..], PUBLISHER)),
            ("attestation-subject-missing", submit(notes(), Publisher, &[], PUBLISHER)),
            (
                "attestation-subject-extra",
                submit(notes(), Publisher, &[TOOLS[0], TOOLS[1], r#"{"name":"z"}"#], PUBLISHER),
            ),
            ("attestation-subject-extra", submit(notes(), Publisher, &[TOOLS[0], TOOLS[1], TOOLS[1]], PUBLISHER)),
            ("attestation-subject-digest", submit(notes(), Publisher, &[TOOLS[0], r#"{"name":"import"}"#], PUBLISHER)),
            ("attestation-malformed", judge(b"{}")),
            ("attestation-malformed", judge(b"")),
        ];
        for (slug, result) in rows {
            assert_eq!(result.expect_err(slug).slug(), slug);
        }
    }

    #[test]
    fn an_envelope_that_was_touched_is_refused() {
        let statement = Statement::new(notes(), Role::Publisher, subjects(TOOLS));
        let key = SigningKey::from_seed(&[PUBLISHER; 32]);
        let payload = String::from_utf8(statement.to_payload()).expect("UTF-8");
        let good = String::from_utf8(sign(&statement, PUBLISHER)).expect("UTF-8");
        judge(good.as_bytes()).expect("verifies");
        let other = dsse::sign(PAYLOAD_TYPE, payload.replace("1.4.0", "1.4.1").as_bytes(), &key);
        let other = String::from_utf8(other).expect("UTF-8");
        let body = |text: &str| text.split('"').nth(3).expect("the payload").to_owned();
        let signatures = good.find(r#""signatures""#).expect("signatures");
        for (slug, text) in [
            ("attestation-signature-invalid", good.replace(&body(&good), &body(&other))),
            ("attestation-malformed", good.replacen('{', &format!(r#"{{"payload":"{}","#, body(&other)), 1)),
            ("attestation-unsigned", format!(r#"{}"signatures":[]}}"#, &good[..signatures])),
            ("attestation-payload-type", good.replace(PAYLOAD_TYPE, "application/json")),
        ] {
            assert_eq!(judge(text.as_bytes()).expect_err(slug).slug(), slug);
        }
        for (slug, from, to) in [
            ("attestation-unknown-member", r#""role""#, r#""note":"trust me","role""#),
            ("attestation-predicate-type", "mcp-release:v1", "other:v1"),
            ("attestation-statement-type", "Statement/v1", "Statement/v0.1"),
            ("attestation-canonicalization", "jcs-sha256", "olpc"),
            ("attestation-statement-malformed", "publisher", "root"),
            ("attestation-subjects-unsorted", "tool/export", "tool/lexport"),
        ] {
            assert!(payload.contains(from), "{from}");
            let attestation = dsse::sign(PAYLOAD_TYPE, payload.replacen(from, to, 1).as_bytes(), &key);
            assert_eq!(judge(&attestation).expect_err(slug).slug(), slug);
        }
    }

    #[test]
    fn an_incomplete_capture_is_not_attested_whatever_was_signed() {
        let attestation = sign(&Statement::new(notes(), Role::Publisher, subjects(TOOLS)), PUBLISHER);
        let refused = verify(release(false, TOOLS), &attestation, &authorities()).expect_err("incomplete");
        assert_eq!(refused, Refused::Incomplete);
    }

    #[test]
    fn a_release_with_an_item_that_has_no_digest_is_refused_under_the_parsers_own_code() {
        let attestation = sign(&Statement::new(notes(), Role::Publisher, subjects(TOOLS)), PUBLISHER);
        let tools = [TOOLS[0], TOOLS[1], r#"{"name":"z","name":"z"}"#];
        let refused = verify(release(true, &tools), &attestation, &authorities()).expect_err("refused");
        assert_eq!(refused.slug(), "duplicate-key");
    }

    #[test]
    fn what_attest_signs_is_what_verify_takes() {
        let key = SigningKey::from_seed(&[OPERATOR; 32]);
        let statement = Statement::for_release(&release(true, TOOLS), Role::Capture);
        let attestation = dsse::sign(PAYLOAD_TYPE, &statement.to_payload(), &key);
        let verified = judge(&attestation).expect("verifies");
        assert_eq!(verified.statement(), &statement);
        assert_eq!(verified.release(), &release(true, TOOLS));
        assert_eq!(statement.predicate.capture.map(|c| c.method), Some(crate::descriptor::Method::File));
    }

    #[test]
    fn a_key_with_two_authorities_speaks_in_the_role_it_claims() {
        let key = SigningKey::from_seed(&[PUBLISHER; 32]).verifying();
        let held = |id: &str, scope: &str, role, revoked| Authority {
            id: id.to_owned(),
            scope: scope.parse().expect("a scope"),
            key,
            role,
            holder: None,
            generation: 1,
            granted_at: Timestamp::EPOCH,
            revoked,
        };
        let claim = |role, all: Vec<Authority>| {
            let attestation = sign(&Statement::new(notes(), role, subjects(TOOLS)), PUBLISHER);
            verify(release(true, TOOLS), &attestation, &Authorities::new(all))
                .map(|v| (v.level(), v.authority().to_owned()))
        };
        let both =
            || vec![held("watch", "*", Role::Capture, None), held("own", "com.example/notes", Role::Publisher, None)];
        assert_eq!(claim(Role::Publisher, both()), Ok((Level::Key, "own".to_owned())));
        assert_eq!(claim(Role::Capture, both()), Ok((Level::Capture, "watch".to_owned())));
        // A revoked authority doesn't stand in the way of a live one, nor lend anything to one of another role.
        let revoked = held("old", "com.example/notes", Role::Publisher, Some(Timestamp::EPOCH));
        let live = held("space", "com.example", Role::Publisher, None);
        assert_eq!(claim(Role::Publisher, vec![revoked.clone(), live]), Ok((Level::Key, "space".to_owned())));
        let watch = held("watch", "*", Role::Capture, None);
        assert_eq!(claim(Role::Publisher, vec![revoked, watch]), Err(Refused::Revoked("old".to_owned())));
    }
}
