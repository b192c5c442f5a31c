//! The pages of review: from the queue to a pin and back, and everything that stands in a decision's way.

use countersign::{
    attest::{Level, Role as Speaks},
    clock::Span,
    review::{Policy, ReviewerId},
    service::{
        access::{AddAccount, Principal, SetRoles},
        govern::{self, Governor, SetPolicy},
        publish::{self, Submission},
    },
    store::{Role, Stage},
};

use crate::{
    api::{EXPORT, EXPORT_2, SEARCH, authority, publisher, release, signed},
    databases::block_on,
    pages::{Answer, Browser, Site},
    service::check_log,
};

const REASON: &str = "Read it, and it is needed.";

impl Site {
    /// With people, and a key that speaks for `com.example`.
    pub(crate) async fn reviewing() -> Self {
        let site = Self::staffed().await;
        site.add("second", &[Role::Reviewer]).await;
        authority(&site.app, "com.example", &publisher(), Speaks::Publisher).await;
        site
    }

    pub(crate) async fn publish(&self, server: &str, version: &str, tools: &[&str]) -> Vec<String> {
        self.publish_by(None, server, version, tools).await
    }

    pub(crate) async fn publish_by(
        &self,
        account: Option<&str>,
        server: &str,
        version: &str,
        tools: &[&str],
    ) -> Vec<String> {
        let body = signed(&release(server, version, tools), &publisher(), Speaks::Publisher);
        let submission = Submission::parse(body.as_bytes()).expect("a submission");
        let written = publish::publish(&self.app, account.map(str::to_owned), submission).await.expect("published");
        written.done.candidates.iter().map(|candidate| candidate.id.to_string()).collect()
    }

    pub(crate) async fn policy(&self, policy: Policy) {
        let (pinset, by) = ("default".parse().expect("legal"), ReviewerId::local_operator());
        let set = SetPolicy { pinset, policy, by: Governor { by, name: "test".into() }, alone: true };
        govern::set_policy(&self.app, set).await.expect("set");
    }
}

impl Browser<'_> {
    pub(crate) async fn bind(&self, server: &str, alias: &str) -> Answer {
        self.post(&format!("/servers/{server}/aliases"), &[("set", "default"), ("alias", alias)]).await
    }

    /// The hidden fields of the decision's form as the page has them now.
    pub(crate) async fn shown(&self, id: &str) -> Vec<(String, String)> {
        let page = self.get(&format!("/candidates/{id}?step=decide")).await;
        assert_eq!(page.status, 200, "{}", page.body);
        hidden(&page.body, "id=\"decide\"")
    }

    pub(crate) async fn send_ballot(&self, id: &str, outcome: &str, shown: &[(String, String)]) -> Answer {
        let mut fields: Vec<(&str, &str)> = shown.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        fields.extend([("outcome", outcome), ("reason", REASON), ("read", "yes")]);
        self.post(&format!("/candidates/{id}/decisions"), &fields).await
    }

    pub(crate) async fn vote(&self, id: &str, outcome: &str) -> Answer {
        self.send_ballot(id, outcome, &self.shown(id).await).await
    }
}

/// Name and value of each hidden field of the form that has this in its tag.
pub(crate) fn hidden(html: &str, form: &str) -> Vec<(String, String)> {
    let (_, rest) = html.split_once(form).unwrap_or_else(|| panic!("no {form}: {html}"));
    let form = rest.split_once("</form>").expect("ends").0;
    let field = |field: &str| {
        let value = |name: &str| field.split_once(name)?.1.split('"').next().map(str::to_owned);
        Some((value("name=\"")?, value("value=\"")?))
    };
    form.split("<input type=\"hidden\"").skip(1).filter_map(field).collect()
}

fn links(html: &str, to: &str) -> Vec<String> {
    let hrefs = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    hrefs.filter(|href| href.starts_with(to)).map(str::to_owned).collect()
}

