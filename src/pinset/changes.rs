//! What differs between two versions of one pin set: a typed list from which the newer follows from the older.
//!
//! Nothing is left out: equal sets have no changes, and whoever applies the changes to the older documents gets the newer
//! ones; tests hold it to both. Version, time and the documents' own digests aren't changes, they follow. What the log's
//! rules never write (an alias that goes, a digest that is another by the second recipe) has a change of its own all the
//! same, so that a comparison can be shown of any two versions that somebody signed. Says what, not why: each pin and
//! denial names its log entry.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{AliasEntry, Denial, Denied, Pin, PinEvidence, PinsDocument, SetDocument};
use crate::{
    canon::{Digest, NotCanonical, Sha256},
    name::{Alias, Kind, QualifiedName, ServerName, Variant},
    scan::Severity,
};

/// One difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change<'a> {
    /// The registry goes on under another name; its documents say so from then on.
    Registry(Pair<&'a str>),
    /// The registry began another epoch.
    Epoch(Pair<u64>),
    /// Another policy is in force.
    Policy(Pair<Sha256>),
    /// Findings flag from another severity on.
    FlagAt(Pair<Severity>),
    /// Other scanner rules apply.
    Ruleset(Pair<Sha256>),
    /// A server got an alias.
    Bound(&'a Alias, &'a ServerName),
    /// An alias is gone.
    Unbound(&'a Alias, &'a ServerName),
    /// An alias is another server's.
    Rebound(&'a Alias, Pair<&'a ServerName>),
    /// Something about the pins and denials of an alias.
    Under(&'a Alias, Under<'a>),
}

