use std::{fs, os::unix::fs::PermissionsExt as _};

use countersign::{
    config::{Database, Origin},
    pinset::trust::Trust,
    service::{KeyKind, OpenError, ReadOnly},
};

use super::{AddSet, Bench, check_log};
use crate::databases::{block_on, on_both, tamper};

#[test]
fn the_first_start_makes_a_registry_with_an_empty_published_set() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let missing = bench.open_with(&bench.settings(), false).await.expect_err("there is none");
        assert!(matches!(missing, OpenError::NoRegistry), "{missing}");
        let app = bench.open().await;
        assert_eq!(check_log(&app).await, 3, "registry-created, pinset-created, pinset-published");
        let moment = app.moment();
        let registry = moment.state.registry().expect("is there");
        assert_eq!((registry.origin.as_str(), registry.epoch), ("pins.example", 1));
        let default = "default".parse().expect("legal");
        let set = moment.state.set_document(&default).expect("published");
        assert_eq!((set.version, set.aliases.len()), (1, 0));
        let trust = Trust::first(&moment.trust.note).expect("verifies");
        assert_eq!(trust.fingerprint(), app.fingerprint());
        let data = fresh.dir.path().join("data");
        let mode = |path: &str| fs::metadata(data.join(path)).expect(path).permissions().mode() & 0o777;
        assert_eq!(
            ["", "keys", "keys/root.pem", "keys/head.pem", "keys/log.pem", "anchor"].map(mode),
            [0o700, 0o700, 0o600, 0o600, 0o600, 0o600]
        );
        if let Database::Sqlite(path) = &fresh.database {
            assert_eq!(fs::metadata(path).expect("is there").permissions().mode() & 0o777, 0o600);
        }
    }));
}

#[test]
fn a_restart_serves_the_same_bytes() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        app.write(AddSet("prod".to_owned())).await.expect("written");
        let before = app.moment();
        app.close().await;
        let app = bench.open_with(&bench.settings(), false).await.expect("opens");
        let after = app.moment();
        assert_eq!((&after.note, &after.heads, &after.trust), (&before.note, &before.heads, &before.trust));
        fs::remove_file(fresh.dir.path().join("data/keys/root.pem")).expect("moved to a safe place");
        app.close().await;
        let app = bench.open().await;
        app.write(AddSet("test".to_owned())).await.expect("the root key isn't needed");
        check_log(&app).await;
    }));
}

#[test]
fn several_first_starts_at_once_make_one_registry() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let settings = bench.settings();
        let (a, b, c) = tokio::join!(
            bench.open_with(&settings, true),
            bench.open_with(&settings, true),
            bench.open_with(&settings, true)
        );
        for app in [a.expect("opens"), b.expect("opens"), c.expect("opens")] {
            assert_eq!(check_log(&app).await, 3);
        }
    }));
}

#[test]
fn without_a_stated_name_it_is_the_public_host_or_one_that_no_other_registry_has() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let settings = countersign::config::Registry { origin: None, ..bench.settings() };
        let app = bench.open_with(&settings, true).await.expect("opens");
        let moment = app.moment();
        let registry = moment.state.registry().expect("is there");
        assert_eq!(registry.origin, format!("localhost-{}", &registry.keys.logs[0].key.to_string()[..8]));
        app.close().await;
        let other =
            countersign::config::Registry { origin: Some(Origin::parse("other.example").expect("legal")), ..settings };
        let refused = bench.open_with(&other, true).await.expect_err("the name is fixed");
        assert!(matches!(refused, OpenError::OtherOrigin { .. }), "{refused}");
    }));
}

#[test]
fn another_registrys_keys_are_refused() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        bench.open().await.close().await;
        let keys = fresh.dir.path().join("data/keys");
        let elsewhere = tempfile::tempdir().expect("a folder");
        let other = countersign::config::Registry {
            database: Database::Sqlite(elsewhere.path().join("registry.db")),
            keys: elsewhere.path().join("keys"),
            anchor: countersign::config::Anchor::File { path: elsewhere.path().join("anchor"), inside_data: false },
            ..bench.settings()
        };
        bench.open_with(&other, true).await.expect("opens").close().await;
        for key in ["log", "head", "root"] {
            let own = fs::read(keys.join(format!("{key}.pem"))).expect("reads");
            fs::copy(other.keys.join(format!("{key}.pem")), keys.join(format!("{key}.pem"))).expect("swapped");
            let refused = bench.open_with(&bench.settings(), true).await.expect_err(key);
            assert!(matches!(refused, OpenError::OtherKey(name) if name.word() == key), "{key}: {refused}");
            fs::write(keys.join(format!("{key}.pem")), own).expect("put back");
        }
        fs::remove_file(keys.join("log.pem")).expect("lost");
        bench.spoiled();
        let app = bench.open().await;
        let lost = app.read_only().expect("a lost key is not made again");
        assert!(matches!(lost, ReadOnly::NoKey { kind: KeyKind::Log, .. }), "{lost}");
    }));
}

#[test]
fn a_damaged_log_is_not_served() {
    // Triggers keep our own statements from doing this; a disk or a person with a database client needs none.
    let faults = [
        ("a leaf", "UPDATE log_leaf SET leaf = (SELECT leaf FROM log_leaf WHERE idx = 2) WHERE idx = 1"),
        ("the last leaf", "DELETE FROM log_leaf WHERE idx = 3"),
        ("a tile", "UPDATE log_tile SET hashes = (SELECT root FROM log_head)"),
        ("the root", "UPDATE log_head SET root = (SELECT sha256 FROM content LIMIT 1)"),
        ("the size", "UPDATE log_head SET size = 3"),
        ("the checkpoint", "DELETE FROM checkpoint WHERE size = 5"),
        ("the trust file", "UPDATE trust SET note = 'x'"),
    ];
    block_on(on_both(async |fresh| {
        for (what, fault) in faults {
            let fresh = crate::databases::Fresh::new(fresh.engine).await;
            let bench = Bench::new(&fresh);
            let app = bench.open().await;
            app.write(AddSet("prod".to_owned())).await.expect("written");
            app.close().await;
            for table in ["log_leaf", "log_tile", "log_head", "checkpoint"] {
                for trigger in ["stays", "remains", "grows"] {
                    let on = if fresh.engine == crate::databases::Engine::Sqlite {
                        String::new()
                    } else {
                        format!(" ON {table}")
                    };
                    tamper(&fresh, &format!("DROP TRIGGER IF EXISTS {table}_{trigger}{on}")).await.expect("dropped");
                }
            }
            tamper(&fresh, fault).await.expect(what);
            bench.spoiled();
            let refused = bench.open_with(&bench.settings(), true).await;
            match refused {
                Err(OpenError::Damaged(ReadOnly::Damaged(_)) | OpenError::Store(_)) => {}
                Err(other) => panic!("{what}: {other}"),
                Ok(app) => panic!("{what}: opened, {:?}", app.read_only()),
            }
            drop(bench);
            fresh.drop_schema().await;
        }
    }));
}