#[test]
fn the_whole_way_from_a_release_to_a_pin_and_back_goes_by_pages() {
    block_on(async {
        let site = Site::reviewing().await;
        let reviewer = site.signed_in("reviewer").await;
        assert!(reviewer.get("/queue").await.page(200).contains("Nothing waits for a decision."));
        assert!(reviewer.get("/").await.page(200).contains("Publish a first release"));
        let ids = site.publish("com.example/notes", "1.0.0", &[EXPORT, SEARCH]).await;

        let queue = reviewer.get("/queue").await;
        let words = queue.page(200);
        assert!(words.contains("2 candidates wait, most urgent first."), "{words}");
        assert!(words.contains("Exports the notes."), "{words}");
        assert_eq!(links(&queue.body, "/candidates/").len(), 2);

        // Until an alias is bound the page says so, offers the form, and offers no approval.
        let page = reviewer.get(&format!("/candidates/{}?step=decide", ids[0])).await;
        let words = page.page(200);
        assert!(words.contains("Bind an alias before approving."), "{words}");
        assert!(words.contains("Approving is not offered: the server has no alias in this set yet."), "{words}");
        assert!(!page.body.contains("value=\"approve\""));
        let mut fields = hidden(&page.body, "action=\"/servers/com.example/notes/aliases\"");
        fields.extend([("set".to_owned(), "default".to_owned()), ("alias".to_owned(), "notes".to_owned())]);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let bound = reviewer.post("/servers/com.example/notes/aliases", &fields).await;
        bound.leads_to(&format!("/candidates/{}", ids[0]));

        // Nothing is chosen beforehand, and after a decision the next one is shown.
        let page = reviewer.get(&format!("/candidates/{}?step=decide", ids[0])).await;
        assert!(!page.body.contains("checked"), "nothing is ticked");
        assert!(page.page(200).contains("allow this digest only as notes.export in default"), "{}", page.page(200));
        let next = reviewer.vote(&ids[0], "approve").await;
        next.leads_to(&format!("/candidates/{}?done={}", ids[1], ids[0]));
        let words = reviewer.get(next.header("location")).await.page(200);
        assert!(words.contains("Approved.") && words.contains("notes.export"), "{words}");
        reviewer.vote(&ids[1], "approve").await.leads_to(&format!("/candidates/{0}?done={0}", ids[1]));

        let pinset = reviewer.get("/pinsets/default").await;
        let words = pinset.page(200);
        assert!(words.contains("2 pins of 1 server."), "{words}");
        assert!(words.contains(&format!("--fingerprint {}", site.app.fingerprint())), "{words}");
        assert!(words.contains("countersign pull --registry https://pins.example --pinset default"), "{words}");
        let old = site.app.moment().pin_set(&"default".parse().expect("legal")).expect("a set").sha256();

        // The changed release: the page names what grew, and the old pin stays.
        let changed = site.publish("com.example/notes", "1.1.0", &[EXPORT_2, SEARCH]).await;
        assert_eq!(changed.len(), 1, "what didn't change opens nothing");
        let words = reviewer.get("/queue?reason=changed").await.page(200);
        assert!(words.contains("let the tool do more") || words.contains("lets the tool do more"), "{words}");
        let page = reviewer.get(&format!("/candidates/{}", changed[0])).await;
        let words = page.page(200);
        assert!(words.contains("The description is the same, word for word. What the tool can do is not."), "{words}");
        assert!(words.contains("Its capability grew: /annotations/destructiveHint hint flipped"), "{words}");
        assert!(words.contains("gateways keep that one and quarantine this"), "{words}");
        assert!(
            words.contains("Two are needed") || words.contains("2 reviewers must agree: its capability grew."),
            "{words}"
        );
        let now = site.app.moment().pin_set(&"default".parse().expect("legal")).expect("a set").sha256();
        assert_eq!(now, old, "gateways get what they had");

        // Two agree; the pin moves; one takes it back.
        let waits = reviewer.vote(&changed[0], "approve").await;
        assert_eq!(waits.status, 303, "{}", waits.body);
        let words = reviewer.get(&format!("/candidates/{}?step=decide", changed[0])).await.page(200);
        assert!(words.contains("1 of 2 ballots") && words.contains("Your ballot to approve is counted."), "{words}");
        site.signed_in("second").await.vote(&changed[0], "approve").await;
        let pinset = reviewer.get("/pinsets/default").await;
        let decisions = links(&pinset.body, "/decisions/");
        let page = reviewer.get(&decisions[0]).await;
        assert!(page.page(200).contains("2-of-2"), "{}", page.page(200));
        let mut fields = hidden(&page.body, "action=\"/pinsets/default/revocations\"");
        fields.push(("reason".to_owned(), "The publisher's key is in doubt.".to_owned()));
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let revoked = reviewer.post("/pinsets/default/revocations", &fields).await;
        let words = reviewer.get(revoked.header("location")).await.page(200);
        assert!(words.contains("Revoked. The pin was taken back"), "{words}");
        assert!(reviewer.get("/pinsets/default").await.page(200).contains("revoked"));
        let again = reviewer.post("/pinsets/default/revocations", &fields).await;
        assert_eq!(
            (again.status, again.header("location")),
            (revoked.status, revoked.header("location")),
            "the first answer"
        );
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(n, v)| if *n == "reason" { (*n, "Another reason.") } else { (*n, *v) }).collect();
        let other = reviewer.post("/pinsets/default/revocations", &fields).await;
        assert!(other.page(404).contains("The pin was not revoked."), "{}", other.body);

        // Every page that there is, read by who may read it all.
        for path in [
            "/",
            "/queue",
            "/queue?state=approved",
            "/queue?state=revoked",
            "/servers",
            "/servers/com.example/notes",
            "/pinsets",
            "/pinsets/default",
            "/pinsets/default?state=expired",
            "/log",
            "/log?type=decision",
            "/log/entries/0",
            "/check",
        ] {
            reviewer.get(path).await.page(200);
        }
        let size = site.app.moment().checkpoint.size;
        let entry = reviewer.get(&format!("/log/entries/{}", size - 1)).await;
        assert!(entry.page(200).contains("c2sp.org/tlog-proof@v1"), "{}", entry.page(200));
        let server = reviewer.get("/servers/com.example/notes").await;
        let releases = links(&server.body, "/releases/");
        assert!(reviewer.get(&releases[0]).await.page(200).contains("A release of 2 descriptors"));
        let version = links(&reviewer.get("/pinsets/default").await.body, "/pinsets/default/versions/");
        assert!(reviewer.get(&version[0]).await.page(200).contains("What gateways got with this version: 1 server."));
        check_log(&site.app).await;
    });
}

