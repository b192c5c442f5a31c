//! Witnesses: who gets asked for what, what is believed, and what gateways get meanwhile.

use std::{sync::Arc, time::Duration};

use countersign::{
    clock::{Span, Timestamp},
    config::{self, Witnesses},
    env::Clock as _,
    log::{Checkpoint, policy::Unwitnessed},
    name::SetName,
    pinset::{
        trust::Trust,
        verify::{self, HeadAnswer, Refused, Seen},
    },
    review::ReviewerId,
    service::{
        self, App, QuorumHealth, Trouble,
        distribute::{self, NoHead},
        govern::Governor,
        jobs,
        trust::Change,
    },
};

use super::{AddSet, Bench, check_log, eventually};
use crate::{
    databases::{Fresh, block_on, on_both},
    doubles::{Mood, Witness},
};

/// A registry with witnesses that know its log.
struct Watched<'a> {
    bench: Bench<'a>,
    settings: config::Registry,
    witnesses: Vec<Witness>,
    app: App,
}

impl<'a> Watched<'a> {
    /// So many witnesses, of which so many must have cosigned.
    async fn new(fresh: &'a Fresh, needs: usize, of: u8) -> Self {
        let bench = Bench::new(fresh);
        let mut witnesses = Vec::new();
        for n in 1..=of {
            witnesses.push(Witness::new(&bench.clock, n).await);
        }
        let policy = Witness::policy(needs, &witnesses);
        let settings =
            config::Registry { witnesses: Some(Witnesses::parse(&policy).expect("a policy")), ..bench.settings() };
        let app = bench.open_with(&settings, true).await.expect("opens");
        let logs = trust(&app).logs().expect("names the log");
        witnesses.iter().for_each(|witness| witness.desk().logs.clone_from(&logs));
        Self { bench, settings, witnesses, app }
    }

    fn are(&self, moods: &[Mood]) {
        self.witnesses.iter().zip(moods).for_each(|(witness, mood)| witness.is(mood.clone()));
    }

    async fn ask(&self) -> usize {
        self.app.ask_witnesses().await.expect("the database answers")
    }

    async fn add_set(&self, name: &str) {
        self.app.write(AddSet(name.to_owned())).await.expect("written");
    }

    /// From which sizes each was asked, and for which, since this was called last.
    fn asked(&self) -> Vec<Vec<(u64, u64)>> {
        self.witnesses.iter().map(Witness::asked).collect()
    }

    fn troubles(&self) -> Vec<Option<&'static str>> {
        self.app.witnesses().into_iter().map(|witness| witness.trouble.map(Trouble::word)).collect()
    }

    /// What a gateway makes of what it is served: version of the set, and the size of the head's checkpoint.
    async fn gateway(&self, set: &str, seen: Option<&Seen>) -> Result<Seen, String> {
        gateway(&self.app, set, seen).await
    }

    async fn size(&self, set: &str) -> Result<u64, String> {
        self.gateway(set, None).await.map(|seen| seen.checkpoint.size)
    }

    /// The size that readers of the log are shown.
    fn shown(&self) -> Option<u64> {
        let shown = self.app.moment().shown.clone()?;
        Some(trust(&self.app).open(&shown).expect("the log's").size)
    }
}

fn trust(app: &App) -> Trust {
    Trust::first(&app.moment().trust.note).expect("a trust file")
}

async fn gateway(app: &App, set: &str, seen: Option<&Seen>) -> Result<Seen, String> {
    let set: SetName = set.parse().expect("legal");
    let from = seen.map_or(0, |seen| seen.checkpoint.size);
    let answer = distribute::head(app, &set, from).await.map_err(|e| e.to_string())?;
    let now = app.clock().now();
    let head = verify::head(&trust(app), &set, seen, &answer, now).and_then(|head| head.fresh(now));
    head.map(|head| head.seen()).map_err(|e| e.to_string())
}

const NOBODY: &str = "no head of the pin set has the cosignatures of its witnesses yet";

fn down() -> Mood {
    Mood::Says(500, "out of order".to_owned())
}

