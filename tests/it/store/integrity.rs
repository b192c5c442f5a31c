use std::{fs, path::Path};

use countersign::store::{Content, LogHead};

use super::{at, opened, write};
use crate::databases::{Engine, Fresh, on_both, tamper};

#[test]
fn both_engines_have_migrations_of_the_same_numbers_and_names() {
    let names = |engine: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(engine);
        let mut names: Vec<_> =
            fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("sqlite"), names("postgres"));
    assert_eq!(names("sqlite").len(), 6, "a new file must be named in src/store/migrate.rs too");
}

#[tokio::test]
async fn both_engines_have_the_same_tables_columns_and_nullability() {
    let schema = async |engine| {
        let fresh = Fresh::new(engine).await;
        let (reader, _writer) = opened(&fresh).await;
        let schema = reader.conn().await.expect("a connection").schema().await.expect("reads");
        fresh.drop_schema().await;
        schema
    };
    let (sqlite, postgres) = (schema(Engine::Sqlite).await, schema(Engine::Postgres).await);
    assert!(sqlite.len() > 120, "{}", sqlite.len());
    assert_eq!(sqlite, postgres);
}

#[tokio::test]
async fn opening_again_keeps_everything_and_a_newer_schema_is_refused() {
    on_both(async |fresh| {
        let content = Content::new(b"kept".to_vec(), "text/plain", true);
        let (_, writer) = opened(fresh).await;
        write(&writer, async |tx| tx.put_content(&content).await.expect("written")).await;
        let (reader, _writer) = opened(fresh).await;
        assert!(reader.conn().await.expect("a connection").has_content(content.sha256).await.expect("reads"));
        let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                     SELECT 9999, 'newer', success, checksum, 0 FROM _sqlx_migrations WHERE version = 1";
        tamper(fresh, newer).await.expect("written");
        let refused = countersign::store::open(&fresh.database, 1).await.expect_err("a database from the future");
        assert!(matches!(refused, countersign::store::StoreError::Schema(_)), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn fsck_finds_what_no_statement_of_ours_wrote() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let content = Content::new(b"document".to_vec(), "text/plain", true);
        write(&writer, async |tx| {
            tx.put_content(&content).await.expect("written");
            tx.put_leaf(0, b"leaf").await.expect("written");
            tx.put_log_head(&LogHead { size: 1, last_at: at(1), root: super::hash("root") }).await.expect("moved");
        })
        .await;
        let faults = async || {
            let faults = reader.conn().await.expect("a connection").fsck().await.expect("answers");
            faults.into_iter().map(|fault| fault.table).collect::<Vec<_>>()
        };
        assert_eq!(faults().await, [""; 0]);
        for sql in [
            "UPDATE content SET bytes = sha256",
            "INSERT INTO log_leaf (idx, leaf) SELECT 1, leaf FROM log_leaf",
            "INSERT INTO candidate_count (pinset, state, n) VALUES ('default', 'pending', 3)",
            "INSERT INTO server (name, namespace, folded, first_at, last_at, releases) VALUES ('no slash', '', '', 0, 0, 0)",
            "INSERT INTO account (name, password, created_at) VALUES ('x', '', -1)",
            "INSERT INTO reviewer (id, account) VALUES ('x', 'x')",
        ] {
            tamper(fresh, sql).await.expect(sql);
        }
        assert_eq!(faults().await, ["server", "account", "log_leaf", "content", "candidate_count"]);
    })
    .await;
}
