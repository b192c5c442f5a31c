//! The verdict: what a pin set says about what a server lists. The one function that API, command line, check page and
//! guard ask.
//!
//! [`judge`] is pure: a set, what was listed, what the scanner says of descriptors that the set doesn't approve, and the
//! time. The order of [`Verdict`] is the order of the question "what is the first thing that speaks against it"; whatever
//! else applies stands in `also`, and the [`Action`] is the strictest of all that applies. Nothing but a complete list, a
//! fresh set and a live pin of exactly this digest is allowed through.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::Serialize;

use super::{
    document::{Denied, Pin},
    set::{AliasPins, PinSet},
};
use crate::{
    canon::{Digest, Sha256},
    clock::Timestamp,
    descriptor::{Descriptor, Listed},
    name::{Alias, Kind, Variant},
    scan::Severity,
};

/// What one server listed.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// The server's alias, where the caller knows it.
    pub alias: Option<&'a Alias>,
    /// Whether this is all that the server lists.
    pub complete: bool,
    /// The variant that was asked for. Naming one admits its pins only.
    pub variant: Option<&'a Variant>,
    /// The endpoint that the caller talks to.
    pub endpoint: Option<&'a str>,
    /// The digest of the package that the caller runs, as `sha256:…`.
    pub artifact: Option<&'a str>,
    /// The items as they were listed.
    pub listed: &'a [Listed],
}

/// What the scanner says of a descriptor that the set doesn't approve.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scan {
    /// The set's rules ran; this is the gravest finding.
    Done(Option<Severity>),
    /// The scan failed, or the set's rules are not at hand.
    Failed,
}

/// Something that applies to a listed item, the first that applies being the verdict.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The set's head has run out.
    Stale,
    /// The list is not all that the server lists.
    Incomplete,
    /// The name is listed or pinned more than once, so it says not whose it is.
    Ambiguous,
    /// The digest was pinned, and a reviewer took it back.
    Revoked,
    /// The digest was refused at review.
    Rejected,
    /// The digest was pinned, and its evidence or a finding took it back.
    Held,
    /// A live pin has exactly this digest.
    Approved,
    /// A pin has this digest, and it has run out.
    Expired,
    /// The name has a pin or a denial, and none has this digest.
    Changed,
    /// The scanner found something at or above the set's severity.
    Flagged,
    /// Nothing was ever decided about it.
    Unknown,
}

/// What a gateway does.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Show it and call it.
    Allow,
    /// Withhold it until somebody has decided.
    Quarantine,
    /// Withhold it.
    Block,
}

/// Whether the pin's evidence names the package or endpoint that the caller uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    /// The caller stated one, and the evidence names it.
    Matched,
    /// The evidence names some, and the caller stated none.
    Unstated,
    /// The evidence names none.
    Unbound,
}

/// The answer to one call.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Answer {
    /// The set's version.
    pub version: u64,
    /// SHA-256 of its document.
    pub set_sha256: Sha256,
    /// When its head runs out.
    pub expires: Timestamp,
    /// Whether every list of the call was complete.
    pub complete: bool,
    /// One for each listed item, in order.
    pub results: Vec<Judged>,
}

/// What was found about one item.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Judged {
    /// The qualified name where an alias is known, else the name as listed.
    pub name: String,
    /// The kind.
    pub kind: Kind,
    /// The deciding digest; none for an item that the strict parser refuses.
    pub digest: Option<Digest>,
    /// The first thing that applies.
    pub verdict: Verdict,
    /// What else applies.
    pub also: Vec<Verdict>,
    /// The strictest action of all that applies.
    pub action: Action,
    /// A sentence that says why.
    pub reason: String,
    /// Whether package or endpoint are those that the evidence names.
    pub binding: Binding,
}