#[test]
fn a_head_is_released_when_its_checkpoint_has_the_quorum_and_not_before() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 2, 3).await;
        assert!(w.app.moment().heads.contains_key(&"default".parse().expect("legal")), "it is signed");
        assert_eq!(w.size("default").await, Err(NOBODY.to_owned()));
        assert_eq!(w.shown(), None);
        w.are(&[Mood::Honest, down(), down()]);
        assert_eq!(w.ask().await, 3);
        assert_eq!(w.asked(), [[(0, 3)], [(0, 3)], [(0, 3)]]);
        assert_eq!(w.size("default").await, Err(NOBODY.to_owned()), "one is not enough");
        w.are(&[Mood::Honest, Mood::Honest, down()]);
        w.bench.pass(Span::seconds(1));
        assert_eq!(w.ask().await, 2, "who has cosigned is left alone");
        assert_eq!(w.size("default").await, Ok(3));
        assert_eq!(w.shown(), Some(3));
        assert_eq!(w.app.quorum(), Some(QuorumHealth { cosigned: 3, in_trust: true }));
        assert_eq!(w.troubles(), [None, None, Some("refused")]);

        // A version that nobody has cosigned yet: the head before it goes on being served.
        let seen = w.gateway("default", None).await.expect("served");
        w.asked();
        w.add_set("prod").await;
        assert_eq!((w.size("default").await, w.shown()), (Ok(3), Some(3)));
        assert_eq!(w.size("prod").await, Err(NOBODY.to_owned()));
        assert!(w.app.inclusion(4).await.is_ok(), "a write's answer carries its proof, under the log's own signature");
        w.are(&[Mood::Honest, Mood::Honest, Mood::Honest]);
        w.bench.pass(Span::seconds(2));
        assert_eq!(w.ask().await, 3);
        assert_eq!(w.asked(), [[(3, 5)].as_slice(), &[(3, 5)], &[(0, 5)]]);
        assert_eq!((w.size("prod").await, w.size("default").await, w.shown()), (Ok(5), Ok(3), Some(5)));
        assert!(w.gateway("default", Some(&seen)).await.is_ok());
        assert_eq!(w.ask().await, 0, "there is nothing more to ask");
        assert_eq!(w.troubles(), [None, None, None]);
        check_log(&w.app).await;
    }));
}

#[test]
fn a_note_that_is_served_carries_the_cosignatures_that_were_given() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 2, 3).await;
        w.ask().await;
        let policy = w.settings.witnesses.as_ref().expect("named").policy().clone();
        let (now, shown) = (w.bench.clock.now(), w.app.moment().shown.clone().expect("cosigned"));
        assert_eq!(policy.check(&shown, now), Ok(()));
        let short = Unwitnessed::Quorum { counted: 0, of: 3, early: 0 };
        assert_eq!(policy.check(&w.app.moment().note, now), Err(short), "the log's own note has none");
        let proof = w.app.inclusion_at(0, 3).await.expect("a proof");
        assert_eq!(policy.check(&proof.checkpoint, now), Ok(()));
    }));
}

#[test]
fn with_too_few_witnesses_the_old_head_stays_and_runs_out_and_comes_back_with_them() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 2, 3).await;
        w.ask().await;
        let before = w.gateway("default", None).await.expect("served");
        w.are(&[Mood::Honest, down(), down()]);
        // While nothing is written its checkpoint has its quorum, and heads over it are signed anew and served.
        w.bench.pass(Span::minutes(20));
        assert_eq!(w.app.resign().await.expect("answers"), 1);
        assert_eq!(w.ask().await, 0);
        let issued = |app: &App| app.moment().released[&"default".parse::<SetName>().expect("legal")].issued;
        let renewed = issued(&w.app);
        assert_eq!(renewed, w.bench.clock.now());
        // From here on the log is longer than what two witnesses have seen.
        w.add_set("prod").await;
        for _ in 0..3 {
            w.bench.pass(Span::minutes(16));
            assert!(w.app.resign().await.expect("answers") > 0, "heads are signed, and wait");
            w.ask().await;
            assert_eq!(issued(&w.app), renewed, "but the one that is served is not signed anew");
        }
        assert_eq!(w.gateway("default", Some(&before)).await.map(|seen| seen.version), Ok(1));
        assert_eq!(w.troubles(), [None, Some("refused"), Some("refused")]);
        w.bench.pass(Span::minutes(12));
        let refused = w.gateway("default", Some(&before)).await.expect_err("it has run out");
        assert!(refused.starts_with("the head expired at"), "{refused}");
        let set: SetName = "default".parse().expect("legal");
        let expires = w.app.moment().pin_set(&set).expect("known").expires();
        assert!(expires <= w.bench.clock.now(), "the registry's own verdicts are stale with it");
        // One comes back.
        w.are(&[Mood::Honest, Mood::Honest, down()]);
        w.bench.pass(Span::minutes(6));
        w.app.resign().await.expect("answers");
        w.ask().await;
        let after = w.gateway("default", Some(&before)).await.expect("served again");
        assert_eq!((after.version, after.checkpoint.size), (1, 5));
        assert_eq!(w.size("prod").await, Ok(5));
        check_log(&w.app).await;
    }));
}

