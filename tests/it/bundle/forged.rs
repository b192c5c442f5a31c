//! A registry that signs falsely, with all of its keys: each statement in a bundle made false by itself, everything that
//! rests on it made consistent, all of it signed. What can be seen from the bundle alone is refused by both verifiers.

use std::{fs, path::PathBuf};

use countersign::{
    canon::Sha256,
    clock::Timestamp,
    keys::SigningKey,
    log::note::Signer,
    pinset::{
        bundle::{Bundle, Logged},
        trust::Trust,
        verify,
    },
};
use serde_json::{Value, json};

use super::{
    Audit,
    forge::{Forge, Forged, NAMES, Tree, flip, scalars},
    tampered::{theirs, verdicts},
};
use crate::verifiers::python_says;

/// Statements that rest on nothing else in a bundle. A registry could have meant any of them, so changed and signed
/// anew they are another true bundle: who decided when by which policy, under which ids, and what stands beside the
/// pin: the other subject, the other pin.
const TOLD: &[&str] = &[
    "statement/subject/1/digest/sha256",
    "statement/subject/1/name",
    "statement without /predicate/server/variant",
    "authority/generation",
    "authority/holder",
    "authority/proof",
    "release/at",
    "decision/ballots/0/issued",
    "decision/ballots/0/reviewer",
    "decision/ballots/0/view",
    "decision/findings",
    "decision/policy",
    "decision/reason",
    "decision/ruleset",
    "pins/pins/0/approval/not_after",
    "pins/pins/1/approval/approved_at",
    "pins/pins/1/approval/decision_sha256",
    "pins/pins/1/approval/log_index",
    "pins/pins/1/approval/mode",
    "pins/pins/1/approval/not_after",
    "pins/pins/1/digests/jcs-sha256",
    "pins/pins/1/digests/python-sorted-sha256",
    "pins/pins/1/name",
    "pins/pins/1/variant",
    "pins/pins/1/wire",
    "set/policy_sha256",
    "set/ruleset_sha256",
    "head/issued",
];

/// The same of a pin set, which a gateway verifies without the leaves behind its pins: what a pin says is the
/// registry's word, and an audit of the log or a bundle holds it to that. `ID` is the attestation's.
const TOLD_BY_SETS: &[&str] = &[
    "pins/evidence/ID/artifacts/0/digest",
    "pins/evidence/ID/artifacts/0/purl",
    "pins/evidence/ID/log_index",
    "pins/evidence/ID/release",
    "pins/evidence/ID/remotes/0",
    "pins/evidence/ID/signer",
    "pins/evidence/ID/version",
    "pins/pins/0/approval/approved_at",
    "pins/pins/0/approval/decision_sha256",
    "pins/pins/0/approval/log_index",
    "pins/pins/0/approval/mode",
    "pins/pins/0/approval/not_after",
    "pins/pins/0/digests/jcs-sha256",
    "pins/pins/0/digests/python-sorted-sha256",
    "pins/pins/0/name",
    "pins/pins/0/variant",
    "pins/pins/0/wire",
    "pins/pins/1/approval/approved_at",
    "pins/pins/1/approval/decision_sha256",
    "pins/pins/1/approval/log_index",
    "pins/pins/1/approval/mode",
    "pins/pins/1/approval/not_after",
    "pins/pins/1/digests/jcs-sha256",
    "pins/pins/1/digests/python-sorted-sha256",
    "pins/pins/1/name",
    "pins/pins/1/variant",
    "pins/pins/1/wire",
    "set/issued",
    "set/policy_sha256",
    "set/ruleset_sha256",
    "set without /aliases/notes",
    "published/at",
    "head/issued",
];

/// One statement made false, and where that is seen.
type Edit<'a> = (&'a str, &'a str, &'a str, Value, &'a str);

