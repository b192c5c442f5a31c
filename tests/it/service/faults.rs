//! Each statement of a write failing, with and without effect, on both engines: what the writer is told, what is there
//! afterwards, and that the registry goes on after a restart.

use std::sync::{Arc, Mutex};

use countersign::{
    env::BoxFuture,
    review::Outcome,
    service::{App, OpenError, Opening, ReadOnly, WriteError},
    store::{self, COMMIT, Probe, StoreError},
};

use super::{
    AddSet, Bench, START, check_log, eventually,
    review::{EXPORT, Parcel, Shop, USUAL, one_ballot},
};
use crate::databases::{Engine, block_on, on_both, tamper};

/// When a statement fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum When {
    /// Before it has an effect.
    Before,
    /// After it, so that only the reply is lost.
    After,
}
use When::{After, Before};

/// Statements that fail.
#[derive(Clone, Debug)]
struct Fault {
    sql: &'static str,
    when: When,
    /// How often, from the first time on.
    times: u32,
}

/// A database that fails where it is told to.
#[derive(Debug, Default)]
struct Faulty {
    faults: Mutex<Vec<Fault>>,
    seen: Mutex<Vec<&'static str>>,
}

const ALWAYS: u32 = u32::MAX;

impl Faulty {
    fn arm(&self, faults: &[Fault]) {
        *self.faults.lock().expect("whole") = faults.to_vec();
    }

    /// What was seen since the last look.
    fn seen(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.seen.lock().expect("whole"))
    }

    fn look(&self, sql: &'static str, when: When) -> Result<(), StoreError> {
        if when == Before {
            self.seen.lock().expect("whole").push(sql);
        }
        let mut faults = self.faults.lock().expect("whole");
        let Some(fault) = faults.iter_mut().find(|f| f.sql == sql && f.when == when && f.times > 0) else {
            return Ok(());
        };
        fault.times -= 1;
        Err(StoreError::Database(std::io::Error::other("the connection was lost").into()))
    }
}

impl Probe for Faulty {
    fn before<'a>(&'a self, sql: &'static str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.look(sql, Before) })
    }

    fn after<'a>(&'a self, sql: &'static str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.look(sql, After) })
    }
}

async fn open(bench: &Bench<'_>, faulty: &Arc<Faulty>) -> Result<App, OpenError> {
    let settings = bench.settings();
    let (reader, writer) = store::open(&settings.database, settings.limits.read_connections).await.expect("opens");
    let probe: Arc<dyn Probe> = Arc::<Faulty>::clone(faulty);
    let store = (reader.probed(Arc::clone(&probe)), writer.probed(probe));
    let opening = Opening { registry: &settings, host: None, rules: super::rules(), create: true };
    App::open_on(store, opening, Arc::new(bench.clock.clone()), super::rng()).await
}

/// What a writer is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Told {
    /// Done.
    Done,
    /// The database failed, and nothing was written.
    Failed,
    /// The database failed, and nobody knows.
    Unknown,
    /// Nothing may be appended.
    Fatal,
}

/// See [`MATRIX`].
type Row<'a> = (Option<&'a str>, When, [(u32, Told, bool); 2]);

/// One row of the matrix: what fails (`None`: any statement but `COMMIT`), what the writer is told if it fails once and if
/// it fails always, and whether the write is there after a restart.
const MATRIX: &[Row<'static>] = &[
    (None, Before, [(1, Told::Done, true), (ALWAYS, Told::Failed, false)]),
    (None, After, [(1, Told::Done, true), (ALWAYS, Told::Failed, false)]),
    (Some(COMMIT), Before, [(1, Told::Done, true), (ALWAYS, Told::Failed, false)]),
    (Some(COMMIT), After, [(1, Told::Done, true), (ALWAYS, Told::Done, true)]),
];

