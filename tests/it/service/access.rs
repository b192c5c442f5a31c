use std::{collections::BTreeSet, net::IpAddr};

use countersign::{
    clock::Span,
    review::{Policy, ReviewerId},
    service::{
        App, WriteError,
        access::{
            AccountName, AccountRefused, AddAccount, AddToken, PasswordHash, Principal, RevokeToken, SetDisabled,
            SetPassword, SetRoles, SetUp, SignInError, TokenRefused,
        },
        govern::{self, Governor, SetPolicy},
    },
    store::Role,
};

use super::{Bench, check_log};
use crate::databases::{block_on, on_both};

const PASSWORD: &str = "correct horse battery";

fn name(text: &str) -> AccountName {
    text.parse().expect(text)
}

async fn hashed(app: &App) -> PasswordHash {
    app.hash_password(PASSWORD.parse().expect("long enough")).await.expect("hashed")
}

async fn add(app: &App, account: &str, roles: &[Role]) -> Result<(), WriteError<AccountRefused>> {
    let roles: BTreeSet<Role> = roles.iter().copied().collect();
    let (name, password) = (name(account), hashed(app).await);
    app.write(AddAccount { name, password, roles, by: Principal::LocalOperator }).await.map(drop)
}

async fn sign_in(app: &App, account: &str, password: &str) -> Result<String, SignInError> {
    let address: IpAddr = "192.0.2.1".parse().expect("an address");
    app.sign_in(account, password, Some(address)).await.map(|signed| signed.secret.reveal().to_owned())
}

fn session(app: &App, secret: &str) -> Option<Principal> {
    app.access().session(secret, app.clock().now())
}

fn token(app: &App, secret: &str) -> Option<Principal> {
    app.access().token(secret, app.clock().now())
}

#[test]
fn the_set_up_link_makes_one_administrator_and_dies() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        let first = app.setup_secret(None).await.expect("answers").expect("no administrator yet");
        let held = app.setup_secret(Some(first.reveal())).await.expect("answers").expect("still");
        assert_eq!(held.reveal(), first.reveal(), "a restart keeps the link");
        let other = app.setup_secret(Some("guessed")).await.expect("answers").expect("a new one");
        assert!(!app.is_setup_secret(first.reveal()).await.expect("answers"), "the one before is dead");
        assert!(app.is_setup_secret(other.reveal()).await.expect("answers"));
        let step =
            |secret: countersign::canon::Sha256, password| SetUp { secret, name: name("ada"), password, alone: true };
        let refused = app.write(step(first.sha256(), hashed(&app).await)).await;
        assert!(matches!(refused, Err(WriteError::Refused(AccountRefused::SetupOver))));
        app.write(step(other.sha256(), hashed(&app).await)).await.expect("made");
        let again = app.write(SetUp { name: name("eve"), ..step(other.sha256(), hashed(&app).await) }).await;
        assert!(matches!(again, Err(WriteError::Refused(AccountRefused::SetupOver))));
        assert!(app.setup_secret(None).await.expect("answers").is_none());
        assert!(!app.is_setup_secret(other.reveal()).await.expect("answers"));
        let moment = app.moment();
        let default = moment.state.set(&"default".parse().expect("legal")).expect("is there");
        assert!(default.policy().solo);
        let secret = sign_in(&app, "Ada", PASSWORD).await.expect("signed in");
        let who = session(&app, &secret).expect("a session");
        assert!(who.may_administer() && who.may_review());
        check_log(&app).await;
    }));
}

#[test]
fn the_set_up_link_lies_in_a_private_file_until_there_is_an_administrator() {
    use std::os::unix::fs::PermissionsExt as _;
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        let data = fresh.dir.path().join("data");
        let url = countersign::config::PublicUrl::parse("https://pins.example").expect("usable");
        let link = app.setup_link(&data, &url).await.expect("answers").expect("no administrator yet");
        assert!(link.starts_with("https://pins.example/setup/"), "{link}");
        let file = data.join("setup-link");
        assert_eq!(std::fs::read_to_string(&file).expect("is there"), format!("{link}\n"));
        assert_eq!(std::fs::metadata(&file).expect("is there").permissions().mode() & 0o777, 0o600);
        let again = app.setup_link(&data, &url).await.expect("answers");
        assert_eq!(again.as_deref(), Some(link.as_str()), "a restart keeps it");
        assert!(app.is_setup_secret(link.rsplit('/').next().expect("a secret")).await.expect("answers"));
        add(&app, "ada", &[Role::Admin]).await.expect("made");
        assert_eq!(app.setup_link(&data, &url).await.expect("answers"), None);
        assert!(!file.exists());
    }));
}

