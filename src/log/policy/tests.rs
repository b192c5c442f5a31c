use proptest::prelude::*;

use super::*;
use crate::{
    clock::Span,
    keys::SigningKey,
    log::{Checkpoint, empty_root, note::Signer, sign_checkpoint},
};

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

/// The witness key of a seed, as `wN.example`.
fn vkey(seed: u8) -> String {
    Verifier::cosigner(&format!("w{seed}.example"), key(seed).verifying()).expect("a name").to_string()
}

fn log_key(seed: u8) -> String {
    Verifier::new("log.example", key(seed).verifying()).expect("a name").to_string()
}

/// Witnesses `w1` to `wN`, and what follows them.
fn text(witnesses: u8, rest: &str) -> String {
    let lines: String = (1..=witnesses).map(|n| format!("witness w{n} {}\n", vkey(n))).collect();
    format!("{lines}{rest}")
}

fn refused(text: &str) -> (usize, Fault) {
    let NotAPolicy { line, why } = text.parse::<Policy>().expect_err(text);
    (line, why)
}

/// Whether the policy holds when these witnesses have cosigned.
fn holds(policy: &Policy, names: &[&str]) -> bool {
    policy.holds(|witness| names.contains(&witness.name.as_str()))
}

#[test]
fn a_policy_of_groups_of_groups_holds_as_its_thresholds_say() {
    let policy: Policy = text(6, "group x 2 w1 w2 w3\ngroup y any w4 w5 w6\ngroup both all x y\nquorum both\n")
        .parse()
        .expect("a policy");
    for (cosigned, expected) in [
        (&["w1", "w2", "w4"][..], true),
        (&["w2", "w3", "w6"], true),
        (&["w1", "w2", "w3", "w4", "w5", "w6"], true),
        (&["w1", "w4", "w5", "w6"], false),
        (&["w1", "w2", "w3"], false),
        (&["w4"], false),
        (&[], false),
        (&["x", "y", "both", "w9"], false),
    ] {
        assert_eq!(holds(&policy, cosigned), expected, "{cosigned:?}");
    }
}

#[test]
fn the_quorum_may_be_one_witness_or_none() {
    let one: Policy = text(2, "quorum w2\n").parse().expect("a policy");
    assert!(holds(&one, &["w2"]) && !holds(&one, &["w1"]) && !one.asks_for_none());
    for none in ["quorum none\n".to_owned(), text(2, "quorum none\n"), "quorum none".to_owned()] {
        let policy: Policy = none.parse().expect("a policy");
        assert!(policy.asks_for_none() && holds(&policy, &[]), "{none}");
    }
}

#[test]
fn spaces_comments_and_the_order_of_witnesses_and_logs_say_nothing() {
    let loose = format!(
        "# ours\n\n \t# more\nquorum none\n\t witness  w1\t{}   https://w1.example/  \nlog {}\n\twitness w2 {}",
        vkey(1),
        log_key(9),
        vkey(2)
    );
    let strict = format!(
        "log {}\nwitness w1 {} https://w1.example/\nwitness w2 {}\nquorum none\n",
        log_key(9),
        vkey(1),
        vkey(2)
    );
    let policy: Policy = loose.parse().expect("a policy");
    assert_eq!(policy.to_string(), strict);
    assert_eq!(strict.parse(), Ok(policy.clone()));
    assert_eq!(policy.logs().len(), 1);
    assert_eq!(policy.witnesses()[0].url.as_deref(), Some("https://w1.example/"));
    let readers = policy.for_readers();
    assert_eq!(readers.to_string(), text(2, "quorum none\n"));
    assert!(readers.logs().is_empty() && readers.witnesses().iter().all(|witness| witness.url.is_none()));
}

#[test]
fn any_and_all_are_thresholds_with_a_name() {
    let policy: Policy = text(3, "group a any w1 w2\ngroup b all a w3\nquorum b\n").parse().expect("a policy");
    assert_eq!(policy.to_string(), text(3, "group a 1 w1 w2\ngroup b 2 a w3\nquorum b\n"));
}

#[test]
fn a_name_is_what_its_bytes_are() {
    let kelvin = format!("witness K {}\nwitness \u{212a} {}\nquorum \u{212a}\n", vkey(1), vkey(2));
    let policy: Policy = kelvin.parse().expect("two names");
    assert!(holds(&policy, &["\u{212a}"]) && !holds(&policy, &["K"]));
    // A word inside a line that begins with the comment's sign is a word.
    let odd: Policy = format!("witness #1 {}\ngroup 1 1 #1\nquorum 1\n", vkey(1)).parse().expect("names");
    assert!(holds(&odd, &["#1"]));
}

