//! The health of the registry: who may read it, and each state in words.

use countersign::{clock::Span, store::Role};

use crate::{databases::block_on, doubles::Mood, pages::Site};

const PAGE: &str = "/settings/registry";

#[test]
fn health_is_for_whoever_has_a_role_and_says_that_all_is_in_order_or_what_is_not() {
    block_on(async {
        let site = Site::staffed().await;
        for name in ["admin", "reviewer", "auditor"] {
            let browser = site.signed_in(name).await;
            let words = browser.get(PAGE).await.page(200);
            for expected in [
                "It works; 2 things to know about.",
                "unknown Stored entries They are being read again for the first time",
                "in order Writing Decisions and releases are recorded.",
                "take care Anchor It lies in the data directory",
                "the same as the log",
                "in order Heads 1 head, signed anew in time; the next",
                "in order Keys Trust file 1, epoch 1",
                "Root",
                "Log",
                "Head",
                "trust files",
                "heads of pin sets",
                "SQLite",
            ] {
                assert!(words.contains(expected), "{name}: {expected}: {words}");
            }
            assert_eq!(words.contains("data/anchor"), name == "admin", "the path is for administrators: {words}");
            assert_eq!(words.contains("Users"), name == "admin");
            assert!(browser.get("/settings").await.body.contains("href=\"/settings/registry\""), "{name}");
        }
        site.nobody().get(PAGE).await.leads_to("/sign-in?next=%2Fsettings%2Fregistry");
    });
}

#[test]
fn heads_that_are_late_and_heads_that_ran_out_are_told_apart() {
    block_on(async {
        let site = Site::staffed().await;
        site.pass(Span::minutes(20));
        let words = site.signed_in("auditor").await.get(PAGE).await.page(200);
        assert!(words.contains("take care Heads 1 head is late: they are not being signed anew."), "{words}");
        site.pass(Span::minutes(41));
        let words = site.signed_in("auditor").await.get(PAGE).await.page(200);
        assert!(words.contains("1 thing needs someone now."), "{words}");
        assert!(words.contains("stopped Heads 1 head ran out: gateways of that set let nothing through."), "{words}");
        assert!(words.contains("ran out"), "{words}");
        site.app.resign().await.expect("signs");
        let words = site.signed_in("auditor").await.get(PAGE).await.page(200);
        assert!(words.contains("in order Heads"), "{words}");
    });
}

#[test]
fn a_read_only_registry_says_why_and_the_way_out() {
    block_on(async {
        let site = Site::staffed().await.without_anchor().await;
        let words = site.signed_in("reviewer").await.get(PAGE).await.page(200);
        for expected in [
            "2 things need someone now.",
            "Nothing is written or signed until this is solved.",
            "The anchor is missing, so nobody can tell whether this database is the newest copy.",
            "countersign admin --data DIR anchor adopt",
            "stopped Writing Read-only.",
            "stopped Anchor There is none, so an old copy would not be noticed.",
        ] {
            assert!(words.contains(expected), "{expected}: {words}");
        }
        // Pages of the past are read all the same.
        let reader = site.signed_in("auditor").await;
        for page in ["/log", "/log/entries/0", "/pinsets/default/versions"] {
            assert!(reader.get(page).await.page(200).contains("read-only"), "{page}");
        }
    });
}

#[test]
fn witnesses_are_there_with_what_waits_for_them_and_what_is_wrong() {
    block_on(async {
        let (site, witnesses) = Site::watched().await;
        site.add("auditor", &[Role::Auditor]).await;
        let reader = site.signed_in("auditor").await;
        let size = site.app.moment().checkpoint.size;
        let words = reader.get(PAGE).await.page(200);
        let waits =
            format!("take care Witnesses The newest {size} entries wait for the quorum; heads over them are not");
        assert!(words.contains(&waits), "{words}");
        witnesses[2].is(Mood::Says(404, String::new()));
        site.app.ask_witnesses().await.expect("answers");
        let words = reader.get(PAGE).await.page(200);
        assert!(words.contains("in order Witnesses The newest checkpoint has the quorum."), "{words}");
        for row in [
            format!("w1 {size} 0"),
            format!("w2 {size} 0"),
            format!("w3 0 {size} never it refused: does it know this log?"),
        ] {
            assert!(words.contains(&row), "{row}: {words}");
        }

        let site = Site::staffed().await;
        let words = site.signed_in("auditor").await.get(PAGE).await.page(200);
        assert!(!words.contains("Witness"), "nobody is asked here: {words}");
    });
}
