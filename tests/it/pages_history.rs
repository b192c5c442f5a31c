//! The versions of a pin set: what each changed, what is different between any two, and what became of old documents.

use countersign::{
    canon::Sha256,
    clock::Span,
    name::SetName,
    review::Policy,
    service::history::{self, Reach},
    store::SetVersion,
};

use crate::{
    api::{EXPORT, EXPORT_2, SEARCH},
    databases::block_on,
    pages::{Answer, Browser, Site},
};

const VERSIONS: &str = "/pinsets/default/versions";

fn default_set() -> SetName {
    "default".parse().expect("legal")
}

async fn versions(site: &Site) -> Vec<SetVersion> {
    let mut conn = site.app.reader().conn().await.expect("a connection");
    let mut rows = conn.set_versions(&default_set(), u64::MAX, 1_000).await.expect("reads");
    rows.reverse();
    rows
}

/// The page of a version, by its number.
async fn version(site: &Site, browser: &Browser<'_>, n: usize, query: &str) -> Answer {
    browser.get(&format!("{VERSIONS}/{}{query}", versions(site).await[n - 1].set_sha256)).await
}

/// The rows of the list: number, and what changed.
async fn lines(browser: &Browser<'_>, path: &str) -> Vec<String> {
    let words = browser.get(path).await.page(200);
    words.lines().filter(|line| line.starts_with("version ")).map(str::to_owned).collect()
}

/// A set with a history: a policy, an alias, two pins, a replacement, a renewal, a revocation, a rejection.
async fn worked() -> Site {
    let site = Site::reviewing().await;
    site.policy(Policy { quorum_risky: 1, overlap_hours: 0, ..Policy::default() }).await;
    let reviewer = site.signed_in("reviewer").await;
    let ids = site.publish("com.example/notes", "1.0.0", &[EXPORT, SEARCH]).await;
    reviewer.bind("com.example/notes", "notes").await.leads_to("/servers/com.example/notes");
    for id in &ids {
        assert_eq!(reviewer.vote(id, "approve").await.status, 303);
    }
    let ids = site.publish("com.example/notes", "1.1.0", &[EXPORT_2]).await;
    assert_eq!(reviewer.vote(&ids[0], "approve").await.status, 303);
    site.app.refresh().await.expect("looks");
    site
}

#[test]
fn the_list_says_what_each_version_changed_newest_first() {
    block_on(async {
        let site = worked().await;
        let reader = site.signed_in("auditor").await;
        let lines = lines(&reader, VERSIONS).await;
        let expected = ["1 replaced", "+1 pin", "+1 pin", "alias notes bound", "another policy"];
        assert!(lines.len() > expected.len(), "{lines:#?}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.contains(expected), "{expected}: {line}");
        }
        assert!(lines.last().expect("one").contains("the first: nothing before it"), "{lines:#?}");
        let page = reader.get(VERSIONS).await;
        let rows = versions(&site).await;
        let words = page.page(200);
        assert!(words.contains(&format!("{} so far", rows.len())), "{words}");
        for row in &rows {
            assert!(page.body.contains(&format!("href=\"{VERSIONS}/{}\"", row.set_sha256)));
            assert!(page.body.contains(&format!("href=\"/log/entries/{}\"", row.log_index)));
        }
        // Each pin's entry is linked from the version that it came in.
        let pin = site.app.moment();
        let pin = pin.state.set(&default_set()).expect("a set").aliases().next().expect("one").1.pins().next().cloned();
        let index = pin.expect("a pin").approval.log_index;
        assert!(page.body.contains(&format!("href=\"/log/entries/{index}\">{index}</a>")), "{}", page.body);
        let pinset = reader.get("/pinsets/default").await;
        assert!(pinset.body.contains("href=\"/pinsets/default/versions\""));
        reader.get("/pinsets/nowhere/versions").await.page(404);
        reader.get("/pinsets/No!/versions").await.page(404);
    });
}

#[test]
fn a_long_list_goes_on_by_its_last_version() {
    block_on(async {
        let site = Site::reviewing().await;
        for days in 1..=22 {
            site.policy(Policy { lifetime_days: days, ..Policy::default() }).await;
        }
        let reader = site.signed_in("auditor").await;
        let count = versions(&site).await.len();
        let first = lines(&reader, VERSIONS).await;
        assert_eq!(first.len(), 20);
        assert!(first[0].starts_with(&format!("version {count} ")), "{}", first[0]);
        assert!(first[19].contains("another policy"), "the last shown is compared with one that isn't: {}", first[19]);
        let oldest = count - 19;
        let page = reader.get(VERSIONS).await;
        assert!(page.body.contains(&format!("href=\"{VERSIONS}?before={oldest}\">Older versions")), "{}", page.body);
        let rest = lines(&reader, &format!("{VERSIONS}?before={oldest}")).await;
        assert_eq!(rest.len(), oldest - 1);
        assert!(!reader.get(&format!("{VERSIONS}?before={oldest}")).await.body.contains("Older versions"));
        assert!(lines(&reader, &format!("{VERSIONS}?before=1")).await.is_empty());
    });
}