#[test]
fn a_vote_on_what_has_changed_since_keeps_the_reason_and_says_what_moved() {
    block_on(async {
        let site = Site::reviewing().await;
        let reviewer = site.signed_in("reviewer").await;
        let ids = site.publish("com.example/notes", "1.0.0", &[EXPORT]).await;
        reviewer.bind("com.example/notes", "notes").await.leads_to("/servers/com.example/notes");
        let shown = reviewer.shown(&ids[0]).await;
        site.policy(Policy { lifetime_days: 30, ..Policy::default() }).await;
        let size = site.app.moment().checkpoint.size;
        let stale = reviewer.send_ballot(&ids[0], "approve", &shown).await;
        let words = stale.page(409);
        assert!(words.contains("What you were shown has changed since. Nothing was recorded."), "{words}");
        assert!(words.contains("What moved: the set’s policy is another one."), "{words}");
        assert!(words.contains(REASON), "the reason is kept: {words}");
        assert!(stale.body.contains(&format!("href=\"/candidates/{}\"", ids[0])), "links back");
        assert_eq!(site.app.moment().checkpoint.size, size);
        // The page that came back is bound to what it shows.
        let fields = hidden(&stale.body, "id=\"decide\"");
        assert_ne!(fields, shown);
        assert_eq!(reviewer.send_ballot(&ids[0], "approve", &fields).await.status, 303);
    });
}

