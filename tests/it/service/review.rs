//! From submissions to decisions through the service: which candidates open and why, and what moves them.

use std::collections::BTreeMap;

use countersign::{
    attest::{Role, Statement, dsse},
    canon::Sha256,
    clock::Span,
    descriptor::{Capture, Kind, Listed, Release},
    keys::SigningKey,
    name::{ServerName, SetName},
    pinset::Denied,
    review::{self, Outcome, Policy, Reason, ReviewerId},
    service::{
        App, WriteError,
        access::{AddAccount, Principal},
        desk::{self, Vote, Voted},
        govern::{self, Bind, Governor, Grant, SetPolicy, Withdraw},
        publish::{self, Published, Submission},
    },
    store::{self, Stage},
};

use super::Bench;
use crate::databases::on_both;

/// A registry with reviewers ada and bob, and keys that may speak for com.example.
pub(crate) struct Shop {
    pub(crate) app: App,
    pub(crate) ada: ReviewerId,
    bob: ReviewerId,
}

/// What is submitted; the rest is the usual.
#[derive(Clone)]
pub(crate) struct Parcel<'a> {
    pub(crate) server: &'a str,
    pub(crate) version: &'a str,
    pub(crate) variant: &'a str,
    pub(crate) tools: &'a [&'a str],
    pub(crate) key: u8,
    pub(crate) role: Role,
    pub(crate) remote: Option<&'a str>,
}

pub(crate) const USUAL: Parcel<'static> = Parcel {
    server: "com.example/notes",
    version: "1.0.0",
    variant: "",
    tools: &[],
    key: 1,
    role: Role::Publisher,
    remote: None,
};

pub(crate) const EXPORT: &str =
    r#"{"name":"export","description":"Exports all notes of a folder as one file.","inputSchema":{"type":"object"}}"#;
const EXPORT_V2: &str = r#"{"name":"export_v2","description":"Exports all notes of a folder as one file.","inputSchema":{"type":"object"}}"#;
const EXPORT_OTHER: &str =
    r#"{"name":"export","description":"Exports all notes of a folder as two files.","inputSchema":{"type":"object"}}"#;
const SEARCH: &str = r#"{"name":"search","description":"Finds notes by their words.","inputSchema":{"type":"object"}}"#;

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed(&[n; 32])
}

fn default_set() -> SetName {
    "default".parse().expect("legal")
}

fn operator() -> Governor {
    Governor { by: ReviewerId::local_operator(), name: "local-operator".into() }
}

impl Shop {
    async fn open(bench: &Bench<'_>, policy: Policy) -> Self {
        Self::of(bench.open().await, policy).await
    }

    pub(crate) async fn of(app: App, policy: Policy) -> Self {
        let password = app.hash_password("correct horse battery".parse().expect("long")).await.expect("hashed");
        let account = |name: &str| AddAccount {
            name: name.parse().expect("legal"),
            password: password.clone(),
            roles: [store::Role::Reviewer].into(),
            by: Principal::LocalOperator,
        };
        let ada = app.write(account("ada")).await.expect("added").done;
        let bob = app.write(account("bob")).await.expect("added").done;
        let set = SetPolicy { pinset: default_set(), policy, by: operator(), alone: true };
        govern::set_policy(&app, set).await.expect("set");
        let shop = Self { app, ada, bob };
        for (n, scope, role) in
            [(1, "com.example", Role::Publisher), (2, "com.example", Role::Publisher), (3, "*", Role::Capture)]
        {
            shop.grant(n, scope, role).await;
        }
        shop
    }

    async fn grant(&self, n: u8, scope: &str, role: Role) -> String {
        let (scope, key) = (scope.parse().expect("legal"), key(n).verifying());
        let grant = Grant { scope, key, role, holder: None, by: operator(), alone: true };
        govern::grant(&self.app, grant).await.expect("granted").done
    }

    pub(crate) async fn publish(&self, parcel: Parcel<'_>) -> Result<Published, publish::Refused> {
        match self.try_publish(parcel).await {
            Ok(published) => Ok(published),
            Err(WriteError::Refused(why)) => Err(why),
            Err(other) => panic!("{other}"),
        }
    }

