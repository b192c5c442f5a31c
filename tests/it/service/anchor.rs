use std::fs;

use countersign::{
    config::Database,
    service::{OpenError, ReadOnly, WriteError},
};

use super::{AddSet, Bench, check_log};
use crate::databases::{Engine, Fresh, block_on, on_both};

fn anchored(fresh: &Fresh) -> String {
    fs::read_to_string(fresh.dir.path().join("data/anchor")).expect("is there")
}

#[test]
fn the_anchor_has_what_was_served() {
    block_on(on_both(async |fresh| {
        let app = Bench::new(fresh).open().await;
        assert_eq!(*anchored(fresh), *app.moment().note);
        app.write(AddSet("prod".to_owned())).await.expect("written");
        assert_eq!(*anchored(fresh), *app.moment().note);
    }));
}

#[test]
fn a_missing_anchor_is_read_only_until_it_is_adopted() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        bench.open().await.close().await;
        fs::remove_file(fresh.dir.path().join("data/anchor")).expect("lost");
        let app = bench.open().await;
        assert_eq!(app.read_only(), Some(ReadOnly::NoAnchor));
        assert!(matches!(app.write(AddSet("a".to_owned())).await, Err(WriteError::ReadOnly(ReadOnly::NoAnchor))));
        bench.pass(countersign::clock::Span::hours(1));
        assert_eq!(app.resign().await.expect("answers"), 0, "nothing is signed either");
        assert_eq!(check_log(&app).await, 3, "reading goes on");
        app.refresh().await.expect("looks");
        assert_eq!(app.read_only(), Some(ReadOnly::NoAnchor));
        let admin = bench.open().await;
        admin.adopt_anchor().await.expect("adopted");
        app.refresh().await.expect("looks");
        assert_eq!(app.read_only(), None, "the running server goes on");
        app.write(AddSet("a".to_owned())).await.expect("written");
        app.close().await;
        assert_eq!(bench.open().await.read_only(), None);
    }));
}

#[test]
fn a_restored_old_database_refuses_to_append_and_can_not_be_adopted() {
    // The copy of a file is how SQLite registries are restored; the comparison itself knows no engine.
    block_on(async {
        let fresh = Fresh::new(Engine::Sqlite).await;
        let bench = Bench::new(&fresh);
        bench.open().await.close().await;
        let Database::Sqlite(database) = &fresh.database else { panic!("SQLite") };
        let backup = database.with_extension("backup");
        fs::copy(database, &backup).expect("backed up");
        let app = bench.open().await;
        app.write(AddSet("a".to_owned())).await.expect("written");
        let newest = app.moment();
        app.close().await;
        let newest_copy = database.with_extension("newest");
        fs::copy(database, &newest_copy).expect("kept");
        fs::copy(&backup, database).expect("restored");
        let app = bench.open().await;
        let reason = ReadOnly::Behind { size: 3, anchored: 5 };
        assert_eq!(app.read_only(), Some(reason.clone()));
        assert!(matches!(app.write(AddSet("b".to_owned())).await, Err(WriteError::ReadOnly(ReadOnly::Behind { .. }))));
        assert_eq!(app.adopt_anchor().await, Err(reason));
        app.close().await;
        // The old copy goes on under a lost anchor to the same size: the anchor that comes back tells them apart.
        let anchor = fresh.dir.path().join("data/anchor");
        let kept = fs::read(&anchor).expect("is there");
        assert_eq!(kept, newest.note.as_bytes());
        fs::remove_file(&anchor).expect("lost");
        let app = bench.open().await;
        app.adopt_anchor().await.expect("adopted");
        app.close().await;
        let app = bench.open().await;
        app.write(AddSet("b".to_owned())).await.expect("written");
        assert_eq!(app.challenge(&newest.note).await.expect("signed by this log"), Some(ReadOnly::Fork(5)));
        assert!(app.write(AddSet("c".to_owned())).await.is_err());
        app.close().await;
        let app = bench.open().await;
        assert_eq!(app.read_only(), Some(ReadOnly::Fork(5)), "a restart doesn't forget it");
        app.close().await;
        fs::copy(&newest_copy, database).expect("restored");
        let app = bench.open().await;
        assert_eq!(app.read_only(), None, "the newest copy is the log that was served");
        check_log(&app).await;
    });
}

#[test]
fn a_shown_checkpoint_convicts_a_database_that_is_behind_it() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        app.write(AddSet("a".to_owned())).await.expect("written");
        let newest = app.moment();
        assert_eq!(app.challenge(&newest.note).await.expect("its own"), None);
        let foreign = newest.note.replace("pins.example", "pins.exampla");
        assert!(app.challenge(&foreign).await.is_err(), "another log's");
        assert!(app.challenge(&newest.note.replace("\n5\n", "\n6\n")).await.is_err(), "not signed");
        assert_eq!(app.read_only(), None);
        // An empty database beside an anchor of a log that had leaves.
        app.close().await;
        let elsewhere = Fresh::new(fresh.engine).await;
        let settings = countersign::config::Registry { database: elsewhere.database.clone(), ..bench.settings() };
        let refused = bench.open_with(&settings, true).await.expect_err("an old copy, or a lost database");
        assert!(matches!(refused, OpenError::Damaged(ReadOnly::Behind { size: 0, anchored: 5 })), "{refused}");
        elsewhere.drop_schema().await;
    }));
}

#[test]
fn what_was_committed_before_a_crash_is_anchored_at_the_next_start() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        let before = anchored(fresh);
        app.write(AddSet("a".to_owned())).await.expect("written");
        let after = app.moment();
        app.close().await;
        fs::write(fresh.dir.path().join("data/anchor"), before).expect("as if the process had died in between");
        let app = bench.open().await;
        assert_eq!((app.read_only(), &*app.moment().note), (None, &*after.note));
        assert_eq!(*anchored(fresh), *after.note);
    }));
}

#[test]
fn an_anchor_that_can_not_be_written_stops_serving_before_the_answer() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        let before = app.moment();
        let anchor = fresh.dir.path().join("data/anchor");
        fs::remove_file(&anchor).expect("removed");
        fs::create_dir(&anchor).expect("in its place");
        bench.spoiled();
        let failed = app.write(AddSet("a".to_owned())).await;
        assert!(matches!(failed, Err(WriteError::ReadOnly(ReadOnly::Unusable(_)))), "{failed:?}");
        assert_eq!(app.moment().note, before.note, "what isn't anchored isn't served");
    }));
}