/// Judges everything that the listings list.
///
/// `scan` is asked only about descriptors that have no live pin.
pub fn judge(
    set: &PinSet,
    listings: &[Listing<'_>],
    mut scan: impl FnMut(&Descriptor) -> Scan,
    now: Timestamp,
) -> Answer {
    let stale = now >= set.expires();
    let repeated = Repeated::of(listings);
    let mut results = Vec::with_capacity(listings.iter().map(|l| l.listed.len()).sum());
    for (n, listing) in listings.iter().enumerate() {
        for item in listing.listed {
            let mut about = About::new(set, listing, item);
            about.note_if(stale, Verdict::Stale);
            about.note_if(!listing.complete, Verdict::Incomplete);
            about.note_if(repeated.has(n, listing, item) || about.owners > 1, Verdict::Ambiguous);
            results.push(about.judge(set, listing, item, &mut scan, now));
        }
    }
    Answer {
        version: set.document().version,
        set_sha256: set.sha256(),
        expires: set.expires(),
        complete: listings.iter().all(|l| l.complete),
        results,
    }
}

/// Judges one descriptor before it is dispatched under a qualified name.
///
/// The descriptor must bear the name: one that is approved under another name says nothing about this one.
pub fn dispatch(
    set: &PinSet,
    name: &str,
    item: &Listed,
    scan: impl FnMut(&Descriptor) -> Scan,
    now: Timestamp,
) -> Answer {
    let owns = |alias: &&Alias| name.strip_prefix(alias.as_str()).is_some_and(|rest| rest.starts_with('.'));
    let alias = set.aliases().map(|(alias, _)| alias).find(owns);
    let listed = std::slice::from_ref(item);
    let listing = Listing { alias, complete: true, variant: None, endpoint: None, artifact: None, listed };
    let mut answer = judge(set, &[listing], scan, now);
    for judged in answer.results.iter_mut().filter(|judged| judged.name != name) {
        let stale = (judged.verdict == Verdict::Stale).then_some(Verdict::Unknown);
        judged.verdict = if stale.is_some() { Verdict::Stale } else { Verdict::Unknown };
        judged.also = stale.into_iter().collect();
        judged.action = Action::Block;
        judged.reason = format!("the descriptor bears the name {}, not the one that is called", judged.name);
        name.clone_into(&mut judged.name);
    }
    answer
}

/// What is being found out about one item.
struct About<'a> {
    alias: Option<&'a Alias>,
    /// Under how many aliases the bare name is known.
    owners: usize,
    name: String,
    applies: BTreeSet<Verdict>,
    blocked: bool,
    why: Option<String>,
    binding: Binding,
}

impl<'a> About<'a> {
    fn new(set: &'a PinSet, listing: &Listing<'a>, item: &Listed) -> Self {
        let bare = item.display_name();
        let mut owners = set.aliases_with(item.kind, &bare);
        let (alias, owners) = match listing.alias {
            Some(alias) => (Some(alias), 1),
            None => match (owners.next(), owners.count()) {
                (Some(alias), 0) => (Some(alias), 1),
                (Some(_), more) => (None, more + 1),
                (None, _) => (None, 0),
            },
        };
        let name = alias.map_or_else(|| bare.to_string(), |alias| format!("{alias}.{bare}"));
        Self { alias, owners, name, applies: BTreeSet::new(), blocked: false, why: None, binding: Binding::Unbound }
    }

    fn note_if(&mut self, applies: bool, verdict: Verdict) {
        if applies {
            self.applies.insert(verdict);
        }
    }

    fn judge(
        mut self,
        set: &PinSet,
        listing: &Listing<'_>,
        item: &Listed,
        scan: &mut impl FnMut(&Descriptor) -> Scan,
        now: Timestamp,
    ) -> Judged {
        let digest = match &item.parsed {
            Err(refused) => {
                // Nothing else can be said of it: two readers may see two things in these bytes.
                self.applies.insert(Verdict::Unknown);
                self.blocked = true;
                self.why = Some(format!("refused: {refused}"));
                None
            }
            Ok(descriptor) => {
                let approved = self.compare(set, listing, descriptor, now);
                if !approved {
                    self.scanned(scan(descriptor), set.document().flag_at);
                }
                Some(descriptor.digest())
            }
        };
        self.finish(item.kind, digest)
    }

