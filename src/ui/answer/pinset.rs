//! A pin set: its head, how to use it, its aliases with their pins, and what it denies.

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::{
    label,
    pinsets::{good_for, policy},
    signs,
};
use crate::{
    api::page::{after, cursor},
    clock::Timestamp,
    name::{Alias, SetName},
    pinset::{AliasState, Denial, Pin, SetState},
    service::Moment,
    ui::{
        around,
        difftree::query,
        figure::{Count, Short, count},
        frame::{Keys, Section},
        html::{Html, html},
        name::name,
        piece::{Empty, Link, Tab},
        pinset::{AliasGroup, DeniedRow, PinRow, PinsetPage},
        sign::{Level, Sign},
        when,
    },
    web::{Kind, Path, Problem, Query, Reader, Web},
};

/// Pins on one page.
const ROWS: usize = 200;
/// Denials on one page; all are in the documents.
const DENIED: usize = 200;

/// What the address asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    state: String,
    q: String,
    cursor: Option<String>,
}

/// A pin's place on the page: alias, name, kind, variant, digest.
type Key = (String, String, String, String, String);

pub(super) async fn show(
    State(web): State<Web>,
    Reader(who): Reader,
    Path(set): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let name: SetName = set.parse().map_err(|_| Problem::new(Kind::PinsetNotFound))?;
    let from: Key = after(asked.cursor.as_deref(), Key::default())?;
    let moment = web.app().moment();
    let page = page(&web, &moment, &name, &asked, &from).ok_or_else(|| Problem::new(Kind::PinsetNotFound))?;
    let frame = around::frame(&web, &who, &format!("Pin set {name}"), Section::Pinsets, Keys::List).await?;
    around::page(frame, page)
}

fn page(web: &Web, moment: &Moment, name: &SetName, asked: &Asked, from: &Key) -> Option<PinsetPage> {
    let now = web.app().clock().now();
    let (set, served) = (moment.state.set(name)?, moment.pin_set(name)?);
    // The one that gateways get; before there is one, the one that waits for its witnesses.
    let head = moment.released.get(name).or_else(|| moment.heads.get(name))?;
    let listed = Listed { set, moment, asked, now };
    let (groups, more) = listed.groups(from);
    let denied: Vec<&Denial> = set.aliases().flat_map(|(_, under)| under.denied()).collect();
    let mut head_note = Html::new();
    head_note
        .tag("signed ")
        .safe(&when::minute(head.issued, now))
        .tag(", ends ")
        .safe(&when::minute(head.expires, now));
    head_note.tag(" UTC");
    Some(PinsetPage {
        name: name.to_string(),
        lead: lead(set, served.expires() > now),
        notes: Vec::new(),
        good_for: good_for(moment, name, now),
        head_note,
        set: Short::hash("set digest", served.sha256()),
        set_note: html!(
            "<a href=\"/pinsets/",
            (name),
            "/versions/",
            (served.sha256()),
            "\">version ",
            (Count(served.document().version)),
            "</a>"
        ),
        log_size: Count(moment.checkpoint.size),
        log_note: format!("the head was signed over {}", Count(head.checkpoint_size)),
        policy: policy(set.policy()),
        policy_note: format!("approvals end after {}", count(u64::from(set.policy().lifetime_days), "day", "days")),
        policy_href: format!("/settings/policy?set={name}"),
        fingerprint: web.app().fingerprint().to_string(),
        commands: commands(web, name, set),
        states: listed.states(),
        search: asked.q.clone(),
        state: asked.state.clone(),
        empty: groups.is_empty().then(|| listed.empty()),
        groups,
        more,
        denied: denied.iter().take(DENIED).map(|denial| denied_row(denial)).collect(),
        denied_lead: match denied.len() as u64 {
            0 => "nothing yet".to_owned(),
            n if n > DENIED as u64 => {
                format!("{} digests that no gateway lets through; the first {DENIED} of them", Count(n))
            }
            n => format!("{} that no gateway lets through", count(n, "digest", "digests")),
        },
    })
}

fn lead(set: &SetState, fresh: bool) -> Html {
    let pins: usize = set.aliases().map(|(_, under)| under.pins().count()).sum();
    let servers = count(set.aliases().count() as u64, "server", "servers");
    let mut html = html!("<b>", (count(pins as u64, "pin", "pins")), "</b> of ", (servers), ". ");
    html.tag(if fresh {
        "Gateways let through exactly these digests, and quarantine or block all else."
    } else {
        "The head ran out: until it is signed again, gateways let nothing through."
    });
    html
}

fn commands(web: &Web, name: &SetName, set: &SetState) -> Vec<String> {
    let (url, fingerprint) = (web.settings().public_url.as_str(), web.app().fingerprint());
    let alias = set.aliases().next().map_or_else(|| "ALIAS".to_owned(), |(alias, _)| alias.to_string());
    vec![
        format!("countersign trust {url} -o trust.txt --fingerprint {fingerprint}"),
        format!("countersign pull --registry {url} --pinset {name} --trust trust.txt --state ./{name}"),
        format!("countersign check --state ./{name} --alias {alias} tools.json"),
    ]
}

/// The pins that are asked for.
struct Listed<'a> {
    set: &'a SetState,
    moment: &'a Moment,
    asked: &'a Asked,
    now: Timestamp,
}

