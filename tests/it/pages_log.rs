//! The pages of the log: entries found by what people carry around, one entry with its proof and where it matters.

use countersign::{
    canon::Sha256,
    clock::Span,
    descriptor::{Kind, Listed},
    event::{Event, ReviewerSet},
    log::{Proof, leaf_hash, note::Verifier},
    pinset::trust::Trust,
    review::{Policy, ReviewerId},
    service::{
        Step, Stop, Work, jobs,
        trust::{self, Change},
    },
};

use crate::{
    api::{EXPORT, EXPORT_2, SEARCH},
    databases::block_on,
    pages::{Answer, Browser, Site},
};

/// A registry that was worked with.
struct Worked {
    site: Site,
    /// Every leaf with its type.
    leaves: Vec<(String, Vec<u8>)>,
}

fn hex(text: &str) -> String {
    Sha256::of(text.as_bytes()).to_string()
}

async fn leaves(site: &Site) -> Vec<(String, Vec<u8>)> {
    let size = site.app.moment().checkpoint.size;
    let leaves = site.app.reader().conn().await.expect("a connection").leaves(0, size).await.expect("reads");
    let kind = |leaf: &[u8]| {
        let leaf: serde_json::Value = serde_json::from_slice(leaf).expect("JSON");
        leaf["type"].as_str().expect("a type").to_owned()
    };
    leaves.into_iter().map(|leaf| (kind(&leaf), leaf)).collect()
}

/// Makes the log longer by entries that change no set.
struct Longer(usize);

impl Step for Longer {
    type Done = ();
    type Refused = std::convert::Infallible;

    async fn run(&self, work: &mut Work) -> Result<(), Stop<Self::Refused>> {
        for n in 0..self.0 {
            let (reviewer, by) = (ReviewerId::random([7; 16]), ReviewerId::local_operator());
            work.append(Event::ReviewerSet(ReviewerSet { reviewer, active: n % 2 == 0, by }))?;
        }
        Ok(())
    }
}

impl Worked {
    /// Two releases, a pin, a renewal of its name by another digest, a rejection.
    async fn new() -> Self {
        let site = Site::reviewing().await;
        site.policy(Policy { quorum_risky: 1, ..Policy::default() }).await;
        let reviewer = site.signed_in("reviewer").await;
        let ids = site.publish("com.example/notes", "1.0.0", &[EXPORT, SEARCH]).await;
        reviewer.bind("com.example/notes", "notes").await.leads_to("/servers/com.example/notes");
        assert_eq!(reviewer.vote(&ids[0], "approve").await.status, 303);
        assert_eq!(reviewer.vote(&ids[1], "reject").await.status, 303);
        let ids = site.publish("com.example/notes", "1.1.0", &[EXPORT_2]).await;
        assert_eq!(reviewer.vote(&ids[0], "approve").await.status, 303);
        let leaves = leaves(&site).await;
        Self { site, leaves }
    }

    fn nth(&self, kind: &str, n: usize) -> (u64, &[u8]) {
        let found = self.leaves.iter().enumerate().filter(|(_, (of, _))| of == kind).nth(n);
        let (index, (_, leaf)) = found.unwrap_or_else(|| panic!("no {kind} {n}"));
        (index as u64, leaf)
    }

    async fn page(&self, browser: &Browser<'_>, kind: &str, n: usize) -> String {
        said(browser.get(&format!("/log/entries/{}", self.nth(kind, n).0)).await)
    }
}

/// The words of a page, terms and what is said of them apart.
fn said(mut answer: Answer) -> String {
    answer.body = answer.body.replace("<dd", " <dd");
    answer.page(200)
}

async fn found(browser: &Browser<'_>, what: &str) -> String {
    let answer = browser.get(&format!("/log?find={}", what.replace('+', "%2B").replace(' ', "%20"))).await;
    assert_eq!(answer.status, 303, "{what}: {}", answer.body);
    answer.header("location").to_owned()
}