const LEAVES: &str = "SELECT idx, leaf FROM log_leaf WHERE idx >= $1 AND idx < $2 ORDER BY idx";
const CHECKPOINT: &str = "SELECT note FROM checkpoint WHERE size = $1";
const TAKE_HEAD: &str = "UPDATE log_head SET size = size RETURNING size, last_at, root";

fn told<T>(written: &Result<T, WriteError<&'static str>>) -> Told {
    match written {
        Ok(_) => Told::Done,
        Err(WriteError::Store(StoreError::Unconfirmed)) => Told::Unknown,
        Err(WriteError::Store(_)) => Told::Failed,
        Err(WriteError::ReadOnly(_)) => Told::Fatal,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_write_survives_each_statement_of_its_batch_failing_or_leaves_no_trace() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let faulty = Arc::new(Faulty::default());
        let mut app = open(&bench, &faulty).await.expect("opens");
        faulty.seen();
        app.write(AddSet("first".to_owned())).await.expect("written");
        let mut statements = faulty.seen();
        // All of the commit path, whatever the step: the list is written out, so that it can't get shorter unseen.
        let verbs: Vec<String> =
            statements.iter().map(|sql| sql.split(' ').take(3).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            verbs,
            [
                "UPDATE log_head SET",
                "SELECT note FROM",
                "INSERT INTO content",
                "UPDATE content SET",
                "DELETE FROM named",
                "INSERT INTO named",
                "UPDATE content SET",
                "INSERT INTO set_version",
                "INSERT INTO log_leaf",
                "INSERT INTO log_leaf",
                "SELECT idx, leaf",
                "INSERT INTO log_tile",
                "UPDATE log_head SET",
                "INSERT INTO head",
                "INSERT INTO head_released",
                "SELECT pinset, version,",
                "INSERT INTO checkpoint",
                "COMMIT",
            ]
        );
        statements.sort_unstable();
        statements.dedup();
        let mut n = 0;
        for sql in statements {
            for (only, when, outcomes) in MATRIX {
                if only.map_or(sql == COMMIT, |only| only != sql) || (*when == After && sql.starts_with("SELECT")) {
                    continue;
                }
                for (times, expected, there) in outcomes {
                    n += 1;
                    let (what, before) = (format!("{sql} {when:?} {times}"), app.moment().checkpoint.size);
                    let set = AddSet(format!("s{n}"));
                    faulty.arm(&[Fault { sql, when: *when, times: *times }]);
                    assert_eq!(told(&app.write(set.clone()).await), *expected, "{what}");
                    faulty.arm(&[]);
                    assert_eq!(app.read_only(), None, "{what}: not fatal");
                    app.close().await;
                    app = open(&bench, &faulty).await.expect("opens");
                    assert_eq!(app.read_only(), None, "{what}");
                    let size = app.moment().checkpoint.size;
                    assert_eq!(size, if *there { before + 2 } else { before }, "{what}");
                    let again = app.write(set).await;
                    assert_eq!(matches!(again, Err(WriteError::Refused("is there"))), *there, "{what}");
                }
            }
        }
        assert_eq!(n, 62);
        check_log(&app).await;
        app.close().await;
    }));
}

