use countersign::{
    env::Terminal,
    keys::SigningKey,
    log::{Checkpoint, note::Signer, sign_checkpoint},
    pinset::trust::Terms,
};
use serde_json::json;

use super::{Court, down, flipped, gone};
use crate::{
    databases::{block_on, on_both},
    terminal::Desk,
};

/// A change to a piece of the list of checkpoints.
type Edit = Box<dyn Fn(&mut Vec<serde_json::Value>) + Send>;

#[test]
fn a_registry_that_tells_the_truth_is_verified_to_its_last_byte() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let clean = court.audit(&[]).await;
        assert_eq!((clean.exit, clean.kinds()), (0, vec![]), "{clean}");
        let size = court.site.size();
        assert_eq!((clean.count("leaves"), clean.count("bundles")), (size, 3));
        // Three on the first level, one on the second.
        assert_eq!((clean.count("tiles"), clean.count("heads")), (4, 2));
        let mut conn = court.site.app.reader().conn().await.expect("a connection");
        let listed = conn.checkpoints(0, size, 1_000).await.expect("reads").len();
        assert_eq!(clean.count("checkpoints"), u64::try_from(listed).expect("few"));
        let state = &court.site.app.moment().state;
        let versions: u64 = state.sets().map(|set| set.document().expect("published").version).sum();
        assert_eq!(clean.count("versions"), versions);
        // A set document each, and pins wherever they changed.
        assert!(clean.count("documents") > versions, "{clean}");
        assert_eq!((&clean.report["complete"], &clean.report["not_kept"]), (&json!(true), &json!(0)));
        assert!(court.asked().iter().any(|path| *path == court.document(Some("notes"))));

        let said = court.run(&[&court.url, "--trust", &court.file("trust.txt")]).await;
        assert_eq!(said.exit, 0, "{said}");
        assert!(said.stdout.ends_with("nothing contradicts\n") && said.stderr.is_empty(), "{said}");
        let mut person = Desk::at(&court.site.clock);
        person.terminal = Terminal { stderr: true, ..Terminal::default() };
        let watched = person.run(["audit", &court.url, "--trust", &court.file("trust.txt")]).await;
        assert_eq!(watched.stdout, said.stdout, "a progress bar changes nothing");
    }));
}

#[test]
fn one_flipped_bit_or_a_missing_file_fails_the_audit() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let partial = court.site.size() - 512;
        let (set, pins) = (court.document(None), court.document(Some("notes")));
        let rows: Vec<(String, &str, &str)> = vec![
            ("/log/tile/0/000".to_owned(), "tile", "tile"),
            ("/log/tile/0/001".to_owned(), "tile", "tile"),
            (format!("/log/tile/0/002.p/{partial}"), "tile", "tile"),
            ("/log/tile/1/000.p/2".to_owned(), "tile", "tile"),
            ("/log/tile/entries/000".to_owned(), "tile", "bundle"),
            ("/log/tile/entries/001".to_owned(), "tile", "bundle"),
            (format!("/log/tile/entries/002.p/{partial}"), "leaf", "bundle"),
            ("/log/checkpoint".to_owned(), "checkpoint", "checkpoint"),
            (set, "document", "missing-document"),
            (pins, "document", "missing-document"),
            ("/v1/pinsets/prod/head".to_owned(), "head", "head"),
        ];
        for (path, kind, missing) in rows {
            // In a signature's base64, in the middle of a leaf, in a hash.
            court.warp(&path, |bytes| flipped(bytes.len() * 3 / 4)(bytes));
            let refused = court.audit(&[]).await;
            assert_eq!((refused.exit, refused.kinds()), (1, vec![kind]), "{path}: {refused}");
            court.warp(&path, gone);
            let refused = court.audit(&[]).await;
            assert_eq!((refused.exit, refused.kinds()), (1, vec![missing]), "{path}: {refused}");
            // One that fails to look says neither good nor bad.
            court.warp(&path, down);
            let blind = court.audit(&[]).await;
            assert_eq!((blind.exit, blind.kinds()), (3, vec![]), "{path}: {blind}");
            assert_eq!(blind.report["complete"], false);
            court.straighten();
        }
        assert_eq!(court.audit(&[]).await.exit, 0);
    }));
}