#[test]
fn an_entry_is_found_by_its_number_and_by_every_digest_it_is_known_by() {
    block_on(async {
        let worked = Worked::new().await;
        let reader = worked.site.signed_in("auditor").await;
        let (decision, leaf) = worked.nth("decision", 0);
        let (attested, release) = worked.nth("release-attested", 0);
        let (published, version) = worked.nth("pinset-published", 1);
        let json = |leaf: &[u8]| serde_json::from_slice::<serde_json::Value>(leaf).expect("JSON");
        let text = |leaf: &[u8], name: &str| json(leaf)[name].as_str().expect("text").to_owned();
        let descriptor = Listed::new(Kind::Tool, EXPORT_2.as_bytes()).parsed.expect("strict");
        let base64 = |hash: Sha256| {
            use base64::Engine as _;
            base64::engine::general_purpose::STANDARD.encode(hash.0)
        };
        let rows = [
            ("a number", "4".to_owned(), 4),
            ("a number as pages write it", "0,004".to_owned(), 4),
            ("a decision", Sha256::of(leaf).to_string(), decision),
            ("a leaf hash", leaf_hash(leaf).to_string(), decision),
            ("a leaf hash as proofs write it", base64(leaf_hash(leaf)), decision),
            ("a leaf hash of another type", leaf_hash(version).to_string(), published),
            ("a release", text(release, "release"), attested),
            ("an attestation", format!("sha256:{}", text(release, "attestation")), attested),
            ("a version", text(version, "set_sha256"), published),
            ("a pinned descriptor", descriptor.digest().to_string(), worked.nth("decision", 2).0),
        ];
        for (what, typed, index) in rows {
            assert_eq!(found(&reader, &typed).await, format!("/log/entries/{index}"), "{what}");
        }
        let size = worked.site.app.moment().checkpoint.size;
        let misses = [
            (hex("nothing"), "Nothing in the log has this digest or id."),
            (hex("nothing")[..32].to_owned(), "Nothing in the log has this digest or id."),
            (size.to_string(), "There is no entry"),
            ("99999999999999999999".to_owned(), "That is neither a number nor a digest."),
            ("notes.export".to_owned(), "That is neither a number nor a digest."),
            ("<script>alert(1)</script>".to_owned(), "That is neither a number nor a digest."),
        ];
        for (typed, expected) in misses {
            let typed: String = form_urlencoded::byte_serialize(typed.as_bytes()).collect();
            let words = reader.get(&format!("/log?find={typed}")).await.page(200);
            assert!(words.contains(expected), "{typed}: {words}");
            assert!(words.contains("Entries are found by their number") || words.contains("The newest is"), "{words}");
        }
    });
}

#[test]
fn each_type_of_entry_says_where_it_matters_today() {
    block_on(async {
        let worked = Worked::new().await;
        let reviewer = worked.site.signed_in("reviewer").await;
        let rows: [(&str, usize, &[&str]); 12] = [
            ("registry-created", 0, &["Root key", "is in the trust file now", "Scanner rules", "Today in force"]),
            ("pinset-created", 0, &["Pin set default", "version 1 of default", "another policy is in force"]),
            ("policy-set", 0, &["this policy is in force", "as it was set"]),
            ("reviewer-set", 0, &["Account admin", "the account may review"]),
            (
                "authority-granted",
                0,
                &["Speaks for com.example", "As publisher", "in force", "2 attestations", "notes.export in default"],
            ),
            ("release-attested", 0, &["1.0.0 of com.example/notes", "nothing of this release waits", "no pin"]),
            ("release-attested", 1, &["1.1.0 of com.example/notes", "notes.export in default", "in force"]),
            ("alias-bound", 0, &["1 pin, 1 denied digest", "version 3 of default", "never another server"]),
            (
                "decision",
                0,
                &["superseded: another digest is approved by", "1.0.0", "Candidate", "version 4 of default"],
            ),
            ("decision", 1, &["rejected by this entry; gateways block the digest", "who signed it, and on what"]),
            ("decision", 2, &["approved by this decision; it ends", "Supersedes", "ended at once", "First in version"]),
            (
                "pinset-published",
                0,
                &["nothing: it is the first", "gateways get a newer version", "After it version 2"],
            ),
        ];
        for (kind, n, expected) in rows {
            let words = worked.page(&reviewer, kind, n).await;
            for expected in expected {
                assert!(words.contains(expected), "{kind} {n}: {expected}: {words}");
            }
        }
        let (newest, _) =
            worked.leaves.iter().enumerate().rfind(|(_, (kind, _))| kind == "pinset-published").expect("one");
        let words = said(reviewer.get(&format!("/log/entries/{newest}")).await);
        assert!(words.contains("gateways get this version; its head is good until"), "{words}");
        // Whoever only reads sees no candidates.
        let auditor = worked.site.nobody();
        assert_eq!(auditor.get("/log/entries/0").await.status, 303, "nobody reads here without a session");
    });
}

