//! A registry with witnesses as an operator starts it and a gateway uses it: settings in DIR, `serve` with its jobs, `pull`.

use std::fs;

use countersign::{
    cli::serve,
    clock::{Span, Timestamp},
    config::{self, Database, Flags},
    env::{Clock as _, ManualClock},
    pinset::{
        trust::Trust,
        verify::{self, HeadAnswer, Refused},
    },
};

use crate::{
    databases::{block_on, on_both},
    doubles::{Mood, Witness},
    service::eventually,
    terminal::Desk,
};

#[test]
fn a_gateway_gets_heads_once_witnesses_have_cosigned_and_stops_when_they_stay_away() {
    block_on(on_both(async |fresh| {
        let clock = ManualClock::at("2026-12-01T09:00:00.000000Z".parse::<Timestamp>().expect("a time"));
        let desk = Desk::at(&clock);
        let mut witnesses = Vec::new();
        for n in 1..=3 {
            witnesses.push(Witness::new(&clock, n).await);
        }
        let data = fresh.dir.path().join("data");
        fs::create_dir(&data).expect("made");
        fs::write(data.join("countersign.toml"), "witnesses = 'witnesses.policy'\n").expect("written");
        fs::write(data.join("witnesses.policy"), Witness::policy(2, &witnesses)).expect("written");
        let database_url = match &fresh.database {
            Database::Postgres(url) => Some(url.clone()),
            Database::Sqlite(_) => None,
        };
        let flags = Flags { listen: Some("127.0.0.1:0".to_owned()), database_url, ..Flags::default() };
        let settings = config::Serve::load(&data, &flags, &desk.vars).expect("settings");
        let running = serve::start(&settings, &desk.env()).await.expect("starts");
        let path = |name: &str| fresh.dir.path().join(name).to_str().expect("text").to_owned();
        let (url, trust, state) = (running.url.as_str().to_owned(), path("trust.txt"), path("state"));
        assert_eq!(desk.run(["trust", &url, "-o", &trust, "--yes"]).await.exit, 0);
        let trusted = Trust::first(&fs::read_to_string(&trust).expect("text")).expect("a trust file");
        assert_eq!(trusted.terms().witnesses.as_ref().map(|policy| policy.witnesses().len()), Some(3));
        let pull = async || {
            let pull = ["pull", "--registry", &url, "--pinset", "default", "--trust", &trust, "--state", &state];
            Desk::at(&clock).run(pull).await
        };
        // The witnesses don't know this log yet.
        let ran = pull().await;
        assert_eq!(ran.exit, 3, "{ran}");
        assert!(ran.stderr.contains("(unwitnessed)"), "{ran}");
        for witness in &witnesses {
            witness.desk().logs = trusted.logs().expect("keys");
        }
        witnesses[2].is(Mood::Never);
        let cosigned = || running.app.quorum().is_some_and(|quorum| quorum.cosigned > 0);
        eventually(|| clock.advance(Span::millis(5)), cosigned).await;
        let ran = pull().await;
        assert_eq!(ran.exit, 0, "{ran}");
        // Two are gone, and the log grows: what gateways have runs out.
        witnesses.iter().for_each(|witness| witness.is(Mood::Says(503, String::new())));
        let mut grow = vec!["admin", "--data", data.to_str().expect("text")];
        let database = flags.database_url.as_ref().map(|url| url.reveal().to_owned());
        grow.extend(database.iter().flat_map(|url| ["--database-url", url]));
        grow.extend(["pinset", "add", "prod"]);
        let ran = desk.run(grow).await;
        assert_eq!(ran.exit, 0, "{ran}");
        clock.advance(Span::minutes(30));
        assert_eq!(pull().await.exit, 0, "the old head is served as long as it lasts");
        clock.advance(Span::minutes(40));
        let ran = pull().await;
        assert_eq!(ran.exit, 3, "{ran}");
        assert!(ran.stderr.contains("expired"), "{ran}");
        // They come back, and so do gateways.
        let before = running.app.quorum().expect("asked for").cosigned;
        witnesses.iter().for_each(|witness| witness.is(Mood::Honest));
        let again = || {
            let moment = running.app.moment();
            let fresh = |head: &std::sync::Arc<countersign::store::Head>| head.expires > clock.now();
            running.app.quorum().is_some_and(|q| q.cosigned > before) && moment.released.values().all(fresh)
        };
        eventually(|| clock.advance(Span::millis(5)), again).await;
        let ran = pull().await;
        assert_eq!(ran.exit, 0, "{ran}");
        running.stop().await.expect("ends");
    }));
}