#[test]
fn a_leaf_that_was_changed_with_its_tile_does_not_come_to_the_signed_root() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        // A reviewer's id: the event still follows, and only the tree knows.
        let bundle = countersign::log::Bundle::new(0, 256).expect("a place");
        let bytes = court.site.app.bundle(bundle).await.expect("reads").expect("is there").to_vec();
        let mut leaves: Vec<Vec<u8>> =
            bundle.decode(&bytes).expect("a bundle").into_iter().map(<[u8]>::to_vec).collect();
        let text = String::from_utf8(leaves[200].clone()).expect("JSON");
        let at = text.find("\"reviewer\":\"").expect("a reviewer") + 20;
        leaves[200][at] = if leaves[200][at] == b'0' { b'1' } else { b'0' };
        let hash = countersign::log::leaf_hash(&leaves[200]);
        let changed = bundle.encode(&leaves).expect("encodes");
        court.warp("/log/tile/entries/000", move |_| (200, changed.clone()));
        court.warp("/log/tile/0/000", move |mut bytes| {
            bytes[200 * 32..201 * 32].copy_from_slice(&hash.0);
            (200, bytes)
        });
        let refused = court.audit(&[]).await;
        assert_eq!((refused.exit, refused.kinds()), (1, vec!["fork"]), "{refused}");
    }));
}

#[test]
fn every_checkpoint_is_held_to_the_entries() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let log = Signer::new("pins.example", court.key("log.pem")).expect("a signer");
        let other = |size: u64| {
            let root = countersign::canon::Sha256::of(b"another tree");
            sign_checkpoint(&Checkpoint { origin: "pins.example".to_owned(), size, root }, &log).expect("signs")
        };
        let path = "/v1/log/checkpoints";
        let edit = |change: Edit| {
            court.warp(path, move |bytes| {
                let mut piece: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
                change(piece["items"].as_array_mut().expect("a list"));
                (200, piece.to_string().into_bytes())
            });
        };
        // Two of one size, the second with another root: both are evidence.
        let second = other(3);
        let twin = json!({"size": 3, "note": second.clone()});
        edit(Box::new(move |items| items.insert(1, twin.clone())));
        let forked = court.audit(&[]).await;
        assert_eq!((forked.exit, forked.kinds()), (1, vec!["fork"]), "{forked}");
        assert!(forked.evidence().len() == 2 && forked.evidence().contains(&second.as_str()), "{forked}");
        // The only one of its size, with another root.
        let lonely = json!({"size": 3, "note": other(3)});
        edit(Box::new(move |items| items[0] = lonely.clone()));
        assert_eq!(court.audit(&[]).await.kinds(), ["fork"]);
        // The same twice; one that shrinks; one for another size than it says; one of another key; one that is left out.
        edit(Box::new(|items| items.insert(1, items[1].clone())));
        assert_eq!(court.audit(&[]).await.kinds(), ["checkpoint"]);
        edit(Box::new(|items| items.swap(1, 2)));
        assert_eq!(court.audit(&[]).await.kinds(), ["checkpoint"]);
        edit(Box::new(|items| items[1]["size"] = json!(items[1]["size"].as_u64().expect("a size") - 1)));
        assert_eq!(court.audit(&[]).await.kinds(), ["checkpoint"]);
        let stranger = Signer::new("pins.example", SigningKey::from_seed(&[77; 32])).expect("a signer");
        let root = countersign::canon::Sha256::of(b"x");
        let forged = Checkpoint { origin: "pins.example".to_owned(), size: 3, root };
        let forged = sign_checkpoint(&forged, &stranger).expect("signs");
        edit(Box::new(move |items| items[0]["note"] = json!(forged)));
        assert_eq!(court.audit(&[]).await.kinds(), ["checkpoint"]);
        edit(Box::new(|items| drop(items.pop())));
        assert_eq!(court.audit(&[]).await.kinds(), ["checkpoint"]);
        court.straighten();
        // The newest of its size with another root.
        let newest = other(court.site.size());
        court.warp("/log/checkpoint", move |_| (200, newest.clone().into_bytes()));
        let forked = court.audit(&[]).await;
        assert_eq!((forked.exit, forked.kinds()), (1, vec!["fork"]), "{forked}");
    }));
}

