//! A commit whose reply is really lost: the wire to PostgreSQL is cut around it.

use countersign::{
    config::{Database, DatabaseText, Registry},
    service::WriteError,
    store::StoreError,
};

use super::{AddSet, Bench, check_log};
use crate::{
    databases::{Engine, Fresh, block_on},
    proxy::{Cut, Proxy},
};

/// The settings of a registry that reaches its database through a wire.
async fn wired(bench: &Bench<'_>) -> (Registry, Proxy) {
    let Database::Postgres(url) = &bench.fresh.database else { panic!("PostgreSQL") };
    let url = url.reveal();
    let (before, rest) = url.split_once("?host=").expect("as `sh tests/run` makes it");
    let (folder, options) = rest.split_once('&').expect("a schema");
    let proxy = Proxy::to(folder).await;
    let (account, database) = before.split_once("@localhost/").expect("a local server");
    let url = format!("{account}@127.0.0.1:{}/{database}?{options}", proxy.port);
    let settings = Registry { database: Database::Postgres(DatabaseText::new(url)), ..bench.settings() };
    (settings, proxy)
}

#[test]
fn a_commit_that_never_arrives_is_tried_again_and_one_whose_reply_is_lost_is_found() {
    block_on(async {
        let fresh = Fresh::new(Engine::Postgres).await;
        let bench = Bench::new(&fresh);
        let (settings, proxy) = wired(&bench).await;
        let mut app = bench.open_with(&settings, true).await.expect("opens");
        for (n, cut) in
            [Cut::BeforeCommit, Cut::AfterCommit, Cut::BeforeCommit, Cut::AfterCommit].into_iter().enumerate()
        {
            let before = app.moment().checkpoint.size;
            proxy.cut(cut);
            let written = app.write(AddSet(format!("s{n}"))).await.unwrap_or_else(|e| panic!("{cut:?}: {e}"));
            assert!(proxy.was_cut());
            assert_eq!(written.leaves, before..before + 1, "{cut:?}");
            assert_eq!(app.moment().checkpoint.size, before + 2, "{cut:?}: once");
            app.close().await;
            app = bench.open_with(&settings, false).await.expect("opens");
            assert_eq!((app.read_only(), app.moment().checkpoint.size), (None, before + 2), "{cut:?}");
        }
        check_log(&app).await;
        app.close().await;
        drop(bench);
        fresh.drop_schema().await;
    });
}

#[test]
fn a_database_that_is_gone_after_a_commit_leaves_the_writer_without_an_answer_and_the_log_whole() {
    block_on(async {
        let fresh = Fresh::new(Engine::Postgres).await;
        let bench = Bench::new(&fresh);
        let (settings, proxy) = wired(&bench).await;
        let app = bench.open_with(&settings, true).await.expect("opens");
        let before = app.moment().checkpoint.size;
        proxy.cut(Cut::AfterCommitForGood);
        let told = app.write(AddSet("a".to_owned())).await;
        assert!(matches!(told, Err(WriteError::Store(StoreError::Unconfirmed))), "{told:?}");
        assert_eq!(app.moment().checkpoint.size, before, "what isn't confirmed isn't served");
        proxy.cut(Cut::Nowhere);
        let again = app.write(AddSet("a".to_owned())).await;
        assert!(matches!(again, Err(WriteError::Refused("is there"))), "it was done");
        let next = app.write(AddSet("b".to_owned())).await.expect("the same process goes on");
        assert_eq!(next.leaves.start, before + 2);
        assert_eq!(app.read_only(), None);
        check_log(&app).await;
        app.close().await;
        drop(bench);
        fresh.drop_schema().await;
    });
}
