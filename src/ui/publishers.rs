//! Who publishes: namespaces, with the keys and identities that may speak for them.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use axum::{extract::State, response::Response};

use super::{
    around::{frame, page},
    figure::{Count, Short, count},
    frame::{Keys, Section},
    html::Html,
    name::name,
    piece::Empty,
    sign::Level,
    when::{self, When},
};
use crate::{
    attest::{self, Scope},
    clock::Timestamp,
    pinset::{AuthorityState, State as Log},
    web::{Problem, Reader, Web},
};

/// All namespaces with an authority or a release.
#[derive(Template)]
#[template(path = "publishers.html")]
pub(crate) struct PublishersPage {
    pub(crate) lead: String,
    pub(crate) publishers: Vec<Publisher>,
    pub(crate) empty: Option<Empty>,
}

/// One namespace.
pub(crate) struct Publisher {
    pub(crate) namespace: Html,
    /// "2 servers, 14 releases".
    pub(crate) about: String,
    pub(crate) signers: Vec<SignerRow>,
}

/// One key or identity that speaks for it.
pub(crate) struct SignerRow {
    pub(crate) key: Short,
    pub(crate) role: &'static str,
    pub(crate) level: Level,
    pub(crate) proof: String,
    pub(crate) generation: u32,
    pub(crate) since: When,
    pub(crate) revoked: Option<When>,
    pub(crate) releases: Count,
}

/// Of one namespace: which authorities speak for it, with how many releases, and of which servers these are.
#[derive(Default)]
struct Known<'a> {
    releases: BTreeMap<&'a str, BTreeSet<&'a str>>,
    servers: BTreeSet<&'a str>,
}

/// `GET /publishers`
pub(super) async fn publishers(State(web): State<Web>, Reader(who): Reader) -> Result<Response, Problem> {
    let (moment, now) = (web.app().moment(), web.app().clock().now());
    let body = body(&moment.state, now);
    page(frame(&web, &who, "Publishers", Section::Servers, Keys::Few).await?, body)
}

fn body(log: &Log, now: Timestamp) -> PublishersPage {
    let mut namespaces: BTreeMap<String, Known<'_>> = BTreeMap::new();
    for authority in log.authorities() {
        let namespace = match &authority.facts.scope {
            Scope::Any => "*".to_owned(),
            Scope::Namespace(namespace) => namespace.to_string(),
            Scope::Server(server) => server.namespace().to_string(),
        };
        namespaces.entry(namespace).or_default().releases.entry(&authority.facts.authority).or_default();
    }
    for evidence in log.attestations().map(|evidence| &evidence.facts) {
        let known = namespaces.entry(evidence.server.namespace().to_string()).or_default();
        known.servers.insert(evidence.server.name());
        known.releases.entry(&evidence.authority).or_default().insert(&evidence.release);
    }
    let publishers: Vec<Publisher> = namespaces.iter().map(|(name, known)| known.publisher(log, name, now)).collect();
    let empty = publishers.is_empty().then(|| Empty {
        headline: "Nobody may publish yet.".to_owned(),
        detail: "An administrator grants a key the authority over a namespace, under Settings.".to_owned(),
        link: None,
    });
    let lead = "A publisher is whoever a namespace’s authority names. What a server calls itself counts for nothing.";
    PublishersPage { lead: lead.to_owned(), publishers, empty }
}

impl Known<'_> {
    fn publisher(&self, log: &Log, namespace: &str, now: Timestamp) -> Publisher {
        let signer = |(id, releases): (&&str, &BTreeSet<&str>)| Some(signer(log.authority(id)?, releases.len(), now));
        let releases: BTreeSet<&&str> = self.releases.values().flatten().collect();
        let (servers, releases) = (self.servers.len() as u64, releases.len() as u64);
        let about = match namespace {
            "*" => "captures of any server".to_owned(),
            _ => format!("{}, {}", count(servers, "server", "servers"), count(releases, "release", "releases")),
        };
        Publisher { namespace: name(namespace), about, signers: self.releases.iter().filter_map(signer).collect() }
    }
}

fn signer(authority: &AuthorityState, releases: usize, now: Timestamp) -> SignerRow {
    SignerRow {
        key: Short::key(authority.facts.key.id().0),
        role: authority.facts.role.as_str(),
        level: match authority.facts.role.key_level() {
            attest::Level::Capture => Level::Capture,
            attest::Level::Key => Level::Key,
            attest::Level::Sigstore => Level::Sigstore,
        },
        proof: authority.facts.proof.clone(),
        generation: authority.facts.generation,
        since: when::date(authority.granted_at, now),
        revoked: authority.revoked.map(|at| when::minute(at, now)),
        releases: Count(releases as u64),
    }
}
