//! The contract of `countersign::store`: every statement, on both engines, each time.

mod access;
mod anchor;
mod documents;
mod integrity;
mod log;
mod registry;
mod review;
mod witness;

use countersign::{
    canon::Sha256,
    clock::Timestamp,
    store::{Reader, Release, WriteTx, Writer, open},
};

use crate::databases::Fresh;

pub(crate) async fn opened(fresh: &Fresh) -> (Reader, Writer) {
    open(&fresh.database, 4).await.expect("opens")
}

async fn write<T>(writer: &Writer, body: impl AsyncFnOnce(&mut WriteTx) -> T) -> T {
    let mut tx = writer.begin().await.expect("begins");
    let out = body(&mut tx).await;
    tx.commit().await.expect("commits");
    out
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(1_796_025_600_000_000 + second * 1_000_000).expect("in range")
}

fn hash(text: &str) -> Sha256 {
    Sha256::of(text.as_bytes())
}

fn word<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect(text)
}

fn release(id: &str, server: &str, version: &str, log_index: u64) -> Release {
    Release {
        id: id.to_owned(),
        server: word(server),
        version: word(version),
        variant: word(""),
        role: countersign::attest::Role::Publisher,
        document: hash(id),
        subjects: hash("subjects"),
        count: 2,
        submitted_by: Some("ada".to_owned()),
        received_at: at(i64::try_from(log_index).expect("small")),
        log_index,
    }
}

/// The suite can't forget a statement: every public function of the store's sources is called somewhere in it.
#[test]
fn every_statement_is_in_the_contract() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |folder: &str| -> String {
        let files = std::fs::read_dir(root.join(folder)).expect("a folder");
        files.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("text")).collect()
    };
    let (sources, suite) = (read("src/store"), read("tests/it/store"));
    let names = sources.split("pub async fn ").skip(1).map(|rest| rest.split('(').next().expect("a name"));
    // Both are called as what they are: functions.
    let forgotten: Vec<&str> = names
        .filter(|name| *name != "open" && *name != "open_to_read" && !suite.contains(&format!(".{name}(")))
        .collect();
    assert_eq!(forgotten, [""; 0]);
}

/// A write that a probe doesn't see is one that no test lets fail.
#[test]
fn every_write_passes_the_probe() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store");
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        // The anchor's table is in another database, on purpose outside every transaction of this one.
        let exempt = ["mod.rs", "fsck.rs", "anchor.rs"].iter().any(|name| path.ends_with(name));
        let past = text.lines().find(|line| line.contains("self.0.0") || line.contains(".execute("));
        assert!(exempt || past.is_none(), "{}: {past:?}", path.display());
    }
}
