//! What an entry changed, and where that stands now: in the sets, in the newest trust file, among those who review.
//!
//! The past is the leaf's own word; the present is this moment's fold. Where a later entry took over, it is linked.

use super::{
    super::{label, people::People},
    slot::Slot,
};
use crate::{
    canon::Sha256,
    clock::Timestamp,
    event::{AuthorityGranted, Event, Evidence, Held, PinsetPublished, PolicySet, RegistryCreated},
    name::SetName,
    pinset::{Denial, EvidenceState, Pin, SetState},
    review::{Decision, Outcome},
    service::{Moment, access::Principal},
    store::{Conn, Stage, StoreError},
    ui::{
        figure::{Count, Short, count},
        html::{Html, html},
        sign::Level,
        when,
    },
};

/// One row: a term, and what is to be said of it.
pub(super) type Row = (&'static str, Html);

/// Pins, denials or sets that are named one by one; more are counted.
const NAMED: usize = 12;

/// The entry, and who looks at it when.
pub(super) struct About<'a> {
    pub(super) moment: &'a Moment,
    pub(super) people: &'a People,
    pub(super) who: &'a Principal,
    pub(super) index: u64,
    pub(super) bytes: &'a [u8],
    pub(super) now: Timestamp,
}

impl About<'_> {
    pub(super) async fn rows(&self, conn: &mut Conn, event: &Event) -> Result<Vec<Row>, StoreError> {
        match event {
            Event::RegistryCreated(created) => Ok(self.registry(created)),
            Event::PinsetCreated(set) | Event::PolicySet(set) => self.policy(conn, set).await,
            Event::RulesetSet(set) => {
                let in_force = self.moment.state.registry().is_some_and(|registry| registry.ruleset == set.ruleset);
                let mut rows = vec![
                    ("Scanner rules", document("rule set", set.ruleset, "the rules")),
                    ("Today", force(in_force, "other rules apply now")),
                ];
                rows.push(("First in", self.first_of(conn, self.moment.state.sets().map(SetState::name)).await?));
                Ok(rows)
            }
            Event::ReleaseAttested(evidence) => self.evidence(conn, evidence, false).await,
            Event::EvidenceAttached(evidence) => self.evidence(conn, evidence, true).await,
            Event::AuthorityGranted(granted) => Ok(self.granted(granted)),
            Event::AuthorityRevoked(revoked) => {
                let mut rows = Vec::new();
                if let Some(authority) = self.moment.state.authority(&revoked.authority) {
                    let scope = label::mono(&authority.facts.scope.to_string());
                    rows.push((
                        "Authority",
                        html!("over ", [scope], ", granted by ", [label::entry(authority.log_index)]),
                    ));
                }
                rows.extend(self.withdrawn(conn, revoked.since).await?);
                Ok(rows)
            }
            Event::SignerRevoked(revoked) => {
                let crate::attest::Signer::Key(id) = revoked.signer;
                let mut rows = vec![("Signer", shown(&Short::key(id.0)))];
                rows.extend(self.withdrawn(conn, revoked.since).await?);
                Ok(rows)
            }
            Event::AliasBound(bound) => {
                let under = self.moment.state.set(&bound.pinset).and_then(|set| set.alias(&bound.alias));
                let today = under.map_or_else(Html::new, |under| {
                    let (pins, denied) = (under.pins().count() as u64, under.denied().count() as u64);
                    html!((count(pins, "pin", "pins")), ", ", (count(denied, "denied digest", "denied digests")))
                });
                Ok(vec![
                    ("Pin set", set_link(&bound.pinset)),
                    ("Server", label::link(&format!("/servers/{}", bound.server), bound.server.as_str())),
                    ("First in", self.first(conn, &bound.pinset).await?),
                    ("Today", html!("the alias has ", [today], "; it is never another server’s")),
                ])
            }
            Event::ReviewerSet(set) => {
                let reviews = self.moment.state.reviewers().contains(&set.reviewer);
                let today = if reviews { "the account may review" } else { "the account may not review" };
                Ok(vec![("Account", self.people.name(&set.reviewer).as_str().into()), ("Today", today.into())])
            }
            Event::Decision(decision) => self.decision(conn, decision).await,
            Event::Held(held) => self.held(conn, held).await,
            Event::KeyRotated(rotated) => Ok(vec![
                ("Trust file", html!("version ", (rotated.trust.version))),
                ("Today", self.trust(rotated.trust.version)),
            ]),
            Event::KeyActivated(activated) => {
                let registry = self.moment.state.registry();
                let signs =
                    registry.is_some_and(|registry| registry.keys.logs.iter().any(|log| log.key == activated.key));
                Ok(vec![
                    ("Key", shown(&Short::key(activated.key.0))),
                    ("Today", force(signs, "the trust file doesn’t name it any more")),
                ])
            }
            Event::EpochStarted(started) => {
                let mut rows = vec![
                    ("Name", label::mono(&started.origin)),
                    (
                        "Goes on from",
                        html!(
                            [label::mono(&started.continues.origin)],
                            ", ",
                            (Count(started.continues.size)),
                            " entries"
                        ),
                    ),
                ];
                if let Some(given_up) = started.continues.abandoned {
                    rows.push((
                        "Given up",
                        html!("what that had beyond them, up to ", (Count(given_up.size)), " entries"),
                    ));
                }
                rows.push(("Today", self.trust(started.trust.version)));
                Ok(rows)
            }
            Event::PinsetPublished(published) => self.published(conn, published).await,
        }
    }

    /// Whether a version of the trust file is the one that gateways get.
    fn trust(&self, version: u64) -> Html {
        let now = self.moment.state.registry().map_or(0, |registry| registry.trust_version);
        match version == now {
            true => "in force".into(),
            false => html!("version ", (now), " is in force"),
        }
    }

    fn registry(&self, created: &RegistryCreated) -> Vec<Row> {
        let mut rows = vec![("Epoch", html!((created.epoch)))];
        let keys = self.moment.state.registry().map(|registry| &registry.keys);
        let mut key = |term, id: Sha256, now: Option<bool>| {
            let mut html = shown(&Short::key(id));
            html.tag(match now {
                Some(true) => " is in the trust file now",
                Some(false) => " was replaced since: the trust file has another",
                None => "",
            });
            rows.push((term, html));
        };
        let (root, log, head) = (created.root_key, created.log_key, created.head_key);
        key("Root key", root.0, keys.map(|keys| keys.root == root));
        key("Log key", log.0, keys.map(|keys| keys.logs.iter().any(|term| term.key == log)));
        key("Head key", head.0, keys.map(|keys| keys.heads.iter().any(|term| term.key == head)));
        let in_force = self.moment.state.registry().is_some_and(|registry| registry.ruleset == created.ruleset);
        rows.push(("Scanner rules", document("rule set", created.ruleset, "the rules")));
        rows.push(("Today", force(in_force, "other rules apply now")));
        rows
    }

    async fn policy(&self, conn: &mut Conn, set: &PolicySet) -> Result<Vec<Row>, StoreError> {
        let sha256 = set.policy.sha256();
        let today = match self.moment.state.set(&set.pinset) {
            Some(now) if now.policy_sha256() == sha256 => "this policy is in force".into(),
            Some(now) => html!("another policy is in force: ", [document("policy", now.policy_sha256(), "it")]),
            None => Html::new(),
        };
        Ok(vec![
            ("Pin set", set_link(&set.pinset)),
            ("Policy", document("policy", sha256, "as it was set")),
            ("First in", self.first(conn, &set.pinset).await?),
            ("Today", today),
        ])
    }

    async fn evidence(&self, conn: &mut Conn, evidence: &Evidence, further: bool) -> Result<Vec<Row>, StoreError> {
        let release = format!("/releases/{}", evidence.release);
        let mut rows = vec![
            (
                "Release",
                html!(
                    "<a href=\"",
                    (&release),
                    "\">",
                    [label::version(evidence.version.as_str(), evidence.variant.as_str())],
                    "</a> of ",
                    [label::link(&format!("/servers/{}", evidence.server), evidence.server.as_str())]
                ),
            ),
            ("Attestation", document("attestation", evidence.attestation, "as received")),
            ("Level", Level::from(evidence.level).word().into()),
        ];
        if further && let Some(row) = conn.release(&evidence.release).await? {
            rows.push(("First attested", label::entry(row.log_index)));
        }
        if let Some(authority) = self.moment.state.authority(&evidence.authority) {
            let mut html = label::entry(authority.log_index);
            match authority.revoked {
                Some(since) => html.tag(", <b>revoked</b> since ").safe(&when::minute(since, self.now)),
                None => html.tag(", in force"),
            };
            rows.push(("By the authority of", html));
        }
        if self.who.may_see_reviews() {
            let candidates = conn.candidates_of_release(&evidence.release).await?;
            let waiting = candidates.iter().filter(|row| row.state == Stage::Pending).count() as u64;
            let words = match waiting {
                0 => "nothing of this release waits".into(),
                n => {
                    html!("<a href=\"", (release), "\">", (count(n, "candidate", "candidates")), "</a> of this release")
                }
            };
            rows.push(("Waits for review", words));
        }
        let rests = self.pins(|_, pin| pin.evidence == evidence.attestation);
        rows.push(("Rests on it today", rests));
        Ok(rows)
    }

    fn granted(&self, granted: &AuthorityGranted) -> Vec<Row> {
        let state = &self.moment.state;
        let of = |evidence: &&EvidenceState| evidence.facts.authority == granted.authority;
        let attested = state.attestations().filter(of).count() as u64;
        let today = match state.authority(&granted.authority).and_then(|authority| authority.revoked) {
            Some(since) => {
                let mut html = html!("<b>revoked</b>: what came since ");
                html.safe(&when::minute(since, self.now)).tag(" doesn’t count");
                html
            }
            None => "in force".into(),
        };
        let mut key = shown(&Short::key(granted.key.id().0));
        if let Some(holder) = &granted.holder {
            key.tag(" held by ").text(&self.people.name(holder));
        }
        let by = |pin: &Pin| state.evidence(&pin.evidence).is_some_and(|e| e.facts.authority == granted.authority);
        vec![
            ("Speaks for", label::mono(&granted.scope.to_string())),
            ("As", granted.role.as_str().into()),
            ("Key", key),
            ("Proved by", granted.proof.as_str().into()),
            ("Today", today),
            ("Attested under it", count(attested, "attestation", "attestations").as_str().into()),
            ("Rests on it today", self.pins(|_, pin| by(pin))),
        ]
    }

    /// What an authority's or signer's end took away.
    async fn withdrawn(&self, conn: &mut Conn, since: i64) -> Result<Vec<Row>, StoreError> {
        let mut rows = Vec::new();
        if let Some(since) = Timestamp::from_micros(since) {
            let mut html = Html::new();
            html.tag("what came at or after ").safe(&when::minute(since, self.now)).tag(" UTC");
            rows.push(("Takes away", html));
        }
        let mut sets = Vec::new();
        let mut held = Vec::new();
        for (set, denial) in self.denied().filter(|(_, denial)| denial.log_index == self.index) {
            if sets.last() != Some(&set) {
                sets.push(set);
            }
            held.push(html!([label::mono(denial.name.as_str())], " in <b>", (set), "</b>"));
        }
        rows.push(("Holds today", list(held, "nothing: no pin rested on it, or each was approved anew")));
        if !sets.is_empty() {
            rows.push(("First in", self.first_of(conn, sets.into_iter()).await?));
        }
        Ok(rows)
    }

    async fn decision(&self, conn: &mut Conn, decision: &Decision) -> Result<Vec<Row>, StoreError> {
        let sha256 = Sha256::of(self.bytes);
        let mut rows = vec![
            ("Decision", label::link(&format!("/decisions/{sha256}"), "who signed it, and on what")),
            ("Pin set", set_link(&decision.pinset)),
        ];
        if self.who.may_see_reviews() {
            let candidate = super::super::neighbours::address(&decision.candidate);
            rows.push(("Candidate", label::link(&candidate, decision.candidate.as_str())));
        }
        let version = self.moment.state.evidence(&decision.attestation);
        let mut release = html!("<a href=\"/releases/", (&decision.release), "\">");
        match version {
            Some(evidence) => {
                release
                    .html(&label::version(evidence.facts.version.as_str(), evidence.facts.variant.as_str()))
                    .tag("</a>, attested by ")
                    .html(&label::entry(evidence.log_index));
            }
            None => drop(release.text(&decision.release).tag("</a>")),
        }
        rows.push(("Release", release));
        let names_it = decision.qualified.is_some() && decision.outcome != Outcome::Reopen;
        if names_it {
            rows.push(("First in", self.first(conn, &decision.pinset).await?));
        }
        for ended in &decision.supersedes {
            let mut html = Html::new();
            html.safe(&Short::digest(ended.digest));
            match ended.until {
                Some(until) => html.tag(" goes on until ").safe(&when::minute(until, self.now)),
                None => html.tag(" ended at once"),
            };
            rows.push(("Supersedes", html));
        }
        let slot = Slot {
            moment: self.moment,
            index: self.index,
            now: self.now,
            set: &decision.pinset,
            kind: decision.kind,
            name: decision.qualified.as_ref(),
            variant: &decision.variant,
            digest: decision.digests.jcs,
        };
        let today = match decision.outcome {
            Outcome::Approve => slot.approved(sha256),
            Outcome::Reject | Outcome::Revoke => slot.refused(),
            Outcome::Reopen => slot.reopened(),
        };
        rows.push(("Today", today));
        Ok(rows)
    }

    async fn held(&self, conn: &mut Conn, held: &Held) -> Result<Vec<Row>, StoreError> {
        let slot = Slot {
            moment: self.moment,
            index: self.index,
            now: self.now,
            set: &held.pinset,
            kind: held.kind,
            name: Some(&held.name),
            variant: &held.variant,
            digest: held.digest,
        };
        Ok(vec![
            ("Pin set", set_link(&held.pinset)),
            ("Digest", shown(&Short::digest(crate::canon::Digest::jcs(held.digest)))),
            ("First in", self.first(conn, &held.pinset).await?),
            ("Today", slot.refused()),
        ])
    }

    async fn published(&self, conn: &mut Conn, published: &PinsetPublished) -> Result<Vec<Row>, StoreError> {
        let set = &published.pinset;
        let page = |sha256: Sha256| format!("/pinsets/{set}/versions/{sha256}");
        let number = |version: u64| format!("version {}", Count(version));
        let mut rows = vec![
            ("Pin set", set_link(set)),
            ("Version", label::link(&page(published.set_sha256), "what it says, and what changed")),
        ];
        let before = conn.set_versions(set, published.version, 1).await?.pop();
        rows.push((
            "Before it",
            match &before {
                Some(row) => html!(
                    [label::link(&page(row.set_sha256), &number(row.version))],
                    ", ",
                    [label::entry(row.log_index)]
                ),
                None => "nothing: it is the first".into(),
            },
        ));
        let after = conn.set_version(set, published.version + 1).await?;
        rows.push((
            "After it",
            match &after {
                Some(row) => html!(
                    [label::link(&page(row.set_sha256), &number(row.version))],
                    ", ",
                    [label::entry(row.log_index)]
                ),
                None => "nothing yet".into(),
            },
        ));
        rows.push((
            "Today",
            match (after, self.moment.heads.get(set)) {
                (Some(_), _) => "gateways get a newer version".into(),
                (None, Some(head)) if head.version == published.version && head.expires > self.now => {
                    let mut html = html!("gateways get this version; its head is good until ");
                    html.safe(&when::minute(head.expires, self.now)).tag(" UTC");
                    html
                }
                (None, Some(head)) if head.version == published.version => {
                    "it is the newest, but its head ran out: gateways let nothing through".into()
                }
                (None, _) => "it is the newest; gateways don’t get it yet".into(),
            },
        ));
        Ok(rows)
    }

    /// The version of a set that first contained it.
    async fn first(&self, conn: &mut Conn, set: &SetName) -> Result<Html, StoreError> {
        Ok(match conn.set_version_from(set, self.index).await? {
            Some(row) => html!(
                "<a href=\"/pinsets/",
                (set),
                "/versions/",
                (row.set_sha256),
                "\">version ",
                (Count(row.version)),
                "</a> of ",
                (set),
                ", ",
                [label::entry(row.log_index)]
            ),
            None => "no version yet".into(),
        })
    }

    async fn first_of<'a>(&self, conn: &mut Conn, sets: impl Iterator<Item = &'a SetName>) -> Result<Html, StoreError> {
        let mut firsts = Vec::new();
        for (n, set) in sets.enumerate() {
            firsts.push(if n < NAMED { self.first(conn, set).await? } else { Html::new() });
        }
        Ok(list(firsts, "no set"))
    }

    /// The pins of all sets that `of` picks, by name.
    fn pins(&self, of: impl Fn(&SetState, &Pin) -> bool) -> Html {
        let mut found = Vec::new();
        for set in self.moment.state.sets() {
            for pin in set.aliases().flat_map(|(_, under)| under.pins()).filter(|pin| of(set, pin)) {
                found.push(html!([of_pin_named(pin)], " in <b>", (set.name()), "</b>"));
            }
        }
        list(found, "no pin")
    }

    fn denied(&self) -> impl Iterator<Item = (&SetName, &Denial)> {
        let aliases = self.moment.state.sets().flat_map(|set| set.aliases().map(move |(_, under)| (set.name(), under)));
        aliases.flat_map(|(set, under)| under.denied().map(move |denial| (set, denial)))
    }
}

