//! What readers, gateways and operators see of a registry with witnesses, through its doors.

use countersign::{
    clock::Span,
    config::{Readers, Registry, Witnesses},
    pinset::{
        trust::Trust,
        verify::{self, HeadAnswer, Refused},
    },
};
use serde_json::json;

use super::{EXPORT, SEARCH, Site};
use crate::{
    databases::{Fresh, block_on, on_both},
    doubles::{Mood, Witness},
    service::Bench,
};

async fn watched(fresh: &Fresh) -> (Site, Vec<Witness>) {
    let bench = Bench::new(fresh);
    let mut witnesses = Vec::new();
    for n in 1..=3 {
        witnesses.push(Witness::new(&bench.clock, n).await);
    }
    let policy = Witnesses::parse(&Witness::policy(2, &witnesses)).expect("a policy");
    let settings = Registry { witnesses: Some(policy), ..bench.settings() };
    let site = Site::of(&bench, &settings, Readers::Anonymous).await;
    let trust = trust(&site).await;
    for witness in &witnesses {
        witness.desk().logs = trust.logs().expect("keys");
    }
    (site, witnesses)
}

async fn trust(site: &Site) -> Trust {
    let note = String::from_utf8(site.get("/v1/trust").await.body).expect("text");
    Trust::first(&note).expect("a trust file")
}

async fn ask(site: &Site) {
    site.app.ask_witnesses().await.expect("the database answers");
}

/// What a gateway gets, if it takes what it is served.
async fn pull(site: &Site) -> Result<u64, String> {
    let reply = site.get("/v1/pinsets/default/head").await;
    if reply.status != 200 {
        return Err(reply.problem().1);
    }
    let (answer, now) = (HeadAnswer::parse(&reply.body).expect("an answer"), now(site));
    let head = verify::head(&trust(site).await, &"default".parse().expect("legal"), None, &answer, now);
    head.and_then(|head| head.fresh(now)).map(|head| head.head().version).map_err(|e| match e {
        Refused::Expired(_) => "expired".to_owned(),
        other => other.to_string(),
    })
}

fn now(site: &Site) -> countersign::clock::Timestamp {
    use countersign::env::Clock as _;
    site.clock.now()
}

#[test]
fn a_revocation_that_witnesses_have_not_seen_still_ends_the_pin_when_the_old_head_does() {
    block_on(on_both(async |fresh| {
        let (site, witnesses) = watched(fresh).await;
        assert_eq!(pull(&site).await, Err("unwitnessed".to_owned()));
        assert_eq!(site.get("/log/checkpoint").await.problem(), (503, "unwitnessed".to_owned()));
        ask(&site).await;
        let published = site.published("1.0.0", &[EXPORT, SEARCH]).await;
        site.bound().await;
        site.approved(&published).await;
        ask(&site).await;
        let version = pull(&site).await.expect("cosigned");
        let served = site.get("/v1/pinsets/default/head").await.body;
        let list = json!({"servers": [{"alias": "notes", "complete": true, "tools": [serde_json::from_str::<serde_json::Value>(EXPORT).expect("JSON")]}]});
        assert_eq!(site.check(&list).await["results"][0]["verdict"], "approved");

        witnesses.iter().take(2).for_each(|witness| witness.is(Mood::Says(503, String::new())));
        let digest = countersign::descriptor::Descriptor::parse(countersign::descriptor::Kind::Tool, EXPORT.as_bytes())
            .expect("strict")
            .digest();
        let body = json!({"name": "notes.export", "digest": digest.to_string(), "reason": "It was wrong."});
        let reply = site.post_json(&site.ada, "/v1/pinsets/default/revocations", &body).await;
        assert_eq!(reply.status, 201, "{reply}");
        let revoked_at = now(&site);
        assert!(reply.json()["log"]["proof"].as_str().expect("a proof").starts_with("c2sp.org/tlog-proof@v1"));
        ask(&site).await;
        assert_eq!(site.get("/v1/pinsets/default/head").await.body, served, "gateways get what they got");
        assert_eq!(site.check(&list).await["results"][0]["verdict"], "revoked", "the registry itself knows");
        // However often heads are signed: none of the old version, and the new one waits.
        while now(&site) < revoked_at + Span::minutes(60) {
            assert!(
                matches!(pull(&site).await, Ok(v) if v == version) || pull(&site).await == Err("expired".to_owned())
            );
            site.clock.advance(Span::minutes(15));
            site.app.resign().await.expect("answers");
            ask(&site).await;
        }
        // The head was issued with its version, a few microseconds after the clock's time.
        site.clock.advance(Span::seconds(1));
        assert_eq!(pull(&site).await, Err("expired".to_owned()));
        assert_eq!(site.get("/v1/pinsets/default/head").await.body, served);
        assert_eq!(site.check(&list).await["results"][0]["verdict"], "stale");

        witnesses[0].is(Mood::Honest);
        site.clock.advance(Span::minutes(6));
        site.app.resign().await.expect("answers");
        ask(&site).await;
        assert_eq!(pull(&site).await, Ok(version + 1));
        assert_eq!(site.check(&list).await["results"][0]["verdict"], "revoked");
    }));
}

