//! The review queue: filters in the address, a piece at a time, each row made from what a ballot would be bound to.

mod row;

pub(super) use self::row::says;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::signs;
use crate::{
    api::page::{after, cursor},
    name::SetName,
    review::Reason,
    service::desk::{self, Desk},
    store::{Candidate, QueueKey, ReasonCount, Search, Stage},
    ui::{
        around,
        difftree::query,
        figure::count,
        frame::{Keys, Section},
        piece::{Empty, Link, Tab},
        queue::QueuePage,
        when,
    },
    web::{Problem, Query, ReviewReader, Web},
};

/// Rows on one page: what a person looks through before going on, each made from the whole descriptor.
const ROWS: u32 = 30;

/// What the address asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Filter {
    set: String,
    reason: String,
    state: String,
    q: String,
    cursor: Option<String>,
}

pub(super) async fn show(
    State(web): State<Web>,
    ReviewReader(who): ReviewReader,
    Query(filter): Query<Filter>,
) -> Result<Response, Problem> {
    let (state, search) = (filter.stage(), filter.search());
    let from = after(filter.cursor.as_deref(), QueueKey::START)?;
    let mut conn = web.app().reader().conn().await?;
    let counts = conn.queue_reasons(state).await?;
    let mut rows = conn.queue_search(state, &search, &from, ROWS + 1).await?;
    drop(conn);
    let more = rows.len() > ROWS as usize;
    rows.truncate(ROWS as usize);
    let next = rows.last().filter(|_| more).map(|last| filter.with("cursor", &cursor(&last.key())));
    let groups = groups(&web, rows).await?;
    let page = page(&web, &filter, &counts, groups, next);
    let frame = around::frame(&web, &who, "Review queue", Section::Queue, Keys::List).await?;
    around::page(frame, page)
}

async fn groups(web: &Web, rows: Vec<Candidate>) -> Result<Vec<crate::ui::queue::Group>, Problem> {
    let mut desks: Vec<Desk> = Vec::with_capacity(rows.len());
    for row in rows {
        // One that is gone by now was never shown.
        desks.extend(desk::desk(web.app(), &row.id).await?);
    }
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let drawn = tokio::task::spawn_blocking(move || row::groups(&moment, &desks, now)).await;
    drawn.map_err(Problem::internal)
}

fn page(
    web: &Web,
    filter: &Filter,
    counts: &[ReasonCount],
    groups: Vec<crate::ui::queue::Group>,
    next: Option<String>,
) -> QueuePage {
    let now = web.app().clock().now();
    QueuePage {
        lead: filter.lead(counts),
        notes: Vec::new(),
        states: filter.states(),
        reasons: filter.reasons(counts),
        sets: filter.sets(web, counts),
        kept: filter.kept(),
        search: filter.q.clone(),
        empty: groups.is_empty().then(|| filter.empty()),
        groups,
        more: next.map(|href| Link { href, words: "More candidates".to_owned() }),
        as_of: when::clock(now, now),
    }
}

impl Filter {
    fn stage(&self) -> Stage {
        match self.state.as_str() {
            "approved" => Stage::Approved,
            "rejected" => Stage::Rejected,
            "revoked" => Stage::Revoked,
            "held" => Stage::Held,
            _ => Stage::Pending,
        }
    }

    fn search(&self) -> Search {
        /// Longer than any name.
        const MAX_TEXT: usize = 1_100;
        let text = self.q.trim().chars().take(MAX_TEXT).collect();
        Search { pinset: self.set.parse().ok(), reason: self.reason.parse().ok(), text }
    }

    fn is_narrow(&self) -> bool {
        let search = self.search();
        search != Search::default()
    }

    /// This page's address with one parameter set otherwise; what follows from the others goes.
    fn with(&self, name: &str, value: &str) -> String {
        let mut parts = Vec::new();
        for (key, own) in [("set", &self.set), ("reason", &self.reason), ("state", &self.state), ("q", &self.q)] {
            let value = if key == name { value } else { own.as_str() };
            if !value.is_empty() {
                parts.push(format!("{key}={}", query(value)));
            }
        }
        if name == "cursor" {
            parts.push(format!("cursor={}", query(value)));
        }
        if parts.is_empty() { "/queue".to_owned() } else { format!("/queue?{}", parts.join("&")) }
    }

