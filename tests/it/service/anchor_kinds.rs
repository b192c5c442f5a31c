//! What an anchor promises, whatever keeps it: one table of cases for the file and for the table in another database, over
//! both engines of the registry.

use std::fs;

use countersign::{
    canon::Sha256,
    config::{Anchor, DatabaseText, Registry},
    keys::SigningKey,
    log::{Checkpoint, note::Signer, sign_checkpoint},
    service::{App, OpenError, ReadOnly, WriteError},
};

use super::{AddSet, Bench, check_log};
use crate::databases::{Elsewhere, Fresh, block_on, on_both};

/// An anchor, and how somebody beside the registry reads and changes it.
enum Kept {
    File(std::path::PathBuf),
    Row(Elsewhere),
}

impl Kept {
    async fn both(fresh: &Fresh) -> [Self; 2] {
        [Self::File(fresh.dir.path().join("elsewhere")), Self::Row(Elsewhere::new().await)]
    }

    fn setting(&self) -> Anchor {
        match self {
            Self::File(path) => Anchor::File { path: path.clone(), inside_data: false },
            Self::Row(elsewhere) => Anchor::Postgres(DatabaseText::new(elsewhere.url.clone())),
        }
    }

    async fn read(&self) -> Option<String> {
        match self {
            Self::File(path) => fs::read_to_string(path).ok(),
            Self::Row(elsewhere) => elsewhere.text("SELECT note FROM countersign_anchor").await,
        }
    }

    async fn put(&self, note: &str) {
        match self {
            Self::File(path) => fs::write(path, note).expect("written"),
            Self::Row(elsewhere) => elsewhere.execute(&format!("UPDATE countersign_anchor SET note = '{note}'")).await,
        }
    }

    async fn remove(&self) {
        match self {
            Self::File(path) => fs::remove_file(path).expect("is there"),
            Self::Row(elsewhere) => elsewhere.execute("DELETE FROM countersign_anchor").await,
        }
    }

    /// As if its disk or its server were gone, or back.
    async fn reachable(&self, reachable: bool) {
        match self {
            Self::File(path) => {
                let aside = path.with_extension("aside");
                if reachable {
                    fs::remove_dir(path).expect("in its place");
                    fs::rename(&aside, path).expect("back");
                } else {
                    fs::rename(path, &aside).expect("aside");
                    fs::create_dir(path).expect("in its place");
                }
            }
            Self::Row(elsewhere) => elsewhere.reachable(reachable).await,
        }
    }

    async fn done(self) {
        if let Self::Row(elsewhere) = self {
            elsewhere.drop_database().await;
        }
    }
}

/// A checkpoint of another history by the registry's own key.
fn forged(fresh: &Fresh, size: u64) -> String {
    let pem = fs::read_to_string(fresh.dir.path().join("data/keys/log.pem")).expect("is there");
    let signer = Signer::new("pins.example", SigningKey::from_pem(&pem).expect("a key")).expect("a name");
    let checkpoint = Checkpoint { origin: "pins.example".into(), size, root: Sha256::of(b"another history") };
    sign_checkpoint(&checkpoint, &signer).expect("signs")
}