fn set_link(set: &SetName) -> Html {
    label::link(&format!("/pinsets/{set}"), set.as_str())
}

fn shown(short: &Short) -> Html {
    let mut html = Html::new();
    html.safe(short);
    html
}

/// A document's digest, with the document.
fn document(what: &'static str, sha256: Sha256, words: &str) -> Html {
    let mut html = shown(&Short::hash(what, sha256));
    html.tag(" ").html(&label::link(&format!("/v1/content/{sha256}"), words));
    html
}

fn force(in_force: bool, otherwise: &str) -> Html {
    if in_force { "in force".into() } else { otherwise.into() }
}

fn of_pin_named(pin: &Pin) -> Html {
    let href = format!("/decisions/{}", pin.approval.decision_sha256);
    html!("<a class=\"mono\" href=\"", (href), "\">", [label::listed(pin.name.as_str())], "</a>")
}

/// The first of them in a line each, and how many more there are.
fn list(found: Vec<Html>, none: &str) -> Html {
    if found.is_empty() {
        return none.into();
    }
    let more = found.len().saturating_sub(NAMED) as u64;
    let mut html = html!("<ul>");
    for one in found.into_iter().take(NAMED) {
        html.tag("<li>").html(&one).tag("</li>");
    }
    if more > 0 {
        html.tag("<li class=\"mut\">and ").show(Count(more)).tag(" more</li>");
    }
    html.tag("</ul>");
    html
}
