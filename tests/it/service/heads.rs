use countersign::{
    clock::{Span, Timestamp},
    pinset::{head::Head, trust::Trust},
    service::App,
};

use super::{AddSet, Bench, START, eventually};
use crate::databases::{block_on, on_both};

fn head(app: &App, set: &str) -> Head {
    let moment = app.moment();
    let trust = Trust::first(&moment.trust.note).expect("verifies");
    let held = moment.heads.get(&set.parse().expect("legal")).expect("has a head");
    Head::open(&held.envelope, &trust.head_keys(at(0).max(app.clock().now()))).expect("signed by the head key")
}

fn at(minutes: u32) -> Timestamp {
    Timestamp::from_micros(START).expect("in range") + Span::minutes(minutes)
}

#[test]
fn a_head_is_signed_with_its_version_and_anew_every_quarter_of_an_hour() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        let first = head(&app, "default");
        assert_eq!((first.version, first.checkpoint_size), (1, 3));
        assert_eq!(first.checkpoint_root, app.moment().checkpoint.root);
        assert_eq!(first.expires, first.issued + Span::hours(1));
        bench.pass(Span::minutes(14));
        assert_eq!(app.resign().await.expect("answers"), 0, "not due");
        app.write(AddSet("prod".to_owned())).await.expect("written");
        bench.pass(Span::minutes(2));
        assert!(app.resign_due() <= at(16));
        assert_eq!(app.resign().await.expect("answers"), 1, "only the one that is due");
        let again = head(&app, "default");
        assert_eq!((again.version, again.issued, again.checkpoint_size), (1, at(16), 5));
        assert_eq!(again.checkpoint_root, app.moment().checkpoint.root);
        assert_eq!(head(&app, "prod").issued, at(14) + Span::micros(1));
    }));
}

#[test]
fn replicas_share_the_signing_and_see_each_others_heads() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let (one, two) = (bench.open().await, bench.open().await);
        bench.pass(Span::minutes(16));
        assert_eq!(one.resign().await.expect("answers"), 1);
        assert_eq!(two.resign().await.expect("answers"), 0, "the other one has");
        two.refresh().await.expect("looks");
        assert_eq!(one.moment().heads, two.moment().heads);
        // A replica that lags signs the newest version all the same.
        one.write(AddSet("prod".to_owned())).await.expect("written");
        bench.pass(Span::minutes(20));
        assert_eq!(two.moment().state.sets().count(), 1);
        assert_eq!(two.resign().await.expect("answers"), 2);
        assert_eq!(head(&two, "prod").checkpoint_size, 5);
    }));
}

#[test]
fn a_head_of_a_replica_whose_clock_is_behind_is_served_by_the_others() {
    block_on(on_both(async |fresh| {
        let (ahead, behind) = (Bench::new(fresh), Bench::new(fresh));
        let (one, two) = (ahead.open().await, behind.open().await);
        ahead.pass(Span::minutes(20));
        one.write(AddSet("prod".to_owned())).await.expect("written");
        behind.pass(Span::minutes(16));
        assert_eq!(two.resign().await.expect("answers"), 1);
        one.refresh().await.expect("looks");
        assert_eq!(one.resign().await.expect("answers"), 0, "the other one has");
        assert_eq!(head(&one, "default").issued, at(16));
    }));
}

#[test]
fn the_job_signs_when_the_clock_says_so() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        let jobs = tokio::spawn(countersign::service::jobs::run(app.clone()));
        bench.pass(Span::minutes(16));
        eventually(|| (), || head(&app, "default").issued >= at(16)).await;
        jobs.abort();
    }));
}

#[test]
fn a_clock_that_is_set_back_stops_no_time_in_the_log() {
    block_on(on_both(async |fresh| {
        let bench = Bench::new(fresh);
        let app = bench.open().await;
        let before = app.write(AddSet("a".to_owned())).await.expect("written").done.at;
        bench.clock.set(Timestamp::from_micros(START).expect("in range").minus(Span::hours(5)));
        let after = app.write(AddSet("b".to_owned())).await.expect("written");
        assert!(after.done.at > before);
        let head = head(&app, "b");
        assert!(head.issued > after.done.at);
        super::check_log(&app).await;
    }));
}