    pub(crate) async fn try_publish(&self, parcel: Parcel<'_>) -> Result<Published, WriteError<publish::Refused>> {
        let listed = parcel.tools.iter().map(|tool| Listed::new(Kind::Tool, tool.as_bytes())).collect();
        let capture = Capture { complete: true, listed, ..Capture::default() };
        let release = Release::new(
            parcel.server.parse().expect("legal"),
            parcel.version.parse().expect("legal"),
            parcel.variant.parse().expect("legal"),
            capture,
        );
        let mut statement = Statement::for_release(&release, parcel.role);
        statement.predicate.remotes.extend(parcel.remote.map(str::to_owned));
        let envelope = dsse::sign("application/vnd.in-toto+json", &statement.to_payload(), &key(parcel.key));
        let release = String::from_utf8(release.to_json()).expect("JSON");
        let envelope = String::from_utf8(envelope).expect("JSON");
        let body = format!("{},\"attestation\":{envelope}}}", release.strip_suffix('}').expect("an object"));
        let submission = Submission::parse(body.as_bytes()).map_err(WriteError::Refused)?;
        Ok(publish::publish(&self.app, None, submission).await?.done)
    }

    /// What a release opens: name and reason.
    async fn opens(&self, parcel: Parcel<'_>) -> BTreeMap<String, Reason> {
        let published = self.publish(parcel).await.expect("accepted");
        published.candidates.into_iter().map(|row| (row.name, row.reason)).collect()
    }

    /// Binds `notes` to the server of a release.
    pub(crate) async fn bind_after(&self, parcel: &Parcel<'_>) {
        self.publish(parcel.clone()).await.expect("accepted");
        self.bind().await;
    }

    async fn bind(&self) {
        let (alias, server) = ("notes".parse().expect("legal"), "com.example/notes".parse().expect("legal"));
        govern::bind(&self.app, Bind { pinset: default_set(), alias, server, by: operator() }).await.expect("bound");
    }

    pub(crate) async fn vote(
        &self,
        who: &ReviewerId,
        row: &store::Candidate,
        outcome: Outcome,
    ) -> Result<Voted, desk::Refused> {
        match self.try_vote(who, row, outcome).await {
            Ok(voted) => Ok(voted),
            Err(WriteError::Refused(why)) => Err(why),
            Err(other) => panic!("{other}"),
        }
    }

    pub(crate) async fn try_vote(
        &self,
        who: &ReviewerId,
        row: &store::Candidate,
        outcome: Outcome,
    ) -> Result<Voted, WriteError<desk::Refused>> {
        let shown = desk::desk(&self.app, &row.id).await.expect("read").expect("there").view.shown();
        let vote = Vote {
            candidate: row.id.clone(),
            outcome,
            reason: "looked at it".parse().expect("legal"),
            shown,
            accepts: vec![],
            reviewer: who.clone(),
            account: "ada".into(),
        };
        Ok(desk::vote(&self.app, vote).await?.done)
    }

    /// Publishes and approves everything that waits.
    async fn approved(&self, parcel: Parcel<'_>) -> Vec<store::Candidate> {
        let published = self.publish(parcel).await.expect("accepted");
        for row in &published.candidates {
            self.vote(&self.ada, row, Outcome::Approve).await.expect("counts");
        }
        published.candidates
    }

    async fn stage(&self, row: &store::Candidate) -> Stage {
        let mut conn = self.app.reader().conn().await.expect("a connection");
        conn.candidate(&row.id).await.expect("read").expect("there").state
    }

    /// Names of pins and denials of `notes`.
    pub(crate) fn pins(&self) -> (Vec<String>, Vec<(String, Denied)>) {
        let moment = self.app.moment();
        let set = moment.state.set(&default_set()).expect("there");
        let Some(under) = set.alias(&"notes".parse().expect("legal")) else { return Default::default() };
        let pins = under.pins().map(|pin| pin.name.to_string()).collect();
        (pins, under.denied().map(|denial| (denial.name.to_string(), denial.state)).collect())
    }
}