#[test]
fn a_version_shows_each_difference_with_its_decision_and_its_entry() {
    block_on(async {
        let site = worked().await;
        let reviewer = site.signed_in("reviewer").await;
        let newest = versions(&site).await.len();
        let page = version(&site, &reviewer, newest, "").await;
        let words = page.page(200);
        for expected in
            ["since version", "1 replaced", "replaced notes.export", "evidence in", "1.1.0", "the version before"]
        {
            assert!(words.contains(expected), "{expected}: {words}");
        }
        assert!(page.body.contains("href=\"/decisions/"), "{words}");
        assert!(page.body.contains("decision</a>, <a href=\"/log/entries/"), "{words}");

        let search =
            site.publish("com.example/notes", "1.2.0", &[r#"{"name":"wipe","inputSchema":{"type":"object"}}"#]).await;
        assert_eq!(reviewer.vote(&search[0], "reject").await.status, 303);
        let pinset = reviewer.get("/pinsets/default").await;
        let decision =
            pinset.body.split("href=\"/decisions/").nth(1).and_then(|rest| rest.split('"').next()).expect("a pin");
        let page = reviewer.get(&format!("/decisions/{decision}")).await;
        let mut fields = crate::pages_review::hidden(&page.body, "action=\"/pinsets/default/revocations\"");
        fields.push(("reason".to_owned(), "In doubt.".to_owned()));
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(reviewer.post("/pinsets/default/revocations", &fields).await.status, 303);
        let rows = versions(&site).await;
        let words = version(&site, &reviewer, newest + 1, "").await.page(200);
        assert!(
            words.contains("1 rejected") && words.contains("rejected notes.wipe") && words.contains("was not pinned"),
            "{words}"
        );
        let words = version(&site, &reviewer, newest + 2, "").await.page(200);
        assert!(words.contains("1 revoked") && words.contains("was pinned") && words.contains("then entry"), "{words}");

        // Any two versions, by number or digest, older to newer whichever page it is on.
        for against in
            ["1".to_owned(), "v1".to_owned(), rows[0].set_sha256.to_string(), format!("sha256:{}", rows[0].set_sha256)]
        {
            let words = version(&site, &reviewer, newest + 2, &format!("?against={against}")).await.page(200);
            assert!(words.contains("from version 1 to this one"), "{against}: {words}");
            for expected in [
                "+1 pin",
                "1 revoked",
                "1 rejected",
                "alias notes bound",
                "another policy",
                "bound the alias",
                "the set itself",
            ] {
                assert!(words.contains(expected) || expected == "1 revoked", "{against}: {expected}: {words}");
            }
        }
        let words = version(&site, &reviewer, 1, &format!("?against={}", newest + 2)).await.page(200);
        assert!(words.contains(&format!("from this one to version {}", newest + 2)), "{words}");
        let words = version(&site, &reviewer, 1, "").await.page(200);
        assert!(words.contains("It is the first version: nothing is before it."), "{words}");
        let words = version(&site, &reviewer, 2, "?against=2").await.page(200);
        assert!(words.contains("It is the same version: nothing is different."), "{words}");
        for wrong in ["999", "%3Cscript%3E", &Sha256::of(b"no").to_string()] {
            let words = version(&site, &reviewer, 2, &format!("?against={wrong}")).await.page(200);
            assert!(words.contains("That is no other version of this set."), "{wrong}: {words}");
        }
        reviewer.get(&format!("{VERSIONS}/{}", Sha256::of(b"no"))).await.page(404);
        // A pins document has no page of its own, and neither has another set's version.
        let entry =
            site.app.moment().pin_set(&default_set()).expect("a set").document().aliases.values().next().cloned();
        reviewer.get(&format!("{VERSIONS}/{}", entry.expect("an alias").pins_sha256)).await.page(404);
        reviewer.get(&format!("/pinsets/other/versions/{}", rows[0].set_sha256)).await.page(404);
    });
}

#[test]
fn many_differences_go_on_page_by_page_and_none_is_left_out() {
    block_on(async {
        let site = Site::reviewing().await;
        site.policy(Policy { solo: true, quorum: 1, quorum_risky: 1, ..Policy::default() }).await;
        let reviewer = site.signed_in("reviewer").await;
        let tools: Vec<String> =
            (0..230).map(|i| format!(r#"{{"name":"t{i:03}","inputSchema":{{"type":"object"}}}}"#)).collect();
        let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        let before = versions(&site).await.len();
        let ids = site.publish("com.example/many", "1", &tools).await;
        reviewer.bind("com.example/many", "many").await;
        for id in &ids {
            assert_eq!(reviewer.vote(id, "reject").await.status, 303);
        }
        let path = format!("?against={before}");
        let newest = versions(&site).await.len();
        let page = version(&site, &reviewer, newest, &path).await;
        let words = page.page(200);
        assert!(words.contains("230 rejected, alias many bound"), "{words}");
        assert!(words.contains("31 differences more"), "{words}");
        assert!(
            page.body.contains(&format!("href=\"?against={before}&#38;from=200#h-diff\""))
                || page.body.contains(&format!("href=\"?against={before}&amp;from=200#h-diff\"")),
            "{}",
            page.body
        );
        let rest = version(&site, &reviewer, newest, &format!("?against={before}&from=200")).await.page(200);
        let named = |words: &str| words.lines().filter(|line| line.starts_with("rejected many.t")).count();
        assert_eq!(named(&words) + named(&rest), 230);
        assert!(!rest.contains("differences more"), "{rest}");
    });
}

#[test]
fn a_version_that_was_swept_out_is_made_again_from_the_log() {
    block_on(async {
        let site = worked().await;
        let before: Vec<String> = {
            let reader = site.signed_in("auditor").await;
            lines(&reader, VERSIONS)
                .await
                .into_iter()
                .map(|line| line.rsplit_once(' ').expect("a time").0.to_owned())
                .collect()
        };
        let rows = versions(&site).await;
        let kept = async |row: &SetVersion| {
            site.app.reader().conn().await.expect("a connection").has_content(row.set_sha256).await.expect("reads")
        };
        assert!(kept(&rows[2]).await);
        site.pass(Span::days(31));
        site.app.resign().await.expect("signs");
        site.app.sweep().await.expect("sweeps");
        assert!(!kept(&rows[2]).await, "older documents are gone");
        assert!(kept(rows.last().expect("one")).await, "the newest stays");

        let reader = site.signed_in("auditor").await;
        let after: Vec<String> = lines(&reader, VERSIONS).await;
        assert_eq!(after.len(), before.len());
        for (after, before) in after.iter().zip(&before) {
            let words = before.split(" Show full").next().expect("one");
            assert!(after.starts_with(words), "{words}: {after}");
        }
        let page = version(&site, &reader, 3, "").await;
        let words = page.page(200);
        assert!(words.contains("Made again from the log."), "{words}");
        assert!(
            words.contains("alias notes bound") || words.contains("+1 pin") || words.contains("another policy"),
            "{words}"
        );
        assert!(!words.contains("As published"), "{words}");
        let words = version(&site, &reader, rows.len(), "").await.page(200);
        assert!(words.contains("1 replaced") && !words.contains("Made again"), "{words}");

        // Made again, a version is the same bytes; where the log is too long for that, it is said not to be there.
        let all: Vec<SetVersion> = rows.iter().rev().cloned().collect();
        let history = history::load(&site.app, all.clone(), Reach::of_bytes(1 << 20)).await.expect("loads");
        for (place, row) in all.iter().enumerate() {
            let past = history.get(place).expect("made again");
            assert_eq!(Sha256::of(&past.bytes), row.set_sha256);
            assert_eq!(past.made_again, place != 0);
            if place > 0 {
                assert!(!history.between(place, place - 1).expect("both").expect("comparable").is_empty(), "{place}");
            }
        }
        let short = history::load(&site.app, all.clone(), Reach { bytes: 1 << 20, leaves: 3 }).await.expect("loads");
        assert!(short.get(0).is_some() && short.get(1).is_none());
        assert!(short.between(1, 0).is_none(), "what isn't there is no difference");
        let narrow = history::load(&site.app, all, Reach { bytes: 0, leaves: 1_000 }).await.expect("loads");
        let why = narrow.between(1, 0).expect("both").expect_err("its pins are out of reach").to_string();
        assert!(why.contains("is missing"), "{why}");
    });
}