impl Listed<'_> {
    fn wanted(&self, pin: &Pin) -> bool {
        let state = self.asked.state.is_empty() || signs::of_pin(pin, self.now).word() == self.asked.state;
        let q = self.asked.q.trim().to_lowercase();
        let named = |text: &str| text.to_lowercase().contains(&q);
        let found = q.is_empty()
            || named(pin.name.as_str())
            || pin.wire.as_ref().is_some_and(|wire| named(wire.as_str()))
            || pin.digests.digest().to_string().contains(&q);
        state && found
    }

    fn groups(&self, from: &Key) -> (Vec<AliasGroup>, Option<Link>) {
        let (mut groups, mut left, mut last) = (Vec::new(), ROWS, None);
        for (alias, under) in self.set.aliases() {
            let mut pins: Vec<(Key, &Pin)> = under.pins().map(|pin| (key(alias, pin), pin)).collect();
            pins.sort_by(|(a, _), (b, _)| a.cmp(b));
            let all = pins.len();
            pins.retain(|(key, pin)| key > from && self.wanted(pin));
            let narrow = !self.asked.q.is_empty() || !self.asked.state.is_empty() || alias.as_str() < from.0.as_str();
            if pins.is_empty() && (narrow || all > 0) {
                continue;
            }
            let cut = pins.len() > left;
            pins.truncate(left);
            left -= pins.len();
            last = pins.last().map(|(key, _)| key.clone()).or(last);
            groups.push(self.group(alias, under, all, pins.iter().map(|(_, pin)| self.pin(pin)).collect()));
            if cut {
                let more = last
                    .map(|key| Link { href: self.href(&self.asked.state, Some(&key)), words: "More pins".to_owned() });
                return (groups, more);
            }
        }
        (groups, None)
    }

    fn group(&self, alias: &Alias, under: &AliasState, all: usize, pins: Vec<PinRow>) -> AliasGroup {
        let newest =
            under.pins().filter_map(|pin| self.moment.state.evidence(&pin.evidence)).max_by_key(|e| e.log_index);
        AliasGroup {
            alias: alias.to_string(),
            server: name(under.server().as_str()),
            href: format!("/servers/{}", under.server()),
            version: newest.map_or_else(Html::new, |e| label::version(e.facts.version.as_str(), "")),
            about: if all == 0 { "no pins yet".to_owned() } else { count(all as u64, "pin", "pins") },
            next: None,
            pins,
            more: None,
        }
    }

    fn pin(&self, pin: &Pin) -> PinRow {
        let evidence = self.moment.state.evidence(&pin.evidence);
        let variant = (!pin.variant.is_default()).then(|| format!("variant {}", pin.variant));
        let sub: Vec<String> = label::unusual(pin.kind).map(str::to_owned).into_iter().chain(variant).collect();
        PinRow {
            name: name(pin.name.as_str()),
            href: format!("/decisions/{}", pin.approval.decision_sha256),
            sub: (!sub.is_empty()).then(|| sub.join(", ")),
            sign: signs::of_pin(pin, self.now),
            level: evidence.map_or(Level::Capture, |e| e.facts.level.into()),
            digest: Short::digest(pin.digests.digest()),
            mode: pin.approval.mode.to_string(),
            approved: when::date(pin.approval.approved_at, self.now),
            ends: when::date(pin.approval.not_after, self.now),
        }
    }

    fn href(&self, state: &str, after: Option<&Key>) -> String {
        let mut parts = Vec::new();
        for (name, value) in [("state", state), ("q", self.asked.q.trim())] {
            if !value.is_empty() {
                parts.push(format!("{name}={}", query(value)));
            }
        }
        parts.extend(after.map(|key| format!("cursor={}", cursor(key))));
        let query = if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) };
        format!("/pinsets/{}{query}#h-pins", self.set.name())
    }

    fn states(&self) -> Vec<Tab> {
        let pins = || self.set.aliases().flat_map(|(_, under)| under.pins());
        let n = |sign: Sign| pins().filter(|pin| signs::of_pin(pin, self.now) == sign).count() as u64;
        let tab = |sign: Option<Sign>| Tab {
            href: self.href(sign.map_or("", Sign::word), None),
            words: sign.map_or("All", Sign::word).to_owned(),
            sign,
            count: Some(sign.map_or(pins().count() as u64, n)),
            current: sign.map_or("", Sign::word) == self.asked.state,
        };
        [None, Some(Sign::Approved), Some(Sign::Expiring), Some(Sign::Expired)].into_iter().map(tab).collect()
    }

    fn empty(&self) -> Empty {
        if self.asked.q.is_empty() && self.asked.state.is_empty() {
            return Empty {
                headline: "No server has an alias in this set yet.".to_owned(),
                detail: "Bind one on the server’s page; then its descriptors can be approved here.".to_owned(),
                link: Some(Link { href: "/servers".to_owned(), words: "Servers".to_owned() }),
            };
        }
        Empty {
            headline: "No pin matches.".to_owned(),
            detail: "A search finds parts of qualified and wire names, and digests.".to_owned(),
            link: Some(Link { href: format!("/pinsets/{}", self.set.name()), words: "Clear the filters".to_owned() }),
        }
    }
}

fn key(alias: &Alias, pin: &Pin) -> Key {
    let digest = pin.digests.jcs.to_string();
    (alias.to_string(), pin.name.to_string(), pin.kind.to_string(), pin.variant.to_string(), digest)
}

fn denied_row(denial: &Denial) -> DeniedRow {
    DeniedRow {
        name: name(denial.name.as_str()),
        sign: signs::of_denied(denial.state),
        digest: Short::digest(denial.digest),
        why: match denial.state {
            crate::pinset::Denied::Revoked => "a reviewer took the pin back",
            crate::pinset::Denied::Rejected => "refused at review",
            crate::pinset::Denied::Held => "its evidence or a finding took the pin back",
        }
        .to_owned(),
        log_index: Count(denial.log_index),
    }
}