#[test]
fn an_administrator_made_beside_the_server_ends_the_set_up_link() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let server = bench.open().await;
        let link = server.setup_secret(None).await.expect("answers").expect("no administrator yet");
        let admin = bench.open().await;
        add(&admin, "ada", &[Role::Admin]).await.expect("made");
        assert!(!server.is_setup_secret(link.reveal()).await.expect("answers"));
        server.refresh().await.expect("looks");
        assert!(server.access().has_admin());
        let twice = add(&admin, "ada", &[]).await;
        assert!(matches!(twice, Err(WriteError::Refused(AccountRefused::Exists(_)))));
    }));
}

#[test]
fn the_second_reviewer_ends_solo_review_in_the_same_transaction() {
    block_on(on_both(async |fresh| {
        let app = Bench::new(fresh).open().await;
        let link = app.setup_secret(None).await.expect("answers").expect("no administrator yet");
        let setup = SetUp { secret: link.sha256(), name: name("ada"), password: hashed(&app).await, alone: true };
        app.write(setup).await.expect("made");
        let policy = || {
            let moment = app.moment();
            let set = moment.state.set(&"default".parse().expect("legal")).expect("is there");
            (set.policy().solo, set.policy().quorum_risky, set.document().expect("published").version)
        };
        let (solo, risky, version) = policy();
        assert_eq!((solo, risky), (true, 1));
        add(&app, "auditor", &[Role::Auditor]).await.expect("made");
        assert_eq!(policy(), (true, 1, version), "no reviewer, nothing to log");
        add(&app, "bob", &[Role::Reviewer]).await.expect("made");
        assert_eq!(policy(), (false, 2, version + 1));
        assert_eq!(app.moment().state.reviewers().len(), 2);
        check_log(&app).await;
    }));
}

#[test]
fn roles_follow_the_log_and_the_last_administrator_stays() {
    block_on(on_both(async |fresh| {
        let app = Bench::new(fresh).open().await;
        add(&app, "ada", &[Role::Admin]).await.expect("made");
        add(&app, "bob", &[Role::Reviewer]).await.expect("made");
        let by = Principal::LocalOperator;
        let roles = |account: &str, roles: &[Role]| SetRoles {
            name: name(account),
            roles: roles.iter().copied().collect(),
            by: by.clone(),
        };
        let last = app.write(roles("ada", &[])).await;
        assert!(matches!(last, Err(WriteError::Refused(AccountRefused::LastAdmin))));
        let last = app.write(SetDisabled { name: name("ada"), disabled: true, by: by.clone() }).await;
        assert!(matches!(last, Err(WriteError::Refused(AccountRefused::LastAdmin))));
        let nobody = app.write(roles("eve", &[])).await;
        assert!(matches!(nobody, Err(WriteError::Refused(AccountRefused::Unknown(_)))));
        let same = app.write(roles("bob", &[Role::Reviewer])).await.expect("nothing to do");
        assert!(same.leaves.is_empty());
        app.write(roles("bob", &[Role::Admin])).await.expect("changed");
        assert_eq!(app.moment().state.reviewers().len(), 0);
        app.write(roles("ada", &[Role::Reviewer])).await.expect("bob administers now");
        assert_eq!(app.moment().state.reviewers().len(), 1);
        app.write(SetDisabled { name: name("ada"), disabled: true, by: by.clone() }).await.expect("disabled");
        assert_eq!(app.moment().state.reviewers().len(), 0, "who is disabled reviews nothing");
        assert!(app.access().user("ada").is_none());
        app.write(SetDisabled { name: name("ada"), disabled: false, by: by.clone() }).await.expect("enabled");
        assert_eq!(app.moment().state.reviewers().len(), 1);
        let trail = app.reader().conn().await.expect("a connection").audit(i64::MAX, 3).await.expect("reads");
        let trail: Vec<_> = trail.iter().map(|row| (row.actor.as_str(), row.action.as_str())).collect();
        assert_eq!(trail[0], ("local-operator", "account-enable"));
        check_log(&app).await;
    }));
}