#[test]
fn the_same_holds_for_rows_of_publishing_and_of_deciding() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let faulty = Arc::new(Faulty::default());
        let app = open(&bench, &faulty).await.expect("opens");
        let shop = Shop::of(app, one_ballot()).await;
        shop.bind_after(&Parcel { version: "0.0.1", tools: &[EXPORT], ..USUAL }).await;
        let tool = |n: u32| format!(r#"{{"name":"t{n}","inputSchema":{{"type":"object"}}}}"#);
        // One publication and one decision to see what they write.
        faulty.seen();
        let (text, version) = (tool(0), "1.0.0".to_owned());
        let tools = [text.as_str()];
        let published = shop.publish(Parcel { version: &version, tools: &tools, ..USUAL }).await.expect("accepted");
        let mut publishing = faulty.seen();
        shop.vote(&shop.ada, &published.candidates[0], Outcome::Approve).await.expect("counts");
        let mut deciding = faulty.seen();
        for list in [&mut publishing, &mut deciding] {
            // The first row of a count is written once.
            list.retain(|sql| {
                *sql != COMMIT && !sql.starts_with("SELECT") && !sql.starts_with("INSERT INTO candidate_count")
            });
            list.sort_unstable();
            list.dedup();
        }
        assert!(publishing.len() >= 12 && deciding.len() >= 12, "{} {}", publishing.len(), deciding.len());
        let mut n = 0;
        let faults = |sql| {
            [(Before, 1), (After, 1), (Before, ALWAYS), (After, ALWAYS)].map(|(when, times)| Fault { sql, when, times })
        };
        for fault in publishing.into_iter().flat_map(faults) {
            n += 1;
            let (text, version) = (tool(n), format!("1.0.{n}"));
            let (tools, before) = ([text.as_str()], shop.app.moment().checkpoint.size);
            let parcel = Parcel { version: &version, tools: &tools, ..USUAL };
            faulty.arm(std::slice::from_ref(&fault));
            let ran = shop.try_publish(parcel.clone()).await;
            faulty.arm(&[]);
            assert_eq!(ran.is_ok(), fault.times == 1, "{fault:?}");
            let grown = shop.app.moment().checkpoint.size - before;
            assert_eq!(grown > 0, ran.is_ok(), "{fault:?}");
            // Asked again it is done, and done once.
            let again = shop.publish(parcel).await.expect("accepted");
            assert_eq!(again.new, fault.times != 1, "{fault:?}");
            assert_eq!(again.candidates.len(), 1);
        }
        for fault in deciding.into_iter().flat_map(faults) {
            n += 1;
            let (text, version) = (tool(n), format!("1.0.{n}"));
            let tools = [text.as_str()];
            let published = shop.publish(Parcel { version: &version, tools: &tools, ..USUAL }).await.expect("accepted");
            let pins = shop.pins().0.len();
            faulty.arm(std::slice::from_ref(&fault));
            let ran = shop.try_vote(&shop.ada, &published.candidates[0], Outcome::Approve).await;
            faulty.arm(&[]);
            assert_eq!(ran.is_ok(), fault.times == 1, "{fault:?}");
            assert_eq!(shop.pins().0.len(), pins + usize::from(ran.is_ok()), "{fault:?}");
        }
        check_log(&shop.app).await;
        shop.app.close().await;
        let app = open(&bench, &faulty).await.expect("opens");
        assert_eq!(app.read_only(), None);
        app.close().await;
    }));
}

#[test]
fn a_commit_whose_fate_nobody_can_look_up_is_told_as_such_and_never_tried_again() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let faulty = Arc::new(Faulty::default());
        let mut app = open(&bench, &faulty).await.expect("opens");
        // The look fails too: the first time the head row is taken is the batch's own.
        for (n, (when, look, there)) in [(After, CHECKPOINT, true), (Before, CHECKPOINT, false)].into_iter().enumerate()
        {
            let before = app.moment().checkpoint.size;
            let set = AddSet(format!("s{n}"));
            // The batch begins by reading the checkpoint that it continues, before anything fails.
            faulty.arm(&[Fault { sql: COMMIT, when, times: 1 }]);
            let gate = Arc::new(Gate { inner: Arc::clone(&faulty), then: look });
            let opened = open_gated(&bench, &gate).await;
            assert_eq!(told(&opened.write(set.clone()).await), Told::Unknown, "{when:?}");
            faulty.arm(&[]);
            opened.close().await;
            app.close().await;
            app = open(&bench, &faulty).await.expect("opens");
            assert_eq!(app.moment().checkpoint.size, if there { before + 2 } else { before }, "{when:?}");
            assert_eq!(matches!(app.write(set).await, Err(WriteError::Refused("is there"))), there, "{when:?}");
        }
        check_log(&app).await;
        app.close().await;
    }));
}

