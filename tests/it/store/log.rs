use countersign::store::{LogHead, Poll, open_to_read};

use super::{at, hash, opened, write};
use crate::databases::{block_on, on_both, tamper};

#[tokio::test]
async fn leaves_tiles_and_checkpoints_come_back_as_written() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let mut conn = reader.conn().await.expect("a connection");
        assert_eq!(conn.poll().await.expect("polls"), Poll { size: 0, access: 0, heads: 0, witnesses: 0 });
        write(&writer, async |tx| {
            let head = tx.take_head().await.expect("taken");
            assert_eq!(head, LogHead { size: 0, last_at: countersign::clock::Timestamp::EPOCH, root: hash("") });
            for (index, leaf) in [b"zero".as_slice(), b"one", b"\0\xff"].into_iter().enumerate() {
                tx.put_leaf(index as u64, leaf).await.expect("written");
            }
            assert_eq!(tx.leaves(1, 3).await.expect("a transaction reads its own"), [b"one".to_vec(), vec![0, 255]]);
            tx.put_tile(0, 0, &[1; 64]).await.expect("written");
            tx.put_tile(0, 0, &[[1; 64].as_slice(), &[2; 32]].concat()).await.expect("grown");
            tx.put_log_head(&LogHead { size: 3, last_at: at(7), root: hash("root") }).await.expect("moved");
            tx.put_checkpoint(3, "a note\n", at(7)).await.expect("written");
        })
        .await;
        assert_eq!(conn.poll().await.expect("polls"), Poll { size: 3, access: 0, heads: 0, witnesses: 0 });
        let head = LogHead { size: 3, last_at: at(7), root: hash("root") };
        assert_eq!(conn.log_head().await.expect("reads"), head);
        assert_eq!(conn.leaf(1).await.expect("reads"), Some(b"one".to_vec()));
        assert_eq!(conn.leaf(3).await.expect("reads"), None);
        assert!(conn.leaves(1, 4).await.is_err(), "a leaf that isn't there is no shorter list");
        assert_eq!(conn.tile(0, 0).await.expect("reads").map(|tile| tile.len()), Some(96));
        assert_eq!(conn.tile(1, 0).await.expect("reads"), None);
        let whole = [[1; 64].as_slice(), &[2; 32]].concat();
        assert_eq!(conn.tiles(0, 0, 9).await.expect("reads"), [(0, whole)]);
        assert_eq!(conn.tiles(0, 1, 9).await.expect("reads"), []);
        assert_eq!(conn.tiles(0, 0, 0).await.expect("reads"), []);
        assert_eq!(conn.checkpoint(3).await.expect("reads").as_deref(), Some("a note\n"));
        assert_eq!(conn.checkpoint(2).await.expect("reads"), None);
        write(&writer, async |tx| tx.put_checkpoint(5, "newer\n", at(8)).await.expect("written")).await;
        let mut reading = open_to_read(&fresh.database, 2).await.expect("opens").conn().await.expect("a connection");
        for (after, newest, limit, sizes) in
            [(0, 5, 9, vec![3, 5]), (0, 5, 1, vec![3]), (3, 5, 9, vec![5]), (0, 4, 9, vec![3]), (5, 9, 9, vec![])]
        {
            let found = reading.checkpoints(after, newest, limit).await.expect("reads");
            assert_eq!(found.iter().map(|row| row.size).collect::<Vec<_>>(), sizes, "{after}..={newest}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_only_grows_can_not_be_changed_or_deleted_by_anybody() {
    on_both(async |fresh| {
        let (_reader, writer) = opened(fresh).await;
        write(&writer, async |tx| {
            tx.put_leaf(0, b"zero").await.expect("written");
            tx.put_tile(0, 0, &[1; 64]).await.expect("written");
            tx.put_log_head(&LogHead { size: 1, last_at: at(1), root: hash("root") }).await.expect("moved");
            tx.put_checkpoint(1, "a note\n", at(1)).await.expect("written");
        })
        .await;
        for sql in [
            "UPDATE log_leaf SET leaf = leaf",
            "DELETE FROM log_leaf",
            "UPDATE checkpoint SET note = 'another'",
            "DELETE FROM checkpoint",
            "DELETE FROM log_tile",
            "UPDATE log_head SET size = 0",
            "UPDATE log_head SET last_at = 0",
            "DELETE FROM log_head",
            "INSERT INTO log_leaf (idx, leaf) SELECT idx, leaf FROM log_leaf",
            "INSERT INTO checkpoint (size, note, signed_at) VALUES (1, 'fork', 0)",
            "INSERT INTO log_head (id, size, last_at, root) SELECT 2, size, last_at, root FROM log_head",
        ] {
            assert!(tamper(fresh, sql).await.is_err(), "{:?}: {sql}", fresh.engine);
        }
        let mut tx = writer.begin().await.expect("begins");
        assert!(tx.put_tile(0, 0, &[2; 96]).await.is_err(), "a tile's first hashes stay");
        drop(tx);
        let mut tx = writer.begin().await.expect("begins");
        assert!(tx.put_tile(0, 0, &[1; 32]).await.is_err(), "a tile gets no shorter");
        drop(tx);
        let mut tx = writer.begin().await.expect("begins");
        assert!(tx.put_leaf(1, &[b'x'; 65_536]).await.is_err(), "one past the longest leaf");
        drop(tx);
        write(&writer, async |tx| tx.put_leaf(1, &[b'x'; 65_535]).await.expect("the longest leaf")).await;
    })
    .await;
}

#[tokio::test]
async fn a_dropped_transaction_leaves_no_trace() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let mut tx = writer.begin().await.expect("begins");
        tx.take_head().await.expect("taken");
        tx.put_leaf(0, b"zero").await.expect("written");
        drop(tx);
        assert_eq!(reader.conn().await.expect("a connection").leaf(0).await.expect("reads"), None);
        write(&writer, async |tx| tx.put_leaf(0, b"other").await.expect("its place is free")).await;
        writer.close().await;
        assert!(writer.begin().await.is_err());
    })
    .await;
}