#[test]
fn a_revoked_token_is_dead_here_at_once_and_elsewhere_with_the_next_poll() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let (server, admin) = (bench.open().await, bench.open().await);
        add(&admin, "ada", &[Role::Reviewer]).await.expect("made");
        let ask = |scope: &str, days| AddToken {
            scope: scope.parse().expect(scope),
            account: name("ada"),
            days,
            by: Principal::LocalOperator,
        };
        let (secret, row) = admin.add_token(ask("pull:default", None)).await.expect("made").done;
        assert!(secret.reveal().starts_with("cs_"));
        assert!(token(&admin, secret.reveal()).is_some());
        assert!(token(&server, secret.reveal()).is_none());
        server.refresh().await.expect("looks");
        let who = token(&server, secret.reveal()).expect("known now");
        assert!(who.may_check(&"default".parse().expect("legal")) && !who.may_review());
        assert!(token(&server, &format!("{}x", secret.reveal())).is_none());
        let (brief, _) = admin.add_token(ask("review", Some(1))).await.expect("made").done;
        assert!(token(&admin, brief.reveal()).expect("lives").may_review());
        bench.pass(Span::days(1));
        assert!(token(&admin, brief.reveal()).is_none(), "it has ended");
        let revoke = |id: &str| RevokeToken { id: id.to_owned(), by: Principal::LocalOperator };
        admin.write(revoke(&row.id)).await.expect("revoked");
        assert!(token(&admin, secret.reveal()).is_none());
        server.refresh().await.expect("looks");
        assert!(token(&server, secret.reveal()).is_none());
        let again = admin.write(revoke(&row.id)).await;
        assert!(matches!(again, Err(WriteError::Refused(TokenRefused::NoToken(_)))));
        for days in [0, 3_651] {
            let refused = admin.add_token(ask("review", Some(days))).await;
            assert!(matches!(refused, Err(WriteError::Refused(TokenRefused::Days))), "{days}");
        }
        let nobody = admin.add_token(AddToken { account: name("eve"), ..ask("review", None) }).await;
        assert!(matches!(nobody, Err(WriteError::Refused(TokenRefused::NoAccount(_)))));
        admin
            .write(SetDisabled { name: name("ada"), disabled: true, by: Principal::LocalOperator })
            .await
            .expect("disabled");
        let late = admin.add_token(ask("review", Some(3_650))).await;
        assert!(matches!(late, Err(WriteError::Refused(TokenRefused::NoAccount(_)))), "a disabled account gets none");
    }));
}

#[test]
fn a_session_ends_by_hand_by_idleness_by_age_and_with_the_password() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        add(&app, "ada", &[Role::Admin]).await.expect("made");
        let one = sign_in(&app, "ada", PASSWORD).await.expect("signed in");
        let who = session(&app, &one).expect("a session");
        app.sign_out(who.session().expect("is one")).await.expect("signed out");
        assert!(session(&app, &one).is_none());
        let idle = sign_in(&app, "ada", PASSWORD).await.expect("signed in");
        let used = sign_in(&app, "ada", PASSWORD).await.expect("signed in");
        bench.pass(Span::hours(5));
        assert!(session(&app, &used).is_some());
        app.write_seen().await.expect("written down");
        app.refresh().await.expect("looks");
        bench.pass(Span::hours(3));
        assert!(session(&app, &idle).is_none(), "eight hours unused");
        assert!(session(&app, &used).is_some());
        for _ in 0..24 {
            bench.pass(Span::hours(7));
            let _ = session(&app, &used);
        }
        assert!(session(&app, &used).is_none(), "seven days");
        app.sweep().await.expect("swept");
        assert_eq!(app.reader().conn().await.expect("a connection").sessions().await.expect("reads"), []);
        let last = sign_in(&app, "ada", PASSWORD).await.expect("signed in");
        let password = app.hash_password("another long password".parse().expect("long")).await.expect("hashed");
        app.write(SetPassword { name: name("ada"), password, by: who }).await.expect("changed");
        assert!(session(&app, &last).is_none());
        assert!(matches!(sign_in(&app, "ada", PASSWORD).await, Err(SignInError::Wrong)));
    }));
}

