//! Trust files whose keys have changed, and that ask for witnesses: what both verifiers make of them, and of what keys and
//! witnesses signed before their time, in it and after it.

use countersign::{
    clock::{Span, Timestamp},
    keys::SigningKey,
    log::{
        note::{self, Signer, Verifier},
        policy::Policy,
    },
    pinset::{
        bundle::Bundle,
        trust::{HeadKey, LogKey, Terms, Trust},
    },
};
use serde_json::{Value, json};

use super::{
    Audit,
    forge::Forge,
    forged::sets,
    tampered::{theirs, verdicts},
};
use crate::verifiers::python_says;

const SKEW: Span = Span::minutes(5);
const TICK: Span = Span::micros(1);

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed(&[n; 32])
}

fn head(key: &SigningKey, from: Timestamp) -> HeadKey {
    HeadKey { key: key.verifying(), from }
}

fn log(key: &SigningKey, from: Timestamp, until: Option<Timestamp>) -> LogKey {
    LogKey { key: key.verifying(), from, until }
}

fn named(key: &SigningKey) -> Signer {
    Signer::new("pins.example", key.clone()).expect("a name")
}

/// A registry with its genuine bundle, and the moments that count.
struct Scene {
    audit: Audit,
    bundle: Bundle,
    terms: Terms,
    issued: Timestamp,
}

impl Scene {
    async fn new() -> Self {
        let audit = Audit::new().await;
        let bundle = audit.genuine("notes.export").await;
        let terms = audit.trust().terms().clone();
        let issued = Forge::of(&audit, &bundle).document("head")["issued"].as_str().expect("a time").parse();
        Self { audit, bundle, terms, issued: issued.expect("a time") }
    }