#[test]
fn what_was_typed_comes_back_with_what_was_wrong() {
    block_on(async {
        let site = Site::reviewing().await;
        let reviewer = site.signed_in("reviewer").await;
        let ids = site.publish("com.example/notes", "1.0.0", &[EXPORT, r#"{"name":"bare"}"#]).await;
        reviewer.bind("com.example/notes", "notes").await;
        let path = format!("/candidates/{}/decisions", ids[0]);
        let shown = reviewer.shown(&ids[0]).await;
        let base: Vec<(&str, &str)> = shown.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let with = |more: &[(&'static str, &'static str)]| {
            let mut fields = base.clone();
            fields.extend(more);
            fields
        };
        let empty = reviewer.post(&path, &with(&[("outcome", "approve"), ("reason", "  "), ("read", "yes")])).await;
        assert!(empty.body.contains("aria-invalid=\"true\""), "{}", empty.page(422));
        let unread = reviewer.post(&path, &with(&[("outcome", "approve"), ("reason", "I trust them.")])).await;
        let words = unread.page(422);
        assert!(words.contains("approving needs your word") && words.contains("I trust them."), "{words}");
        for (fields, name) in [
            (with(&[("outcome", "revoke"), ("reason", "x")]), "an outcome of another form"),
            (with(&[("outcome", "approve"), ("reason", "x"), ("and", "y")]), "a field too many"),
            (base.clone(), "fields missing"),
        ] {
            assert_eq!(reviewer.post(&path, &fields).await.status, 400, "{name}");
        }
        // A descriptor that can't be pinned is said to be none that could be approved, and is rejected.
        let page = reviewer.get(&format!("/candidates/{}?step=decide", ids[1])).await;
        let words = page.page(200);
        assert!(words.contains("This descriptor can’t be pinned.") && words.contains("schema-missing"), "{words}");
        assert!(!page.body.contains("value=\"approve\"") && page.body.contains("value=\"reject\""));
        assert!(reviewer.vote(&ids[1], "approve").await.page(409).contains("The descriptor can't be pinned"));
        assert_eq!(reviewer.vote(&ids[1], "reject").await.status, 303);
        let words = reviewer.get(&format!("/candidates/{}", ids[1])).await.page(200);
        assert!(words.contains("Rejected: gateways block exactly this digest."), "{words}");
        assert_eq!(reviewer.vote(&ids[1], "reopen").await.status, 303);
        assert!(reviewer.get("/queue").await.page(200).contains("2 candidates wait"));
        for (alias, status, why) in [("Notes", 400, "alias"), ("other", 409, "an alias belongs to one server for good")]
        {
            let answer = reviewer.bind("com.example/notes", alias).await;
            assert!(answer.page(status).contains(why), "{alias}: {}", answer.page(status));
        }
        check_log(&site.app).await;
    });
}

#[test]
fn nobody_decides_on_their_own_submission_and_a_quorum_out_of_reach_is_said() {
    block_on(async {
        let site = Site::reviewing().await;
        site.policy(Policy { quorum: 3, quorum_risky: 3, ..Policy::default() }).await;
        let ids = site.publish_by(Some("reviewer"), "com.example/notes", "1.0.0", &[EXPORT]).await;
        let reviewer = site.signed_in("reviewer").await;
        reviewer.bind("com.example/notes", "notes").await;
        let page = reviewer.get(&format!("/candidates/{}?step=decide", ids[0])).await;
        let words = page.page(200);
        assert!(words.contains("This is your own submission."), "{words}");
        assert!(words.contains("The quorum is out of reach."), "{words}");
        assert!(!page.body.contains("value=\"approve\"") && !page.body.contains("value=\"reject\""));
        let refused = reviewer.vote(&ids[0], "approve").await.page(403);
        assert!(refused.contains("Nobody decides on their own submission"), "{refused}");
        let second = site.signed_in("second").await.vote(&ids[0], "reject").await;
        assert_eq!(second.status, 303);
    });
}

#[test]
fn each_page_is_for_who_its_row_says() {
    block_on(async {
        let site = Site::reviewing().await;
        let ids = site.publish("com.example/notes", "1.0.0", &[EXPORT]).await;
        let reviewer = site.signed_in("reviewer").await;
        reviewer.bind("com.example/notes", "notes").await;
        let shown = reviewer.shown(&ids[0]).await;
        let candidate = format!("/candidates/{}", ids[0]);
        let made = AddAccount {
            name: "plain".parse().expect("legal"),
            password: site.app.hash_password(crate::pages::PASSWORD.parse().expect("long")).await.expect("hashed"),
            roles: [].into(),
            by: Principal::LocalOperator,
        };
        site.app.write(made).await.expect("made");
        let people = [
            site.nobody(),
            site.signed_in("plain").await,
            site.signed_in("auditor").await,
            site.signed_in("reviewer").await,
        ];
        // 303 leads to the sign-in page.
        for (path, expected) in [
            ("/", [303, 200, 200, 200]),
            ("/pinsets", [303, 200, 200, 200]),
            ("/pinsets/default", [303, 200, 200, 200]),
            ("/servers", [303, 200, 200, 200]),
            ("/servers/com.example/notes", [303, 200, 200, 200]),
            ("/log", [303, 200, 200, 200]),
            ("/log/entries/1", [303, 200, 200, 200]),
            ("/check", [303, 200, 200, 200]),
            ("/queue", [303, 403, 200, 200]),
            (&candidate, [303, 403, 200, 200]),
        ] {
            for (browser, status) in people.iter().zip(expected) {
                assert_eq!(browser.get(path).await.status.as_u16(), status, "{path}");
            }
        }
        for (browser, expected) in people[1..].iter().zip(["{\"size\":", "{\"waiting\":1,", "{\"waiting\":1,"]) {
            let counts = browser.get("/counts").await;
            assert!(counts.body.starts_with(expected), "{}", counts.body);
        }
        let words = people[2].get(&format!("{candidate}?step=decide")).await.page(200);
        assert!(words.contains("You can read this. Only reviewers decide."), "{words}");
        let shown: Vec<(&str, &str)> = shown.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let mut vote = shown.clone();
        vote.extend([("outcome", "reject"), ("reason", REASON)]);
        let pin = [("name", "notes.export"), ("kind", "tool"), ("reason", REASON)];
        let size = site.app.moment().checkpoint.size;
        for (path, fields) in [
            (format!("{candidate}/decisions"), &vote[..]),
            ("/servers/com.example/notes/aliases".to_owned(), &[("set", "default"), ("alias", "other")][..]),
            ("/pinsets/default/revocations".to_owned(), &pin[..]),
        ] {
            for (browser, status) in people[..3].iter().zip([303, 403, 403]) {
                assert_eq!(browser.post(&path, fields).await.status.as_u16(), status, "{path}");
            }
            for from in [&[("origin", "https://evil.example")][..], &[("origin", "https://a.pins.example")], &[]] {
                assert_eq!(people[3].post_from(&path, fields, from).await.status.as_u16(), 403, "{path} {from:?}");
            }
        }
        assert_eq!(site.app.moment().checkpoint.size, size, "nothing was recorded");
        // What readers see has no names of people, no reasons and no way to a candidate.
        people[3].vote(&ids[0], "approve").await;
        let decision = links(&people[1].get("/pinsets/default").await.body, "/decisions/");
        let page = people[1].get(&decision[0]).await;
        let words = page.page(200);
        assert!(!words.contains(REASON) && !page.body.contains("/candidates/"), "{words}");
        assert!(words.contains("The reason is for reviewers to read."), "{words}");
        assert!(people[3].get(&decision[0]).await.page(200).contains(REASON));
        assert!(!people[1].get("/log").await.page(200).contains("by reviewer,"));
        site.pass(Span::minutes(61));
        assert!(people[3].get("/").await.page(200).contains("ran out"));
    });
}

#[test]
fn the_queue_is_filtered_by_its_address_and_read_in_pieces() {
    block_on(async {
        let site = Site::reviewing().await;
        let tools: Vec<String> = (0..40)
            .map(|i| format!(r#"{{"name":"tool_{i:02}","description":"Does {i}.","inputSchema":{{"type":"object"}}}}"#))
            .collect();
        site.publish("com.example/many", "1", &tools.iter().map(String::as_str).collect::<Vec<_>>()).await;
        site.publish("com.example/notes", "1", &[SEARCH]).await;
        let reviewer = site.signed_in("reviewer").await;
        let first = reviewer.get("/queue").await;
        assert!(first.page(200).contains("41 candidates wait"));
        let next = links(&first.body, "/queue?cursor=");
        let second = reviewer.get(&next[0].replace("&amp;", "&")).await;
        second.page(200);
        let mut seen: Vec<String> = links(&first.body, "/candidates/");
        seen.extend(links(&second.body, "/candidates/"));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 41, "each once");
        for (path, n) in [
            ("/queue?q=notes", 1),
            ("/queue?q=tool_0", 10),
            ("/queue?set=default&reason=unknown&q=TOOL_39", 1),
            ("/queue?reason=changed", 0),
            ("/queue?state=approved", 0),
        ] {
            let page = reviewer.get(path).await;
            page.page(200);
            assert_eq!(links(&page.body, "/candidates/").len(), n, "{path}");
        }
        let words = reviewer.get("/queue?q=nothing").await.page(200);
        assert!(words.contains("Nothing here matches the filters.") && words.contains("Clear the filters"), "{words}");
        assert_eq!(reviewer.get("/queue?cursor=!").await.status, 400);
        assert_eq!(reviewer.get("/queue?what=x").await.status, 400);
        assert_eq!(reviewer.get("/candidates/00000000000000000000000000000000").await.status, 404);
        assert_eq!(reviewer.get("/pinsets/none").await.status, 404);
        assert_eq!(reviewer.get("/servers/com.example/none").await.status, 404);
        assert_eq!(reviewer.get("/log/entries/999999").await.status, 404);
    });
}

#[test]
fn an_approval_that_a_later_one_ended_says_so_in_the_queue_and_on_its_decision() {
    block_on(async {
        let site = Site::reviewing().await;
        let reviewer = site.signed_in("reviewer").await;
        let first = site.publish("com.example/notes", "1.0.0", &[EXPORT]).await;
        reviewer.bind("com.example/notes", "notes").await;
        assert_eq!(reviewer.vote(&first[0], "approve").await.status, 303);
        let decisions = async |browser: &Browser<'_>| {
            let page = browser.get("/queue?state=approved").await.page(200);
            (page.matches("ended by a later decision").count(), page.matches("expired").count())
        };
        assert_eq!(decisions(&reviewer).await, (0, 0));
        let decision = async |id: &str| {
            let mut conn = site.app.reader().conn().await.expect("a connection");
            let made = conn.decisions(&id.parse().expect("an id")).await.expect("reads").pop().expect("decided");
            reviewer.get(&format!("/decisions/{}", made.sha256)).await.page(200)
        };
        let text = decision(&first[0]).await;
        assert!(text.contains("Approved. Gateways let exactly this digest through until"), "{text}");

        site.policy(Policy { quorum_risky: 1, ..Policy::default() }).await;
        let second = site.publish("com.example/notes", "1.1.0", &[EXPORT_2]).await;
        assert_eq!(reviewer.vote(&second[0], "approve").await.status, 303);
        assert_eq!(decisions(&reviewer).await, (1, 0), "one of the two");
        let text = decision(&first[0]).await;
        assert!(text.contains("Approved, and ended by a later decision"), "{text}");
        assert!(text.contains("ended by a later decision") && !text.contains("ends "), "{text}");
        let text = decision(&second[0]).await;
        assert!(text.contains("Approved. Gateways let exactly this digest through until"), "{text}");

        site.pass(Span::hours(24 * 181));
        let reviewer = site.signed_in("reviewer").await;
        assert_eq!(decisions(&reviewer).await, (1, 1), "the other one ran out");
    });
}

#[test]
fn a_release_stands_in_the_queue_as_its_publisher_listed_it() {
    block_on(async {
        let site = Site::reviewing().await;
        let reviewer = site.signed_in("reviewer").await;
        let tools: Vec<String> =
            (0..40).map(|i| format!(r#"{{"name":"t{i}","inputSchema":{{"type":"object"}}}}"#)).collect();
        let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        let ids = site.publish("com.example/notes", "1.0.0", &tools).await;
        let page = reviewer.get("/queue").await;
        assert_eq!(listed(&page.body), ids[..30], "the first page");
        let more =
            page.body.split("href=\"/queue?cursor=").nth(1).and_then(|rest| rest.split('"').next()).expect("goes on");
        let page = reviewer.get(&format!("/queue?cursor={more}")).await;
        assert_eq!(listed(&page.body), ids[30..], "the second page");
        let on = reviewer.vote(&ids[3], "reject").await;
        assert_eq!(
            on.header("location"),
            format!("/candidates/{}?done={}", ids[4], ids[3]),
            "and so goes whoever decides"
        );
    });
}

/// The candidates that a queue's page lists, in its order.
fn listed(html: &str) -> Vec<String> {
    let rows = html.split("<a class=\"name\" href=\"/candidates/").skip(1);
    rows.map(|rest| rest.split('"').next().expect("ends").to_owned()).collect()
}

#[test]
fn evidence_of_a_level_that_the_policy_does_not_take_is_not_approved() {
    block_on(async {
        let site = Site::reviewing().await;
        let reviewer = site.signed_in("reviewer").await;
        let ids = site.publish("com.example/notes", "1.0.0", &[EXPORT]).await;
        reviewer.bind("com.example/notes", "notes").await;
        site.policy(Policy { levels: vec![Level::Sigstore], ..Policy::default() }).await;
        let size = site.app.moment().checkpoint.size;
        let refused = reviewer.vote(&ids[0], "approve").await.page(409);
        assert!(refused.contains("policy does not accept evidence of this level"), "{refused}");
        assert_eq!(site.app.moment().checkpoint.size, size);
    });
}

#[test]
fn the_ballot_of_somebody_who_is_no_reviewer_any_more_does_not_count() {
    block_on(async {
        let site = Site::reviewing().await;
        let (reviewer, second) = (site.signed_in("reviewer").await, site.signed_in("second").await);
        let ids = site.publish("com.example/notes", "1.0.0", &[EXPORT]).await;
        reviewer.bind("com.example/notes", "notes").await;
        site.policy(Policy { quorum: 2, ..Policy::default() }).await;
        assert_eq!(reviewer.vote(&ids[0], "approve").await.status, 303);
        let (name, by) = ("reviewer".parse().expect("legal"), Principal::LocalOperator);
        site.app.write(SetRoles { name, roles: [Role::Auditor].into(), by }).await.expect("set");
        assert_eq!(second.vote(&ids[0], "approve").await.status, 303);
        let mut conn = site.app.reader().conn().await.expect("a connection");
        let row = conn.candidate(&ids[0].parse().expect("an id")).await.expect("reads").expect("is there");
        assert_eq!(row.state, Stage::Pending, "one ballot of two");
        drop(conn);
        assert_eq!(site.signed_in("admin").await.vote(&ids[0], "approve").await.status, 303);
        let mut conn = site.app.reader().conn().await.expect("a connection");
        let row = conn.candidate(&ids[0].parse().expect("an id")).await.expect("reads").expect("is there");
        assert_eq!(row.state, Stage::Approved);
    });
}
