use std::fs;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use countersign::{
    canon::Sha256,
    clock::Span,
    pinset::{head::Head, verify::HeadAnswer},
};

use super::Court;
use crate::databases::{block_on, on_both};

/// The head of `default` that is served now.
async fn served(court: &Court<'_>) -> Head {
    let answer = HeadAnswer::parse(&court.site.get("/v1/pinsets/default/head").await.body).expect("an answer");
    let now = countersign::env::Clock::now(&court.site.clock);
    Head::open(&answer.head, &court.trust().head_keys(now)).expect("signed")
}

/// Writes a gateway's file `heads`.
fn keep(court: &Court<'_>, heads: &[Vec<u8>]) -> String {
    let path = court.file("heads");
    let lines: String = heads.iter().map(|head| format!("{}\n", STANDARD.encode(head))).collect();
    fs::write(&path, lines).expect("written");
    path
}

#[test]
fn a_registry_that_signs_an_old_version_again_is_convicted_by_its_own_head() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let (key, newest) = (court.key("head.pem"), served(&court).await);
        let mut conn = court.site.app.reader().conn().await.expect("a connection");
        let set = "default".parse().expect("legal");
        let old = conn.set_version(&set, newest.version - 1).await.expect("reads").expect("published");
        let root_at = async |size: u64| {
            let note =
                court.site.app.reader().conn().await.expect("a connection").checkpoint(size).await.expect("reads");
            countersign::log::open_checkpoint(&note?, &court.trust().logs().expect("a key")[0]).ok().map(|c| c.root)
        };
        // The old version's own head told the truth when it was signed.
        let size = old.log_index + 1;
        let truth = Head {
            version: old.version,
            set_sha256: old.set_sha256,
            checkpoint_size: size,
            checkpoint_root: root_at(size).await.expect("the batch ended there"),
            ..newest.clone()
        };
        let honest = court.audit(&["--heads", &keep(&court, &[truth.sign(&key), newest.sign(&key)])]).await;
        assert_eq!((honest.exit, honest.count("kept_heads")), (0, 2), "{honest}");

        let replayed = Head { version: old.version, set_sha256: old.set_sha256, ..newest.clone() };
        let beyond = court.site.size() + 7;
        for (what, head, kind) in [
            ("an old version over the newest log", replayed.clone(), "kept-head"),
            ("another tree", Head { checkpoint_root: Sha256::of(b"x"), ..newest.clone() }, "kept-head"),
            ("another set under the version", Head { set_sha256: Sha256::of(b"x"), ..newest.clone() }, "kept-head"),
            ("a version that was never published", Head { version: 99, ..newest.clone() }, "kept-head"),
            ("the newest version before its leaf", Head { version: newest.version, ..truth.clone() }, "kept-head"),
            ("a longer log than there is", Head { checkpoint_size: beyond, ..newest.clone() }, "truncated"),
            ("a log without leaves", Head { checkpoint_size: 0, ..newest.clone() }, "kept-head"),
        ] {
            let envelope = head.sign(&key);
            let convicted = court.audit(&["--heads", &keep(&court, std::slice::from_ref(&envelope))]).await;
            assert_eq!((convicted.exit, convicted.kinds()), (1, vec![kind]), "{what}: {convicted}");
            assert_eq!(convicted.evidence()[0].as_bytes(), envelope, "{what}: the head as it was signed");
            assert_eq!(convicted.evidence()[1], &*court.site.app.moment().note, "{what}: and what contradicts it");
        }
        // Printed for people, too.
        let path = keep(&court, &[replayed.sign(&key)]);
        let said = court.run(&[&court.url, "--trust", &court.file("trust.txt"), "--heads", &path]).await;
        assert!(
            said.exit == 1
                && said.stdout.contains("FAULT: a kept head of default")
                && said.stdout.contains("evidence:")
        );

        // Served now, with all its proofs: found without any kept head.
        let leaf = conn.leaf(old.log_index).await.expect("reads").expect("is there");
        let proof = court.site.app.inclusion(old.log_index).await.expect("a proof");
        let replayed = Head {
            checkpoint_size: court.site.size(),
            checkpoint_root: court.site.app.moment().checkpoint.root,
            ..replayed
        };
        let answer = HeadAnswer { head: replayed.sign(&key), leaf, proof, consistency: vec![] };
        let json = answer.to_json().expect("JSON");
        court.warp("/v1/pinsets/default/head", move |_| (200, json.clone()));
        let convicted = court.audit(&[]).await;
        assert_eq!((convicted.exit, convicted.kinds()), (1, vec!["head"]), "{convicted}");
    }));
}

#[test]
fn kept_heads_that_say_nothing_about_this_log_are_not_taken_for_verified() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let (key, newest) = (court.key("head.pem"), served(&court).await);
        let stranger = countersign::keys::SigningKey::from_seed(&[77; 32]);
        for (what, head) in [
            ("another registry", Head { registry: "evil.example".to_owned(), ..newest.clone() }.sign(&key)),
            ("another epoch", Head { epoch: 2, ..newest.clone() }.sign(&key)),
            ("another key", newest.sign(&stranger)),
            ("no head", b"{}".to_vec()),
        ] {
            let unusable = court.audit(&["--heads", &keep(&court, &[head, newest.sign(&key)])]).await;
            assert_eq!((unusable.exit, unusable.count("kept_heads")), (3, 1), "{what}: {unusable}");
            assert_eq!(unusable.report["unusable_heads"].as_array().map(Vec::len), Some(1), "{what}: {unusable}");
        }
        let none = court.audit(&["--heads", &court.file("nothing")]).await;
        assert_eq!(none.exit, 2, "{none}");
        // A head that ran out is no answer.
        court.site.clock.advance(Span::hours(2));
        let late = court.audit(&[]).await;
        assert_eq!(late.exit, 3, "{late}");
    }));
}

#[test]
fn a_log_that_went_back_is_convicted_by_what_a_gateway_kept() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let newest = served(&court).await.sign(&court.key("head.pem"));
        let size = 3;
        let mut conn = court.site.app.reader().conn().await.expect("a connection");
        let old = conn.checkpoint(size).await.expect("reads").expect("signed");
        court.warp("/log/checkpoint", move |_| (200, old.clone().into_bytes()));
        let convicted = court.audit(&["--heads", &keep(&court, &[newest])]).await;
        assert_eq!((convicted.exit, convicted.kinds()), (1, vec!["truncated"]), "{convicted}");
    }));
}

#[test]
fn a_gateways_state_directory_brings_its_trust_file_and_its_heads() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let (state, trust) = (court.file("state"), court.file("trust.txt"));
        let args = ["pull", "--registry", &court.url, "--pinset", "default", "--trust", &trust, "--state", &state];
        let pulled = crate::terminal::Desk::at(&court.site.clock).run(args).await;
        assert_eq!(pulled.exit, 0, "{pulled}");
        let audited = super::Verdict::of(court.run(&[&court.url, "--heads", &state, "--json"]).await);
        assert_eq!((audited.exit, audited.count("kept_heads")), (0, 1), "{audited}");
    }));
}
