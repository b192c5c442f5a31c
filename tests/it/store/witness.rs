use countersign::{
    clock::Timestamp,
    store::{Head, Round, Standing},
};

use super::{at, opened, word, write};
use crate::databases::{on_both, tamper};

fn head(version: u64, checkpoint_size: u64) -> Head {
    let envelope = format!("{version} over {checkpoint_size}").into_bytes();
    Head { pinset: word("prod"), version, envelope, issued: at(1), expires: at(9), checkpoint_size }
}

#[tokio::test]
async fn cosignatures_rounds_and_waiting_heads_come_back_as_written() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let mut conn = reader.conn().await.expect("a connection");
        let round = |size, begun_at, cosigned, changes| Round { size, begun_at, cosigned, changes };
        assert_eq!(conn.round().await.expect("reads"), round(0, Timestamp::EPOCH, 0, 0));
        write(&writer, async |tx| {
            tx.put_checkpoint(3, "a note\n", at(1)).await.expect("written");
            tx.put_cosignature(3, "w2", "line 2\n", at(2)).await.expect("written");
            tx.put_cosignature(3, "w1", "line 1\n", at(2)).await.expect("written");
            tx.put_cosignature(3, "w1", "another\n", at(3)).await.expect("the first stays");
            for row in [head(1, 3), head(2, 5)] {
                tx.put_waiting(&row).await.expect("written");
            }
            tx.put_waiting(&Head { envelope: b"anew".to_vec(), ..head(1, 3) }).await.expect("replaced");
        })
        .await;
        let line = |n: u32| (format!("w{n}"), format!("line {n}\n"));
        assert_eq!(conn.cosignatures(3).await.expect("reads"), [line(1), line(2)]);
        assert_eq!(conn.cosignatures(2).await.expect("reads"), []);
        assert_eq!(conn.waiting_heads(3).await.expect("reads")[0].envelope, b"anew");
        write(&writer, async |tx| {
            tx.put_cosigned(3).await.expect("written");
            tx.put_cosigned(2).await.expect("no step back");
            tx.begin_round(5, at(4)).await.expect("begun");
            tx.witnesses_changed().await.expect("written");
            for row in [head(1, 3), head(2, 5), head(1, 7), head(2, 4)] {
                tx.release_head(&row).await.expect("released, or passed over");
            }
        })
        .await;
        assert_eq!(conn.round().await.expect("reads"), round(5, at(4), 3, 2));
        assert_eq!(conn.poll().await.expect("polls").witnesses, 2);
        assert_eq!(conn.waiting_heads(3).await.expect("reads"), []);
        assert_eq!(conn.waiting_heads(5).await.expect("reads"), [head(2, 5)]);
        assert_eq!(conn.released_heads().await.expect("reads"), [head(2, 5)]);
        for sql in [
            "UPDATE cosignature SET line = 'another'",
            "UPDATE witness_round SET size = 4",
            "UPDATE witness_round SET cosigned = 2",
            "UPDATE head_released SET version = 1",
            "UPDATE head_released SET checkpoint_size = 4",
            "INSERT INTO cosignature (size, witness, line, received_at) VALUES (4, 'w', 'of no checkpoint', 0)",
        ] {
            assert!(tamper(fresh, sql).await.is_err(), "{sql}");
        }
        assert_eq!(conn.fsck().await.expect("answers"), []);
    })
    .await;
}

#[tokio::test]
async fn one_process_at_a_time_asks_a_witness() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let claim = async |now: i64, until: i64| {
            write(&writer, async |tx| tx.claim_witness("w", at(now), at(until)).await.expect("answers")).await
        };
        assert!(claim(0, 10).await, "nobody has asked it yet");
        assert!(!claim(9, 20).await, "somebody is asking");
        assert!(claim(10, 20).await, "who asked has died or takes too long");
        let row = Standing {
            vkey: "w".to_owned(),
            size: 7,
            cosigned_at: Some(at(11)),
            trouble: Some("unreachable".to_owned()),
            trouble_at: Some(at(12)),
            failures: 2,
            next_at: at(15),
        };
        write(&writer, async |tx| tx.put_standing(&row).await.expect("written")).await;
        assert_eq!(reader.conn().await.expect("a connection").standings().await.expect("reads"), [row]);
        assert!(!claim(14, 20).await);
        assert!(claim(15, 20).await);
    })
    .await;
}