#[test]
fn another_trust_file_than_the_logs_verifies_nothing() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let terms = court.trust().terms().clone();
        let stranger = SigningKey::from_seed(&[77; 32]);
        let write = |name: &str, terms: Terms| {
            let root = stranger.clone();
            let trust = Terms { root: root.verifying(), ..terms }.sign(&[&root]).expect("signs");
            std::fs::write(court.file(name), trust.note()).expect("written");
            court.file(name)
        };
        let elsewhere = write("elsewhere.txt", Terms { origin: "evil.example".to_owned(), ..terms.clone() });
        let from = countersign::clock::Timestamp::EPOCH;
        let log =
            countersign::pinset::trust::LogKey { key: SigningKey::from_seed(&[78; 32]).verifying(), from, until: None };
        let other = write("other.txt", Terms { logs: vec![log], ..terms });
        for (trust, kind) in [(&elsewhere, "wrong-log"), (&other, "checkpoint")] {
            let refused = super::Verdict::of(court.run(&[&court.url, "--trust", trust, "--json"]).await);
            assert_eq!((refused.exit, refused.kinds()), (1, vec![kind]), "{refused}");
        }
        for (args, exit, says) in [
            (vec![court.url.as_str()], 2, "whose keys"),
            (vec![&court.url, "--trust", "/dev/null"], 2, "countersign trust URL"),
            (vec!["/nonexistent", "--trust", &court.file("trust.txt")], 2, "neither a URL nor a directory"),
            (vec!["http://127.0.0.1:9", "--trust", &court.file("trust.txt")], 3, "is the address right"),
        ] {
            let ran = court.run(&args).await;
            assert_eq!(ran.exit, exit, "{ran}");
            assert!(ran.stderr.contains(says), "{ran}");
        }
    }));
}

#[test]
fn a_trust_file_that_nobody_can_follow_excuses_no_lie() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let stranger = SigningKey::from_seed(&[77; 32]);
        let terms = Terms { version: 2, root: stranger.verifying(), ..court.trust().terms().clone() };
        let forged = terms.sign(&[&stranger]).expect("signs").note().to_owned();
        court.warp("/v1/trust", move |_| (200, forged.clone().into_bytes()));
        let clean = court.audit(&[]).await;
        assert_eq!((clean.exit, clean.kinds()), (0, vec![]), "{clean}");
        assert!(clean.report["not_verified"].to_string().contains("was not believed"), "{clean}");
        let other_leaf = court.site.get("/v1/pinsets/default/head").await.body;
        court.warp("/v1/pinsets/prod/head", move |bytes| {
            let mut answer: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
            let other: serde_json::Value = serde_json::from_slice(&other_leaf).expect("JSON");
            (answer["leaf"], answer["proof"]) = (other["leaf"].clone(), other["proof"].clone());
            (200, answer.to_string().into_bytes())
        });
        let convicted = court.audit(&[]).await;
        assert_eq!(
            (convicted.exit, convicted.kinds()),
            (1, vec!["head"]),
            "the answer is wrong by itself: {convicted}"
        );
        // A head by a key that the newer file might name is another matter: nobody here can tell.
        court.warp("/v1/pinsets/prod/head", move |bytes| {
            let mut answer: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
            answer["head"]["signatures"][0]["keyid"] = json!(stranger.verifying().id());
            (200, answer.to_string().into_bytes())
        });
        let blind = court.audit(&[]).await;
        assert_eq!((blind.exit, blind.kinds()), (3, vec![]), "{blind}");
    }));
}

#[test]
fn an_older_version_that_was_swept_out_is_not_kept_and_never_equal() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let moment = court.site.app.moment();
        let mut conn = court.site.app.reader().conn().await.expect("a connection");
        let first = conn.set_version(&"default".parse().expect("legal"), 1).await.expect("reads").expect("published");
        let path = format!("/v1/pinsets/default/sets/{}", first.set_sha256);
        let all = court.audit(&[]).await.count("documents");
        court.warp(&path, gone);
        let missing = court.audit(&[]).await;
        assert_eq!((missing.exit, missing.kinds()), (1, vec!["missing-document"]), "kept for 30 days: {missing}");
        court.site.clock.advance(countersign::clock::Span::days(31));
        assert!(court.site.app.resign().await.expect("answers") > 0);
        let swept = court.audit(&[]).await;
        assert_eq!((swept.exit, swept.kinds()), (0, vec![]), "{swept}");
        assert_eq!((&swept.report["not_kept"], swept.count("documents")), (&json!(1), all - 1));
        // What the newest version names must be there, however old it is.
        court.straighten();
        court.warp(&court.document(Some("notes")), gone);
        assert_eq!(court.audit(&[]).await.kinds(), ["missing-document"]);
        drop(moment);
    }));
}