    /// The other filters, which a search keeps.
    fn kept(&self) -> Vec<(&'static str, String)> {
        let all = [("set", &self.set), ("reason", &self.reason), ("state", &self.state)];
        all.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name, value.clone())).collect()
    }

    fn counted(&self, counts: &[ReasonCount], reason: Option<Reason>, set: Option<&SetName>) -> u64 {
        let of =
            |c: &&ReasonCount| reason.is_none_or(|reason| c.reason == reason) && set.is_none_or(|set| c.pinset == *set);
        counts.iter().filter(of).map(|c| u64::try_from(c.n).unwrap_or(0)).sum()
    }

    fn lead(&self, counts: &[ReasonCount]) -> String {
        let n = self.counted(counts, None, None);
        match (self.stage(), n) {
            (Stage::Pending, 0) => "Nothing waits.".to_owned(),
            (Stage::Pending, 1) => "1 candidate waits, most urgent first.".to_owned(),
            (Stage::Pending, n) => format!("{} wait, most urgent first.", count(n, "candidate", "candidates")),
            (stage, n) => {
                let word = signs::of_stage(stage, Reason::Unknown).word();
                format!("{} {word}.", count(n, "candidate is", "candidates are"))
            }
        }
    }

    fn states(&self) -> Vec<Tab> {
        let tab = |stage: Stage, value: &str, words: &str| Tab {
            href: self.with("state", value),
            words: words.to_owned(),
            sign: (stage != Stage::Pending).then(|| signs::of_stage(stage, Reason::Unknown)),
            count: None,
            current: self.stage() == stage,
        };
        vec![
            tab(Stage::Pending, "", "Waiting"),
            tab(Stage::Approved, "approved", "approved"),
            tab(Stage::Rejected, "rejected", "rejected"),
            tab(Stage::Revoked, "revoked", "revoked"),
            tab(Stage::Held, "held", "held"),
        ]
    }

    fn reasons(&self, counts: &[ReasonCount]) -> Vec<Tab> {
        let search = self.search();
        let tab = |reason: Option<Reason>| Tab {
            href: self.with("reason", reason.map_or("", Reason::as_str)),
            words: reason.map_or("All", Reason::as_str).to_owned(),
            sign: reason.map(signs::of_reason),
            count: Some(self.counted(counts, reason, search.pinset.as_ref())),
            current: search.reason == reason,
        };
        let all = std::iter::once(None).chain(Reason::ALL.into_iter().map(Some));
        all.map(tab).filter(|tab| tab.current || tab.sign.is_none() || tab.count != Some(0)).collect()
    }

    fn sets(&self, web: &Web, counts: &[ReasonCount]) -> Vec<Tab> {
        let moment = web.app().moment();
        let chosen = self.search().pinset;
        let tab = |set: Option<&SetName>| Tab {
            href: self.with("set", set.map_or("", SetName::as_str)),
            words: set.map_or("All sets", SetName::as_str).to_owned(),
            sign: None,
            count: Some(self.counted(counts, None, set)),
            current: chosen.as_ref() == set,
        };
        let names: Vec<&SetName> = moment.state.sets().map(crate::pinset::SetState::name).collect();
        match names.as_slice() {
            [] | [_] => Vec::new(),
            names => std::iter::once(None).chain(names.iter().copied().map(Some)).map(tab).collect(),
        }
    }

    fn empty(&self) -> Empty {
        if self.is_narrow() {
            return Empty {
                headline: "Nothing here matches the filters.".to_owned(),
                detail: "A search finds parts of a server’s or a descriptor’s name, and the first digits of a digest."
                    .to_owned(),
                link: Some(Link { href: "/queue".to_owned(), words: "Clear the filters".to_owned() }),
            };
        }
        let (headline, detail) = match self.stage() {
            Stage::Pending => {
                ("Nothing waits for a decision.", "The next published release with something new shows up here.")
            }
            _ => ("None.", "Decided candidates of this kind show up here."),
        };
        Empty { headline: headline.to_owned(), detail: detail.to_owned(), link: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_stay_in_the_address_and_a_new_one_begins_at_the_top() {
        let filter =
            Filter { set: "prod".to_owned(), q: "a&b".to_owned(), cursor: Some("x".to_owned()), ..Filter::default() };
        assert_eq!(filter.with("reason", "changed"), "/queue?set=prod&reason=changed&q=a%26b");
        assert_eq!(filter.with("cursor", "y"), "/queue?set=prod&q=a%26b&cursor=y");
        assert_eq!(Filter::default().with("set", ""), "/queue");
    }
}