/// One difference among the pins, denials and evidence of an alias.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Under<'a> {
    /// A digest is pinned that wasn't, under a name and variant that lost none.
    Added(&'a Pin),
    /// A digest isn't pinned any more, and neither replaced nor denied.
    Removed(&'a Pin),
    /// Another digest is pinned under the name and variant; the older one is gone.
    Replaced(Pair<&'a Pin>),
    /// The same digest was approved again.
    Renewed(Pair<&'a Pin>),
    /// The same digest rests on other evidence.
    Moved(Pair<&'a Pin>),
    /// The same approval ends at another time: a newer one for the name cut it short.
    Ends(Pair<&'a Pin>),
    /// The same digest, with something else about it that no decision changes.
    Altered(Pair<&'a Pin>),
    /// A pin was taken away, and its digest is denied.
    TakenAway(&'a Pin, &'a Denial),
    /// A digest that wasn't pinned is denied.
    Denied(&'a Denial),
    /// A digest is denied in another way, or by another entry.
    Restated(Pair<&'a Denial>),
    /// A digest isn't denied any more.
    Lifted(&'a Denial),
    /// An attestation came in, went out, or is described otherwise.
    Evidence(Sha256, Pair<Option<&'a PinEvidence>>),
}

/// Before and after.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pair<T> {
    /// In the older version.
    pub old: T,
    /// In the newer one.
    pub new: T,
}

/// The versions can't be compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Incomparable {
    /// They are versions of sets of different names.
    #[error("these are not two versions of one pin set")]
    OtherSet,
    /// A document is needed that isn't here.
    #[error("the pins document {0} is missing")]
    Missing(Sha256),
    /// A document doesn't belong where the set names it, or isn't sorted.
    #[error("the pins document {0} is not the one that the set names")]
    Astray(Sha256),
}

/// Pins documents by their digest, which was computed here.
#[derive(Clone, Debug, Default)]
pub struct Documents(BTreeMap<Sha256, PinsDocument>);

/// What tells pins apart, in the documents' order: name and variant first, the digest last.
type Key<'a> = (Kind, &'a QualifiedName, &'a Variant, Digest);

impl Documents {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a document in; its digest.
    ///
    /// # Errors
    /// [`NotCanonical`] for bytes that are no pins document.
    pub fn add(&mut self, bytes: &[u8]) -> Result<Sha256, NotCanonical> {
        let (sha256, document) = (Sha256::of(bytes), PinsDocument::parse(bytes)?);
        self.0.insert(sha256, document);
        Ok(sha256)
    }

    /// Whether the document with this digest is among them.
    pub fn has(&self, sha256: &Sha256) -> bool {
        self.0.contains_key(sha256)
    }

    fn get(&self, set: &SetDocument, alias: &Alias, entry: &AliasEntry) -> Result<&PinsDocument, Incomparable> {
        let document = self.0.get(&entry.pins_sha256).ok_or(Incomparable::Missing(entry.pins_sha256))?;
        let belongs = (&document.registry, &document.set, &document.alias, &document.server)
            == (&set.registry, &set.name, alias, &entry.server);
        let pins = document.pins.windows(2).all(|pair| pin_key(&pair[0]) < pin_key(&pair[1]));
        let denied = document.denied.windows(2).all(|pair| denial_key(&pair[0]) < denial_key(&pair[1]));
        if belongs && pins && denied { Ok(document) } else { Err(Incomparable::Astray(entry.pins_sha256)) }
    }
}

/// Which pins documents a comparison reads: those that one version names and the other doesn't, under the same alias.
pub fn needed(old: &SetDocument, new: &SetDocument) -> BTreeSet<Sha256> {
    let differs = |alias: &&Alias| old.aliases.get(*alias) != new.aliases.get(*alias);
    let aliases = old.aliases.keys().chain(new.aliases.keys()).filter(differs);
    let of = |alias: &Alias| [old, new].map(|set| set.aliases.get(alias).map(|entry| entry.pins_sha256));
    aliases.flat_map(of).flatten().collect()
}

/// The changes that lead from `old` to `new`: those of the set first, then alias by alias.
///
/// # Errors
/// [`Incomparable`].
pub fn between<'a>(
    old: &'a SetDocument,
    new: &'a SetDocument,
    documents: &'a Documents,
) -> Result<Vec<Change<'a>>, Incomparable> {
    if old.name != new.name {
        return Err(Incomparable::OtherSet);
    }
    let mut found = Vec::new();
    found.extend(differ(old.registry.as_str(), new.registry.as_str()).map(Change::Registry));
    found.extend(differ(old.epoch, new.epoch).map(Change::Epoch));
    found.extend(differ(old.policy_sha256, new.policy_sha256).map(Change::Policy));
    found.extend(differ(old.flag_at, new.flag_at).map(Change::FlagAt));
    found.extend(differ(old.ruleset_sha256, new.ruleset_sha256).map(Change::Ruleset));
    let aliases: BTreeSet<&Alias> = old.aliases.keys().chain(new.aliases.keys()).collect();
    for alias in aliases {
        let (before, after) = (old.aliases.get(alias), new.aliases.get(alias));
        if before == after {
            continue;
        }
        match (before, after) {
            (Some(before), Some(after)) => {
                found.extend(differ(&before.server, &after.server).map(|pair| Change::Rebound(alias, pair)));
            }
            (None, Some(after)) => found.push(Change::Bound(alias, &after.server)),
            (Some(before), None) => found.push(Change::Unbound(alias, &before.server)),
            (None, None) => {}
        }
        let before = before.map(|entry| documents.get(old, alias, entry)).transpose()?;
        let after = after.map(|entry| documents.get(new, alias, entry)).transpose()?;
        found.extend(under(before, after).into_iter().map(|change| Change::Under(alias, change)));
    }
    Ok(found)
}

fn differ<T: PartialEq>(old: T, new: T) -> Option<Pair<T>> {
    (old != new).then_some(Pair { old, new })
}

const fn pin_key(pin: &Pin) -> Key<'_> {
    (pin.kind, &pin.name, &pin.variant, pin.digests.digest())
}

const fn denial_key(denial: &Denial) -> Key<'_> {
    (denial.kind, &denial.name, &denial.variant, denial.digest)
}

fn under<'a>(old: Option<&'a PinsDocument>, new: Option<&'a PinsDocument>) -> Vec<Under<'a>> {
    fn pins(document: Option<&PinsDocument>) -> BTreeMap<Key<'_>, &Pin> {
        document.iter().flat_map(|document| &document.pins).map(|pin| (pin_key(pin), pin)).collect()
    }
    fn denied(document: Option<&PinsDocument>) -> BTreeMap<Key<'_>, &Denial> {
        document.iter().flat_map(|document| &document.denied).map(|denial| (denial_key(denial), denial)).collect()
    }
    let (old_pins, new_pins) = (pins(old), pins(new));
    let (old_denied, mut new_denied) = (denied(old), denied(new));
    let mut found = Vec::new();
    // What came in under a name and variant, in order; what goes out under it takes from these.
    let mut came: BTreeMap<(Kind, &QualifiedName, &Variant), Vec<&Pin>> = BTreeMap::new();
    for (key, pin) in new_pins.iter().rev().filter(|(key, _)| !old_pins.contains_key(*key)) {
        came.entry((key.0, key.1, key.2)).or_default().push(pin);
    }
    for (key, pin) in &old_pins {
        if let Some(now) = new_pins.get(key) {
            found.extend(differ(*pin, *now).map(same_digest));
            continue;
        }
        let fresh = new_denied.get(key).copied().filter(|_| !old_denied.contains_key(key));
        if let Some(denial) = fresh {
            new_denied.remove(key);
            found.push(Under::TakenAway(pin, denial));
        } else if let Some(now) = came.get_mut(&(key.0, key.1, key.2)).and_then(Vec::pop) {
            found.push(Under::Replaced(Pair { old: pin, new: now }));
        } else {
            found.push(Under::Removed(pin));
        }
    }
    found.extend(came.into_values().flat_map(|pins| pins.into_iter().rev()).map(Under::Added));
    for (key, denial) in &new_denied {
        match old_denied.get(key) {
            None => found.push(Under::Denied(denial)),
            Some(before) => found.extend(differ(*before, *denial).map(Under::Restated)),
        }
    }
    let lifted = old_denied.iter().filter(|(key, _)| !new_denied.contains_key(*key));
    found.extend(lifted.map(|(_, denial)| Under::Lifted(denial)));
    found.extend(evidence(old, new));
    found
}

/// Two pins of one digest that differ.
fn same_digest(pair: Pair<&Pin>) -> Under<'_> {
    let Pair { old, new } = pair;
    let as_new = Pin { evidence: new.evidence, approval: new.approval.clone(), ..old.clone() };
    if as_new != *new {
        Under::Altered(pair)
    } else if old.evidence != new.evidence {
        Under::Moved(pair)
    } else if old.approval.decision_sha256 != new.approval.decision_sha256 {
        Under::Renewed(pair)
    } else if (super::document::Approval { not_after: new.approval.not_after, ..old.approval.clone() }) == new.approval
    {
        Under::Ends(pair)
    } else {
        Under::Altered(pair)
    }
}

fn evidence<'a>(
    old: Option<&'a PinsDocument>,
    new: Option<&'a PinsDocument>,
) -> impl Iterator<Item = Under<'a>> + use<'a> {
    let ids: BTreeSet<Sha256> =
        old.into_iter().chain(new).flat_map(|document| document.evidence.keys().copied()).collect();
    let of = |document: Option<&'a PinsDocument>, id: Sha256| document.and_then(|document| document.evidence.get(&id));
    ids.into_iter().filter_map(move |id| differ(of(old, id), of(new, id)).map(|pair| Under::Evidence(id, pair)))
}