#[test]
fn a_witness_that_saw_another_log_under_this_key_is_never_passed_over_in_silence() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 1, 1).await;
        let checkpoint = w.app.moment().checkpoint.clone();
        let other = Checkpoint { root: countersign::canon::Sha256::of(b"another"), ..checkpoint.clone() };
        for (what, seen, expected) in [
            ("as long, another root", other.clone(), "fork"),
            ("shorter, another root", Checkpoint { size: 2, ..other.clone() }, "fork"),
            ("longer", Checkpoint { size: 1_000, ..other }, "ahead"),
        ] {
            w.witnesses[0].desk().seen = Some(seen);
            w.bench.pass(Span::minutes(6));
            assert_eq!(w.ask().await, 1, "{what}");
            assert_eq!(w.troubles(), [Some(expected)], "{what}");
            assert_eq!(w.size("default").await, Err(NOBODY.to_owned()), "{what}");
            assert_eq!(w.app.read_only(), None, "nobody signs what a witness says of sizes");
        }
        let (reader, app) = (w.app.reader(), &w.app);
        let cosigned = reader.conn().await.expect("a connection").cosignatures(checkpoint.size).await.expect("reads");
        assert_eq!((cosigned, app.quorum().expect("asked for").cosigned), (vec![], 0));
    }));
}

#[test]
fn what_a_witness_answers_is_believed_only_when_its_signature_verifies() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 1, 1).await;
        let says = |status: u16, body: &str| Mood::Says(status, body.to_owned());
        let table = [
            ("an error", down(), "refused"),
            ("it doesn't know the log", says(404, ""), "refused"),
            ("it doesn't know the key", says(403, ""), "refused"),
            ("a redirect", says(302, ""), "refused"),
            ("no content", says(204, ""), "refused"),
            ("nothing", says(200, ""), "bad-cosignature"),
            ("garbage", says(200, "<html>signed</html>"), "malformed"),
            ("a checkpoint of its own", says(200, "pins.example\n9\n\n— w1.example AAAA\n"), "malformed"),
            ("a cosignature of another text", Mood::OtherText, "bad-cosignature"),
            ("another key in its name", Mood::OtherKey, "bad-cosignature"),
            ("a clock far ahead", Mood::Ahead(Span::seconds(302)), "early"),
            ("a body without end", Mood::Endless, "malformed"),
            ("never", Mood::Never, "unreachable"),
            ("a conflict without a size", says(409, "conflict"), "malformed"),
            ("a conflict that is none", says(409, "0\n"), "conflict"),
            ("a conflict far beyond", says(409, "9223372036854775807\n"), "ahead"),
            ("a proof that doesn't verify", says(422, ""), "fork"),
            ("sizes without end", Mood::Runs(1), "conflict"),
        ];
        for (what, mood, expected) in table {
            // It forgets what it cosigned too early.
            w.witnesses[0].desk().seen = None;
            w.are(&[mood]);
            w.bench.pass(Span::minutes(6));
            assert_eq!(w.ask().await, 1, "{what}");
            assert_eq!(w.troubles(), [Some(expected)], "{what}");
            assert!(w.asked()[0].len() <= 3, "{what}");
            assert_eq!(w.size("default").await, Err(NOBODY.to_owned()), "{what}");
            assert_eq!(w.shown(), None, "{what}");
            assert_eq!(w.ask().await, 0, "{what}: it isn't asked again at once");
        }
        // As far ahead as gateways allow.
        w.witnesses[0].desk().seen = None;
        w.are(&[Mood::Ahead(Span::minutes(5))]);
        w.bench.pass(Span::minutes(6));
        w.app.resign().await.expect("answers");
        w.ask().await;
        assert_eq!((w.size("default").await, w.troubles()), (Ok(3), vec![None]));
    }));
}

