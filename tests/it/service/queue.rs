use countersign::{
    service::{App, WriteError},
    store::StoreError,
};

use super::{AddSet, Bench, Careless, check_log, eventually};
use crate::databases::{block_on, on_both};

fn sets(app: &App) -> usize {
    app.moment().state.sets().count()
}

#[test]
fn waiting_writes_share_a_checkpoint_and_each_gets_its_own_answer() {
    block_on(on_both(async |fresh| {
        let app = Bench::new(fresh).open().await;
        let start = app.moment().checkpoint.size;
        // `b` twice: whichever is second is refused, and the others are none the worse for it.
        let writes = ["a", "b", "b", "c"].map(|name| {
            let app = app.clone();
            tokio::spawn(async move { app.write(AddSet(name.to_owned())).await })
        });
        let mut refused = 0;
        for write in writes {
            match write.await.expect("no panic") {
                Ok(written) => {
                    assert_eq!(written.leaves.start, written.done.index);
                    assert!(written.moment.checkpoint.size > written.done.index, "the answer's checkpoint covers it");
                }
                Err(WriteError::Refused(why)) => {
                    assert_eq!(why, "is there");
                    refused += 1;
                }
                Err(e) => panic!("{e}"),
            }
        }
        assert_eq!((refused, sets(&app)), (1, 4));
        assert_eq!(check_log(&app).await, start + 3 + 3, "three sets, each published once");
    }));
}

#[test]
fn a_refusal_writes_nothing() {
    block_on(on_both(async |fresh| {
        let app = Bench::new(fresh).open().await;
        let before = app.moment();
        for _ in 0..3 {
            let refused = app.write(AddSet("default".to_owned())).await;
            assert!(matches!(refused, Err(WriteError::Refused("is there"))));
        }
        assert_eq!(app.moment().note, before.note);
        check_log(&app).await;
    }));
}

#[test]
fn a_step_that_fails_after_writing_takes_nobody_down_with_it() {
    block_on(on_both(async |fresh| {
        let app = Bench::new(fresh).open().await;
        for (round, fault) in ["refuse", "fold", "database"].into_iter().enumerate() {
            // All wait while the first is committed, so they share a transaction.
            let good = (0..5).map(|n| {
                tokio::spawn({
                    let app = app.clone();
                    async move { app.write(AddSet(format!("s{round}-{n}"))).await.map(|written| written.done.index) }
                })
            });
            let good: Vec<_> = good.collect();
            let bad = app.write(Careless(fault)).await.expect_err("never committed");
            match fault {
                "refuse" => assert!(matches!(bad, WriteError::Refused("changed its mind")), "{bad:?}"),
                "fold" => assert!(matches!(bad, WriteError::Fold(_)), "{bad:?}"),
                _ => assert!(matches!(bad, WriteError::Store(StoreError::Database(_))), "{bad:?}"),
            }
            for write in good {
                write.await.expect("no panic").expect("written all the same");
            }
        }
        assert_eq!(sets(&app), 1 + 15);
        let mut conn = app.reader().conn().await.expect("a connection");
        assert_eq!(conn.audit(i64::MAX, 10).await.expect("reads"), [], "nothing of the careless is left");
        drop(conn);
        check_log(&app).await;
        assert_eq!(app.read_only(), None);
    }));
}

#[test]
fn a_step_that_panics_is_not_committed_and_the_next_one_is() {
    block_on(on_both(async |fresh| {
        let app = Bench::new(fresh).open().await;
        assert!(matches!(app.write(Careless("panic")).await, Err(WriteError::Closed)));
        app.write(AddSet("after".to_owned())).await.expect("the queue goes on");
        assert_eq!(sets(&app), 2);
        check_log(&app).await;
    }));
}

#[test]
fn two_processes_on_one_database_never_fork_the_log() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let (one, two) = (bench.open().await, bench.open().await);
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let app = if writer % 2 == 0 { one.clone() } else { two.clone() };
                tokio::spawn(async move {
                    for n in 0..12 {
                        // Every third name is wanted by all of them.
                        let name = if n % 3 == 0 { format!("all-{n}") } else { format!("w{writer}-{n}") };
                        match app.write(AddSet(name)).await {
                            Ok(_) | Err(WriteError::Refused("is there")) => {}
                            Err(e) => panic!("{e}"),
                        }
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.expect("no error");
        }
        one.refresh().await.expect("looks");
        two.refresh().await.expect("looks");
        assert_eq!(one.moment().note, two.moment().note);
        assert_eq!((sets(&one), one.read_only(), two.read_only()), (1 + 8 * 8 + 4, None, None));
        check_log(&one).await;
        let again = bench.open().await;
        assert_eq!(again.moment().note, one.moment().note);
    }));
}

#[test]
fn what_another_process_wrote_is_seen_at_the_next_look() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let server = bench.open().await;
        let admin = bench.open().await;
        admin.write(AddSet("prod".to_owned())).await.expect("written");
        assert_eq!(sets(&server), 1);
        let jobs = tokio::spawn(countersign::service::jobs::run(server.clone()));
        // The job may not wait for the clock yet; each move wakes it once it does.
        eventually(|| bench.pass(countersign::clock::Span::millis(250)), || sets(&server) == 2).await;
        jobs.abort();
    }));
}

#[test]
fn the_queue_is_bounded_and_a_closed_one_finishes_what_waits() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let mut settings = bench.settings();
        settings.limits.write_queue = 2;
        let app = bench.open_with(&settings, true).await.expect("opens");
        let writes: Vec<_> = (0..50)
            .map(|n| {
                let app = app.clone();
                async move { app.write(AddSet(format!("s{n}"))).await }
            })
            .collect();
        let mut tasks = tokio::task::JoinSet::new();
        writes.into_iter().for_each(|write| drop(tasks.spawn(write)));
        let mut done = 0;
        let mut busy = 0;
        while let Some(write) = tasks.join_next().await {
            match write.expect("no panic") {
                Ok(_) => done += 1,
                Err(WriteError::Busy) => busy += 1,
                Err(e) => panic!("{e}"),
            }
        }
        assert_eq!(done + busy, 50);
        assert!(done >= 2, "{done}");
        assert_eq!(sets(&app), 1 + done);
        let last = tokio::spawn({
            let app = app.clone();
            async move { app.write(AddSet("last".to_owned())).await }
        });
        while !last.is_finished() {
            tokio::task::yield_now().await;
        }
        app.close().await;
        assert!(last.await.expect("no panic").is_ok());
        assert!(matches!(app.write(AddSet("late".to_owned())).await, Err(WriteError::Closed)));
    }));
}