    /// Where both verifiers refuse a bundle of the registry under this trust file. A gateway refuses where the head doesn't
    /// hold, and only there.
    fn link(&self, what: &str, terms: &Terms, change: impl FnOnce(&mut Forge)) -> &'static str {
        let mut forge = Forge::of(&self.audit, &self.bundle);
        change(&mut forge);
        let epoch = json!(terms.epoch);
        let forged = forge.forge(&|name, document: &mut Value| {
            if ["head", "set"].contains(&name) {
                document["epoch"] = epoch.clone();
            }
        });
        let trust = terms.sign(&[&self.audit.key("root.pem")]).expect("signs");
        let said = verdicts(&self.audit, trust.note(), vec![(what.to_owned(), forged.bundle.to_bytes())]);
        let accepted = sets(&self.audit, &trust, vec![(what.to_owned(), forged)]);
        assert_eq!(accepted.is_empty(), said[0].1 != "ok", "{what}: a gateway and a bundle's reader differ");
        said[0].1
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_counts_from_its_keys_time_on_and_until_its_end_give_or_take_the_skew() {
    let scene = Scene::new().await;
    let issued = scene.issued;
    let (first, second) = (scene.audit.key("head.pem"), key(61));
    let begin = issued.minus(Span::hours(2));
    let heads =
        |from: Timestamp| Terms { heads: vec![head(&first, begin), head(&second, from)], ..scene.terms.clone() };
    for (what, terms, by, link) in [
        ("the key before, long after the next one's time", heads(issued.minus(Span::hours(1))), &first, "head"),
        ("the key before, at its end", heads(issued.minus(SKEW)), &first, "head"),
        ("the key before, a moment before its end", heads(issued.minus(SKEW) + TICK), &first, "ok"),
        ("the next key, in its time", heads(issued.minus(Span::hours(1))), &second, "ok"),
        ("the next key, at its time by the slowest clock", heads(issued + SKEW), &second, "ok"),
        ("the next key, before its time", heads(issued + SKEW + TICK), &second, "head"),
    ] {
        assert_eq!(scene.link(what, &terms, |forge| forge.head_key = by.clone()), link, "{what}");
    }

    let (old, new) = (scene.audit.key("log.pem"), key(62));
    let logs = |until: Timestamp, from: Timestamp| Terms {
        logs: vec![log(&old, Timestamp::EPOCH, Some(until)), log(&new, from, None)],
        ..scene.terms.clone()
    };
    let past = issued.minus(Span::hours(1));
    for (what, terms, by, link) in [
        ("the log key before, at its end", logs(issued.minus(SKEW), past), vec![&old], "head"),
        ("the log key before, a moment before its end", logs(issued.minus(SKEW) + TICK, past), vec![&old], "ok"),
        ("the next log key in its time", logs(issued, past), vec![&new], "ok"),
        ("the next log key, at its time by the slowest clock", logs(issued + SKEW, issued + SKEW), vec![&new], "ok"),
        ("the next log key, before its time", logs(issued + SKEW + TICK, issued + SKEW + TICK), vec![&new], "head"),
        ("both in the overlap", logs(issued + Span::hours(1), past), vec![&old, &new], "ok"),
        ("one that counts no more, beside one that does", logs(past, past), vec![&old, &new], "ok"),
        ("a stranger beside one that counts", logs(issued, past), vec![&key(63), &new], "ok"),
        ("a stranger alone", logs(issued, past), vec![&key(63)], "log"),
    ] {
        let signers = by.into_iter().map(named).collect();
        assert_eq!(scene.link(what, &terms, |forge| forge.logs = signers), link, "{what}");
    }
    let second_life = Terms { epoch: 2, former: vec!["old.example".to_owned()], ..scene.terms.clone() };
    assert_eq!(scene.link("a name that continues another", &second_life, |_| ()), "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_counts_when_the_quorum_of_the_trust_file_has_cosigned_its_checkpoint() {
    let scene = Scene::new().await;
    let (issued, name) = (scene.issued, |n: u8| format!("w{n}.example"));
    let witnesses: String = (71..=73)
        .map(|n| format!("witness w{n} {}\n", Verifier::cosigner(&name(n), key(n).verifying()).expect("a name")))
        .collect();
    let asks = |text: &str| -> Terms {
        let policy: Policy = format!("{witnesses}{text}").parse().expect("a policy");
        Terms { witnesses: Some(policy), ..scene.terms.clone() }
    };
    let (two, nested) = ("group q 2 w71 w72 w73\nquorum q\n", "group g 1 w71 w72\ngroup q 2 g w73\nquorum q\n");
    let by = |n: u8| (name(n), key(n), issued);
    let late = |n: u8| (name(n), key(n), issued + Span::hours(2));
    let rows = [
        ("nobody", two, vec![], "head"),
        ("one of two", two, vec![by(71)], "head"),
        ("two of two", two, vec![by(73), by(71)], "ok"),
        ("one, twice", two, vec![by(71), by(71)], "head"),
        ("one, and a stranger", two, vec![by(71), by(74)], "head"),
        ("one, and another key in the second's name", two, vec![by(71), (name(72), key(74), issued)], "head"),
        ("one, and one that is dated later than any reader's clock", two, vec![by(71), late(72)], "head"),
        ("one that is dated too late beside enough", two, vec![by(71), late(72), by(73)], "ok"),
        ("a group within a group", nested, vec![by(72), by(73)], "ok"),
        ("two of the inner group are one", nested, vec![by(71), by(72)], "head"),
        ("one witness by itself", "quorum w72\n", vec![by(72)], "ok"),
        ("another witness", "quorum w72\n", vec![by(71), by(73)], "head"),
        ("none is asked for", "quorum none\n", vec![], "ok"),
    ];
    for (what, policy, by, link) in rows {
        assert_eq!(scene.link(what, &asks(policy), |forge| forge.witnesses = by), link, "{what}");
    }
}

/// A trust file's text with everything in it that it can have.
fn full(scene: &Scene) -> String {
    let witness = Verifier::cosigner("w.example", key(71).verifying()).expect("a name");
    let policy = format!("witness w {witness}\ngroup q 1 w\nquorum q\n");
    let at = |hours| Timestamp::EPOCH + Span::hours(hours);
    let terms = Terms {
        epoch: 3,
        former: vec!["pins.example/1".to_owned(), "pins.example/2".to_owned()],
        logs: vec![log(&scene.audit.key("log.pem"), at(0), Some(at(9))), log(&key(62), at(5), None)],
        heads: vec![head(&scene.audit.key("head.pem"), at(1)), head(&key(61), at(5))],
        witnesses: Some(policy.parse().expect("a policy")),
        ..scene.terms.clone()
    };
    terms.text().expect("a text")
}

#[tokio::test(flavor = "multi_thread")]
async fn both_verifiers_read_trust_files_in_their_one_spelling_and_in_no_other() {
    let scene = Scene::new().await;
    let text = full(&scene);
    let line = |word: &str, n: usize| {
        let found = text.lines().filter(|line| line.starts_with(word)).nth(n);
        format!("{}\n", found.expect("is there"))
    };
    let (log_1, log_2, head_1, head_2) = (line("log ", 0), line("log ", 1), line("head ", 0), line("head ", 1));
    let (t9, t5) = ("1970-01-01T09:00:00.000000Z", "1970-01-01T05:00:00.000000Z");
    let swapped = |a: &str, b: &str| (format!("{a}{b}"), format!("{b}{a}"));
    let more_heads: String = (2..=9).map(|n| head_2.replace("T05", &format!("T0{n}"))).collect();
    let eight: String = (3..=8).map(|n| format!("continues pins.example/{n}\n")).collect();
    let root = Verifier::new("pins.example", scene.audit.key("root.pem").verifying()).expect("a name");
    let cosigner = Verifier::cosigner("pins.example", key(62).verifying()).expect("a name");
    let root_line = line("root ", 0);
    let row = |what: &'static str, from: &str, to: &str, good: bool| (what, from.to_owned(), to.to_owned(), good);
    let rows = vec![
        row("as it is", "", "", true),
        row("without witnesses", &text[text.find("witness ").expect("one")..], "", true),
        row("eight names before", "continues pins.example/2\n", &format!("continues pins.example/2\n{eight}"), true),
        row(
            "nine names before",
            "continues pins.example/2\n",
            &format!("continues pins.example/2\n{eight}continues pins.example/9\n"),
            false,
        ),
        row("its own name before", "continues pins.example/1\n", "continues pins.example\n", false),
        row("a name before that no note can have", "continues pins.example/1\n", "continues pins+example\n", false),
        row("a name before of nothing", "continues pins.example/1\n", "continues \n", false),
        row(
            "names before in another place",
            &format!("continues pins.example/2\n{root_line}"),
            &format!("{root_line}continues pins.example/2\n"),
            false,
        ),
        row("log keys in another order", &swapped(&log_1, &log_2).0, &swapped(&log_1, &log_2).1, false),
        row("head keys in another order", &swapped(&head_1, &head_2).0, &swapped(&head_1, &head_2).1, false),
        row("a head key before the log keys", &swapped(&log_2, &head_1).0, &swapped(&log_2, &head_1).1, false),
        row("log keys that meet", t9, t5, true),
        row("a moment without a log key", t9, "1970-01-01T04:59:59.999999Z", false),
        row("a log key without its end", &format!(" until {t9}"), "", false),
        row(
            "a last log key with an end",
            &format!(" from {t5}\n{head_1}"),
            &format!(" from {t5} until {t9}\n{head_1}"),
            false,
        ),
        row("two log keys from the beginning", &format!(" from {t5}\n{head_1}"), &format!("\n{head_1}"), false),
        row(
            "a beginning that is spelled out",
            &format!(" until {t9}"),
            &format!(" from 1970-01-01T00:00:00.000000Z until {t9}"),
            false,
        ),
        row(
            "an end before its beginning",
            &format!(" until {t9}"),
            &format!(" until {t9} from 1970-01-01T01:00:00.000000Z"),
            false,
        ),
        row("a time without microseconds", t9, "1970-01-01T09:00:00Z", false),
        row("two head keys from one moment", &head_2, &head_2.replace("T05", "T01"), false),
        row("a head key twice", &head_2, &head_1.replace("T01", "T05"), false),
        row("a head key without its time", &head_2, &format!("{}\n", &head_2[..69]), false),
        row("ten head keys", &head_2, &more_heads, false),
        row("no head key", &format!("{head_1}{head_2}"), "", false),
        row("no log key", &format!("{log_1}{log_2}"), "", false),
        row("the root key as a log key", &log_1, &format!("log {root} until {t9}\n"), false),
        row("a witness's key as a log key", &log_2, &format!("log {cosigner} from {t5}\n"), false),
        row("a log key of another name", "log pins.example+", "log pins.example/2+", false),
        row("a lifetime without end", "head-lifetime 3600", "head-lifetime 604801", false),
        row("a quorum without a policy", "group q 1 w\nquorum q", "quorum q", false),
        row("a witness alone", "group q 1 w\nquorum q", "quorum w", true),
        row("a policy without a quorum", "quorum q\n", "", false),
        row("a policy for a log", "quorum q\n", &format!("quorum q\n{log_2}"), false),
        row("a policy with a comment", "quorum q\n", "quorum q\n# all\n", false),
        row(
            "a policy before the skew",
            &format!("clock-skew 300\n{}", line("witness ", 0)),
            &format!("{}clock-skew 300\n", line("witness ", 0)),
            false,
        ),
        row("an empty line before the policy", "clock-skew 300\n", "clock-skew 300\n\n", false),
        row("more after an empty line", "quorum q\n", "quorum q\n\nlog stranger\n", false),
        row("two of a line", "epoch 3\n", "epoch 3\nepoch 3\n", false),
        row("epoch 0", "epoch 3\n", "epoch 0\n", false),
        row("a version that no number holds", "version 1\n", "version 18446744073709551616\n", false),
    ];
    let signer = Signer::new("pins.example/root", scene.audit.key("root.pem")).expect("a name");
    let folder = tempfile::tempdir().expect("a folder");
    let (trust_file, bundle) = (folder.path().join("trust.txt"), folder.path().join("bundle.json"));
    std::fs::write(&bundle, scene.bundle.to_bytes()).expect("written");
    for (what, from, to, good) in rows {
        assert!(text.contains(&from), "{what}: {from}");
        let note = note::sign(&text.replacen(&from, &to, usize::from(!from.is_empty())), &[&signer]).expect("signs");
        let ours = Trust::first(&note);
        assert_eq!(ours.is_ok(), good, "{what}: {ours:?}");
        std::fs::write(&trust_file, &note).expect("written");
        let args = ["bundle".as_ref(), trust_file.as_os_str()];
        if let Some(lines) = python_says(&args, std::slice::from_ref(&bundle)) {
            assert_eq!(theirs(&lines[0]) != "trust", good, "{what}: {}", lines[0]);
        }
    }
}
