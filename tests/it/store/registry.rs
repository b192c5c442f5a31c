use countersign::{
    attest::{Level, Role},
    name::Kind,
    store::{Attestation, Descriptor, Head, SetVersion, Trust},
};

use super::{at, hash, opened, release, word, write};
use crate::databases::on_both;

#[tokio::test]
async fn releases_are_found_by_what_they_are() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let mut capture = release("r3", "com.example/notes", "1.0.0", 30);
        capture.role = Role::Capture;
        capture.submitted_by = None;
        let rows = [
            release("r1", "com.example/notes", "1.0.0", 10),
            release("r2", "com.example/notes", "1.1.0", 20),
            capture,
            release("r4", "com.example/Zoo", "9", 40),
        ];
        write(&writer, async |tx| {
            for row in &rows {
                tx.put_release(row).await.expect("written");
            }
        })
        .await;
        let mut tx = writer.begin().await.expect("begins");
        let again = release("r9", "com.example/notes", "1.0.0", 90);
        assert!(
            tx.put_release(&again).await.is_err(),
            "a second release of the same server, version, variant and role"
        );
        drop(tx);
        let mut conn = reader.snapshot().await.expect("a connection");
        let notes = word("com.example/notes");
        assert_eq!(conn.release("r2").await.expect("reads"), Some(rows[1].clone()));
        assert_eq!(conn.release("r9").await.expect("reads"), None);
        let found = conn.release_of(&notes, &word("1.0.0"), &word(""), Role::Capture).await.expect("reads");
        assert_eq!(found, Some(rows[2].clone()));
        assert_eq!(conn.release_of(&notes, &word("1.0.0"), &word("de"), Role::Capture).await.expect("reads"), None);
        let ids = |rows: Vec<countersign::store::Release>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
        assert_eq!(ids(conn.releases(&notes, u64::MAX, 2).await.expect("reads")), ["r3", "r2"]);
        assert_eq!(ids(conn.releases(&notes, 20, 2).await.expect("reads")), ["r1"]);
        assert_eq!(ids(conn.newest_releases(&notes).await.expect("reads")), ["r2", "r3"]);
        let servers = conn.servers("", 10).await.expect("reads");
        let names: Vec<_> = servers.iter().map(|server| (server.name.as_str(), server.releases)).collect();
        assert_eq!(names, [("com.example/Zoo", 1), ("com.example/notes", 3)], "in the order of bytes, on both engines");
        assert_eq!((servers[1].first_at, servers[1].last_at), (at(10), at(30)));
        assert_eq!(conn.servers("com.example/Zoo", 10).await.expect("reads").len(), 1);
        let folded = conn.server(&word("com.example/zoo")).await.expect("reads").expect("found in another case");
        assert_eq!(folded.name.as_str(), "com.example/Zoo");
        for (name, expected) in [
            ("com.example/notes", None),
            ("com.example/Notes", Some("com.example/notes")),
            ("com.example/other", None),
            ("Com.Example/other", Some("com.example/notes")),
            ("com.example.sub/notes", None),
            ("com.exampl/notes", None),
        ] {
            let found = conn.namesake(&word(name)).await.expect("reads");
            let found = found.as_ref().map(countersign::name::ServerName::as_str);
            assert_eq!(found.is_some(), expected.is_some(), "{name}: {found:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn descriptors_and_attestations_belong_to_their_release() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let row = |position, name: &str, unpinnable: Option<&str>| Descriptor {
            release: "r1".to_owned(),
            position,
            kind: Kind::Tool,
            name: name.to_owned(),
            digest: hash(name),
            python_digest: hash("python"),
            raw: hash("raw"),
            members: b"{}".to_vec(),
            unpinnable: unpinnable.map(str::to_owned),
            pointer: unpinnable.map(|_| "/a\0b".to_owned()),
        };
        let evidence = |id: &str, level, log_index| Attestation {
            sha256: hash(id),
            release: "r1".to_owned(),
            level,
            signer: "key:00".to_owned(),
            authority: "a1".to_owned(),
            predicate: hash("predicate"),
            submitted_by: None,
            received_at: at(1),
            log_index,
        };
        let (first, second) = (evidence("one", Level::Capture, 1), evidence("two", Level::Key, 2));
        write(&writer, async |tx| {
            tx.put_release(&release("r1", "com.example/notes", "1", 1)).await.expect("written");
            tx.put_descriptor(&row(1, "nul\0 name", Some("bad-name"))).await.expect("any name can be kept");
            tx.put_descriptor(&row(0, "export", None)).await.expect("written");
            tx.put_attestation(&second).await.expect("written");
            tx.put_attestation(&first).await.expect("written");
        })
        .await;
        let mut conn = reader.conn().await.expect("a connection");
        let listed = conn.descriptors("r1").await.expect("reads");
        assert_eq!(listed[0], row(0, "export", None));
        assert_eq!((listed[1].name.as_str(), listed[1].pointer.as_deref()), (" nul\\u{0} name", Some(" /a\\u{0}b")));
        assert_eq!(conn.descriptor("r1", 0).await.expect("reads"), Some(row(0, "export", None)));
        assert_eq!(conn.descriptor("r1", 2).await.expect("reads"), None);
        assert_eq!(conn.descriptors_with(hash("export"), 5).await.expect("reads").len(), 1);
        assert_eq!(conn.attestations("r1").await.expect("reads"), [first.clone(), second]);
        assert_eq!(conn.attestation(first.sha256).await.expect("reads"), Some(first.clone()));
        let mut tx = writer.begin().await.expect("begins");
        assert!(tx.put_attestation(&first).await.is_err());
        drop(tx);
        let mut tx = writer.begin().await.expect("begins");
        let orphan = Descriptor { release: "r2".to_owned(), ..row(0, "export", None) };
        let refused = match tx.put_descriptor(&orphan).await {
            Err(_) => true,
            Ok(()) => tx.commit().await.is_err(),
        };
        assert!(refused, "a descriptor of no release");
    })
    .await;
}

