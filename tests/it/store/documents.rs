use countersign::{
    canon::Sha256,
    store::{Content, Reason, Scan},
};

use super::{at, hash, opened, word, write};
use crate::databases::on_both;

#[tokio::test]
async fn a_document_is_stored_once_and_served_as_it_came() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let hidden = Content::new(b"{\"a\":1}\0\xff".to_vec(), "application/json", false);
        let shown = Content { readable: true, media_type: "text/other".to_owned(), ..hidden.clone() };
        write(&writer, async |tx| tx.put_content(&hidden).await.expect("written")).await;
        let mut conn = reader.conn().await.expect("a connection");
        assert_eq!(conn.content(hidden.sha256).await.expect("reads"), Some(hidden.clone()));
        write(&writer, async |tx| tx.put_content(&shown).await.expect("written")).await;
        write(&writer, async |tx| tx.put_content(&hidden).await.expect("written")).await;
        let kept = conn.content(hidden.sha256).await.expect("reads").expect("is there");
        assert_eq!(kept, Content { readable: true, ..hidden.clone() }, "readable once is readable for good");
        assert!(conn.has_content(hidden.sha256).await.expect("reads"));
        assert!(!conn.has_content(hash("nothing")).await.expect("reads"));
        assert_eq!(conn.content(hash("nothing")).await.expect("reads"), None);
    })
    .await;
}

#[tokio::test]
async fn set_documents_are_kept_while_a_head_names_them_and_until_their_time_after() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let [a, b, c] = ["a", "b", "c"].map(|text| Content::new(text.as_bytes().to_vec(), "application/json", true));
        let name = async |documents: &[Sha256], until| {
            write(&writer, async |tx| {
                for content in [&a, &b, &c] {
                    tx.put_content(content).await.expect("written");
                }
                tx.put_named(&word("default"), documents, at(until)).await.expect("named");
            })
            .await;
        };
        let left = async || {
            let mut conn = reader.conn().await.expect("a connection");
            let mut left = String::new();
            for content in [&a, &b, &c] {
                if conn.has_content(content.sha256).await.expect("reads") {
                    left.push(char::from(content.bytes[0]));
                }
            }
            left
        };
        let drop_at =
            async |second| write(&writer, async |tx| tx.drop_content(at(second), 10).await.expect("dropped")).await;
        name(&[a.sha256, b.sha256], 0).await;
        assert_eq!(drop_at(1_000).await, 0, "what is named stays, and what never was");
        name(&[b.sha256, c.sha256], 30).await;
        assert_eq!(drop_at(30).await, 0);
        assert_eq!(left().await, "abc");
        assert_eq!(drop_at(31).await, 1);
        assert_eq!(left().await, "bc");
        name(&[a.sha256], 60).await;
        assert_eq!(
            write(&writer, async |tx| tx.drop_content(at(61), 1).await.expect("dropped")).await,
            1,
            "at most one"
        );
        assert_eq!(drop_at(61).await, 1);
        assert_eq!(left().await, "a");
    })
    .await;
}

#[tokio::test]
async fn reports_and_reasons_are_kept_as_first_written() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let scan = Scan {
            subject: "jcs-sha256:00".to_owned(),
            ruleset: hash("rules"),
            report: hash("report"),
            complete: true,
            findings: 2,
            gravest: Some("high".to_owned()),
        };
        let clean = Scan { subject: "clean".to_owned(), findings: 0, gravest: None, complete: false, ..scan.clone() };
        let reason = Reason { sha256: hash("reason"), salt: vec![7; 16], text: "tested by hand — fine".to_owned() };
        write(&writer, async |tx| {
            tx.put_scan(&scan).await.expect("written");
            tx.put_scan(&clean).await.expect("written");
            tx.put_scan(&Scan { findings: 0, ..scan.clone() }).await.expect("ignored");
            tx.put_reason(&reason).await.expect("written");
            tx.put_reason(&Reason { text: "another".to_owned(), ..reason.clone() }).await.expect("ignored");
        })
        .await;
        let mut conn = reader.conn().await.expect("a connection");
        assert_eq!(conn.scan(&scan.subject, scan.ruleset).await.expect("reads"), Some(scan.clone()));
        assert_eq!(conn.scan("clean", scan.ruleset).await.expect("reads"), Some(clean));
        assert_eq!(conn.scan(&scan.subject, hash("other rules")).await.expect("reads"), None);
        assert_eq!(conn.reason(reason.sha256).await.expect("reads"), Some(reason));
    })
    .await;
}
