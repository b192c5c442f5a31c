//! A registry with witnesses as an operator starts it and a gateway uses it: settings in DIR, `serve` with its jobs, `pull`.

use std::fs;

use countersign::{
    cli::serve,
    clock::{Span, Timestamp},
    config::{self, Database, Flags},
    env::ManualClock,
    pinset::trust::Trust,
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
            let fresh = |head: &std::sync::Arc<countersign::store::Head>| {
                use countersign::env::Clock as _;
                head.expires > clock.now()
            };
            running.app.quorum().is_some_and(|q| q.cosigned > before) && moment.released.values().all(fresh)
        };
        eventually(|| clock.advance(Span::millis(5)), again).await;
        let ran = pull().await;
        assert_eq!(ran.exit, 0, "{ran}");
        running.stop().await.expect("ends");
    }));
}