/// How many of each there are, for a line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// Digests that gateways newly let through, replaced ones not counted.
    pub added: u64,
    /// Pins that are gone without a word.
    pub removed: u64,
    /// Names with another digest.
    pub replaced: u64,
    /// Approvals given again, on the same evidence or other.
    pub renewed: u64,
    /// Approvals that end at another time.
    pub ends: u64,
    /// Digests newly denied as revoked.
    pub revoked: u64,
    /// Digests newly denied as held.
    pub held: u64,
    /// Digests newly denied as rejected.
    pub rejected: u64,
    /// Denials lifted.
    pub lifted: u64,
    /// What no decision changes.
    pub altered: u64,
}

impl Tally {
    /// Counts what changed among pins and denials.
    pub fn of(changes: &[Change<'_>]) -> Self {
        let mut tally = Self::default();
        for change in changes {
            let Change::Under(_, under) = change else { continue };
            *match under {
                Under::Added(_) => &mut tally.added,
                Under::Removed(_) => &mut tally.removed,
                Under::Replaced(_) => &mut tally.replaced,
                Under::Renewed(_) | Under::Moved(_) => &mut tally.renewed,
                Under::Ends(_) => &mut tally.ends,
                Under::Altered(_) => &mut tally.altered,
                Under::Lifted(_) => &mut tally.lifted,
                Under::TakenAway(_, denial) | Under::Denied(denial) | Under::Restated(Pair { new: denial, .. }) => {
                    match denial.state {
                        Denied::Revoked => &mut tally.revoked,
                        Denied::Held => &mut tally.held,
                        Denied::Rejected => &mut tally.rejected,
                    }
                }
                // It comes and goes with the pins that rest on it.
                Under::Evidence(..) => continue,
            } += 1;
        }
        tally
    }
}

#[cfg(test)]
mod tests;