    /// Compares with the pins and denials of the name. Whether a live pin has exactly this digest.
    fn compare(&mut self, set: &PinSet, listing: &Listing<'_>, descriptor: &Descriptor, now: Timestamp) -> bool {
        let digest = descriptor.digest();
        if let Some(unpinnable) = descriptor.unpinnable() {
            self.why = Some(format!("it can't be pinned: {} at {:?}", unpinnable.code, unpinnable.pointer));
        }
        let Some(under) = self.alias.and_then(|alias| set.alias(alias)) else {
            if self.owners == 0 || self.alias.is_some() {
                self.applies.insert(Verdict::Unknown);
            }
            return false;
        };
        let admitted = |variant: &Variant| listing.variant.is_none_or(|wanted| wanted == variant);
        let kind = descriptor.kind();
        let pins: Vec<&Pin> = under.pins(kind, &self.name).filter(|pin| admitted(&pin.variant)).collect();
        let denied: Vec<_> = under.denied(kind, &self.name).filter(|denial| admitted(&denial.variant)).collect();
        for denial in denied.iter().filter(|denial| denial.digest == digest) {
            self.applies.insert(match denial.state {
                Denied::Revoked => Verdict::Revoked,
                Denied::Rejected => Verdict::Rejected,
                Denied::Held => Verdict::Held,
            });
        }
        let same: Vec<&Pin> = pins.iter().copied().filter(|pin| pin.digests.digest() == digest).collect();
        let (live, gone): (Vec<&Pin>, Vec<&Pin>) = same.iter().partition(|pin| pin.approval.not_after > now);
        let denies_it = denied.iter().any(|denial| denial.digest == digest);
        if pins.is_empty() && denied.is_empty() {
            self.applies.insert(Verdict::Unknown);
        } else if same.is_empty() && !denies_it {
            self.applies.insert(Verdict::Changed);
        }
        if live.is_empty() {
            self.note_if(!gone.is_empty(), Verdict::Expired);
            return false;
        }
        let bound = live.iter().find_map(|pin| bound(under, pin, listing));
        self.binding = bound.unwrap_or(Binding::Unbound);
        if bound.is_none() {
            self.applies.insert(Verdict::Unknown);
            self.why = Some("it is approved for another package or endpoint than the one stated".into());
            return false;
        }
        self.applies.insert(Verdict::Approved);
        true
    }

    fn scanned(&mut self, scan: Scan, flag_at: Severity) {
        match scan {
            Scan::Done(gravest) => self.note_if(gravest >= Some(flag_at), Verdict::Flagged),
            Scan::Failed => {
                self.applies.insert(Verdict::Unknown);
                self.blocked = true;
                self.why = Some("it is not pinned and could not be scanned with the set's rules".into());
            }
        }
    }

    fn finish(self, kind: Kind, digest: Option<Digest>) -> Judged {
        let mut applies = self.applies.into_iter();
        // Nothing spoke for it and nothing against it: that is what unknown means.
        let verdict = applies.next().unwrap_or(Verdict::Unknown);
        let also: Vec<Verdict> = applies.collect();
        let strictest = also.iter().map(|v| v.action()).fold(verdict.action(), Action::max);
        let reason = match self.why {
            Some(why) => format!("{}; {why}", verdict.sentence()),
            None => verdict.sentence().to_owned(),
        };
        Judged {
            name: self.name,
            kind,
            digest,
            verdict,
            also,
            action: if self.blocked { Action::Block } else { strictest },
            reason,
            binding: self.binding,
        }
    }
}

/// Whether what the caller states is what the pin's evidence names; `None` if it is something else.
fn bound(under: &AliasPins, pin: &Pin, listing: &Listing<'_>) -> Option<Binding> {
    // A pin whose evidence is missing from its document binds to nothing that could match.
    let evidence = under.evidence(pin)?;
    let one = |stated: Option<&str>, named: &[&str]| match stated {
        _ if named.is_empty() => Some(Binding::Unbound),
        None => Some(Binding::Unstated),
        Some(stated) => named.contains(&stated).then_some(Binding::Matched),
    };
    let remotes: Vec<&str> = evidence.remotes.iter().map(String::as_str).collect();
    let artifacts: Vec<&str> = evidence.artifacts.iter().map(|artifact| artifact.digest.as_str()).collect();
    match (one(listing.endpoint, &remotes)?, one(listing.artifact, &artifacts)?) {
        (Binding::Matched, _) | (_, Binding::Matched) => Some(Binding::Matched),
        (Binding::Unstated, _) | (_, Binding::Unstated) => Some(Binding::Unstated),
        _ => Some(Binding::Unbound),
    }
}