#[tokio::test]
async fn versions_stay_and_heads_never_go_back() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let version = |version, log_index| SetVersion {
            pinset: word("default"),
            version,
            set_sha256: hash("set"),
            issued: at(1),
            log_index,
        };
        let head = |version, checkpoint_size, expires| Head {
            pinset: word("default"),
            version,
            envelope: vec![0, 1, 255],
            issued: at(1),
            expires: at(expires),
            checkpoint_size,
        };
        write(&writer, async |tx| {
            tx.put_set_version(&version(1, 3)).await.expect("written");
            tx.put_set_version(&version(2, 5)).await.expect("written");
            tx.put_head(&head(1, 4, 10)).await.expect("written");
            tx.put_head(&head(2, 6, 20)).await.expect("moved on");
            tx.put_head(&Head { pinset: word("prod"), ..head(1, 6, 20) }).await.expect("written");
            tx.put_trust(&Trust { version: 1, note: "one\n".to_owned() }).await.expect("written");
            tx.put_trust(&Trust { version: 2, note: "two\n".to_owned() }).await.expect("written");
        })
        .await;
        let mut conn = reader.conn().await.expect("a connection");
        assert_eq!(conn.set_version(&word("default"), 1).await.expect("reads"), Some(version(1, 3)));
        assert_eq!(
            conn.set_versions(&word("default"), u64::MAX, 9).await.expect("reads"),
            [version(2, 5), version(1, 3)]
        );
        assert_eq!(conn.set_versions(&word("default"), 2, 9).await.expect("reads"), [version(1, 3)]);
        assert_eq!(conn.set_version_with(hash("set")).await.expect("reads"), Some(version(1, 3)));
        assert_eq!(conn.set_version_with(hash("none")).await.expect("reads"), None);
        for (leaf, found) in [(0, Some(version(1, 3))), (3, Some(version(1, 3))), (4, Some(version(2, 5))), (6, None)] {
            assert_eq!(conn.set_version_from(&word("default"), leaf).await.expect("reads"), found, "{leaf}");
        }
        assert_eq!(conn.set_version_from(&word("other"), 0).await.expect("reads"), None);
        assert_eq!(conn.head(&word("default")).await.expect("reads"), Some(head(2, 6, 20)));
        assert_eq!(conn.head(&word("other")).await.expect("reads"), None);
        assert_eq!(conn.heads().await.expect("reads").len(), 2);
        assert_eq!(conn.trust().await.expect("reads"), Some(Trust { version: 2, note: "two\n".to_owned() }));
        assert_eq!(conn.trust_version(1).await.expect("reads"), Some(Trust { version: 1, note: "one\n".to_owned() }));
        assert_eq!(conn.trust_version(3).await.expect("reads"), None);
        for back in [head(1, 7, 30), head(2, 5, 30)] {
            let mut tx = writer.begin().await.expect("begins");
            assert!(tx.put_head(&back).await.is_err(), "{back:?}");
        }
        let mut tx = writer.begin().await.expect("begins");
        assert!(tx.put_set_version(&version(2, 9)).await.is_err(), "one version has one set");
        drop(tx);
        let mut tx = writer.begin().await.expect("begins");
        assert!(tx.put_trust(&Trust { version: 2, note: "other\n".to_owned() }).await.is_err());
        drop(tx);
        for sql in ["UPDATE set_version SET log_index = 99 WHERE version = 1", "DELETE FROM set_version"] {
            assert!(crate::databases::tamper(fresh, sql).await.is_err(), "{sql}");
        }
    })
    .await;
}