#[test]
fn the_head_row_serialises_writers_of_several_processes() {
    block_on(on_both(async |fresh| {
        let (_, first) = opened(fresh).await;
        let (reader, second) = opened(fresh).await;
        let writers = (0..8_u8).map(|n| {
            let writer = if n % 2 == 0 { first.clone() } else { second.clone() };
            tokio::spawn(async move {
                for i in 0..10_u8 {
                    let mut tx = writer.begin().await?;
                    let mut head = tx.take_head().await?;
                    tx.put_leaf(head.size, &[n, i]).await?;
                    if i == 5 {
                        continue;
                    }
                    head.size += 1;
                    tx.put_log_head(&head).await?;
                    tx.commit().await?;
                }
                Ok::<(), countersign::store::StoreError>(())
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.expect("no panic").expect("no error and no retry");
        }
        let mut conn = reader.conn().await.expect("a connection");
        assert_eq!(conn.log_head().await.expect("reads").size, 72);
        assert_eq!(conn.leaves(0, 72).await.expect("no gap").len(), 72);
    }));
}

#[tokio::test]
async fn a_database_that_is_opened_to_read_is_neither_made_nor_upgraded() {
    on_both(async |fresh| {
        // Nobody has made tables here yet.
        if let Ok(reader) = open_to_read(&fresh.database, 1).await {
            assert!(reader.conn().await.expect("a connection").log_head().await.is_err());
            reader.close().await;
        }
        let left = std::fs::read_dir(fresh.dir.path()).expect("a folder").count();
        assert_eq!(left, 0, "{:?}: no file is made", fresh.engine);
        let (_, writer) = opened(fresh).await;
        write(&writer, async |tx| tx.put_leaf(0, b"zero").await.expect("written")).await;
        let reader = open_to_read(&fresh.database, 1).await.expect("opens");
        assert_eq!(reader.conn().await.expect("a connection").leaf(0).await.expect("reads"), Some(b"zero".to_vec()));
    })
    .await;
}