/// How often, and by how many servers, each name of a call is listed.
struct Repeated<'a> {
    /// By server: how often.
    times: BTreeMap<(ServerKey<'a>, Kind, Cow<'a, str>), usize>,
    /// By how many servers.
    servers: BTreeMap<(Kind, Cow<'a, str>), BTreeSet<ServerKey<'a>>>,
}

/// Two lists under one alias are one server's; a list without an alias is a server of its own.
type ServerKey<'a> = (Option<&'a Alias>, usize);

impl<'a> Repeated<'a> {
    fn of(listings: &[Listing<'a>]) -> Self {
        let (mut times, mut servers) = (BTreeMap::new(), BTreeMap::<_, BTreeSet<_>>::new());
        for (n, listing) in listings.iter().enumerate() {
            let server = Self::server(n, listing);
            for item in listing.listed {
                let name = item.display_name();
                servers.entry((item.kind, name.clone())).or_default().insert(server);
                *times.entry((server, item.kind, name)).or_default() += 1;
            }
        }
        Self { times, servers }
    }

    fn has(&self, n: usize, listing: &Listing<'a>, item: &'a Listed) -> bool {
        let (kind, name) = (item.kind, item.display_name());
        let twice = self.times.get(&(Self::server(n, listing), kind, name.clone())).is_some_and(|times| *times > 1);
        let elsewhere = self.servers.get(&(kind, name)).is_some_and(|servers| servers.len() > 1);
        twice || listing.alias.is_none() && elsewhere
    }

    const fn server(n: usize, listing: &Listing<'a>) -> ServerKey<'a> {
        match listing.alias {
            Some(alias) => (Some(alias), 0),
            None => (None, n),
        }
    }
}

impl Verdict {
    /// All of them, in their order.
    pub const ALL: [Self; 11] = [
        Self::Stale,
        Self::Incomplete,
        Self::Ambiguous,
        Self::Revoked,
        Self::Rejected,
        Self::Held,
        Self::Approved,
        Self::Expired,
        Self::Changed,
        Self::Flagged,
        Self::Unknown,
    ];

    /// What a gateway does if nothing else applies.
    pub const fn action(self) -> Action {
        match self {
            Self::Approved => Action::Allow,
            Self::Expired | Self::Changed | Self::Unknown => Action::Quarantine,
            Self::Stale
            | Self::Incomplete
            | Self::Ambiguous
            | Self::Revoked
            | Self::Rejected
            | Self::Held
            | Self::Flagged => Action::Block,
        }
    }

    /// The word, as `approved`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Incomplete => "incomplete",
            Self::Ambiguous => "ambiguous",
            Self::Revoked => "revoked",
            Self::Rejected => "rejected",
            Self::Held => "held",
            Self::Approved => "approved",
            Self::Expired => "expired",
            Self::Changed => "changed",
            Self::Flagged => "flagged",
            Self::Unknown => "unknown",
        }
    }

    /// What it means, for a person.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Stale => "the pin set has run out; pull a fresh one",
            Self::Incomplete => "the list is not whole",
            Self::Ambiguous => "the name is listed or pinned more than once; say whose it is by an alias",
            Self::Revoked => "this descriptor was approved once and was revoked",
            Self::Rejected => "this descriptor was rejected at review",
            Self::Held => "this descriptor is held: its evidence or a finding needs a new look",
            Self::Approved => "this exact descriptor is approved",
            Self::Expired => "the approval of this descriptor has run out",
            Self::Changed => "another descriptor is known under this name",
            Self::Flagged => "the scanner found something that needs review",
            Self::Unknown => "nobody has decided about this",
        }
    }
}

impl Action {
    /// The word, as `quarantine`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Quarantine => "quarantine",
            Self::Block => "block",
        }
    }
}

impl Answer {
    /// Whether everything that was listed may pass.
    pub fn allows_all(&self) -> bool {
        self.complete && self.results.iter().all(|judged| judged.action == Action::Allow)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
