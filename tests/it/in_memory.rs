//! The whole job without a server: attest, publish, review, sign, verify, judge. A registry of a hundred lines over the
//! library's pure functions shows that nothing of the job needs I/O.

use std::collections::BTreeSet;

use countersign::{
    attest::{self, Role, Statement, dsse},
    canon::Sha256,
    clock::{Span, Timestamp},
    descriptor::{Capture, Kind, Listed, Release},
    event::{
        AliasBound, AuthorityGranted, Event, Evidence, Leaf, PinsetPublished, PolicySet, RegistryCreated, ReviewerSet,
        Subjects,
    },
    keys::SigningKey,
    log::{Checkpoint, Edge, Plan, Proof, Tiles, leaf_hash, note, sign_checkpoint},
    name::{SetName, Variant},
    pinset::{
        PinSet, State,
        desk::{Case, Decided},
        head::Head,
        trust::{HeadKey, LogKey, Terms, Trust},
        verdict::{Action, Listing, Scan, Verdict, judge},
        verify::{self, HeadAnswer, Seen},
    },
    review::{
        self, Action as Ask, Ballot, BallotType, Candidate, CandidateId, Digests, Outcome, Policy, Reason, Refused,
        ReviewerId, State as Stands, Step,
    },
    scan::Severity,
};

const START: i64 = 1_796_025_600_000_000;

pub(crate) const EXPORT: &str = r#"{"name":"export","description":"Exports the notes.","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}"#;
pub(crate) const SEARCH: &str = r#"{"name":"search","description":"Searches the notes.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}"#;
/// `EXPORT` with a flipped hint and a wider schema, the description word for word the same.
pub(crate) const EXPORT_2: &str = r#"{"name":"export","description":"Exports the notes.","inputSchema":{"type":"object","properties":{"url":{"type":"string"}}},"annotations":{"destructiveHint":false}}"#;

fn default_set() -> SetName {
    "default".parse().expect("legal")
}

pub(crate) fn key(n: u8) -> SigningKey {
    SigningKey::from_seed(&[n; 32])
}

fn reviewer(n: u8) -> ReviewerId {
    ReviewerId::random([n; 16])
}

fn tools(raw: &[&str]) -> Vec<Listed> {
    raw.iter().map(|tool| Listed::new(Kind::Tool, tool.as_bytes())).collect()
}

/// Leaves, their fold, and three keys.
pub(crate) struct Registry {
    pub(crate) now: Timestamp,
    leaves: Vec<Vec<u8>>,
    state: State,
    edge: Edge,
    pub(crate) documents: Vec<(Sha256, Vec<u8>)>,
    /// Whom its trust file asks for, and who cosigns: `wN.example` with the key of the seed 100 + N.
    pub(crate) witnesses: Option<countersign::log::policy::Policy>,
    pub(crate) cosigners: Vec<u8>,
}

impl Registry {
    pub(crate) fn new(policy: Policy) -> Self {
        Self::with_rules(policy, Sha256::of(b"rules"))
    }

    /// A registry whose scanner has these rules.
    pub(crate) fn with_rules(policy: Policy, ruleset: Sha256) -> Self {
        let mut registry = Self {
            now: Timestamp::from_micros(START).expect("in range"),
            leaves: vec![],
            state: State::default(),
            edge: Edge::new(),
            documents: vec![],
            witnesses: None,
            cosigners: vec![],
        };
        let by = ReviewerId::local_operator;
        registry.log(Event::RegistryCreated(RegistryCreated {
            origin: "pins.example".into(),
            epoch: 1,
            root_key: key(1).verifying().id(),
            log_key: key(2).verifying().id(),
            head_key: key(3).verifying().id(),
            ruleset,
        }));
        registry.log(Event::PinsetCreated(PolicySet { pinset: default_set(), policy, by: by() }));
        for n in 1..=2 {
            registry.log(Event::ReviewerSet(ReviewerSet { reviewer: reviewer(n), active: true, by: by() }));
        }
        registry.log(Event::AuthorityGranted(AuthorityGranted {
            authority: "a1".into(),
            scope: "com.example".parse().expect("legal"),
            key: key(9).verifying(),
            role: Role::Publisher,
            holder: None,
            proof: "administrator".into(),
            generation: 1,
            by: by(),
        }));
        registry.log(Event::AliasBound(AliasBound {
            pinset: default_set(),
            alias: "notes".parse().expect("legal"),
            server: "com.example/notes".parse().expect("legal"),
            by: by(),
        }));
        registry.publish_set();
        registry
    }