#[test]
fn a_witness_is_asked_again_from_where_it_says_that_it_is() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 1, 1).await;
        let three = w.app.moment().checkpoint.clone();
        w.add_set("a").await;
        // Somebody else has brought it there.
        w.witnesses[0].desk().seen = Some(three);
        w.ask().await;
        assert_eq!(w.asked(), [[(0, 5), (3, 5)]]);
        assert_eq!((w.shown(), w.troubles()), (Some(5), vec![None]));
        // It was restored from a backup.
        w.add_set("b").await;
        w.witnesses[0].desk().seen = None;
        w.ask().await;
        assert_eq!(w.asked(), [[(5, 7), (0, 7)]]);
        assert_eq!((w.shown(), w.size("b").await), (Some(7), Ok(7)));
        // It has this very checkpoint already.
        w.add_set("c").await;
        let nine = w.app.moment().checkpoint.clone();
        w.witnesses[0].desk().seen = Some(nine);
        w.ask().await;
        assert_eq!(w.asked(), [[(7, 9), (9, 9)]]);
        assert_eq!(w.size("c").await, Ok(9));
    }));
}

#[test]
fn all_are_asked_for_one_checkpoint_and_the_next_is_the_newest() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 2, 3).await;
        w.are(&[Mood::Honest, down(), down()]);
        w.ask().await;
        // Written meanwhile, more than once.
        for name in ["a", "b", "c"] {
            w.add_set(name).await;
        }
        w.asked();
        w.are(&[Mood::Honest, Mood::Honest, down()]);
        w.bench.pass(Span::seconds(2));
        w.ask().await;
        assert_eq!(w.asked(), [vec![], vec![(0, 3)], vec![(0, 3)]], "the round goes on");
        assert_eq!((w.shown(), w.size("default").await), (Some(3), Ok(3)));
        w.bench.pass(Span::seconds(4));
        w.ask().await;
        assert_eq!(w.asked(), [[(3, 9)].as_slice(), &[(3, 9)], &[(0, 9)]], "the ones in between are left out");
        for name in ["a", "b", "c"] {
            assert_eq!(w.size(name).await, Ok(9), "{name}: its head was signed anew over the round's checkpoint");
        }
    }));
}

#[test]
fn a_round_is_given_up_when_it_can_not_succeed_and_after_a_minute() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 2, 2).await;
        w.are(&[Mood::Honest, down()]);
        w.ask().await;
        w.add_set("a").await;
        let five = w.app.moment().checkpoint.clone();
        // A monitor has brought the second further than the round's checkpoint.
        w.witnesses[1].desk().seen = Some(five);
        w.are(&[Mood::Honest, Mood::Honest]);
        w.asked();
        w.bench.pass(Span::seconds(2));
        w.ask().await;
        assert_eq!((w.asked(), w.shown()), (vec![vec![], vec![(0, 3)]], None));
        w.ask().await;
        assert_eq!((w.asked(), w.shown()), (vec![vec![(3, 5)], vec![(5, 5)]], Some(5)));
        // One is away for long: the others are asked for what is newest all the same, once a minute.
        w.are(&[Mood::Honest, down()]);
        w.add_set("b").await;
        w.ask().await;
        w.add_set("c").await;
        w.bench.pass(Span::seconds(59));
        w.ask().await;
        assert_eq!(w.asked()[0], [(5, 7)]);
        w.bench.pass(Span::seconds(1));
        w.ask().await;
        assert_eq!(w.asked()[0], [(7, 9)]);
    }));
}

#[test]
fn replicas_share_the_asking_and_serve_what_the_others_got() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 2, 3).await;
        let other = w.bench.open_with(&w.settings, true).await.expect("opens");
        let (here, there) = tokio::join!(w.app.ask_witnesses(), other.ask_witnesses());
        assert!(here.expect("answers") + there.expect("answers") >= 3);
        for asked in w.asked() {
            assert_eq!(asked, [(0, 3)], "each once");
        }
        for app in [&w.app, &other] {
            app.refresh().await.expect("answers");
            assert_eq!(gateway(app, "default", None).await.map(|seen| seen.checkpoint.size), Ok(3));
        }
        other.write(AddSet("a".to_owned())).await.expect("written");
        w.app.refresh().await.expect("answers");
        w.ask().await;
        assert_eq!(gateway(&other, "a", None).await, Err(NOBODY.to_owned()));
        other.refresh().await.expect("answers");
        assert_eq!(gateway(&other, "a", None).await.map(|seen| seen.checkpoint.size), Ok(5));
        // After a restart it is all there.
        w.app.close().await;
        other.close().await;
        let again = w.bench.open_with(&w.settings, true).await.expect("opens");
        assert_eq!(gateway(&again, "a", None).await.map(|seen| seen.checkpoint.size), Ok(5));
        assert_eq!(again.ask_witnesses().await.expect("answers"), 0);
    }));
}

