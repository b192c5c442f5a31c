use countersign::{
    review::ReviewerId,
    store::{Account, AuditRow, Role, Session, Setup, Token},
};

use super::{at, hash, opened, write};
use crate::databases::{on_both, tamper};

fn account(name: &str, id: u8) -> Account {
    Account {
        name: name.to_owned(),
        password: "$argon2id$…".to_owned(),
        created_at: at(1),
        disabled_at: None,
        last_seen_at: None,
        reviewer: ReviewerId::random([id; 16]),
    }
}

#[tokio::test]
async fn accounts_have_roles_a_reviewer_id_and_may_be_disabled() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let (ada, bob) = (account("ada", 1), account("Bob", 2));
        write(&writer, async |tx| {
            assert!(tx.put_account(&ada).await.expect("written"));
            assert!(tx.put_account(&bob).await.expect("written"));
            assert!(!tx.put_account(&account("ada", 3)).await.expect("known"));
            assert!(tx.put_role("ada", Role::Reviewer).await.expect("written"));
            assert!(tx.put_role("ada", Role::Admin).await.expect("written"));
            assert!(!tx.put_role("ada", Role::Admin).await.expect("known"));
            tx.access_changed().await.expect("written");
        })
        .await;
        let mut conn = reader.conn().await.expect("a connection");
        assert_eq!(conn.accounts().await.expect("reads"), [bob.clone(), ada.clone()], "in the order of bytes");
        assert_eq!(conn.account("ada").await.expect("reads"), Some(ada));
        assert_eq!(conn.account("bob").await.expect("reads"), None);
        assert_eq!(conn.roles("ada").await.expect("reads"), [Role::Admin, Role::Reviewer]);
        assert!(conn.has_role(Role::Admin).await.expect("reads"));
        assert!(!conn.has_role(Role::Auditor).await.expect("reads"));
        assert_eq!(conn.poll().await.expect("polls").access, 1);
        write(&writer, async |tx| {
            assert!(tx.set_password("ada", "new").await.expect("written"));
            assert!(!tx.set_password("eve", "new").await.expect("nobody"));
            assert!(tx.set_disabled("ada", Some(at(5))).await.expect("written"));
            assert!(!tx.set_disabled("eve", None).await.expect("nobody"));
            tx.put_seen("ada", at(6)).await.expect("written");
            assert!(tx.drop_role("ada", Role::Reviewer).await.expect("dropped"));
            assert!(!tx.drop_role("ada", Role::Reviewer).await.expect("gone"));
        })
        .await;
        let ada = conn.account("ada").await.expect("reads").expect("is there");
        assert_eq!((ada.password.as_str(), ada.disabled_at, ada.last_seen_at), ("new", Some(at(5)), Some(at(6))));
        assert!(!conn.has_role(Role::Admin).await.expect("reads"), "a disabled administrator is none");
        assert!(!format!("{ada:?}").contains("new"), "no hash in Debug");
        assert!(tamper(fresh, "INSERT INTO account_role (account, role) VALUES ('Bob', 'root')").await.is_err());
    })
    .await;
}

#[tokio::test]
async fn tokens_are_hashes_and_a_revoked_one_stays_revoked() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let token = |id: &str, expires| Token {
            id: id.to_owned(),
            sha256: hash(id),
            account: "ada".to_owned(),
            scope: "pull:default".to_owned(),
            created_at: at(1),
            expires_at: expires,
            revoked_at: None,
            last_used_at: None,
        };
        write(&writer, async |tx| {
            tx.put_account(&account("ada", 1)).await.expect("written");
            tx.put_token(&token("t1", None)).await.expect("written");
            tx.put_token(&token("t2", Some(at(9)))).await.expect("written");
            tx.put_used("t2", at(3)).await.expect("written");
            assert!(tx.revoke_token("t1", at(4)).await.expect("revoked"));
            assert!(!tx.revoke_token("t1", at(5)).await.expect("is revoked"));
            assert!(!tx.revoke_token("t9", at(5)).await.expect("no such token"));
        })
        .await;
        let mut conn = reader.conn().await.expect("a connection");
        let used = Token { last_used_at: Some(at(3)), ..token("t2", Some(at(9))) };
        let revoked = Token { revoked_at: Some(at(4)), ..token("t1", None) };
        assert_eq!(conn.tokens().await.expect("reads"), [revoked, used.clone()]);
        let snapshot = reader.snapshot().await.expect("a connection").access().await.expect("reads");
        assert_eq!(snapshot.tokens, [used], "revoked tokens allow nothing");
        assert_eq!(snapshot.accounts.len(), 1);
        let mut tx = writer.begin().await.expect("begins");
        assert!(tx.put_token(&token("t2", None)).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn sessions_end_by_hand_by_age_and_by_idleness() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let session = |id: &str, seen, expires| Session {
            sha256: hash(id),
            account: "ada".to_owned(),
            created_at: at(1),
            seen_at: at(seen),
            expires_at: at(expires),
        };
        let rows = [session("a", 10, 100), session("b", 10, 50), session("c", 2, 100), session("d", 10, 100)];
        write(&writer, async |tx| {
            tx.put_account(&account("ada", 1)).await.expect("written");
            for row in &rows {
                tx.put_session(row).await.expect("written");
            }
            tx.put_session_seen(hash("a"), at(20)).await.expect("written");
            tx.put_session_seen(hash("a"), at(15)).await.expect("never back");
            assert!(tx.drop_session(hash("d")).await.expect("dropped"));
            assert!(!tx.drop_session(hash("d")).await.expect("gone"));
            assert_eq!(tx.sweep_sessions(at(50), at(5)).await.expect("swept"), 2);
        })
        .await;
        let mut conn = reader.conn().await.expect("a connection");
        assert_eq!(conn.sessions().await.expect("reads"), [Session { seen_at: at(20), ..rows[0].clone() }]);
        assert_eq!(write(&writer, async |tx| tx.drop_sessions_of("ada").await.expect("dropped")).await, 1);
    })
    .await;
}