#[test]
fn a_registry_gets_witnesses_later_and_gateways_follow_without_a_gap() {
    block_on(on_both(async |fresh| {
        let clock = ManualClock::at("2026-12-01T09:00:00.000000Z".parse::<Timestamp>().expect("a time"));
        let desk = Desk::at(&clock);
        let path = |name: &str| fresh.dir.path().join(name).to_str().expect("text").to_owned();
        let data = fresh.dir.path().join("data");
        let database_url = match &fresh.database {
            Database::Postgres(url) => Some(url.clone()),
            Database::Sqlite(_) => None,
        };
        let flags = Flags { listen: Some("127.0.0.1:0".to_owned()), database_url, ..Flags::default() };
        let serve = async || {
            let settings = config::Serve::load(&data, &flags, &desk.vars).expect("settings");
            serve::start(&settings, &desk.env()).await.expect("starts")
        };
        let (trust, state) = (path("trust.txt"), path("state"));
        let pull = async |url: &str| {
            let pull = ["pull", "--registry", url, "--pinset", "default", "--trust", &trust, "--state", &state];
            Desk::at(&clock).run(pull).await
        };
        let running = serve().await;
        let url = running.url.as_str().to_owned();
        assert_eq!(desk.run(["trust", &url, "-o", &trust, "--yes"]).await.exit, 0);
        assert_eq!(pull(&url).await.exit, 0);
        running.stop().await.expect("ends");

        // The settings name them; heads wait for them from now on, though no gateway asks for it yet.
        let witness = Witness::new(&clock, 1).await;
        witness.desk().logs =
            Trust::first(&fs::read_to_string(&trust).expect("text")).expect("reads").logs().expect("keys");
        let policy = Witness::policy(1, std::slice::from_ref(&witness));
        fs::write(data.join("countersign.toml"), "witnesses = 'witnesses.policy'\n").expect("written");
        fs::write(data.join("witnesses.policy"), &policy).expect("written");
        let running = serve().await;
        let (app, url) = (running.app.clone(), running.url.as_str().to_owned());
        let default = "default".parse().expect("legal");
        eventually(|| clock.advance(Span::millis(5)), || app.quorum().is_some_and(|quorum| quorum.cosigned > 0)).await;
        assert_eq!(app.quorum().map(|quorum| quorum.in_trust), Some(false));
        assert_eq!(pull(&url).await.exit, 0);

        // Drafted from the settings, signed where the root key is, published.
        let (draft, signed) = (path("draft.txt"), path("signed.txt"));
        let root = data.join("keys/root.pem").to_str().expect("text").to_owned();
        let admin = async |args: &[&str]| {
            let mut all = vec!["admin", "--data", data.to_str().expect("text")];
            let database = flags.database_url.as_ref().map(|url| url.reveal().to_owned());
            all.extend(database.iter().flat_map(|url| ["--database-url", url]));
            all.extend(args);
            // Two processes have no randomness in common.
            let ran = Desk { seed: 77, ..Desk::at(&clock) }.run(all).await;
            assert_eq!(ran.exit, 0, "{ran}");
        };
        admin(&["trust", "draft", "-o", &draft]).await;
        let text = fs::read_to_string(&draft).expect("written");
        assert!(text.ends_with("\ngroup enough 1 w1\nquorum enough\n") && !text.contains("http"), "{text}");
        assert_eq!(desk.run(["trust", "sign", &draft, "--key", &root, "-o", &signed]).await.exit, 0);
        admin(&["trust", "publish", &signed]).await;
        eventually(|| clock.advance(Span::millis(5)), || app.moment().trust.version == 2).await;
        assert_eq!(app.quorum().map(|quorum| quorum.in_trust), Some(true));
        let ran = pull(&url).await;
        assert_eq!(ran.exit, 0, "what was cosigned before counts under the new file at once: {ran}");
        assert!(ran.stderr.contains("a newer trust file"), "{ran}");

        // It asks for the quorum: what the registry's keys alone have signed is refused now.
        let now_trusted = Trust::first(&app.moment().trust.note).expect("reads");
        let answer = reqwest::get(format!("{}/v1/pinsets/default/head", url.trim_end_matches('/'))).await;
        let answer = answer.expect("answers").bytes().await.expect("whole");
        let mut answer = HeadAnswer::parse(&answer).expect("reads");
        verify::head(&now_trusted, &default, None, &answer, clock.now()).expect("cosigned");
        let lines: Vec<&str> = answer.proof.checkpoint.lines().filter(|line| !line.contains(" w1.example ")).collect();
        answer.proof.checkpoint = format!("{}\n", lines.join("\n"));
        let refused = verify::head(&now_trusted, &default, None, &answer, clock.now()).expect_err("no quorum");
        assert!(matches!(refused, Refused::Unwitnessed(_)), "{refused}");
        let without = Trust::first(&fs::read_to_string(path("trust.txt")).expect("text")).expect("reads");
        assert_eq!(without.terms().version, 1, "the file that a person compared stays as it was");
        verify::head(&without, &default, None, &answer, clock.now()).expect("the file before asks for none");

        // A rotated key changes nothing about them.
        admin(&["key", "rotate", "head", "--activates", "1h"]).await;
        eventually(|| clock.advance(Span::millis(5)), || app.moment().trust.version == 3).await;
        assert_eq!(app.quorum().map(|quorum| quorum.in_trust), Some(true));
        running.stop().await.expect("ends");
    }));
}