#[test]
fn an_authority_that_ended_and_what_it_held_are_on_their_entries() {
    block_on(async {
        let worked = Worked::new().await;
        let reviewer = worked.site.signed_in("reviewer").await;
        let authority = worked.site.app.moment().state.authorities().next().expect("one").facts.authority.clone();
        let admin = worked.site.signed_in("admin").await;
        let fields = [("since", "2026-01-01 00:00"), ("reason", "The key was stolen.")];
        let answer = admin.post(&format!("/settings/authorities/{authority}"), &fields).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        let leaves = leaves(&worked.site).await;
        let (index, (kind, _)) =
            leaves.iter().enumerate().rfind(|(_, (kind, _))| kind != "pinset-published").expect("one");
        assert_eq!(kind, "authority-revoked");
        let words = said(reviewer.get(&format!("/log/entries/{index}")).await);
        for expected in ["over com.example", "granted by entry", "Holds today", "notes.export in default", "First in"] {
            assert!(words.contains(expected), "{expected}: {words}");
        }
        let words = worked.page(&reviewer, "authority-granted", 0).await;
        assert!(words.contains("revoked: what came since") && words.contains("no pin"), "{words}");
        let words = worked.page(&reviewer, "decision", 2).await;
        assert!(words.contains("taken back: held by entry"), "{words}");
        let words = reviewer.get("/log?type=authorities").await.page(200);
        assert!(words.contains("it was granted by entry"), "{words}");
    });
}

#[test]
fn the_proof_of_a_page_holds_and_can_be_followed_by_hand() {
    block_on(async {
        let worked = Worked::new().await;
        let reader = worked.site.signed_in("auditor").await;
        let trust = Trust::first(&worked.site.app.moment().trust.note).expect("a trust file");
        let log: Verifier = trust.logs().expect("names the log").remove(0);
        for (index, (_, leaf)) in worked.leaves.iter().enumerate() {
            let kept = reader.get(&format!("/log/entries/{index}/leaf")).await;
            assert_eq!(kept.body.as_bytes(), leaf);
            assert_eq!(kept.header("content-disposition"), format!("attachment; filename=\"entry-{index}.json\""));
            let proof = reader.get(&format!("/log/entries/{index}/proof")).await;
            assert_eq!(proof.header("content-type"), "text/plain; charset=utf-8");
            let proof: Proof = proof.body.parse().expect("a proof");
            let size = proof.verify(leaf, &log).expect("holds").size;
            let page = reader.get(&format!("/log/entries/{index}")).await;
            let words = said(reader.get(&format!("/log/entries/{index}")).await);
            assert!(
                words.contains(&format!("Proved under the checkpoint of {size} entries signed by pins.example")),
                "{words}"
            );
            for hash in &proof.hashes {
                assert!(page.body.contains(&format!("sha256:{hash}")), "{index}: the way has each hash of the proof");
            }
            assert!(page.body.contains(&format!("sha256:{}", leaf_hash(leaf))));
            assert_eq!(page.body.matches("data-l=\"Makes\"").count(), proof.hashes.len() + 1);
            let curl = "curl -fsS -H \"Authorization: Bearer $COUNTERSIGN_TOKEN\" https://pins.example/log/entries/";
            assert!(words.contains(&format!("{curl}{index}/proof -o entry-{index}.tlog-proof")), "{words}");
        }
        let size = worked.leaves.len();
        for path in ["", "/leaf", "/proof"] {
            reader.get(&format!("/log/entries/{size}{path}")).await.page(404);
            assert_eq!(reader.get(&format!("/log/entries/x{path}")).await.status.as_u16() / 100, 4);
        }
    });
}