/// After the commit has failed, this statement fails too.
#[derive(Debug)]
struct Gate {
    inner: Arc<Faulty>,
    then: &'static str,
}

impl Probe for Gate {
    fn before<'a>(&'a self, sql: &'static str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.look(sql, Before) })
    }

    fn after<'a>(&'a self, sql: &'static str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.look(sql, After) })
    }
}

impl Gate {
    fn look(&self, sql: &'static str, when: When) -> Result<(), StoreError> {
        self.inner.look(sql, when).inspect_err(|_| {
            if sql == COMMIT {
                self.inner.arm(&[Fault { sql: self.then, when: Before, times: ALWAYS }]);
            }
        })
    }
}

async fn open_gated(bench: &Bench<'_>, gate: &Arc<Gate>) -> App {
    let settings = bench.settings();
    let (reader, writer) = store::open(&settings.database, settings.limits.read_connections).await.expect("opens");
    let probe: Arc<dyn Probe> = Arc::<Gate>::clone(gate);
    let store = (reader.probed(Arc::clone(&probe)), writer.probed(probe));
    let opening = Opening { registry: &settings, host: None, rules: super::rules(), create: true };
    App::open_on(store, opening, Arc::new(bench.clock.clone()), super::rng()).await.expect("opens")
}

#[test]
fn a_replica_that_can_not_read_what_others_appended_writes_nothing_and_catches_up_later() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let faulty = Arc::new(Faulty::default());
        let lagging = open(&bench, &faulty).await.expect("opens");
        let other = bench.open().await;
        for (n, sql) in [LEAVES, CHECKPOINT, TAKE_HEAD].into_iter().enumerate() {
            other.write(AddSet(format!("o{n}"))).await.expect("written");
            let before = other.moment().checkpoint.size;
            faulty.arm(&[Fault { sql, when: Before, times: ALWAYS }]);
            assert_eq!(told(&lagging.write(AddSet(format!("l{n}"))).await), Told::Failed, "{sql}");
            let looked = lagging.refresh().await;
            assert_eq!(looked.is_err(), sql != TAKE_HEAD, "{sql}");
            faulty.arm(&[]);
            assert_eq!(lagging.read_only(), None, "{sql}");
            other.refresh().await.expect("looks");
            assert_eq!(other.moment().checkpoint.size, before, "{sql}");
            lagging.write(AddSet(format!("l{n}"))).await.expect("written");
            other.refresh().await.expect("looks");
        }
        assert_eq!(check_log(&lagging).await, check_log(&other).await);
    }));
}

#[test]
fn an_anchor_that_can_not_be_written_ends_all_appending_and_what_was_committed_is_served_after_a_restart() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        let before = app.moment().checkpoint.size;
        let anchor = fresh.dir.path().join("data/anchor");
        let kept = std::fs::read(&anchor).expect("is there");
        std::fs::remove_file(&anchor).expect("lost");
        std::fs::create_dir(&anchor).expect("in its place");
        assert_eq!(told(&app.write(AddSet("a".to_owned())).await), Told::Fatal);
        assert!(matches!(app.read_only(), Some(ReadOnly::Unusable(_))));
        assert_eq!(app.moment().checkpoint.size, before, "not served before it is anchored");
        assert_eq!(told(&app.write(AddSet("b".to_owned())).await), Told::Fatal);
        app.close().await;
        std::fs::remove_dir(&anchor).expect("there");
        std::fs::write(&anchor, kept).expect("restored");
        let app = bench.open().await;
        assert_eq!(app.read_only(), None);
        assert_eq!(app.moment().checkpoint.size, before + 2, "the database was ahead of the anchor, which is no fault");
        assert_eq!(check_log(&app).await, before + 2);
    }));
}