pub(crate) fn one_ballot() -> Policy {
    Policy { quorum: 1, quorum_risky: 1, ..Policy::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_opens_a_candidate_for_each_digest_without_a_live_decision_and_says_why() {
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let shop = Shop::open(&bench, one_ballot()).await;
        let first = Parcel { tools: &[EXPORT, SEARCH], ..USUAL };
        shop.publish(first.clone()).await.expect("accepted");
        shop.bind().await;
        let mut conn = shop.app.reader().conn().await.expect("a connection");
        let waiting = conn.queue_of(&default_set(), Stage::Pending, &store::QueueKey::START, 10).await.expect("read");
        drop(conn);
        for row in &waiting {
            shop.vote(&shop.ada, row, Outcome::Approve).await.expect("counts");
        }
        assert_eq!(shop.pins().0, ["notes.export", "notes.search"]);

        let next = |version| Parcel { version, ..first.clone() };
        let elsewhere = Some("https://mcp.example.com/");
        let rows: [(Parcel<'_>, &[(&str, Reason)]); 7] = [
            (next("1.0.1"), &[]),
            (Parcel { tools: &[EXPORT_OTHER, SEARCH], ..next("1.1.0") }, &[("export", Reason::Changed)]),
            (Parcel { key: 2, ..next("1.2.0") }, &[("export", Reason::SignerChange), ("search", Reason::SignerChange)]),
            (
                Parcel { key: 3, role: Role::Capture, ..next("1.3.0") },
                &[("export", Reason::Downgrade), ("search", Reason::Downgrade)],
            ),
            (
                Parcel { remote: elsewhere, ..next("1.4.0") },
                &[("export", Reason::EndpointChange), ("search", Reason::EndpointChange)],
            ),
            (Parcel { tools: &[EXPORT_V2, SEARCH], ..next("2.0.0") }, &[("export_v2", Reason::Renamed)]),
            (Parcel { variant: "de", ..next("1.0.0") }, &[("export", Reason::Unknown), ("search", Reason::Unknown)]),
        ];
        for (parcel, expected) in rows {
            let (version, variant) = (parcel.version, parcel.variant);
            let expected: BTreeMap<String, Reason> =
                expected.iter().map(|(name, reason)| ((*name).to_owned(), *reason)).collect();
            assert_eq!(shop.opens(parcel).await, expected, "{version} {variant}");
        }
        // The pins stayed as they were all the while.
        assert_eq!(shop.pins(), (vec!["notes.export".into(), "notes.search".into()], vec![]));
        shop.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_that_waits_already_under_the_same_evidence_is_not_queued_twice() {
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let shop = Shop::open(&bench, one_ballot()).await;
        let first = shop.publish(Parcel { tools: &[EXPORT], ..USUAL }).await.expect("accepted");
        let again = shop.publish(Parcel { version: "1.0.1", tools: &[EXPORT], ..USUAL }).await.expect("accepted");
        assert_eq!(first.candidates[0].id, again.candidates[0].id);
        let other = Parcel { version: "1.0.2", key: 2, tools: &[EXPORT], ..USUAL };
        let other = shop.publish(other).await.expect("accepted");
        assert_ne!(first.candidates[0].id, other.candidates[0].id);
        shop.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_before_the_alias_is_bound_is_a_denial_afterwards() {
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let shop = Shop::open(&bench, one_ballot()).await;
        let published = shop.publish(Parcel { tools: &[EXPORT, SEARCH], ..USUAL }).await.expect("accepted");
        let row = |name: &str| published.candidates.iter().find(|row| row.name == name).expect("waits");
        let refused = shop.vote(&shop.ada, row("search"), Outcome::Approve).await.expect_err("no name yet");
        assert!(matches!(refused, desk::Refused::Review(review::Refused::AliasUnbound)), "{refused:?}");
        shop.vote(&shop.ada, row("export"), Outcome::Reject).await.expect("one denies");
        shop.bind().await;
        assert_eq!(shop.pins(), (vec![], vec![("notes.export".into(), Denied::Rejected)]));
        // The denied digest waits for nobody; another one of the name is a change.
        let next = Parcel { version: "1.1.0", tools: &[EXPORT], ..USUAL };
        assert_eq!(shop.opens(next).await, BTreeMap::new());
        let other = Parcel { version: "1.2.0", tools: &[EXPORT_OTHER], ..USUAL };
        assert_eq!(shop.opens(other).await, BTreeMap::from([("export".into(), Reason::Changed)]));
        shop.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn withdrawing_an_authority_holds_what_its_key_signed_since() {
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let shop = Shop::open(&bench, one_ballot()).await;
        shop.publish(Parcel { version: "0.9.0", tools: &[], ..USUAL }).await.expect("accepted");
        shop.bind().await;
        let early = shop.approved(Parcel { tools: &[SEARCH], ..USUAL }).await;
        bench.pass(Span::hours(1));
        let since = shop.app.clock().now();
        let late = shop.approved(Parcel { version: "1.1.0", tools: &[SEARCH, EXPORT], ..USUAL }).await;
        assert_eq!(shop.pins().0, ["notes.export", "notes.search"]);

        let moment = shop.app.moment();
        let of_key = |a: &&countersign::pinset::AuthorityState| a.facts.key.id() == key(1).verifying().id();
        let authority = moment.state.authorities().find(of_key).expect("granted").facts.authority.clone();
        let reason = "the key was stolen".parse().expect("legal");
        let withdraw = Withdraw { authority, since: Some(since), reason, by: operator() };
        assert_eq!(govern::withdraw(&shop.app, withdraw.clone()).await.expect("withdrawn").done, 1);
        assert_eq!(shop.pins(), (vec!["notes.search".into()], vec![("notes.export".into(), Denied::Held)]));
        assert_eq!((shop.stage(&early[0]).await, shop.stage(&late[0]).await), (Stage::Approved, Stage::Held));

        let again = govern::withdraw(&shop.app, withdraw).await.expect_err("is over");
        assert!(matches!(again, WriteError::Refused(govern::Refused::Revoked)), "{again:?}");
        let refused = shop.publish(Parcel { version: "1.2.0", tools: &[EXPORT], ..USUAL }).await.expect_err("revoked");
        assert!(
            matches!(&refused, publish::Refused::Attestation(why) if why.slug() == "attestation-authority-revoked")
        );
        shop.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_policy_voids_the_ballots_that_were_given_under_the_one_before() {
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let two = Policy { quorum: 2, quorum_risky: 2, ..Policy::default() };
        let shop = Shop::open(&bench, two.clone()).await;
        shop.publish(Parcel { version: "0.9.0", tools: &[], ..USUAL }).await.expect("accepted");
        shop.bind().await;
        let rows = shop.publish(Parcel { tools: &[EXPORT], ..USUAL }).await.expect("accepted").candidates;
        let first = shop.vote(&shop.ada, &rows[0], Outcome::Approve).await.expect("counts");
        assert_eq!((first.state, first.ballots, first.needed), (Stage::Pending, 1, 2));
        let policy = Policy { lifetime_days: 30, ..two };
        let set = SetPolicy { pinset: default_set(), policy, by: operator(), alone: true };
        govern::set_policy(&shop.app, set).await.expect("set");
        let document = shop.app.moment().state.set(&default_set()).expect("there").policy_sha256();
        let kept = shop.app.reader().conn().await.expect("a connection").content(document).await.expect("read");
        assert!(kept.is_some_and(|kept| kept.readable), "a policy that views and sets name is served by its digest");
        let second = shop.vote(&shop.bob, &rows[0], Outcome::Approve).await.expect("counts");
        assert_eq!((second.state, second.ballots), (Stage::Pending, 1), "ada's ballot is void");
        let third = shop.vote(&shop.ada, &rows[0], Outcome::Approve).await.expect("counts");
        assert_eq!((third.state, third.ballots), (Stage::Approved, 2));
        shop.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_makes_what_waits_under_the_same_name_a_change() {
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let shop = Shop::open(&bench, one_ballot()).await;
        shop.publish(Parcel { version: "0.9.0", tools: &[], ..USUAL }).await.expect("accepted");
        shop.bind().await;
        let first = shop.publish(Parcel { tools: &[EXPORT], ..USUAL }).await.expect("accepted").candidates;
        let next = Parcel { version: "1.1.0", tools: &[EXPORT_OTHER], ..USUAL };
        let next = shop.publish(next).await.expect("accepted").candidates;
        assert_eq!((first[0].reason, next[0].reason), (Reason::Unknown, Reason::Unknown));
        shop.vote(&shop.ada, &first[0], Outcome::Approve).await.expect("counts");
        let mut conn = shop.app.reader().conn().await.expect("a connection");
        let waiting = conn.queue_of(&default_set(), Stage::Pending, &store::QueueKey::START, 10).await.expect("read");
        let waiting: Vec<_> = waiting.iter().map(|row| (&row.id, row.reason)).collect();
        assert_eq!(waiting, [(&next[0].id, Reason::Changed)]);
        drop(conn);
        shop.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_ballot_keeps_its_own_reason() {
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let three = Policy { quorum: 3, quorum_risky: 3, ..Policy::default() };
        let shop = Shop::open(&bench, three).await;
        shop.publish(Parcel { version: "0.9.0", tools: &[], ..USUAL }).await.expect("accepted");
        shop.bind().await;
        let rows = shop.publish(Parcel { tools: &[EXPORT], ..USUAL }).await.expect("accepted").candidates;
        for who in [&shop.ada, &shop.bob] {
            shop.vote(who, &rows[0], Outcome::Approve).await.expect("counts");
        }
        let mut conn = shop.app.reader().conn().await.expect("a connection");
        let ballots = conn.ballots(&rows[0].id).await.expect("read");
        let reasons: std::collections::BTreeSet<_> = ballots.iter().map(|ballot| ballot.reason).collect();
        assert_eq!((ballots.len(), reasons.len()), (2, 2), "each reason has a salt of its own");
        drop(conn);
        shop.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_and_namespaces_that_differ_in_case_alone_are_one() {
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let shop = Shop::open(&bench, one_ballot()).await;
        shop.grant(4, "com.Example", Role::Publisher).await;
        shop.publish(Parcel { tools: &[EXPORT], ..USUAL }).await.expect("accepted");
        for server in ["com.example/Notes", "com.Example/notes", "com.Example/other"] {
            let key = if server.starts_with("com.E") { 4 } else { 1 };
            let refused = shop.publish(Parcel { server, key, tools: &[EXPORT], ..USUAL }).await.expect_err(server);
            let taken: ServerName = "com.example/notes".parse().expect("legal");
            assert!(matches!(&refused, publish::Refused::NameTaken(name) if *name == taken), "{server}: {refused:?}");
        }
        shop.publish(Parcel { server: "com.example/other", tools: &[EXPORT], ..USUAL }).await.expect("another name");
        shop.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_could_be_taken_for_a_pinned_one_is_not_approved() {
    const DOTTED: &str = r#"{"name":"a.b","inputSchema":{"type":"object"}}"#;
    const UNDERSCORED: &str = r#"{"name":"a_b","inputSchema":{"type":"object"}}"#;
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let shop = Shop::open(&bench, one_ballot()).await;
        shop.publish(Parcel { version: "0.9.0", tools: &[], ..USUAL }).await.expect("accepted");
        shop.bind().await;
        let rows = shop.publish(Parcel { tools: &[DOTTED, UNDERSCORED], ..USUAL }).await.expect("accepted").candidates;
        shop.vote(&shop.ada, &rows[0], Outcome::Approve).await.expect("counts");
        let refused = shop.vote(&shop.ada, &rows[1], Outcome::Approve).await.expect_err("the same wire name");
        let said = "notes.a_b can't be told apart from notes.a.b: both have the same wire name";
        assert!(matches!(&refused, desk::Refused::Clash(clash) if clash.to_string() == said), "{refused:?}");
        assert_eq!(shop.stage(&rows[1]).await, Stage::Pending);
        shop.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reason_is_in_the_database_and_its_salted_digest_in_the_log() {
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let shop = Shop::open(&bench, one_ballot()).await;
        let rows = shop.publish(Parcel { tools: &[EXPORT], ..USUAL }).await.expect("accepted").candidates;
        shop.vote(&shop.ada, &rows[0], Outcome::Reject).await.expect("one denies");
        let seen = desk::desk(&shop.app, &rows[0].id).await.expect("read").expect("there");
        let (decided, text) = &seen.decisions[0];
        assert_eq!(text.as_deref(), Some("looked at it"));
        let mut conn = shop.app.reader().conn().await.expect("a connection");
        let leaf = conn.leaf(decided.log_index).await.expect("read").expect("there");
        assert_eq!(Sha256::of(&leaf), decided.sha256);
        let leaf = String::from_utf8(leaf).expect("JSON");
        assert!(leaf.contains(&decided.reason.to_string()) && !leaf.contains("looked at it"), "{leaf}");
        drop(conn);
        shop.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_rules_of_a_newer_program_are_put_in_force_once_and_served() {
    on_both(async |fresh| {
        let bench = Bench::new(fresh);
        bench.open().await.close().await;
        let rules = std::sync::Arc::new(countersign::scan::Ruleset::builtin().expect("it passes its own examples"));
        let settings = bench.settings();
        let opening =
            countersign::service::Opening { registry: &settings, host: None, rules: rules.clone(), create: false };
        let (clock, rng) = (bench.clock.clone(), countersign::env::SeededRng::new(99));
        let app = App::open(opening, std::sync::Arc::new(clock), std::sync::Arc::new(rng)).await.expect("opens");
        let named = |app: &App| app.moment().pin_set(&default_set()).expect("there").document().ruleset_sha256;
        assert_ne!(named(&app), rules.sha256());
        assert!(govern::adopt_rules(&app).await.expect("logged"));
        assert_eq!(named(&app), rules.sha256());
        assert!(!govern::adopt_rules(&app).await.expect("nothing to do"));
        let kept = app.reader().conn().await.expect("a connection").content(rules.sha256()).await.expect("read");
        assert_eq!(kept.map(|kept| kept.bytes).as_deref(), Some(rules.document()));
        app.close().await;
    })
    .await;
}