#[test]
fn a_registry_that_gets_witnesses_later_serves_what_it_served_until_they_have_cosigned() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        assert_eq!(app.quorum(), None);
        let before = gateway(&app, "default", None).await.expect("served");
        assert_eq!(app.moment().shown.as_ref(), Some(&app.moment().note));
        app.close().await;
        let witness = Witness::new(&bench.clock, 1).await;
        let policy = Witness::policy(1, std::slice::from_ref(&witness));
        let settings =
            config::Registry { witnesses: Some(Witnesses::parse(&policy).expect("a policy")), ..bench.settings() };
        let app = bench.open_with(&settings, true).await.expect("opens");
        witness.desk().logs = trust(&app).logs().expect("names the log");
        assert_eq!(app.quorum(), Some(QuorumHealth { cosigned: 0, in_trust: false }));
        assert_eq!(gateway(&app, "default", None).await, Ok(before), "the trust file asks for no witness yet");
        app.write(AddSet("a".to_owned())).await.expect("written");
        assert_eq!(gateway(&app, "a", None).await, Err(NOBODY.to_owned()));
        app.ask_witnesses().await.expect("answers");
        assert_eq!(gateway(&app, "a", None).await.map(|seen| seen.checkpoint.size), Ok(5));
    }));
}

#[test]
fn settings_without_the_witnesses_that_the_trust_file_asks_for_release_nothing() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 1, 1).await;
        w.ask().await;
        w.app.close().await;
        let bare = config::Registry { witnesses: None, ..w.settings.clone() };
        let app = w.bench.open_with(&bare, true).await.expect("opens");
        assert_eq!(app.quorum().map(|quorum| quorum.in_trust), Some(false));
        app.write(AddSet("a".to_owned())).await.expect("written");
        assert_eq!(app.ask_witnesses().await.expect("answers"), 0);
        assert_eq!(gateway(&app, "a", None).await, Err(NOBODY.to_owned()));
        assert_eq!(gateway(&app, "default", None).await.map(|seen| seen.checkpoint.size), Ok(3));
    }));
}

#[test]
fn in_a_new_epoch_heads_wait_until_witnesses_know_the_new_name() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 1, 1).await;
        w.add_set("a").await;
        w.ask().await;
        let before = w.gateway("default", None).await.expect("served");
        assert_eq!(w.asked(), [[(0, 5)]]);
        let change = Change::Epoch { origin: "pins.example/2".to_owned(), version: None };
        let terms = service::trust::draft(&w.app, change).expect("drafted").terms;
        assert!(terms.witnesses.is_some(), "the quorum goes along");
        let next = service::trust::sign(&w.app, &terms, vec![]).expect("signed");
        let by = Governor { by: ReviewerId::local_operator(), name: "test".to_owned() };
        service::trust::publish(&w.app, next.note(), by).await.expect("published");

        // The witness doesn't know this name; what it cosigned under the old one says nothing about the new log.
        assert_eq!(w.ask().await, 1);
        assert_eq!(w.troubles(), [Some("refused")]);
        assert!(w.gateway("default", None).await.is_err(), "gateways that follow wait");
        let old = Trust::first(&w.app.moment().trust.note).expect("reads");
        assert_eq!(old.terms().epoch, 2);
        assert_eq!(before.checkpoint.origin, "pins.example");

        // It is told, and begins anew from nothing.
        {
            let mut desk = w.witnesses[0].desk();
            (desk.logs, desk.seen) = (old.logs().expect("names the log"), None);
        }
        w.asked();
        w.bench.pass(Span::seconds(1));
        w.ask().await;
        let size = w.app.moment().checkpoint.size;
        assert_eq!(w.asked(), [[(5, size), (0, size)]]);
        let seen = w.gateway("default", None).await.expect("cosigned");
        assert_eq!((seen.checkpoint.origin.as_str(), seen.checkpoint.size), ("pins.example/2", size));
        assert_eq!(w.shown(), Some(size));
    }));
}