#[test]
fn what_is_no_policy_says_where_and_why() {
    let name = |name: &str| name.to_owned();
    let ml_dsa = "w+00000000+BgYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29";
    let renamed = Verifier::cosigner("else.example", key(1).verifying()).expect("a name");
    let table: Vec<(String, (usize, Fault))> = vec![
        (String::new(), (0, Fault::NoQuorum)),
        (text(2, ""), (0, Fault::NoQuorum)),
        (text(1, "quorum w1\nquorum w1\n"), (3, Fault::QuorumTwice)),
        (text(1, "quorum none\nquorum w1\n"), (3, Fault::QuorumTwice)),
        (text(1, "quorum w2\n"), (2, Fault::NameUnknown(name("w2")))),
        (text(1, "quorum\n"), (2, Fault::Statement)),
        (text(1, "quorum w1 w1\n"), (2, Fault::Statement)),
        (text(1, "Quorum w1\n"), (2, Fault::Statement)),
        (text(1, "threshold 1\n"), (2, Fault::Statement)),
        (text(1, "witness\n"), (2, Fault::Statement)),
        (text(1, "witness w2\n"), (2, Fault::Statement)),
        (text(1, &format!("witness w2 {} https://a https://b\n", vkey(2))), (2, Fault::Statement)),
        (text(2, "group g 1\nquorum g\n"), (3, Fault::Statement)),
        (text(2, "group g\nquorum g\n"), (3, Fault::Statement)),
        (text(2, "group g 0 w1\n"), (3, Fault::Threshold)),
        (text(2, "group g 3 w1 w2\n"), (3, Fault::Threshold)),
        (text(2, "group g +1 w1\n"), (3, Fault::Threshold)),
        (text(2, "group g 01 w1\n"), (3, Fault::Threshold)),
        (text(2, "group g -1 w1\n"), (3, Fault::Threshold)),
        (text(2, "group g most w1\n"), (3, Fault::Threshold)),
        (text(2, "group g 99999999999999999999 w1\n"), (3, Fault::Threshold)),
        (text(2, "group g 1 w1 w3\n"), (3, Fault::NameUnknown(name("w3")))),
        (text(2, "group g 1 g\n"), (3, Fault::NameUnknown(name("g")))),
        (text(2, "group g 1 h\ngroup h 1 g\nquorum h\n"), (3, Fault::NameUnknown(name("h")))),
        (text(1, "group g 1 none\n"), (2, Fault::NameUnknown(name("none")))),
        (text(2, "group g 1 w1 w1\n"), (3, Fault::MemberTwice(name("w1")))),
        (text(2, "group g 1 w1\ngroup h 1 w1 w2\n"), (4, Fault::MemberTwice(name("w1")))),
        (text(2, "group g 1 w1\ngroup h 1 g\ngroup i 1 g\n"), (5, Fault::MemberTwice(name("g")))),
        (text(2, "group w1 1 w2\n"), (3, Fault::NameTaken(name("w1")))),
        (text(2, "group g 1 w2\ngroup g 1 w1\n"), (4, Fault::NameTaken(name("g")))),
        (text(1, &format!("witness w1 {}\n", vkey(2))), (2, Fault::NameTaken(name("w1")))),
        (text(0, &format!("witness none {}\n", vkey(2))), (1, Fault::NameTaken(name("none")))),
        (text(1, "group none 1 w1\n"), (2, Fault::NameTaken(name("none")))),
        (text(1, &format!("witness w2 {}\n", vkey(1))), (2, Fault::KeyTwice)),
        (text(1, &format!("witness w2 {renamed}\n")), (2, Fault::KeyTwice)),
        (format!("log {0}\nlog {0}\n", log_key(9)), (2, Fault::KeyTwice)),
        (format!("log {}\n", vkey(1)), (1, Fault::KeyType)),
        (format!("witness w {}\n", log_key(9)), (1, Fault::KeyType)),
        (format!("witness w {ml_dsa}\n"), (1, Fault::Key(NotAKey::Text))),
        ("witness w no-key\n".to_owned(), (1, Fault::Key(NotAKey::Text))),
        (text(1, "quorum w1\r\n"), (2, Fault::Control)),
        (text(1, "quorum w1\0\n"), (2, Fault::Control)),
        (text(1, "# \u{7f}\nquorum w1\n"), (2, Fault::Control)),
        (text(1, "# \u{1b}[2J\nquorum w1\n"), (2, Fault::Control)),
    ];
    for (text, expected) in table {
        assert_eq!(refused(&text), expected, "{text}");
    }
    let shown = text(1, "quorum w2\n").parse::<Policy>().expect_err("unknown").to_string();
    assert_eq!(shown, "line 2: no witness or group above is called w2");
}