#[test]
fn a_filter_says_how_far_it_looked() {
    block_on(async {
        let worked = Worked::new().await;
        let reader = worked.site.signed_in("auditor").await;
        let words = reader.get("/log?type=decision").await.page(200);
        let last = worked.leaves.len() - 1;
        let whole = format!("Entries 0 to {last} were looked at, the first of the log: 3 entries of this type.");
        assert!(words.contains(&whole), "{words}");
        let words = reader.get("/log?type=held").await.page(200);
        assert!(words.contains("No entry of this type.") && words.contains("All entries up to here"), "{words}");
        assert!(!reader.get("/log").await.page(200).contains("looked at"));
        // One type alone, which is no filter of its own, is named among them.
        let words = reader.get("/log?type=pinset-created").await.page(200);
        assert!(words.contains("pinset-created") && words.contains("1 entry of this type"), "{words}");
        reader.get("/log?type=%3Cscript%3E").await.page(404);
        // Rows lead to what they are about.
        let page = reader.get("/log").await;
        let decision = Sha256::of(worked.nth("decision", 0).1);
        assert!(page.body.contains(&format!("href=\"/decisions/{decision}\"")));
        assert!(page.page(200).contains("on the evidence of entry"), "{}", page.page(200));
    });
}

#[test]
fn a_search_that_was_cut_off_does_not_pretend_to_be_whole() {
    block_on(async {
        let site = Site::staffed().await;
        // More entries than one page looks through.
        site.app.write(Longer(10_400)).await.expect("written");
        let reader = site.signed_in("auditor").await;
        let size = site.app.moment().checkpoint.size;
        let words = reader.get("/log?type=registry-created").await.page(200);
        let from = size - 10_000;
        assert!(from < 1_000, "as pages write it");
        assert!(words.contains("None of this type so far."), "{words}");
        assert!(
            words.contains(&format!("Nothing from entry {from} on is one; older entries were not looked at.")),
            "{words}"
        );
        assert!(words.contains("Older entries were not."), "{words}");
        assert!(words.contains("Look further back"), "{words}");
        let words = reader.get(&format!("/log?type=registry-created&before={}", size - 10_000)).await.page(200);
        assert!(words.contains("1 entry of this type") && words.contains("the first of the log"), "{words}");
    });
}

#[test]
fn keys_that_changed_and_an_epoch_that_began_are_on_their_entries() {
    block_on(async {
        let site = Site::staffed().await;
        let app = site.app.clone();
        let from = app.clock().now() + Span::hours(1);
        let change = async |change: Change| {
            let terms = trust::draft(&app, change).expect("drafted").terms;
            let next = trust::sign(&app, &terms, vec![]).expect("signed");
            trust::publish(&app, next.note(), crate::api::operator()).await.expect("published");
        };
        change(Change::Head { from }).await;
        change(Change::Log { from, overlap: Span::hours(1) }).await;
        let size = app.moment().checkpoint.size;
        let jobs = tokio::spawn(jobs::run(app.clone()));
        crate::service::eventually(|| site.pass(Span::minutes(1)), || app.moment().checkpoint.size > size).await;
        jobs.abort();
        change(Change::Epoch { origin: "pins.example/2".to_owned(), version: None }).await;
        let worked = Worked { leaves: leaves(&site).await, site };
        let reader = worked.site.signed_in("auditor").await;
        let rows: [(&str, usize, &[&str]); 4] = [
            ("key-rotated", 0, &["Version 2 of the trust file", "Trust file version 2", "version 4 is in force"]),
            ("key-rotated", 1, &["Version 3 of the trust file", "Trust file version 3", "version 4 is in force"]),
            ("key-activated", 0, &["signs the log from here on", "Today in force"]),
            (
                "epoch-started",
                0,
                &["Epoch 2", "Name pins.example/2", "Goes on from pins.example", "entries", "Today in force"],
            ),
        ];
        for (kind, n, expected) in rows {
            let words = worked.page(&reader, kind, n).await;
            for expected in expected {
                assert!(words.contains(expected), "{kind} {n}: {expected}: {words}");
            }
            assert!(words.contains("Proved under the checkpoint of"), "{kind} {n}: {words}");
        }
        let words = worked.page(&reader, "epoch-started", 0).await;
        assert!(!words.contains("Given up"), "the log lost nothing: {words}");
    });
}