#[tokio::test(flavor = "multi_thread")]
async fn a_false_statement_that_contradicts_another_is_refused_though_everything_is_signed() {
    let audit = Audit::new().await;
    let forge = Forge::of(&audit, &audit.genuine("notes.export").await);
    let mut rows: Vec<(String, Forged)> = vec![("as it was".to_owned(), forge.forge(&|_, _| ()))];
    for name in NAMES {
        for pointer in scalars(forge.document(name)) {
            let edit = |document: &str, value: &mut Value| {
                if document == name {
                    flip(value.pointer_mut(&pointer).expect("is there"));
                }
            };
            rows.push((format!("{name}{pointer}"), forge.forge(&edit)));
        }
        for (what, edit) in structural(forge.document(name)) {
            let edit = |document: &str, value: &mut Value| {
                if document == name {
                    edit(value);
                }
            };
            rows.push((format!("{name} {what}"), forge.forge(&edit)));
        }
    }
    let bundles = rows.iter().map(|(name, forged)| (name.clone(), forged.bundle.to_bytes())).collect();
    let said = verdicts(&audit, audit.trust().note(), bundles);
    assert_eq!(said[0].1, "ok");
    let told: Vec<&str> =
        said[1..].iter().filter(|(_, verdict)| *verdict == "ok").map(|(name, _)| name.as_str()).collect();
    assert_eq!(told, TOLD);

    // A gateway doesn't see what is behind the pins.
    let seen = |name: &str| ["pins", "set", "published", "head"].iter().any(|it| name.starts_with(it));
    let told = sets(&audit, &audit.trust(), rows.into_iter().filter(|(name, _)| seen(name)).collect());
    assert_eq!(told, TOLD_BY_SETS);
}

/// An edit with its name.
type Named = (String, Box<dyn Fn(&mut Value)>);

/// Edits that change which members there are: each taken away, and one too many, at every object.
fn structural(document: &Value) -> Vec<Named> {
    fn objects(value: &Value, at: &str, found: &mut Vec<(String, Vec<String>)>) {
        match value {
            Value::Object(members) => {
                found.push((at.to_owned(), members.keys().cloned().collect()));
                for (name, inner) in members {
                    objects(inner, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
                }
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(n, inner)| objects(inner, &format!("{at}/{n}"), found));
            }
            _ => {}
        }
    }
    let mut found = vec![];
    objects(document, "", &mut found);
    let mut edits: Vec<Named> = vec![];
    for (at, members) in found {
        for member in members {
            let place = at.clone();
            edits.push((
                format!("without {at}/{member}"),
                Box::new(move |value| {
                    drop(value.pointer_mut(&place).and_then(Value::as_object_mut).expect("one").remove(&member));
                }),
            ));
        }
        edits.push((
            format!("with another member in {at:?}"),
            Box::new(move |value| value.pointer_mut(&at).expect("one")["zz"] = json!("x")),
        ));
    }
    edits
}

/// What both verifiers say of the pin sets of these registries: the names of those that hold.
pub(super) fn sets(audit: &Audit, trust: &Trust, rows: Vec<(String, Forged)>) -> Vec<String> {
    let now = countersign::env::Clock::now(&audit.site.clock);
    let folder = tempfile::tempdir().expect("a folder");
    let trust_file = folder.path().join("trust.txt");
    fs::write(&trust_file, trust.note()).expect("written");
    let mut places: Vec<PathBuf> = vec![];
    let mut ours = vec![];
    for (n, (name, forged)) in rows.into_iter().enumerate() {
        let place = folder.path().join(n.to_string());
        fs::create_dir_all(place.join("documents")).expect("made");
        fs::write(place.join("answer.json"), forged.answer.to_json().expect("JSON")).expect("written");
        for document in &forged.documents {
            fs::write(place.join("documents").join(Sha256::of(document).to_string()), document).expect("written");
        }
        ours.push((name, accepts(trust, &forged, now)));
        places.push(place);
    }
    let args = ["set".into(), trust_file.into_os_string(), "default".into(), std::ffi::OsString::from(now.to_string())];
    if let Some(lines) = python_says(&args, &places) {
        for ((name, ours), line) in ours.iter().zip(&lines) {
            assert_eq!(theirs(line) == "ok", *ours, "{name}: {line}");
        }
    }
    let id = |name: String| {
        let hash = name.split('/').find(|part| part.len() == 64).map(str::to_owned);
        hash.map_or(name.clone(), |hash| name.replace(&hash, "ID"))
    };
    ours.into_iter().filter(|(_, accepts)| *accepts).map(|(name, _)| id(name)).collect()
}