#[test]
fn the_limits_hold_at_and_one_past_them() {
    let lines = |count: usize, line: &dyn Fn(u8) -> String| -> String {
        (1..=count).map(|n| line(u8::try_from(n).expect("small"))).collect()
    };
    let witnesses = |count| lines(count, &|n| format!("witness w{n} {}\n", vkey(n))) + "quorum none\n";
    let logs = |count| lines(count, &|n| format!("log {}\n", log_key(n))) + "quorum none\n";
    let groups = |count| {
        let chain =
            lines(count, &|n| format!("group g{n} 1 {}\n", if n == 1 { "w1".into() } else { format!("g{}", n - 1) }));
        text(1, &format!("{chain}quorum g{count}\n"))
    };
    assert!(witnesses(MAX_WITNESSES).parse::<Policy>().is_ok());
    assert_eq!(refused(&witnesses(MAX_WITNESSES + 1)), (MAX_WITNESSES + 1, Fault::TooLarge));
    assert!(logs(MAX_LOGS).parse::<Policy>().is_ok());
    assert_eq!(refused(&logs(MAX_LOGS + 1)), (MAX_LOGS + 1, Fault::TooLarge));
    let deep: Policy = groups(MAX_GROUPS).parse().expect("as deep as it can be");
    assert!(holds(&deep, &["w1"]) && !holds(&deep, &[]));
    assert_eq!(refused(&groups(MAX_GROUPS + 1)), (MAX_GROUPS + 2, Fault::TooLarge));
    let padded = |bytes: usize| {
        let end = "quorum none\n";
        format!("#{}\n{end}", "x".repeat(bytes - end.len() - 2))
    };
    assert!(padded(MAX_BYTES).parse::<Policy>().is_ok());
    assert_eq!(refused(&padded(MAX_BYTES + 1)), (0, Fault::TooLarge));
}

const AT: Timestamp = match Timestamp::from_micros(1_796_025_600_000_000) {
    Some(at) => at,
    None => Timestamp::EPOCH,
};

/// A checkpoint's note with cosignatures of these seeds at these times.
fn note(by: &[(u8, Timestamp)]) -> String {
    let log = Signer::new("log.example", key(99)).expect("a name");
    let checkpoint = Checkpoint { origin: "log.example".to_owned(), size: 0, root: empty_root() };
    let mut note = sign_checkpoint(&checkpoint, &log).expect("signs");
    for (seed, at) in by {
        let name = format!("w{seed}.example");
        note += &note::cosign(&checkpoint.to_string(), &name, &key(*seed), *at).expect("cosigns");
    }
    note
}

#[test]
fn a_checkpoint_needs_the_cosignatures_of_its_quorum_and_each_counts_once() {
    let policy: Policy = text(3, "group q 2 w1 w2 w3\nquorum q\n").parse().expect("a policy");
    let check = |by: &[(u8, Timestamp)]| policy.check(&note(by), AT);
    let short = |counted, early| Err(Unwitnessed::Quorum { counted, of: 3, early });
    assert_eq!(check(&[(1, AT), (2, AT)]), Ok(()));
    assert_eq!(check(&[(3, AT), (2, AT), (1, AT)]), Ok(()));
    assert_eq!(check(&[(3, AT), (2, Timestamp::EPOCH)]), Ok(()), "how old it is doesn't matter");
    assert_eq!(check(&[]), short(0, 0));
    assert_eq!(check(&[(1, AT)]), short(1, 0));
    assert_eq!(check(&[(1, AT), (1, AT)]), short(1, 0), "once more is no second witness");
    assert_eq!(check(&[(1, AT), (4, AT), (5, AT)]), short(1, 0), "strangers");
    let later = AT + Span::seconds(1);
    assert_eq!(check(&[(1, AT), (2, later)]), short(1, 1));
    assert_eq!(policy.check(&note(&[(1, AT), (2, later)]), later), Ok(()));
    let shown = check(&[(1, AT), (2, later)]).expect_err("one is early").to_string();
    assert_eq!(
        shown,
        "the checkpoint lacks its witness quorum: of 3 witnesses 1 have cosigned it, 1 more at a time that hasn't come yet"
    );
}

