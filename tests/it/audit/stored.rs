use countersign::{
    clock::Span,
    service::{ReadOnly, jobs},
};
use serde_json::json;

use super::Court;
use crate::{
    databases::{Engine, Fresh, block_on, on_both, tamper},
    service::eventually,
};

/// Past the triggers that hold honest programs, as somebody with the database's password would.
async fn rewrite(fresh: &Fresh, table: &str, trigger: &str, sqlite: &str, postgres: &str) {
    let (drop, change) = match fresh.engine {
        Engine::Sqlite => (format!("DROP TRIGGER IF EXISTS {trigger}"), sqlite),
        Engine::Postgres => (format!("DROP TRIGGER IF EXISTS {trigger} ON {table}"), postgres),
    };
    tamper(fresh, &drop).await.expect("dropped");
    tamper(fresh, change).await.expect("changed");
}

const LEAF: (&str, &str, &str, &str) = (
    "log_leaf",
    "log_leaf_stays",
    "UPDATE log_leaf SET leaf = CAST(replace(CAST(leaf AS TEXT), 'active', 'actove') AS BLOB) WHERE idx = 300",
    "UPDATE log_leaf SET leaf = convert_to(replace(convert_from(leaf, 'UTF8'), 'active', 'actove'), 'UTF8') WHERE idx = 300",
);
const TILE: (&str, &str, &str, &str) = (
    "log_tile",
    "log_tile_grows",
    "UPDATE log_tile SET hashes = CAST(zeroblob(32) || substr(hashes, 33) AS BLOB) WHERE level = 1",
    "UPDATE log_tile SET hashes = set_byte(hashes, 7, get_byte(hashes, 7) # 1) WHERE level = 1",
);

#[test]
fn a_registrys_database_is_audited_beside_the_server_and_without_one() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let beside = court.audit_stored(&[]).await;
        assert_eq!((beside.exit, beside.kinds()), (0, vec![]), "{beside}");
        assert_eq!(beside.report["verified"], court.audit(&[]).await.report["verified"], "the same as over HTTP");
        let file = court.file("audit.json");
        assert_eq!(court.audit_stored(&["--resume", &file]).await.exit, 0);
        assert_eq!(court.audit_stored(&["--resume", &file]).await.report["resumed_at"], json!(512));
        court.site.app.close().await;
        court.site.clock.advance(Span::hours(2));
        let alone = court.audit_stored(&[]).await;
        assert_eq!(alone.exit, 0, "{alone}");
        assert_eq!(alone.report["expired_heads"], json!(["default", "prod"]), "nobody serves them now");
    }));
}

#[test]
fn a_changed_database_fails_its_audit() {
    for (table, trigger, sqlite, postgres, kind) in [
        (LEAF.0, LEAF.1, LEAF.2, LEAF.3, "tile"),
        (TILE.0, TILE.1, TILE.2, TILE.3, "tile"),
        (
            "log_leaf",
            "log_leaf_remains",
            "DELETE FROM log_leaf WHERE idx = 300",
            "DELETE FROM log_leaf WHERE idx = 300",
            "bundle",
        ),
        (
            "checkpoint",
            "checkpoint_remains",
            "DELETE FROM checkpoint WHERE size = (SELECT MAX(size) FROM checkpoint)",
            "DELETE FROM checkpoint WHERE size = (SELECT MAX(size) FROM checkpoint)",
            "checkpoint",
        ),
        (
            "content",
            "none",
            "DELETE FROM content WHERE sha256 IN (SELECT sha256 FROM named WHERE pinset = 'prod')",
            "DELETE FROM content WHERE sha256 IN (SELECT sha256 FROM named WHERE pinset = 'prod')",
            "missing-document",
        ),
        (
            "content",
            "none",
            "UPDATE content SET bytes = zeroblob(9) WHERE sha256 IN (SELECT sha256 FROM named WHERE pinset = 'prod')",
            "UPDATE content SET bytes = '\\x00' WHERE sha256 IN (SELECT sha256 FROM named WHERE pinset = 'prod')",
            "document",
        ),
        ("head", "none", "DELETE FROM head WHERE pinset = 'prod'", "DELETE FROM head WHERE pinset = 'prod'", "head"),
    ] {
        block_on(on_both(async |fresh| {
            let court = Court::of(fresh).await;
            rewrite(fresh, table, trigger, sqlite, postgres).await;
            court.site.whole.spoiled();
            let refused = court.audit_stored(&[]).await;
            assert_eq!((refused.exit, refused.kinds()), (1, vec![kind]), "{sqlite}: {refused}");
        }));
    }
}

#[test]
fn a_copy_that_is_older_than_its_anchor_is_convicted() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let log = countersign::log::note::Signer::new("pins.example", court.key("log.pem")).expect("a signer");
        let served = countersign::log::Checkpoint {
            origin: "pins.example".to_owned(),
            size: court.site.size() + 5,
            root: countersign::canon::Sha256::of(b"a tree that was served"),
        };
        let note = countersign::log::sign_checkpoint(&served, &log).expect("signs");
        std::fs::write(court.file("data/anchor"), note).expect("written");
        let behind = court.audit_stored(&[]).await;
        assert_eq!((behind.exit, behind.kinds()), (1, vec!["truncated"]), "{behind}");
    }));
}

#[test]
fn stored_leaves_are_read_again_and_a_flipped_bit_stops_the_signing() {
    for (table, trigger, sqlite, postgres) in [LEAF, TILE] {
        block_on(on_both(async |fresh| {
            let court = Court::of(fresh).await;
            let app = &court.site.app;
            for leaves in [256, 512, 0] {
                assert_eq!(app.recheck().await.expect("answers").leaves, leaves);
            }
            assert_eq!(app.rechecked().passes, 1, "it begins again");
            app.write(crate::service::AddSet("between".to_owned())).await.expect("written");
            rewrite(fresh, table, trigger, sqlite, postgres).await;
            court.site.whole.spoiled();
            assert_eq!(app.read_only(), None, "nobody has looked yet");
            let jobs = tokio::spawn(jobs::run(app.clone()));
            let clock = court.site.clock.clone();
            eventually(move || clock.advance(Span::seconds(1)), || app.read_only().is_some()).await;
            jobs.abort();
            assert!(matches!(app.read_only(), Some(ReadOnly::Damaged(_))), "{:?}", app.read_only());
            assert!(app.write(crate::service::AddSet("after".to_owned())).await.is_err());
            assert_eq!(court.site.get("/readyz").await.status, 503);
            let measured = String::from_utf8(court.site.get("/metrics").await.body).expect("text");
            for line in ["countersign_read_only 1", "countersign_log_rechecks_total 1"] {
                assert!(measured.lines().any(|found| found == line), "{line}: {measured}");
            }
            assert!(measured.contains("countersign_log_rechecked_leaves "), "{measured}");
        }));
    }
}