#[test]
fn a_gateway_refuses_a_head_whose_checkpoint_lacks_the_quorum() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 2, 3).await;
        w.ask().await;
        let set: SetName = "default".parse().expect("legal");
        let mut answer = distribute::head(&w.app, &set, 0).await.expect("served");
        let check = |answer: &HeadAnswer, now: Timestamp| {
            verify::head(&trust(&w.app), &set, None, answer, now).map(|head| head.seen().version)
        };
        let now = w.bench.clock.now();
        assert_eq!(check(&answer, now).expect("cosigned"), 1);
        let whole = answer.proof.checkpoint.clone();
        let own = w.app.moment().note.to_string();
        let cosignatures: Vec<&str> = whole.strip_prefix(&own).expect("the same note").split_inclusive('\n').collect();
        assert_eq!(cosignatures.len(), 3);
        for (what, lines, counted) in [
            ("none", String::new(), 0),
            ("one", cosignatures[0].to_owned(), 1),
            ("one, twice", cosignatures[0].repeat(2), 1),
        ] {
            answer.proof.checkpoint = own.clone() + &lines;
            let refused = check(&answer, now).expect_err(what);
            let expected = Unwitnessed::Quorum { counted, of: 3, early: 0 };
            assert!(matches!(&refused, Refused::Unwitnessed(why) if *why == expected), "{what}: {refused}");
        }
        answer.proof.checkpoint = own + cosignatures[1] + cosignatures[2];
        assert_eq!(check(&answer, now).expect("any two"), 1);
        let moved = answer.proof.checkpoint.replace("w2.example", "w3.example");
        answer.proof.checkpoint = moved;
        assert!(matches!(check(&answer, now), Err(Refused::Unwitnessed(_))));
    }));
}

#[test]
fn a_gateway_does_not_count_cosignatures_of_a_time_that_is_too_far_away() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 1, 1).await;
        w.are(&[Mood::Ahead(Span::minutes(5))]);
        w.ask().await;
        let set: SetName = "default".parse().expect("legal");
        let answer = distribute::head(&w.app, &set, 0).await.expect("served");
        let check = |now: Timestamp| verify::head(&trust(&w.app), &set, None, &answer, now).map(|_| ());
        let now = w.bench.clock.now();
        assert!(check(now).is_ok());
        let early = Unwitnessed::Quorum { counted: 0, of: 1, early: 1 };
        let refused = check(now.minus(Span::seconds(1))).expect_err("five minutes and a second");
        assert!(matches!(&refused, Refused::Unwitnessed(why) if *why == early), "{refused}");
    }));
}

#[test]
fn a_slow_witness_keeps_nobody_waiting() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 2, 3).await;
        w.are(&[Mood::Never, Mood::Honest, Mood::Honest]);
        let running = tokio::spawn(jobs::run(w.app.clone()));
        let released = || w.app.moment().released.contains_key(&"default".parse().expect("legal"));
        eventually(|| w.bench.pass(Span::millis(5)), released).await;
        let seen = || w.troubles()[0] == Some("unreachable");
        eventually(|| w.bench.pass(Span::millis(5)), seen).await;
        running.abort();
        assert_eq!(w.size("default").await, Ok(3));
    }));
}

#[test]
fn no_head_of_an_earlier_version_is_ever_signed_or_released_after_a_later_one() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 2, 3).await;
        let running = tokio::spawn(jobs::run(w.app.clone()));
        let mut held: Option<Seen> = None;
        let app = Arc::new(w.app.clone());
        for n in 0..12 {
            w.add_set(&format!("s{n}")).await;
            w.bench.pass(Span::minutes(4));
            w.are(&[Mood::Honest, if n % 3 == 0 { down() } else { Mood::Honest }, Mood::Honest]);
            tokio::time::timeout(Duration::from_secs(5), app.refresh()).await.expect("in time").expect("answers");
            match w.gateway("default", held.as_ref()).await {
                Ok(seen) => held = Some(seen),
                Err(why) => assert!(why == NOBODY || why.starts_with("the head expired"), "{why}"),
            }
        }
        let all = || (0..12).all(|n| w.app.moment().released.contains_key(&format!("s{n}").parse().expect("legal")));
        eventually(|| w.bench.pass(Span::millis(5)), all).await;
        running.abort();
        check_log(&w.app).await;
    }));
}

#[test]
fn the_first_head_of_a_pin_set_is_not_mistaken_for_no_pin_set() {
    block_on(on_both(async |fresh| {
        let w = Watched::new(fresh, 1, 1).await;
        let ask = async |set: &str| distribute::head(&w.app, &set.parse().expect("legal"), 0).await;
        assert!(matches!(ask("default").await, Err(NoHead::Unreleased)));
        assert!(matches!(ask("elsewhere").await, Err(NoHead::NoSet)));
    }));
}
