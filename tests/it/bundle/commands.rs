//! `countersign bundle` and `countersign verify`, as somebody calls them.

use std::fs;

use countersign::{
    clock::Span,
    log::open_checkpoint,
    pinset::trust::Trust,
    service::{
        jobs,
        trust::{self, Change},
    },
};
use insta::assert_snapshot;

use super::Audit;
use crate::{
    api::{EXPORT, EXPORT_2},
    verifiers::python_says,
};

impl Audit {
    async fn verify(&self, file: &str, more: &[&str]) -> crate::terminal::Ran {
        let trust = self.path("trust.txt");
        self.run(&[&["verify", file, "--trust", &trust], more].concat()).await
    }

    /// The output of a run, without what differs between runs: random ids and keys stay the same, the port doesn't.
    fn shown(&self, ran: &crate::terminal::Ran) -> String {
        ran.in_folder(self.folder.path()).replace(&self.url, "URL")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_is_collected_and_verified_offline() {
    let audit = Audit::new().await;
    let file = audit.bundle("notes.export").await;
    assert_snapshot!("verify", audit.shown(&audit.verify(&file, &[]).await));
    assert_snapshot!("verify_json", audit.shown(&audit.verify(&file, &["--json"]).await));
    let digest = countersign::descriptor::Descriptor::parse(countersign::descriptor::Kind::Tool, EXPORT.as_bytes());
    let digest = digest.expect("strict").digest().to_string();
    assert_eq!(audit.verify(&file, &["--name", "notes.export", "--digest", &digest]).await.exit, 0);
    assert_snapshot!("verify_other_name", audit.shown(&audit.verify(&file, &["--name", "notes.search"]).await));
    let other = digest.replace(&digest[20..24], "0000");
    let ran = audit.verify(&file, &["--json", "--digest", &other]).await;
    assert_eq!((ran.exit, ran.stdout.contains(r#""proved":false,"link":"digest""#)), (1, true), "{ran}");
    assert_eq!(audit.verify(&file, &["--digest", &digest.replace("jcs-", "python-sorted-")]).await.exit, 2);

    // Half a file was never seen whole; a changed one was, and is refused.
    let whole = fs::read(&file).expect("written");
    fs::write(audit.path("half.json"), &whole[..whole.len() / 2]).expect("written");
    assert_eq!(audit.verify(&audit.path("half.json"), &[]).await.exit, 3);
    let changed =
        String::from_utf8(whole).expect("text").replace("\"type\":\"countersign/bundle/v1\"", "\"type\":\"x\"");
    fs::write(audit.path("changed.json"), changed).expect("written");
    assert_snapshot!("verify_changed", audit.shown(&audit.verify(&audit.path("changed.json"), &[]).await));
    assert_eq!(audit.verify(&audit.path("nothing.json"), &[]).await.exit, 2);
    // Years later it proves the same, and says that the approval is over.
    audit.site.clock.advance(Span::days(400));
    let ran = audit.verify(&file, &[]).await;
    assert_eq!((ran.exit, ran.stdout.contains("which is over")), (0, true), "{ran}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pin_that_was_approved_before_keys_changed_is_proved_before_and_after() {
    let audit = Audit::new().await;
    let (before, app, clock) = (audit.path("before.json"), audit.site.app.clone(), audit.site.clock.clone());
    fs::rename(audit.bundle("notes.export").await, &before).expect("renamed");
    let from = app.clock().now() + Span::hours(1);
    for change in [Change::Log { from, overlap: Span::hours(1) }, Change::Head { from }] {
        let terms = trust::draft(&app, change).expect("drafted").terms;
        let next = trust::sign(&app, &terms, vec![]).expect("signed");
        trust::publish(&app, next.note(), crate::api::operator()).await.expect("published");
    }
    let logs = Trust::first(&app.moment().trust.note).expect("reads").logs().expect("names");
    let alone = || {
        let moment = app.moment();
        let signed = |log| open_checkpoint(&moment.note, log).is_ok();
        !signed(&logs[0]) && signed(&logs[1]) && moment.heads.values().all(|head| head.issued >= from + Span::hours(2))
    };
    let jobs = tokio::spawn(jobs::run(app.clone()));
    crate::service::eventually(|| clock.advance(Span::minutes(1)), || app.clock().now() >= from + Span::hours(2)).await;
    app.write(crate::service::AddSet("prod".to_owned())).await.expect("written");
    crate::service::eventually(|| clock.advance(Span::seconds(1)), alone).await;
    jobs.abort();

    let newer = audit.path("newer.txt");
    fs::write(&newer, &app.moment().trust.note).expect("written");
    assert_eq!(audit.verify(&before, &[]).await.exit, 0, "by the trust file of its time");
    let ran = audit.run(&["verify", &before, "--trust", &newer]).await;
    assert_eq!(ran.exit, 0, "by the one that came after: {ran}");
    let (after, old) = (audit.path("after.json"), audit.path("trust.txt"));
    let common = ["bundle", "notes.export", "--registry", &audit.url, "--pinset", "default", "-o", &after];
    let ran = audit.run(&[common.as_slice(), &["--trust", &old]].concat()).await;
    assert_eq!(ran.exit, 0, "the old file leads to the newest: {ran}");
    assert!(ran.stderr.contains("`countersign verify` needs trust file version 3"), "{ran}");
    fs::remove_file(&after).expect("is there");
    let ran = audit.run(&[common.as_slice(), &["--trust", &newer]].concat()).await;
    assert_eq!(ran.exit, 0, "{ran}");
    assert_eq!(audit.run(&["verify", &after, "--trust", &newer]).await.exit, 0);
    assert_eq!(audit.verify(&after, &[]).await.exit, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strangers_text_in_a_bundle_cant_steer_the_terminal() {
    let audit = Audit::new().await;
    let forge = super::forge::Forge::of(&audit, &audit.genuine("notes.export").await);
    // Ids are texts of the registry's; this one clears the screen, and says that it is something else.
    let hostile = "\u{1b}[2J\u{202e}proved\nproved, by us";
    let forged = forge.forge(&|name, document| {
        if ["authority", "release"].contains(&name) {
            document["authority"] = hostile.into();
        }
    });
    let file = audit.path("hostile.json");
    fs::write(&file, forged.bundle.to_bytes()).expect("written");
    let (said, genuine) = (audit.verify(&file, &[]).await, audit.bundle("notes.export").await);
    assert_eq!(said.exit, 0, "{said}");
    assert!(!said.stdout.contains(['\u{1b}', '\u{202e}']), "{said}");
    let lines = audit.verify(&genuine, &[]).await.stdout.lines().count();
    assert_eq!(said.stdout.lines().count(), lines, "no line more than for any other bundle: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_that_cant_be_made_says_why() {
    let audit = Audit::new().await;
    let (out, trust) = (audit.path("out.json"), audit.path("trust.txt"));
    let common = ["--registry", &audit.url, "--pinset", "default", "-o", &out];
    let ran = audit.run(&[&["bundle", "notes.export"], common.as_slice()].concat()).await;
    assert_snapshot!("bundle_without_trust", audit.shown(&ran));
    fs::remove_file(&out).expect("written");
    let rows: [(&str, &[&str], u8, &str); 6] = [
        ("no such pin", &["notes.wipe"], 1, "pins nothing that is called notes.wipe"),
        ("no such alias", &["mail.export"], 1, "pins nothing"),
        ("a bare name", &["export"], 1, "pins nothing"),
        ("another kind", &["notes.export", "--kind", "prompt"], 1, "pins nothing"),
        ("another variant", &["notes.export", "--variant", "de"], 1, "pins nothing"),
        ("a kind that there isn't", &["notes.export", "--kind", "gadget"], 2, "one of tool, prompt"),
    ];
    for (what, args, exit, says) in rows {
        let ran = audit.run(&[&["bundle"], args, common.as_slice(), &["--trust", &trust]].concat()).await;
        assert_eq!(ran.exit, exit, "{what}: {ran}");
        assert!(ran.stderr.contains(says), "{what}: {ran}");
        assert!(!fs::exists(&out).expect("a folder"), "{what}");
    }
    // Another registry's trust file.
    let elsewhere = Audit::new().await;
    let [key, head] = [205, 206].map(|n| countersign::keys::SigningKey::from_seed(&[n; 32]));
    let mut terms = elsewhere.trust().terms().clone();
    terms.root = key.verifying();
    terms.heads =
        vec![countersign::pinset::trust::HeadKey { key: head.verifying(), from: countersign::clock::Timestamp::EPOCH }];
    fs::write(&trust, terms.sign(&[&key]).expect("signs").note()).expect("written");
    let ran = audit.run(&[&["bundle", "notes.export"], common.as_slice(), &["--trust", &trust]].concat()).await;
    assert_eq!((ran.exit, fs::exists(&out).expect("a folder")), (3, false), "{ran}");
    // Nobody there.
    let ran = audit
        .run(&["bundle", "notes.export", "--registry", "http://127.0.0.1:9", "--pinset", "default", "-o", &out])
        .await;
    assert_eq!(ran.exit, 3, "{ran}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_pins_of_one_name_are_told_apart_by_digest() {
    let audit = Audit::new().await;
    // The old digest stays for a while beside the new one.
    let policy = countersign::review::Policy { overlap_hours: 48, ..Default::default() };
    set_policy(&audit, policy).await;
    let published = audit.site.published("1.5.0", &[EXPORT_2, crate::api::SEARCH]).await;
    for candidate in published["candidates"].as_array().expect("a list") {
        for token in [&audit.site.ada, &audit.site.rex] {
            audit.site.vote(token, candidate["id"].as_str().expect("an id"), "approve").await;
        }
    }
    let (out, trust) = (audit.path("out.json"), audit.path("trust.txt"));
    let args =
        ["bundle", "notes.export", "--registry", &audit.url, "--pinset", "default", "--trust", &trust, "-o", &out];
    let ran = audit.run(&args).await;
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("several pins fit: tool, variant \"\", jcs-sha256:"), "{ran}");
    for raw in [EXPORT, EXPORT_2] {
        let descriptor =
            countersign::descriptor::Descriptor::parse(countersign::descriptor::Kind::Tool, raw.as_bytes());
        let digest = descriptor.expect("strict").digest().to_string();
        let ran = audit.run(&[args.as_slice(), &["--digest", &digest]].concat()).await;
        assert_eq!(ran.exit, 0, "{ran}");
        let ran = audit.verify(&out, &["--digest", &digest, "--name", "notes.export"]).await;
        assert_eq!(ran.exit, 0, "{ran}");
    }
}

async fn set_policy(audit: &Audit, policy: countersign::review::Policy) {
    use countersign::service::govern;
    let pinset = "default".parse().expect("legal");
    let set = govern::SetPolicy { pinset, policy, by: crate::api::operator(), alone: true };
    govern::set_policy(&audit.site.app, set).await.expect("set");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pulled_state_holds_for_the_other_verifier_too_until_anything_in_it_is_damaged() {
    let audit = Audit::new().await;
    let (trust, state) = (audit.path("trust.txt"), audit.path("state"));
    let pull = ["pull", "--registry", &audit.url, "--pinset", "default", "--trust", &trust, "--state", &state];
    assert_eq!(audit.run(&pull).await.exit, 0);
    let now = countersign::env::Clock::now(&audit.site.clock);
    let says = |now: countersign::clock::Timestamp| {
        let lines = python_says(&["state".to_owned(), now.to_string()], &[state.clone().into()]);
        lines.map(|lines| lines[0].clone())
    };
    let Some(said) = says(now) else { return };
    assert!(said.starts_with("ok default version ") && said.ends_with(": 2 pins"), "{said}");
    let late = says(now + crate::api::LATER).expect("is there");
    assert!(late.starts_with("refused expired"), "{late}");
    let files = fs::read_dir(audit.folder.path().join("state/documents")).expect("a state");
    let mut files: Vec<_> = files.map(|entry| entry.expect("an entry").path()).collect();
    files.push(audit.folder.path().join("state/state.json"));
    // Without the scanner's rules what no pin covers is blocked; the pins themselves hold.
    let rules = |bytes: &[u8]| bytes.starts_with(b"\n[[rule]]") || bytes.windows(10).any(|it| it == b"ruleset/v1");
    files.retain(|file| !rules(&fs::read(file).expect("a file")));
    assert_eq!(files.len(), 5, "trust file, answer, set, pins and state.json: {files:?}");
    let check = ["check", "--state", &state, "--alias", "notes", "--json", "-"];
    for file in files {
        let bytes = fs::read(&file).expect("a file");
        let mut damaged = bytes.clone();
        damaged[bytes.len() / 2] ^= 1;
        fs::write(&file, damaged).expect("written");
        let said = says(now).expect("is there");
        let ours = crate::terminal::Desk::at(&audit.site.clock).run_with(check, format!("[{EXPORT}]").as_bytes()).await;
        assert_eq!((said.starts_with("refused"), ours.exit), (true, 3), "{}: {said}", file.display());
        fs::write(&file, bytes).expect("written");
    }
}