    fn at(&self) -> Timestamp {
        self.state.next_at(self.now)
    }

    fn log(&mut self, event: Event) -> u64 {
        let leaf = Leaf::new(self.at(), event).to_bytes().expect("short");
        let index = self.state.size();
        self.state.apply(index, &leaf).expect("sound");
        self.edge.append(leaf_hash(&leaf));
        self.leaves.push(leaf);
        index
    }

    /// Publishes a version in which nothing changed.
    pub(crate) fn publish_again(&mut self) {
        self.publish_set();
    }

    pub(crate) fn size(&self) -> u64 {
        self.state.size()
    }

    fn publish_set(&mut self) {
        let next = self.state.next_version(&default_set(), self.at()).expect("known");
        self.documents.push((next.set_sha256, next.set));
        self.documents.extend(next.pins);
        let (pinset, version, set_sha256) = (next.pinset, next.version, next.set_sha256);
        self.log(Event::PinsetPublished(PinsetPublished { pinset, version, set_sha256 }));
    }

    /// What `POST /v1/releases` does between verification and answer.
    pub(crate) fn publish(&mut self, version: &str, raw: &[&str]) -> Sha256 {
        let capture = Capture { complete: true, listed: tools(raw), ..Capture::default() };
        let server = "com.example/notes".parse().expect("legal");
        let release = Release::new(server, version.parse().expect("legal"), "".parse().expect("legal"), capture);
        let statement = Statement::for_release(&release, Role::Publisher);
        let envelope = dsse::sign("application/vnd.in-toto+json", &statement.to_payload(), &key(9));
        let verified =
            attest::verify(release, &envelope, &self.state.verifying_authorities()).expect("signed with authority");
        let release = verified.release();
        let subjects = release.subjects();
        let attestation = verified.sha256();
        self.log(Event::ReleaseAttested(Evidence {
            release: attestation.id(),
            server: release.server.clone(),
            version: release.version.clone(),
            variant: release.variant.clone(),
            role: Role::Publisher,
            level: verified.level(),
            signer: *verified.signer(),
            authority: verified.authority().to_owned(),
            attestation,
            subjects: Subjects { count: 1, sha256: Sha256::of(&countersign::canon::to_jcs(&subjects)) },
            remotes: vec![],
            artifacts: vec![],
        }));
        attestation
    }

    fn case(&self, raw: &str, attestation: Sha256, reasons: Vec<Reason>, grew: bool) -> Case {
        let item = Listed::new(Kind::Tool, raw.as_bytes()).parsed.expect("strict JSON");
        let (server, variant) = ("com.example/notes".parse().expect("legal"), "".parse().expect("legal"));
        let base = self.state.base(&default_set(), &server, Kind::Tool, item.listed_name(), &variant, item.digest());
        Case {
            id: CandidateId::of(item.canonical()),
            pinset: default_set(),
            server,
            variant,
            kind: Kind::Tool,
            name: item.listed_name().to_owned(),
            digests: Digests { jcs: item.digest().sha256, python: item.python_digest().sha256 },
            reasons,
            attestation,
            unpinnable: None,
            findings: Sha256::of(b"report"),
            gravest: None,
            base,
            grew,
            submitters: BTreeSet::new(),
        }
    }

