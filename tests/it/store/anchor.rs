use countersign::{
    config::DatabaseText,
    store::{AnchorError, AnchorTable},
};

use super::opened;
use crate::databases::{Elsewhere, on_both};

#[tokio::test]
async fn a_row_of_the_anchors_table_changes_by_compare_and_swap() {
    on_both(async |fresh| {
        let (reader, _) = opened(fresh).await;
        let elsewhere = Elsewhere::new().await;
        let own = reader.identity().await.expect("answers");
        assert_eq!(own.is_some(), fresh.engine == crate::databases::Engine::Postgres);
        let table = AnchorTable::at(&DatabaseText::new(elsewhere.url.clone()), own.clone()).expect("a URL");
        let (one, other) = ("pins.example", "other.example");
        assert_eq!(table.read(one).await.expect("reads"), None);
        assert!(table.swap(one, None, "a", 1).await.expect("answers"));
        assert!(!table.swap(one, None, "b", 2).await.expect("answers"), "somebody was first");
        assert!(!table.swap(one, Some("b"), "c", 3).await.expect("answers"), "it holds something else");
        assert!(table.swap(one, Some("a"), "b", 2).await.expect("answers"));
        table.set(other, "z", 9).await.expect("set");
        table.set(one, "a", 1).await.expect("set");
        assert_eq!(table.read(one).await.expect("reads").as_deref(), Some("a"));
        assert_eq!(table.read(other).await.expect("reads").as_deref(), Some("z"));
        table.close().await;
        if let countersign::config::Database::Postgres(url) = &fresh.database {
            let table = AnchorTable::at(url, own).expect("a URL");
            assert!(matches!(table.read(one).await, Err(AnchorError::SameDatabase)));
        }
        elsewhere.drop_database().await;
    })
    .await;
}