#[test]
fn a_cosignature_of_another_text_refuses_the_whole_note() {
    let policy: Policy = text(2, "quorum w1\n").parse().expect("a policy");
    let other = note::cosign("log.example\n1\n", "w2.example", &key(2), AT).expect("cosigns");
    let bad = Err(Unwitnessed::Note(OpenError::BadSignature { name: "w2.example".to_owned() }));
    assert_eq!(policy.check(&(note(&[(1, AT)]) + &other), AT), bad);
    assert_eq!(policy.check("no note", AT), Err(Unwitnessed::Note(OpenError::Malformed)));
    // An ordinary signature by a witness's key, in its name, is no cosignature.
    let ordinary = Signer::new("w1.example", key(1)).expect("a name");
    let signed = note::sign("log.example\n0\n", &[&ordinary]).expect("signs");
    assert_eq!(policy.check(&signed, AT), Err(Unwitnessed::Quorum { counted: 0, of: 2, early: 0 }));
}

#[test]
fn without_a_quorum_every_note_will_do() {
    let policy: Policy = "quorum none\n".parse().expect("a policy");
    assert_eq!(policy.check(&note(&[]), AT), Ok(()));
}

/// Texts that are nearly policies: statements with a word changed here and there.
fn nearly() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("w1".to_owned()),
        Just("w2".to_owned()),
        Just("g".to_owned()),
        Just("h".to_owned()),
        Just("none".to_owned()),
        Just("any".to_owned()),
        Just("all".to_owned()),
        Just("1".to_owned()),
        Just("2".to_owned()),
        Just(vkey(1)),
        Just(vkey(2)),
        Just(log_key(9)),
        "[ -~\u{80}-\u{2ff}]{0,4}",
    ];
    let verb = prop_oneof![Just("witness"), Just("group"), Just("quorum"), Just("log"), Just("#"), Just("")];
    let line =
        (verb, prop::collection::vec(word, 0..5)).prop_map(|(verb, words)| format!("{verb} {}", words.join(" ")));
    prop::collection::vec(line, 0..9).prop_map(|lines| text(2, &(lines.join("\n") + "\n")))
}

proptest! {
    #[test]
    fn whatever_is_read_has_one_spelling(text in prop_oneof![nearly(), "\\PC{0,80}", "(.|\n){0,80}"]) {
        if let Ok(policy) = text.parse::<Policy>() {
            let spelled = policy.to_string();
            prop_assert_eq!(spelled.parse::<Policy>(), Ok(policy.clone()));
            // Nobody's cosignature is missing when all have given it.
            prop_assert!(policy.holds(|_| true));
            prop_assert_eq!(policy.holds(|_| false), policy.asks_for_none());
        }
    }

    /// One more cosignature never undoes a quorum.
    #[test]
    fn more_witnesses_never_weaken_a_checkpoint(text in nearly(), first: u8, more: u8) {
        if let Ok(policy) = text.parse::<Policy>() {
            let cosigned = |set: u8| policy.holds(|witness| set & (1 << (witness.key.id() % 8)) != 0);
            prop_assert!(!cosigned(first) || cosigned(first | more));
        }
    }

    #[test]
    fn no_note_makes_the_check_panic(spoiled in "(.|\n){0,200}", at in any::<prop::sample::Index>(), byte: u8) {
        let policy: Policy = text(2, "quorum w1\n").parse().expect("a policy");
        let _ = policy.check(&spoiled, AT);
        let mut bytes = note(&[(1, AT)]).into_bytes();
        let at = at.index(bytes.len());
        let before = bytes[at];
        bytes[at] = byte;
        if let Ok(changed) = std::str::from_utf8(&bytes) {
            // What the witness signed is the text; the log's own line is for others to check.
            let signed = changed.split("\n\n").next() == note(&[]).split("\n\n").next();
            prop_assert!(policy.check(changed, AT).is_err() || signed || before == byte);
        }
    }
}