#[test]
fn an_operator_sees_how_each_witness_is_doing() {
    block_on(on_both(async |fresh| {
        let (site, witnesses) = watched(fresh).await;
        ask(&site).await;
        let first = site.size();
        site.published("1.0.0", &[EXPORT]).await;
        witnesses[1].is(Mood::Says(422, String::new()));
        witnesses[2].desk().logs.clear();
        ask(&site).await;
        let (size, ready) = (site.size(), site.get("/readyz").await);
        assert_eq!(ready.status, 200, "what is served is still true");
        let ready = ready.json();
        assert_eq!(ready["quorum"], json!({"size": first, "lag": size - first, "in_trust": true}));
        let at = now(&site).to_string();
        let row = |name: &str, size: u64, lag: u64, trouble: Option<&str>| {
            let trouble_at = trouble.map(|_| &at);
            json!({"name": name, "size": size, "lag": lag, "cosigned_at": at, "trouble": trouble, "trouble_at": trouble_at})
        };
        let expected = json!([
            row("w1", size, 0, None),
            row("w2", first, size - first, Some("fork")),
            row("w3", first, size - first, Some("refused"))
        ]);
        assert_eq!(ready["witnesses"], expected);
        let metrics = String::from_utf8(site.get("/metrics").await.body).expect("text");
        for line in [
            format!("countersign_cosigned_size {first}"),
            format!("countersign_witness_lag{{witness=\"w2\"}} {}", size - first),
            format!("countersign_witness_size{{witness=\"w3\"}} {first}"),
            "countersign_witness_trouble{witness=\"w2\",trouble=\"fork\"} 1".to_owned(),
            "countersign_witness_trouble{witness=\"w1\",trouble=\"fork\"} 0".to_owned(),
        ] {
            assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
        }
        let shown = String::from_utf8(site.get("/log/checkpoint").await.body).expect("text");
        let trust = trust(&site).await;
        assert_eq!(trust.open(&shown).expect("signed").size, first);
        assert!(verify::witnessed(&trust, &shown, now(&site)).is_ok());
    }));
}

#[test]
fn without_witnesses_nothing_speaks_of_them() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let ready = site.get("/readyz").await.json();
        assert_eq!((ready.get("quorum"), ready.get("witnesses")), (None, None));
        assert!(!String::from_utf8(site.get("/metrics").await.body).expect("text").contains("countersign_witness"));
        assert!(trust(&site).await.terms().witnesses.is_none());
        assert_eq!(site.get("/log/checkpoint").await.body, site.app.moment().note.as_bytes());
    }));
}