async fn on_all(case: impl AsyncFn(&Bench<'_>, &Kept, &Registry)) {
    on_both(async |outer| {
        for kept in Kept::both(outer).await {
            let fresh = Fresh::new(outer.engine).await;
            let bench = Bench::new(&fresh);
            let settings = Registry { anchor: kept.setting(), ..bench.settings() };
            case(&bench, &kept, &settings).await;
            drop(bench);
            kept.done().await;
            fresh.drop_schema().await;
        }
    })
    .await;
}

async fn open(bench: &Bench<'_>, settings: &Registry) -> App {
    bench.open_with(settings, true).await.expect("opens")
}

fn add(name: &str) -> AddSet {
    AddSet(name.to_owned())
}

#[test]
fn whatever_keeps_the_anchor_it_holds_what_was_served_and_tells_copies_apart() {
    block_on(on_all(async |bench, kept, settings| {
        let app = open(bench, settings).await;
        let first = app.moment().note.to_string();
        assert_eq!(kept.read().await.as_deref(), Some(&*first));
        app.write(add("a")).await.expect("written");
        let second = app.moment().note.to_string();
        assert_eq!(kept.read().await.as_deref(), Some(&*second));
        app.close().await;
        let foreign = second.replace("pins.example", "pins.exampla");
        type Row<'a> = (&'a str, Option<String>, fn(&ReadOnly) -> bool);
        let rows: [Row<'_>; 5] = [
            ("missing", None, |why| *why == ReadOnly::NoAnchor),
            ("ahead", Some(forged(bench.fresh, 9)), |why| *why == ReadOnly::Behind { size: 5, anchored: 9 }),
            ("another tree of this size", Some(forged(bench.fresh, 5)), |why| *why == ReadOnly::Fork(5)),
            ("another tree before", Some(forged(bench.fresh, 4)), |why| *why == ReadOnly::Fork(4)),
            ("another registry's", Some(foreign), |why| matches!(why, ReadOnly::Unusable(_))),
        ];
        for (what, note, expected) in rows {
            match &note {
                None => kept.remove().await,
                Some(note) => kept.put(note).await,
            }
            let app = open(bench, settings).await;
            let why = app.read_only().expect(what);
            assert!(expected(&why), "{what}: {why}");
            let refused = app.write(add("b")).await;
            assert!(matches!(refused, Err(WriteError::ReadOnly(_))), "{what}");
            assert_eq!(kept.read().await, note, "{what}: nothing moves it");
            // Only a missing one is adopted, and the running server goes on at its next look.
            assert_eq!(app.adopt_anchor().await.is_ok(), note.is_none(), "{what}");
            app.refresh().await.expect("looks");
            assert_eq!(app.read_only().is_none(), note.is_none(), "{what}");
            app.close().await;
        }
        kept.put(&first).await;
        let app = open(bench, settings).await;
        assert_eq!(app.read_only(), None, "committed before a crash, anchored now");
        assert_eq!(kept.read().await.as_deref(), Some(&*second));
        check_log(&app).await;
        app.close().await;
    }));
}

#[test]
fn an_anchor_out_of_reach_stops_writing_and_the_write_is_served_once_it_is_back() {
    block_on(on_all(async |bench, kept, settings| {
        let app = open(bench, settings).await;
        let before = app.moment().note.to_string();
        kept.reachable(false).await;
        let failed = app.write(add("a")).await;
        assert!(matches!(failed, Err(WriteError::ReadOnly(ReadOnly::Unusable(_)))), "{failed:?}");
        assert_eq!(*app.moment().note, *before, "what isn't anchored isn't served");
        app.refresh().await.expect("looks");
        assert!(matches!(app.read_only(), Some(ReadOnly::Unusable(_))));
        kept.reachable(true).await;
        app.refresh().await.expect("looks");
        assert_eq!((app.read_only(), app.moment().checkpoint.size), (None, 5));
        assert_eq!(kept.read().await.as_deref(), Some(&*app.moment().note));
        app.write(add("b")).await.expect("written");
        check_log(&app).await;
        app.close().await;
    }));
}

#[test]
fn replicas_share_one_row_and_it_never_moves_back() {
    block_on(on_all(async |bench, kept, settings| {
        let (one, two) = (open(bench, settings).await, open(bench, settings).await);
        for n in 0..4 {
            let (a, b) = (format!("a{n}"), format!("b{n}"));
            let (a, b) = tokio::join!(one.write(add(&a)), two.write(add(&b)));
            a.expect("written");
            b.expect("written");
        }
        one.refresh().await.expect("looks");
        two.refresh().await.expect("looks");
        assert_eq!(one.moment().note, two.moment().note);
        assert_eq!(kept.read().await.as_deref(), Some(&*one.moment().note));
        one.close().await;
        two.close().await;
    }));
}

#[test]
fn an_anchor_in_the_registrys_own_database_is_refused() {
    block_on(async {
        let fresh = Fresh::new(crate::databases::Engine::Postgres).await;
        let bench = Bench::new(&fresh);
        let countersign::config::Database::Postgres(own) = &fresh.database else { panic!("PostgreSQL") };
        let settings = Registry { anchor: Anchor::Postgres(own.clone()), ..bench.settings() };
        let refused = bench.open_with(&settings, true).await.expect_err("a restore reaches it");
        assert!(matches!(refused, OpenError::Anchor(_)), "{refused}");
        assert!(bench.open_with(&bench.settings(), false).await.is_err(), "nothing was made");
        bench.spoiled();
        drop(bench);
        fresh.drop_schema().await;
    });
}