fn accepts(trust: &Trust, forged: &Forged, now: Timestamp) -> bool {
    let read = |sha256: &Sha256| forged.documents.iter().find(|bytes| Sha256::of(bytes) == *sha256).cloned();
    let head = verify::head(trust, &"default".parse().expect("legal"), None, &forged.answer, now);
    let set = head.and_then(|head| head.fresh(now)).and_then(|head| {
        let bytes = read(&head.head().set_sha256).unwrap_or_default();
        head.with_set(&bytes)?.with_pins(read)
    });
    set.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_link_of_a_bundle_breaks_by_itself_and_says_so() {
    let audit = Audit::new().await;
    let forge = Forge::of(&audit, &audit.genuine("notes.export").await);
    let later = |name: &str, member: &str| -> Value {
        let at: Timestamp = forge.document(name)[member].as_str().expect("a time").parse().expect("a time");
        json!((at + countersign::clock::Span::hours(2)).to_string())
    };
    let decided_at = forge.document("decision")["at"].as_i64().expect("a number");
    let edits: Vec<Edit<'_>> = vec![
        ("an event of another type", "published", "/type", json!("ruleset-set"), "leaf"),
        ("a release before its authority", "authority", "/at", json!(decided_at), "order"),
        ("a head for two hours", "head", "/expires", later("head", "issued"), "head"),
        ("a head that ends before it begins", "head", "/expires", forge.document("head")["issued"].clone(), "head"),
        ("a head of another set", "head", "/name", json!("prod"), "head"),
        ("a head of another epoch", "head", "/epoch", json!(2), "head"),
        ("an older set document", "set", "/version", json!(1), "set"),
        ("an alias of another server", "set", "/aliases/notes/server", json!("com.example/mail"), "pins"),
        ("pins of another alias", "pins", "/alias", json!("mail"), "pins"),
        ("a decision for another set", "decision", "/pinset", json!("prod"), "head"),
        ("a rejection", "decision", "/outcome", json!("reject"), "decision"),
        ("a ballot for a rejection", "decision", "/ballots/0/outcome", json!("reject"), "decision"),
        ("a ballot of another registry", "decision", "/ballots/0/registry", json!("evil.example"), "decision"),
        ("fewer ballots than needed", "decision", "/mode", json!("2-of-2"), "decision"),
        ("no ballot at all", "decision", "/ballots", json!([]), "decision"),
        ("a name of its own", "decision", "/qualified", json!("notes.exporT"), "decision"),
        ("a wire name of its own", "decision", "/wire", json!("notes__exporT"), "decision"),
        ("an approval without an end", "decision", "/not_after", Value::Null, "decision"),
        ("another digest than the pin's", "decision", "/digests/jcs-sha256", json!("0".repeat(64)), "pin"),
        ("a pin that lasts longer", "pins", "/pins/0/approval/not_after", json!("2099-01-01T00:00:00.000000Z"), "pin"),
        ("a pin of another wire name", "pins", "/pins/0/wire", json!("notes__exporT"), "pin"),
        ("a pin that two approved", "pins", "/pins/0/approval/mode", json!("2-of-2"), "pin"),
        ("better evidence than there is", "decision", "/level", json!("sigstore"), "evidence"),
        ("a release of another server", "release", "/server", json!("com.example/mail"), "evidence"),
        ("a key for another namespace", "authority", "/scope", json!("com.exampl"), "authority"),
        ("a key for a longer namespace", "authority", "/scope", json!("com.example.evil"), "authority"),
        ("a key that only records", "authority", "/role", json!("capture"), "authority"),
        ("a statement about another version", "statement", "/predicate/server/version", json!("1.4.1"), "statement"),
        ("a statement about another variant", "statement", "/predicate/server/variant", json!("de"), "statement"),
        ("a statement with another recipe", "statement", "/predicate/canonicalization", json!("md5"), "statement"),
        ("another statement", "statement", "/predicateType", json!("https://slsa.dev/provenance/v1"), "statement"),
        ("a statement that names a prompt", "statement", "/subject/0/name", json!("prompt/export"), "subject"),
        ("a statement over another digest", "statement", "/subject/0/digest/sha256", json!("0".repeat(64)), "subject"),
    ];
    let mut rows = vec![];
    let mut expected = vec![];
    for (what, name, pointer, value, link) in &edits {
        let edit = |document: &str, it: &mut Value| {
            if document == *name {
                *it.pointer_mut(pointer).unwrap_or_else(|| panic!("{what}: {pointer}")) = value.clone();
            }
        };
        rows.push(((*what).to_owned(), forge.forge(&edit).bundle.to_bytes()));
        expected.push(((*what).to_owned(), *link));
    }
    let mut row = |what: &str, bundle: &Bundle, link| {
        rows.push((what.to_owned(), bundle.to_bytes()));
        expected.push((what.to_owned(), link));
    };
    // One person, counted twice; the record says two of two.
    let twice = forge.forge(&|name, it| {
        if name == "decision" {
            it["mode"] = json!("2-of-2");
            let ballot = it["ballots"][0].clone();
            it["ballots"].as_array_mut().expect("a list").push(ballot);
        }
        if name == "pins" {
            it["pins"][0]["approval"]["mode"] = json!("2-of-2");
        }
    });
    row("one person twice", &twice.bundle, "decision");
    // What is no lie: the registry may grant more, and a later approval may have brought an end forward.
    let wider = forge.forge(&|name, it| {
        if name == "authority" {
            it["scope"] = json!("*");
        }
        if name == "pins" {
            it["pins"][0]["approval"]["not_after"] = json!("2026-12-02T00:00:00.000000Z");
        }
        if name == "release" {
            it["type"] = json!("evidence-attached");
        }
    });
    row("a wider authority, further evidence and an earlier end", &wider.bundle, "ok");
    // Places in the log.
    let mut backwards = Forge::of(&audit, &audit.genuine("notes.export").await);
    backwards.places = [3, 11, 7, 12];
    row("a decision before its release", &backwards.forge(&|_, _| ()).bundle, "order");
    let good = forge.forge(&|_, _| ()).bundle;
    let leaves = [&good.authority.leaf, &good.release.leaf, &good.decision.leaf, &good.published.leaf];
    let longer = Tree::of(&[3, 7, 11, 12, 20], &[leaves[0], leaves[1], leaves[2], leaves[3], leaves[3]], &forge.logs);
    let moved = |index| Logged { proof: longer.proof(index), ..good.authority.clone() };
    row("two trees of one log", &Bundle { authority: moved(3), ..good.clone() }, "checkpoint");
    row("a leaf where another is", &Bundle { authority: moved(4), ..good.clone() }, "log");
    // Other keys.
    let stranger = || SigningKey::from_seed(&[77; 32]);
    let of = |log: Signer, head: SigningKey, publisher: SigningKey| {
        let mut taken = Forge::of(&audit, &good);
        (taken.logs, taken.head_key, taken.publisher) = (vec![log], head, publisher);
        taken.forge(&|_, _| ()).bundle
    };
    let log = |name: &str, key| Signer::new(name, key).expect("a name");
    let (head, publisher) = (audit.key("head.pem"), crate::api::publisher());
    row("another log key", &of(log("pins.example", stranger()), head.clone(), publisher.clone()), "log");
    row(
        "another log of the same key",
        &of(log("shard-b.example", audit.key("log.pem")), head.clone(), publisher.clone()),
        "log",
    );
    row("another head key", &of(forge.logs[0].clone(), stranger(), publisher), "head");
    row("another publisher's key", &of(forge.logs[0].clone(), head, stranger()), "attestation");
    row("the attestation of another release", &Bundle { attestation: b"{}".to_vec(), ..good.clone() }, "attestation");
    row("another descriptor", &Bundle { descriptor: b"{}".to_vec(), ..good }, "descriptor");

    assert_eq!(verdicts(&audit, audit.trust().note(), rows), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_is_verified_against_the_trust_file_in_hand_and_no_other() {
    use countersign::{
        clock::Span,
        pinset::trust::{HeadKey, LogKey, Terms},
    };
    let audit = Audit::new().await;
    let bundle = audit.genuine("notes.export").await.to_bytes();
    let terms = audit.trust().terms().clone();
    let (root, stranger) = (audit.key("root.pem"), SigningKey::from_seed(&[77; 32]));
    let issued = countersign::env::Clock::now(&audit.site.clock);
    let log = LogKey { key: stranger.verifying(), from: Timestamp::EPOCH, until: None };
    let head = |from| HeadKey { key: audit.key("head.pem").verifying(), from };
    let rows = [
        ("the registry's own", terms.clone(), "ok"),
        ("a newer one of the same keys", Terms { version: 9, ..terms.clone() }, "ok"),
        ("another log key", Terms { logs: vec![log], ..terms.clone() }, "log"),
        ("another epoch", Terms { epoch: 2, ..terms.clone() }, "head"),
        ("heads of a minute", Terms { head_lifetime: Span::minutes(1), ..terms.clone() }, "head"),
        (
            "a head key that counts later than its head was issued",
            Terms { heads: vec![head(issued + Span::hours(1))], ..terms.clone() },
            "head",
        ),
        (
            "a head key that counts within the skew",
            Terms { heads: vec![head(issued + Span::minutes(4))], ..terms.clone() },
            "ok",
        ),
        ("another registry's keys under another name", Terms { origin: "other.example".to_owned(), ..terms }, "log"),
    ];
    for (what, terms, link) in rows {
        let trust = terms.sign(&[&root]).expect("signs");
        let said = verdicts(&audit, trust.note(), vec![(what.to_owned(), bundle.clone())]);
        assert_eq!(said, [(what.to_owned(), link)]);
    }
}