    /// Reviewers vote one after the other; the decision is logged when they are enough.
    fn vote(&mut self, case: &Case, outcome: Outcome, voters: &[u8]) -> Result<Option<u64>, Refused> {
        let view = self.state.view(case).expect("known");
        let mut candidate = Candidate(Stands::opened());
        for n in voters {
            let ballot = Ballot {
                r#type: BallotType::V1,
                registry: view.registry.clone(),
                pinset: case.pinset.clone(),
                candidate: case.id.clone(),
                outcome,
                view: view.shown().view,
                accepts: vec![],
                reviewer: reviewer(*n),
                issued: self.now,
            };
            let desk = self.state.eligible(case, &view).expect("known");
            let (next, step) = candidate.apply(Ask::Vote(ballot), &desk)?;
            candidate = next;
            if let Step::Decide { outcome, ballots, mode, accepted } = step {
                let reason = Sha256::of(b"reason");
                let decided = Decided { outcome, ballots, mode, accepted, reason };
                let decision = self.state.decision(case, &view, decided, self.at()).expect("sound");
                let index = self.log(Event::Decision(Box::new(decision)));
                self.publish_set();
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    pub(crate) fn approve(&mut self, raw: &str, attestation: Sha256) {
        let case = self.case(raw, attestation, vec![Reason::Unknown], false);
        self.vote(&case, Outcome::Approve, &[1]).expect("counts").expect("one is enough");
    }

    /// What `GET /v1/pinsets/default/head` answers.
    pub(crate) fn head(&self, from: u64) -> HeadAnswer {
        let document = self.state.set_document(&default_set()).expect("published");
        let bytes = document.to_bytes();
        let leaf =
            self.leaves.iter().rposition(|leaf| leaf.windows(16).any(|w| w == b"pinset-published")).expect("one");
        let size = self.state.size();
        let root = self.edge.root();
        let checkpoint = Checkpoint { origin: "pins.example".into(), size, root };
        let log = note::Signer::new("pins.example", key(2)).expect("legal");
        let head = Head {
            r#type: Default::default(),
            registry: "pins.example".into(),
            name: default_set(),
            epoch: 1,
            version: document.version,
            set_sha256: Sha256::of(&bytes),
            set_size: bytes.len() as u64,
            issued: self.now,
            expires: self.now + Span::hours(1),
            checkpoint_size: size,
            checkpoint_root: root,
        };
        let mut note = sign_checkpoint(&checkpoint, &log).expect("signs");
        for n in &self.cosigners {
            let name = format!("w{n}.example");
            note += &note::cosign(&checkpoint.to_string(), &name, &key(100 + n), self.now).expect("cosigns");
        }
        HeadAnswer {
            head: head.sign(&key(3)),
            leaf: self.leaves[leaf].clone(),
            proof: Proof { index: leaf as u64, hashes: self.inclusion(leaf as u64), checkpoint: note, extra: None },
            consistency: self.hashes(&Plan::consistency(from, size).expect("not longer")),
        }
    }

    /// From a leaf to the newest root.
    pub(crate) fn inclusion(&self, leaf: u64) -> Vec<Sha256> {
        self.hashes(&Plan::inclusion(leaf, self.size()).expect("inside"))
    }

    fn hashes(&self, plan: &Plan) -> Vec<Sha256> {
        let mut tiles = Tiles::new();
        for (tile, bytes) in self.edge.tiles() {
            tiles.insert(tile, &bytes).expect("fits");
        }
        plan.compute(|node| tiles.node(node)).expect("all there")
    }

    pub(crate) fn trust(&self) -> Trust {
        let terms = Terms {
            version: 1,
            origin: "pins.example".into(),
            epoch: 1,
            former: vec![],
            root: key(1).verifying(),
            logs: vec![LogKey { key: key(2).verifying(), from: Timestamp::EPOCH, until: None }],
            heads: vec![HeadKey { key: key(3).verifying(), from: Timestamp::EPOCH }],
            head_lifetime: Span::hours(1),
            clock_skew: Span::minutes(5),
            witnesses: self.witnesses.clone(),
        };
        terms.sign(&[&key(1)]).expect("signs")
    }

    /// What a gateway makes of the answer.
    fn pull(&self, seen: Option<&Seen>) -> Result<(PinSet, Seen), verify::Refused> {
        let answer = self.head(seen.map_or(0, |seen| seen.checkpoint.size));
        let answer = HeadAnswer::parse(&answer.to_json().expect("JSON")).expect("its own JSON");
        let checked = verify::head(&self.trust(), &default_set(), seen, &answer, self.now)?.fresh(self.now)?;
        let seen = checked.seen();
        let read = |sha256: &Sha256| self.documents.iter().find(|(id, _)| id == sha256).map(|(_, bytes)| bytes.clone());
        let set = checked.with_set(&read(&seen.set_sha256).expect("kept"))?.with_pins(read)?;
        Ok((set, seen))
    }
}

fn check(set: &PinSet, raw: &[&str], now: Timestamp) -> Vec<(String, Verdict, Action)> {
    let (alias, listed) = ("notes".parse().expect("legal"), tools(raw));
    let listing =
        Listing { alias: Some(&alias), complete: true, variant: None, endpoint: None, artifact: None, listed: &listed };
    let answer = judge(set, &[listing], |_| Scan::Done(None), now);
    answer.results.into_iter().map(|r| (r.name, r.verdict, r.action)).collect()
}

#[test]
fn what_was_approved_is_allowed_and_a_changed_schema_is_not() {
    let mut registry = Registry::new(Policy::default());
    let first = registry.publish("1.0.0", &[EXPORT, SEARCH]);
    let (set, seen) = registry.pull(None).expect("an empty set is a set");
    assert_eq!(
        check(&set, &[EXPORT, SEARCH], registry.now),
        [
            ("notes.export".into(), Verdict::Unknown, Action::Quarantine),
            ("notes.search".into(), Verdict::Unknown, Action::Quarantine),
        ]
    );

    registry.approve(EXPORT, first);
    registry.approve(SEARCH, first);
    let (set, seen) = registry.pull(Some(&seen)).expect("the log grew");
    assert_eq!(
        check(&set, &[EXPORT, SEARCH], registry.now),
        [
            ("notes.export".into(), Verdict::Approved, Action::Allow),
            ("notes.search".into(), Verdict::Approved, Action::Allow),
        ]
    );
    assert_eq!(
        check(&set, &[EXPORT_2, SEARCH], registry.now),
        [
            ("notes.export".into(), Verdict::Changed, Action::Quarantine),
            ("notes.search".into(), Verdict::Approved, Action::Allow),
        ]
    );

    // The changed release waits for two reviewers, and until then the old pin is what gateways get.
    let second = registry.publish("1.1.0", &[EXPORT_2, SEARCH]);
    let case = registry.case(EXPORT_2, second, vec![Reason::Changed], true);
    assert_eq!(registry.vote(&case, Outcome::Approve, &[1]), Ok(None));
    let (set, seen) = registry.pull(Some(&seen)).expect("the log grew");
    assert_eq!(check(&set, &[EXPORT], registry.now)[0].1, Verdict::Approved);
    assert!(registry.vote(&case, Outcome::Approve, &[1, 2]).expect("counts").is_some());
    let (set, _) = registry.pull(Some(&seen)).expect("the log grew");
    assert_eq!(check(&set, &[EXPORT_2], registry.now)[0].1, Verdict::Approved);
    assert_eq!(check(&set, &[EXPORT], registry.now)[0].1, Verdict::Changed);

    // The registry's own view of the set is the gateway's.
    let own = PinSet::own(&registry.state, &default_set(), set.expires(), None).expect("published");
    assert_eq!(own.sha256(), set.sha256());
    assert_eq!(check(&own, &[EXPORT, EXPORT_2], registry.now), check(&set, &[EXPORT, EXPORT_2], registry.now));
}

#[test]
fn a_revoked_digest_stays_blocked_until_the_quorum_approves_it_again() {
    let mut registry = Registry::new(Policy { quorum: 2, ..Policy::default() });
    let attestation = registry.publish("1.0.0", &[EXPORT]);
    let case = registry.case(EXPORT, attestation, vec![Reason::Unknown], false);
    registry.vote(&case, Outcome::Approve, &[1, 2]).expect("counts").expect("two are enough");

    let view = registry.state.view(&case).expect("known");
    let issued = registry.now;
    let ballot = |outcome| Ballot {
        r#type: BallotType::V1,
        registry: "pins.example".into(),
        pinset: default_set(),
        candidate: case.id.clone(),
        outcome,
        view: view.shown().view,
        accepts: vec![],
        reviewer: reviewer(1),
        issued,
    };
    let mode = review::Mode::Ballots { given: 1, needed: 1 };
    for (outcome, expected) in [(Outcome::Revoke, Verdict::Revoked), (Outcome::Reopen, Verdict::Revoked)] {
        let ballots = vec![ballot(outcome)];
        let decided = Decided { outcome, ballots, mode, accepted: vec![], reason: Sha256::of(b"why") };
        let decision = registry.state.decision(&case, &view, decided, registry.at()).expect("sound");
        registry.log(Event::Decision(Box::new(decision)));
        registry.publish_set();
        let (set, _) = registry.pull(None).expect("verifies");
        assert_eq!(check(&set, &[EXPORT], registry.now), [("notes.export".into(), expected, Action::Block)]);
    }
    // What comes next under the name is compared with what was taken away; that itself is compared with nothing.
    assert_eq!(registry.case(EXPORT_2, attestation, vec![Reason::Changed], true).base, Some(case.digests.digest()));
    assert_eq!(registry.case(EXPORT, attestation, vec![Reason::Changed], true).base, None);
    assert_eq!(registry.vote(&case, Outcome::Approve, &[1]), Ok(None));
    registry.vote(&case, Outcome::Approve, &[1, 2]).expect("counts").expect("two are enough");
    let (set, _) = registry.pull(None).expect("verifies");
    assert_eq!(check(&set, &[EXPORT], registry.now)[0].1, Verdict::Approved);
}

#[test]
fn approvals_and_heads_run_out() {
    let mut registry = Registry::new(Policy { lifetime_days: 1, ..Policy::default() });
    let attestation = registry.publish("1.0.0", &[EXPORT]);
    registry.approve(EXPORT, attestation);
    let (set, seen) = registry.pull(None).expect("verifies");
    let expires = set.expires();
    let almost = expires.minus(Span::micros(1));
    assert_eq!(check(&set, &[EXPORT], almost)[0].1, Verdict::Approved);
    assert_eq!(check(&set, &[EXPORT], expires)[0], ("notes.export".into(), Verdict::Stale, Action::Block));

    registry.now = registry.now + Span::days(1) + Span::seconds(1);
    let (set, _) = registry.pull(Some(&seen)).expect("a new head");
    assert_eq!(check(&set, &[EXPORT], registry.now)[0], ("notes.export".into(), Verdict::Expired, Action::Quarantine));
}

#[test]
fn a_replay_of_the_log_gives_every_document_byte_for_byte() {
    let mut registry = Registry::new(Policy::default());
    let attestation = registry.publish("1.0.0", &[EXPORT, SEARCH]);
    registry.approve(EXPORT, attestation);
    let case = registry.case(SEARCH, attestation, vec![Reason::Unknown], false);
    registry.vote(&case, Outcome::Reject, &[2]).expect("counts").expect("one denies");
    let mut replay = State::default();
    let mut documents = vec![];
    for (index, leaf) in registry.leaves.iter().enumerate() {
        let effect = replay.apply(index as u64, leaf).expect("sound");
        if let Some(published) = effect.published {
            documents.push((published.set_sha256, published.set));
            documents.extend(published.pins);
        }
    }
    assert_eq!(documents, registry.documents);
    let (set, _) = registry.pull(None).expect("verifies");
    assert_eq!(check(&set, &[SEARCH], registry.now)[0], ("notes.search".into(), Verdict::Rejected, Action::Block));
}

#[test]
fn a_lying_registry_is_caught() {
    let mut registry = Registry::new(Policy::default());
    let attestation = registry.publish("1.0.0", &[EXPORT]);
    registry.approve(EXPORT, attestation);
    let (_, seen) = registry.pull(None).expect("verifies");
    let refused = |answer: &HeadAnswer, seen: &Seen, now| {
        let checked = verify::head(&registry.trust(), &default_set(), Some(seen), answer, now);
        checked.and_then(|head| head.fresh(now)).expect_err("refused").to_string()
    };
    let good = registry.head(seen.checkpoint.size);
    let from_seen = |seen: &Seen| registry.head(seen.checkpoint.size.min(registry.state.size()));

    let newer = Seen { version: seen.version + 1, ..seen.clone() };
    assert_eq!(refused(&good, &newer, registry.now), "the registry went back from version 3 to version 2");
    let other = Seen { set_sha256: Sha256::of(b"another"), ..seen.clone() };
    assert_eq!(
        refused(&good, &other, registry.now),
        "version 2 has another digest than before: the registry signed two sets under one version"
    );
    let leapt = Seen { version: 0, ..seen.clone() };
    assert_eq!(
        refused(&good, &leapt, registry.now),
        "version 2 can't be: a log of 10 leaves has room for version 0 at most"
    );
    let mut longer = seen.clone();
    longer.checkpoint.size += 1;
    assert_eq!(refused(&from_seen(&longer), &longer, registry.now), "the log went back from 11 to 10 leaves");
    let mut forked = seen.clone();
    forked.checkpoint.root = Sha256::of(b"another history");
    assert_eq!(refused(&good, &forked, registry.now), "the log was split: it signed two different trees of 10 leaves");
    let late = registry.now + Span::hours(1);
    assert_eq!(refused(&good, &seen, late), format!("the head expired at {late}"));
    let early = registry.now.minus(Span::minutes(5)).minus(Span::micros(1));
    assert_eq!(
        refused(&good, &seen, early),
        format!("the head was signed at {}, which is in the future: it is {early}", registry.now)
    );
    let tampered = HeadAnswer { leaf: registry.leaves[0].clone(), ..good };
    assert!(verify::head(&registry.trust(), &default_set(), None, &tampered, registry.now).is_err());
}

#[test]
fn a_name_listed_by_two_servers_is_refused_until_it_is_namespaced() {
    let mut registry = Registry::new(Policy::default());
    let attestation = registry.publish("1.0.0", &[EXPORT]);
    registry.approve(EXPORT, attestation);
    let (set, _) = registry.pull(None).expect("verifies");
    let (mine, theirs) = (tools(&[EXPORT]), tools(&[SEARCH, EXPORT]));
    let (notes, other) = ("notes".parse().expect("legal"), "other".parse().expect("legal"));
    let list = |alias, listed| Listing { alias, complete: true, variant: None, endpoint: None, artifact: None, listed };
    let verdicts = |listings: &[Listing<'_>]| -> Vec<(String, Verdict)> {
        let answer = judge(&set, listings, |_| Scan::Done(Some(Severity::Low)), registry.now);
        answer.results.into_iter().map(|r| (r.name, r.verdict)).collect()
    };
    assert_eq!(
        verdicts(&[list(None, &mine), list(None, &theirs)]),
        [
            ("notes.export".into(), Verdict::Ambiguous),
            ("search".into(), Verdict::Unknown),
            ("notes.export".into(), Verdict::Ambiguous),
        ]
    );
    assert_eq!(
        verdicts(&[list(Some(&notes), &mine), list(Some(&other), &theirs)]),
        [
            ("notes.export".into(), Verdict::Approved),
            ("other.search".into(), Verdict::Unknown),
            ("other.export".into(), Verdict::Unknown),
        ]
    );
    assert_eq!(verdicts(&[list(None, &mine)]), [("notes.export".into(), Verdict::Approved)]);
    let twice = tools(&[EXPORT, EXPORT]);
    assert_eq!(verdicts(&[list(Some(&notes), &twice)])[0].1, Verdict::Ambiguous);
}

#[test]
fn the_verdict_follows_from_what_is_listed() {
    let mut registry = Registry::new(Policy::default());
    let attestation = registry.publish("1.0.0", &[EXPORT]);
    registry.approve(EXPORT, attestation);
    let (set, _) = registry.pull(None).expect("verifies");
    let notes = "notes".parse().expect("legal");
    let duplicate = r#"{"name":"export","name":"export"}"#;
    let no_schema = r#"{"name":"bare"}"#;
    let german = "de".parse().expect("legal");
    type Row<'a> = (&'a str, &'a str, bool, Option<&'a Variant>, Scan, Verdict, &'a [Verdict], Action);
    let rows: [Row<'_>; 9] = [
        ("approved", EXPORT, true, None, Scan::Failed, Verdict::Approved, &[], Action::Allow),
        ("not whole", EXPORT, false, None, Scan::Failed, Verdict::Incomplete, &[Verdict::Approved], Action::Block),
        ("changed", EXPORT_2, true, None, Scan::Done(None), Verdict::Changed, &[], Action::Quarantine),
        (
            "changed, flagged",
            EXPORT_2,
            true,
            None,
            Scan::Done(Some(Severity::Medium)),
            Verdict::Changed,
            &[Verdict::Flagged],
            Action::Block,
        ),
        (
            "new, flagged",
            SEARCH,
            true,
            None,
            Scan::Done(Some(Severity::High)),
            Verdict::Flagged,
            &[Verdict::Unknown],
            Action::Block,
        ),
        ("new, not scanned", SEARCH, true, None, Scan::Failed, Verdict::Unknown, &[], Action::Block),
        ("refused by the parser", duplicate, true, None, Scan::Done(None), Verdict::Unknown, &[], Action::Block),
        ("unpinnable", no_schema, true, None, Scan::Done(None), Verdict::Unknown, &[], Action::Quarantine),
        ("another variant", EXPORT, true, Some(&german), Scan::Done(None), Verdict::Unknown, &[], Action::Quarantine),
    ];
    for (what, raw, complete, variant, scan, verdict, also, action) in rows {
        let listed = tools(&[raw]);
        let listing =
            Listing { alias: Some(&notes), complete, variant, endpoint: None, artifact: None, listed: &listed };
        let answer = judge(&set, &[listing], |_| scan, registry.now);
        let judged = &answer.results[0];
        assert_eq!((judged.verdict, judged.also.as_slice(), judged.action), (verdict, also, action), "{what}");
        assert_eq!(answer.allows_all(), action == Action::Allow, "{what}");
    }
}

#[test]
fn a_call_is_judged_again_by_its_whole_name_and_the_descriptor_seen_last() {
    use countersign::pinset::verdict::dispatch;
    let mut registry = Registry::new(Policy::default());
    let attestation = registry.publish("1.0.0", &[EXPORT, SEARCH]);
    registry.approve(EXPORT, attestation);
    registry.approve(SEARCH, attestation);
    let (set, _) = registry.pull(None).expect("verifies");
    let rows = [
        ("the approved one", "notes.export", EXPORT, Verdict::Approved, Action::Allow),
        ("swapped since it was listed", "notes.export", EXPORT_2, Verdict::Changed, Action::Quarantine),
        ("another approved tool under this name", "notes.export", SEARCH, Verdict::Unknown, Action::Block),
        ("a bare name", "export", EXPORT, Verdict::Unknown, Action::Block),
        ("the alias of nobody", "note.export", EXPORT, Verdict::Unknown, Action::Block),
        ("an alias that only begins like ours", "notes-2.export", EXPORT, Verdict::Unknown, Action::Block),
        ("a wire name", "notes__export", EXPORT, Verdict::Unknown, Action::Block),
    ];
    for (what, name, raw, verdict, action) in rows {
        let item = Listed::new(Kind::Tool, raw.as_bytes());
        let answer = dispatch(&set, name, &item, |_| Scan::Done(None), registry.now);
        let judged = &answer.results[0];
        assert_eq!((judged.name.as_str(), judged.verdict, judged.action), (name, verdict, action), "{what}");
    }
    let item = Listed::new(Kind::Tool, EXPORT.as_bytes());
    let late = dispatch(&set, "notes.export", &item, |_| Scan::Done(None), set.expires());
    assert_eq!((late.results[0].verdict, late.results[0].action), (Verdict::Stale, Action::Block));
}

#[test]
fn a_tool_and_a_prompt_of_one_name_are_pinned_apart() {
    let mut registry = Registry::new(Policy::default());
    let attestation = registry.publish("1.0.0", &[EXPORT]);
    registry.approve(EXPORT, attestation);
    let (set, _) = registry.pull(None).expect("verifies");
    let notes = "notes".parse().expect("legal");
    let prompt = vec![Listed::new(Kind::Prompt, br#"{"name":"export","description":"Exports the notes."}"#)];
    let listing =
        Listing { alias: Some(&notes), complete: true, variant: None, endpoint: None, artifact: None, listed: &prompt };
    let answer = judge(&set, &[listing], |_| Scan::Done(None), registry.now);
    assert_eq!((answer.results[0].kind, answer.results[0].verdict), (Kind::Prompt, Verdict::Unknown));
}