#[tokio::test]
async fn failures_add_up_until_they_are_old_or_forgiven() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        write(&writer, async |tx| {
            assert_eq!(tx.add_failure("account:ada", at(1), at(0)).await.expect("counted"), 1);
            assert_eq!(tx.add_failure("account:ada", at(2), at(0)).await.expect("counted"), 2);
            assert_eq!(
                tx.add_failure("account:ada", at(90), at(60)).await.expect("counted"),
                1,
                "the old ones are forgotten"
            );
            assert_eq!(tx.add_failure("address:::1", at(3), at(0)).await.expect("counted"), 1);
            tx.drop_failures("account:bob").await.expect("nothing to drop");
            assert_eq!(tx.sweep_failures(at(60)).await.expect("swept"), 1);
        })
        .await;
        let mut conn = reader.conn().await.expect("a connection");
        let left = conn.failures("account:ada").await.expect("reads").expect("is there");
        assert_eq!((left.failures, left.last_at), (1, at(90)));
        assert_eq!(conn.failures("address:::1").await.expect("reads"), None);
    })
    .await;
}

#[tokio::test]
async fn the_set_up_link_is_replaced_until_it_is_used() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let mut conn = reader.conn().await.expect("a connection");
        assert_eq!(conn.setup().await.expect("reads"), None);
        write(&writer, async |tx| {
            assert!(!tx.end_setup(at(0)).await.expect("nothing to end"));
            assert!(tx.put_setup(hash("one"), at(1)).await.expect("written"));
            assert!(tx.put_setup(hash("two"), at(2)).await.expect("replaced"));
            assert!(tx.end_setup(at(3)).await.expect("ended"));
            assert!(!tx.end_setup(at(4)).await.expect("had ended"));
            assert!(!tx.put_setup(hash("three"), at(5)).await.expect("stays ended"));
        })
        .await;
        let setup = Setup { sha256: hash("two"), created_at: at(2), used_at: Some(at(3)) };
        assert_eq!(conn.setup().await.expect("reads"), Some(setup));
    })
    .await;
}

#[tokio::test]
async fn the_audit_trail_only_grows_and_pages_backwards() {
    on_both(async |fresh| {
        let (reader, writer) = opened(fresh).await;
        let row = |subject: &str| AuditRow {
            id: 0,
            at: at(1),
            actor: "ada".to_owned(),
            action: "token-add".to_owned(),
            subject: subject.to_owned(),
            detail: String::new(),
        };
        write(&writer, async |tx| {
            for subject in ["one", "two", "nul\0"] {
                tx.put_audit(&row(subject)).await.expect("written");
            }
        })
        .await;
        let mut conn = reader.conn().await.expect("a connection");
        let newest = conn.audit(i64::MAX, 2).await.expect("reads");
        assert_eq!(newest.iter().map(|row| row.subject.as_str()).collect::<Vec<_>>(), ["nul\u{fffd}", "two"]);
        let rest = conn.audit(newest[1].id, 2).await.expect("reads");
        assert_eq!(rest.iter().map(|row| row.subject.as_str()).collect::<Vec<_>>(), ["one"]);
        for sql in ["UPDATE audit SET actor = 'eve'", "DELETE FROM audit"] {
            assert!(tamper(fresh, sql).await.is_err(), "{sql}");
        }
    })
    .await;
}