#[test]
fn a_database_that_stores_other_leaves_than_it_was_given_gets_no_signature() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        let before = app.moment().checkpoint.clone();
        let flip: &[&str] = match fresh.engine {
            Engine::Sqlite => &["CREATE TRIGGER flip BEFORE INSERT ON log_leaf BEGIN \
                 INSERT INTO log_leaf (idx, leaf) VALUES (NEW.idx, CAST(NEW.leaf || x'20' AS BLOB)); SELECT RAISE(IGNORE); END"],
            Engine::Postgres => &[
                "CREATE FUNCTION flip() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN NEW.leaf = NEW.leaf || ' '::bytea; RETURN NEW; END $$",
                "CREATE TRIGGER flip BEFORE INSERT ON log_leaf FOR EACH ROW EXECUTE FUNCTION flip()",
            ],
        };
        for sql in flip {
            tamper(fresh, sql).await.expect("done");
        }
        assert_eq!(told(&app.write(AddSet("a".to_owned())).await), Told::Fatal);
        assert_eq!(
            app.read_only(),
            Some(ReadOnly::Damaged("the database returns other leaves than were written".to_owned()))
        );
        assert_eq!(app.moment().checkpoint, before);
        app.close().await;
        tamper(
            fresh,
            if fresh.engine == Engine::Sqlite { "DROP TRIGGER flip" } else { "DROP TRIGGER flip ON log_leaf" },
        )
        .await
        .expect("done");
        let app = bench.open().await;
        assert_eq!((app.read_only(), app.moment().checkpoint.clone()), (None, before));
        app.write(AddSet("a".to_owned())).await.expect("written");
        check_log(&app).await;
    }));
}

#[test]
fn a_first_start_that_fails_anywhere_is_made_up_for_by_the_next() {
    block_on(async {
        for engine in [Engine::Sqlite, Engine::Postgres] {
            // What a first start writes, seen on a database of its own.
            let fresh = crate::databases::Fresh::new(engine).await;
            let faulty = Arc::new(Faulty::default());
            open(&Bench::new(&fresh), &faulty).await.expect("opens").close().await;
            let mut statements = faulty.seen();
            fresh.drop_schema().await;
            statements.retain(|sql| !sql.starts_with("SELECT"));
            statements.sort_unstable();
            statements.dedup();
            assert!(statements.len() >= 10, "{statements:?}");
            for sql in statements {
                for when in [Before, After] {
                    let fresh = crate::databases::Fresh::new(engine).await;
                    let bench = Bench::new(&fresh);
                    faulty.arm(&[Fault { sql, when, times: ALWAYS }]);
                    let failed = open(&bench, &faulty).await;
                    assert!(matches!(failed, Err(OpenError::Store(_))), "{sql} {when:?}");
                    faulty.arm(&[]);
                    let app = open(&bench, &faulty).await.expect("opens");
                    assert_eq!((app.read_only(), app.moment().checkpoint.size), (None, 3), "{sql} {when:?}");
                    app.write(AddSet("a".to_owned())).await.expect("written");
                    assert_eq!(check_log(&app).await, 5);
                    app.close().await;
                    drop(bench);
                    fresh.drop_schema().await;
                }
            }
        }
    });
}

#[test]
fn a_head_whose_signing_was_not_confirmed_is_served_once_it_is_found() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let faulty = Arc::new(Faulty::default());
        let app = open(&bench, &faulty).await.expect("opens");
        bench.pass(countersign::clock::Span::minutes(16));
        faulty.arm(&[Fault { sql: COMMIT, when: After, times: 1 }]);
        assert!(app.resign().await.is_err());
        faulty.arm(&[]);
        let issued = |app: &App| app.moment().heads.values().next().expect("one").issued.micros();
        assert_eq!(issued(&app), START + 2);
        app.refresh().await.expect("looks");
        eventually(|| (), || issued(&app) == START + 16 * 60_000_000).await;
        assert_eq!(app.resign().await.expect("answers"), 0, "it isn't due any more");
    }));
}
