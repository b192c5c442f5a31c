use countersign::{
    name::{Kind, SetName},
    review::{CandidateId, Outcome, Reason, ReviewerId},
    store::{Ballot, Candidate, Decided, QueueKey, Search, Stage, Writer},
};

use super::{at, hash, opened, release, word, write};
use crate::databases::on_both;

fn candidate(id: &str, pinset: &str, reason: Reason, opened: i64) -> Candidate {
    Candidate {
        id: CandidateId::of(id.as_bytes()),
        pinset: word(pinset),
        server: word("com.example/notes"),
        variant: word(""),
        kind: Kind::Tool,
        name: id.to_owned(),
        reason,
        digest: hash(id),
        base: (reason == Reason::Changed).then(|| hash("base")),
        state: Stage::Pending,
        decision: None,
        release: "r1".to_owned(),
        position: 0,
        attestation: hash("attestation"),
        opened_at: at(opened),
        log_index: 1,
    }
}

async fn open_all(writer: &Writer, rows: &[Candidate]) {
    write(writer, async |tx| {
        tx.put_release(&release("r1", "com.example/notes", "1", 1)).await.expect("written");
        for row in rows {
            assert!(tx.put_candidate(row).await.expect("written"));
            assert!(!tx.put_candidate(row).await.expect("known"), "a second time changes nothing");
        }
    })
    .await;
}

fn names(rows: &[Candidate]) -> String {
    rows.iter().map(|row| row.name.as_str()).collect()
}

#[tokio::test]
async fn the_queue_is_by_urgency_then_age_and_pages_without_gaps() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let rows = [
            candidate("d", "default", Reason::Unknown, 5),
            candidate("b", "default", Reason::Flagged, 9),
            candidate("c", "default", Reason::Unknown, 4),
            candidate("a", "default", Reason::Changed, 8),
            candidate("p", "prod", Reason::Changed, 1),
        ];
        open_all(&writer, &rows).await;
        let mut conn = reader.conn().await.expect("a connection");
        let default = word("default");
        let first = conn.queue_of(&default, Stage::Pending, &QueueKey::START, 3).await.expect("reads");
        assert_eq!(names(&first), "abc");
        assert_eq!(first[0], rows[3]);
        let rest = conn.queue_of(&default, Stage::Pending, &first[2].key(), 3).await.expect("reads");
        assert_eq!(names(&rest), "d");
        let all = conn.queue(Stage::Pending, &QueueKey::START, 10).await.expect("reads");
        assert_eq!(names(&all), "pabcd");
        assert_eq!(names(&conn.queue(Stage::Pending, &all[3].key(), 10).await.expect("reads")), "d");
        assert_eq!(names(&conn.queue(Stage::Held, &QueueKey::START, 10).await.expect("reads")), "");
        assert_eq!(names(&conn.candidates_of_release("r1").await.expect("reads").split_off(4)), "p");
        let server = word("com.example/notes");
        let named = conn.candidates_named(&default, &server, &word(""), Kind::Tool, "b").await.expect("reads");
        assert_eq!(names(&named), "b");
        let with = conn.candidates_with(&default, Kind::Tool, hash("b")).await.expect("reads");
        assert_eq!(names(&with), "b");
        assert_eq!(conn.candidates_with(&default, Kind::Prompt, hash("b")).await.expect("reads"), []);
        let of_server = conn.candidates_of_server(&default, &server, Stage::Pending).await.expect("reads");
        assert_eq!(of_server.len(), 4);
        assert_eq!(conn.candidate(&rows[0].id).await.expect("reads"), Some(rows[0].clone()));
        assert_eq!(conn.candidate(&CandidateId::of(b"none")).await.expect("reads"), None);
    })
    .await;
}

#[tokio::test]
async fn counts_move_with_their_candidates() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let rows = [candidate("a", "default", Reason::Unknown, 1), candidate("b", "default", Reason::Unknown, 2)];
        open_all(&writer, &rows).await;
        let counts = async || {
            let counts = reader.conn().await.expect("a connection").candidate_counts().await.expect("reads");
            counts.into_iter().map(|count| (count.state, count.n)).collect::<Vec<_>>()
        };
        assert_eq!(counts().await, [(Stage::Pending, 2)]);
        let decision = Some(hash("decision"));
        write(&writer, async |tx| {
            assert!(tx.move_candidate(&rows[0].id, Stage::Pending, Stage::Approved, decision).await.expect("moved"));
            let raced = tx.move_candidate(&rows[0].id, Stage::Pending, Stage::Rejected, decision).await;
            assert!(!raced.expect("no error"), "it is not pending any more");
        })
        .await;
        assert_eq!(counts().await, [(Stage::Approved, 1), (Stage::Pending, 1)]);
        let mut conn = reader.conn().await.expect("a connection");
        let moved = conn.candidate(&rows[0].id).await.expect("reads").expect("is there");
        assert_eq!((moved.state, moved.decision), (Stage::Approved, decision));
    })
    .await;
}

#[tokio::test]
async fn a_pending_candidate_moves_in_the_queue_with_its_reason() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let rows = [candidate("a", "default", Reason::Flagged, 1), candidate("b", "default", Reason::Unknown, 2)];
        open_all(&writer, &rows).await;
        let set: SetName = "default".parse().expect("legal");
        let queue = async || {
            let mut conn = reader.conn().await.expect("a connection");
            let rows = conn.queue_of(&set, Stage::Pending, &QueueKey::START, 10).await.expect("reads");
            rows.into_iter().map(|row| (row.id, row.reason)).collect::<Vec<_>>()
        };
        let (a, b) = (rows[0].id.clone(), rows[1].id.clone());
        assert_eq!(queue().await, [(a.clone(), Reason::Flagged), (b.clone(), Reason::Unknown)]);
        write(&writer, async |tx| {
            assert!(tx.renew_candidate(&b, Reason::Changed).await.expect("written"));
            tx.move_candidate(&a, Stage::Pending, Stage::Rejected, None).await.expect("moved");
            assert!(!tx.renew_candidate(&a, Reason::Changed).await.expect("no error"), "it is not pending any more");
        })
        .await;
        assert_eq!(queue().await, [(b, Reason::Changed)]);
    })
    .await;
}