#[test]
fn guessing_is_slowed_down_and_tells_nothing() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        add(&app, "ada", &[Role::Admin]).await.expect("made");
        assert!(matches!(sign_in(&app, "eve", PASSWORD).await, Err(SignInError::Wrong)));
        assert!(matches!(sign_in(&app, "no name!", PASSWORD).await, Err(SignInError::Wrong)));
        for _ in 0..10 {
            assert!(matches!(sign_in(&app, "ada", "wrong").await, Err(SignInError::Wrong)));
        }
        let throttled = sign_in(&app, "ada", PASSWORD).await;
        assert!(matches!(throttled, Err(SignInError::Throttled(_))), "the right password has to wait too");
        bench.pass(Span::seconds(1));
        sign_in(&app, "ada", PASSWORD).await.expect("after the wait");
        for _ in 0..10 {
            assert!(matches!(sign_in(&app, "ada", "wrong").await, Err(SignInError::Wrong)), "success forgives");
        }
        bench.pass(Span::hours(2));
        assert!(matches!(sign_in(&app, "ada", "wrong").await, Err(SignInError::Wrong)), "and so does time");
    }));
}

/// What one administrator may do through pages, where pin sets ask for `quorum` ballots.
async fn by_session(app: &App, quorum: u32) -> Vec<(&'static str, bool)> {
    add(app, "ada", &[Role::Admin]).await.expect("made");
    add(app, "bob", &[Role::Reviewer]).await.expect("made");
    add(app, "cy", &[]).await.expect("made");
    let policy = Policy { quorum, quorum_risky: 2, ..Policy::default() };
    let (pinset, by) = ("default".parse().expect("legal"), ReviewerId::local_operator());
    let set = SetPolicy { pinset, policy, by: Governor { by, name: "test".into() }, alone: true };
    govern::set_policy(app, set).await.expect("set");
    let secret = sign_in(app, "ada", PASSWORD).await.expect("signed in");
    let by = session(app, &secret).expect("a session");
    let reviewer = BTreeSet::from([Role::Reviewer]);
    let password = hashed(app).await;
    let roles = |name, roles: &BTreeSet<Role>| SetRoles { name, roles: roles.clone(), by: by.clone() };
    let disabled = |disabled| SetDisabled { name: name("bob"), disabled, by: by.clone() };
    let change = |name| SetPassword { name, password: password.clone(), by: by.clone() };
    let new = AddAccount { name: name("dee"), password: password.clone(), roles: reviewer.clone(), by: by.clone() };
    let review = |name: &str| AddToken {
        scope: "review".parse().expect("a scope"),
        account: name.parse().expect("legal"),
        days: Some(1),
        by: by.clone(),
    };
    vec![
        ("a new reviewer", app.write(new).await.is_ok()),
        ("a reviewer of an account", app.write(roles(name("cy"), &reviewer)).await.is_ok()),
        ("another's password", app.write(change(name("bob"))).await.is_ok()),
        ("another's ballots by token", app.add_token(review("bob")).await.is_ok()),
        ("a reviewer away", app.write(disabled(true)).await.is_ok()),
        ("a reviewer back", app.write(disabled(false)).await.is_ok()),
        ("a reviewer no more", app.write(roles(name("bob"), &BTreeSet::new())).await.is_ok()),
        ("their own token", app.add_token(review("ada")).await.is_ok()),
        ("their own password", app.write(change(name("ada"))).await.is_ok()),
    ]
}

#[test]
fn one_administrator_brings_in_no_ballot_where_several_must_agree() {
    block_on(on_both(async |fresh| {
        let app = Bench::new(fresh).open().await;
        let refused: Vec<&str> =
            by_session(&app, 2).await.into_iter().filter(|(_, done)| !done).map(|(what, _)| what).collect();
        assert_eq!(
            refused,
            [
                "a new reviewer",
                "a reviewer of an account",
                "another's password",
                "another's ballots by token",
                "a reviewer back"
            ]
        );
        check_log(&app).await;
    }));
    block_on(on_both(async |fresh| {
        let app = Bench::new(fresh).open().await;
        let refused: Vec<&str> =
            by_session(&app, 1).await.into_iter().filter(|(_, done)| !done).map(|(what, _)| what).collect();
        assert_eq!(refused, ["another's ballots by token"]);
    }));
}