#[tokio::test]
async fn a_reviewer_has_one_ballot_on_a_view_until_it_is_void() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let row = candidate("a", "default", Reason::Unknown, 1);
        open_all(&writer, std::slice::from_ref(&row)).await;
        let ballot = |reviewer: u8, view: &str, cast: i64| Ballot {
            candidate: row.id.clone(),
            reviewer: ReviewerId::random([reviewer; 16]),
            view: hash(view),
            document: vec![1, 0, 2],
            reason: hash("reason"),
            cast_at: at(cast),
            void_since: None,
        };
        let mut conn = reader.conn().await.expect("a connection");
        let put = async |row: Ballot| write(&writer, async |tx| tx.put_ballot(&row).await.expect("written")).await;
        assert!(put(ballot(1, "v", 1)).await);
        assert!(!put(ballot(1, "v", 2)).await, "it is counted already");
        assert!(put(ballot(2, "v", 3)).await);
        assert_eq!(conn.ballots(&row.id).await.expect("reads"), [ballot(1, "v", 1), ballot(2, "v", 3)]);
        assert_eq!(write(&writer, async |tx| tx.void_ballots(&row.id, at(4)).await.expect("void")).await, 2);
        assert_eq!(conn.ballots(&row.id).await.expect("reads"), []);
        assert!(put(ballot(1, "v", 5)).await, "a void ballot is replaced");
        assert_eq!(write(&writer, async |tx| tx.void_ballots_of(&word("prod"), at(6)).await.expect("void")).await, 0);
        assert_eq!(
            write(&writer, async |tx| tx.void_ballots_of(&word("default"), at(6)).await.expect("void")).await,
            1
        );
    })
    .await;
}

#[tokio::test]
async fn decisions_are_found_by_candidate_and_by_leaf() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let row = candidate("a", "default", Reason::Unknown, 1);
        open_all(&writer, std::slice::from_ref(&row)).await;
        let decided = |log_index, outcome| Decided {
            log_index,
            sha256: hash(&format!("leaf {log_index}")),
            candidate: row.id.clone(),
            outcome,
            reason: hash("reason"),
            mode: "1-of-1".to_owned(),
            at: at(1),
        };
        let (first, second) = (decided(4, Outcome::Reject), decided(9, Outcome::Reopen));
        write(&writer, async |tx| {
            tx.put_decision(&second).await.expect("written");
            tx.put_decision(&first).await.expect("written");
        })
        .await;
        let mut conn = reader.conn().await.expect("a connection");
        assert_eq!(conn.decisions(&row.id).await.expect("reads"), [first.clone(), second.clone()]);
        assert_eq!(conn.decision(second.sha256).await.expect("reads"), Some(second));
        let mut tx = writer.begin().await.expect("begins");
        assert!(tx.put_decision(&first).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn people_search_the_queue_and_go_through_it() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let rows = [
            candidate("export", "default", Reason::Unknown, 5),
            candidate("import", "default", Reason::Flagged, 9),
            candidate("100%_sure", "prod", Reason::Changed, 1),
        ];
        open_all(&writer, &rows).await;
        let mut conn = reader.conn().await.expect("a connection");
        let digest = hash("import").to_string();
        let search = |pinset: &str, reason: Option<Reason>, text: &str| Search {
            pinset: (!pinset.is_empty()).then(|| word(pinset)),
            reason,
            text: text.to_owned(),
        };
        for (asked, expected) in [
            (search("", None, ""), "100%_sureimportexport"),
            (search("default", None, ""), "importexport"),
            (search("", Some(Reason::Unknown), ""), "export"),
            (search("", None, "PORT"), "importexport"),
            (search("", None, "example/NOTES"), "100%_sureimportexport"),
            (search("", None, "%"), "100%_sure"),
            (search("", None, "_"), "100%_sure"),
            (search("", None, &digest[..8]), "import"),
            (search("", None, &format!("jcs-sha256:{digest}")), "import"),
            (search("prod", Some(Reason::Unknown), ""), ""),
            (search("", None, "nothing'"), ""),
        ] {
            let found = conn.queue_search(Stage::Pending, &asked, &QueueKey::START, 9).await.expect("reads");
            assert_eq!(names(&found), expected, "{asked:?}");
        }
        let (second, all) = (rows[1].key(), search("", None, ""));
        let after = conn.queue_search(Stage::Pending, &all, &second, 1).await.expect("reads");
        let before = conn.queue_previous(Stage::Pending, &second).await.expect("reads");
        assert_eq!((names(&after), before.expect("one").name), ("export".to_owned(), "100%_sure".to_owned()));
        assert_eq!(conn.queue_length_before(Stage::Pending, &second).await.expect("reads"), 1);
        let reasons = conn.queue_reasons(Stage::Pending).await.expect("reads");
        let told: Vec<String> = reasons.iter().map(|r| format!("{} {} {}", r.pinset, r.reason, r.n)).collect();
        assert_eq!(told, ["default flagged 1", "default unknown 1", "prod changed 1"]);
        let servers = conn.queue_servers(Stage::Pending).await.expect("reads");
        assert_eq!((servers.len(), servers[0].n), (1, 3));
        assert_eq!(conn.last_decisions(5).await.expect("reads"), []);
    })
    .await;
}
