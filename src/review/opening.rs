//! Which digests of a release need a decision in a pin set, and why.

use std::collections::BTreeSet;

use super::Reason;
use crate::{
    attest::{Artifact, Level, Signer},
    canon::Digest,
    clock::Timestamp,
    scan::Severity,
};

/// A descriptor that a release brings, with who vouches for it.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    /// Its digest.
    pub digest: Digest,
    /// Level of the evidence.
    pub level: Level,
    /// The signer.
    pub signer: Signer,
    /// Endpoints the attestation names.
    pub remotes: &'a [String],
    /// Artifacts the attestation names.
    pub artifacts: &'a [Artifact],
    /// The gravest finding.
    pub gravest: Option<Severity>,
    /// Whether it looks like a renamed one that is missing from the release.
    pub renamed: bool,
}

/// What a pin set says about one (server, variant, kind, name).
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Its pins, expired ones too.
    pub pins: Vec<StandingPin>,
    /// Its denials.
    pub denials: Vec<StandingDenial>,
}

/// One pin under the name.
#[derive(Clone, Debug)]
pub struct StandingPin {
    /// Its digest.
    pub digest: Digest,
    /// Level of its evidence.
    pub level: Level,
    /// Its signer.
    pub signer: Signer,
    /// The endpoints its evidence names.
    pub remotes: Vec<String>,
    /// The artifacts its evidence names.
    pub artifacts: Vec<Artifact>,
    /// When it ends.
    pub not_after: Timestamp,
}

/// One denied digest under the name.
#[derive(Clone, Debug)]
pub struct StandingDenial {
    /// The digest.
    pub digest: Digest,
}

/// Why `offer` needs a decision, most urgent first; empty if there is a live decision on it.
pub fn reasons(offer: &Offer<'_>, standing: &Standing, flag_at: Severity, now: Timestamp) -> Vec<Reason> {
    if standing.denials.iter().any(|d| d.digest == offer.digest) {
        return Vec::new();
    }
    let pinned: Vec<_> = standing.pins.iter().filter(|p| p.digest == offer.digest).collect();
    let live: Vec<_> = pinned.iter().filter(|p| p.not_after > now).collect();
    let mut found = BTreeSet::new();
    if live.is_empty() {
        found.insert(match (pinned.is_empty(), standing.pins.is_empty() && standing.denials.is_empty()) {
            (false, _) => Reason::Expiring,
            (true, false) => Reason::Changed,
            (true, true) if offer.renamed => Reason::Renamed,
            (true, true) => Reason::Unknown,
        });
        if offer.gravest >= Some(flag_at) {
            found.insert(Reason::Flagged);
        }
    } else if !live.iter().any(|p| same_evidence(p, offer)) {
        // Live under other evidence: say in which way it differs from all of it.
        if live.iter().all(|p| offer.level < p.level) {
            found.insert(Reason::Downgrade);
        }
        if live.iter().all(|p| p.signer != offer.signer) {
            found.insert(Reason::SignerChange);
        }
        if live.iter().all(|p| !same_endpoints(p, offer)) {
            found.insert(Reason::EndpointChange);
        }
        if found.is_empty() {
            found.insert(Reason::SignerChange);
        }
    }
    found.into_iter().collect()
}

fn same_evidence(pin: &StandingPin, offer: &Offer<'_>) -> bool {
    pin.level == offer.level && pin.signer == offer.signer && same_endpoints(pin, offer)
}

fn same_endpoints(pin: &StandingPin, offer: &Offer<'_>) -> bool {
    pin.remotes == offer.remotes && pin.artifacts == offer.artifacts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::Sha256;

    fn digest(text: &str) -> Digest {
        Digest::jcs(Sha256::of(text.as_bytes()))
    }

    fn signer(name: &str) -> Signer {
        Signer::Key(crate::keys::KeyId(Sha256::of(name.as_bytes())))
    }

    fn offer(text: &str) -> Offer<'static> {
        let (digest, level) = (digest(text), Level::Key);
        Offer { digest, level, signer: signer("a"), remotes: &[], artifacts: &[], gravest: None, renamed: false }
    }

    fn pin(text: &str, level: Level, by: &str, not_after: i64) -> StandingPin {
        let not_after = Timestamp::from_micros(not_after).expect("in range");
        let (digest, signer) = (digest(text), signer(by));
        StandingPin { digest, level, signer, remotes: vec![], artifacts: vec![], not_after }
    }

    #[test]
    fn a_release_opens_what_has_no_live_decision_and_says_why() {
        use Reason::{Changed, Downgrade, EndpointChange, Expiring, Flagged, Renamed, SignerChange, Unknown};
        let pinned = |pins| Standing { pins, denials: vec![] };
        let denied = |text| Standing { pins: vec![], denials: vec![StandingDenial { digest: digest(text) }] };
        let elsewhere: &'static [String] = Box::leak(Box::new(["https://b.example/mcp".to_owned()]));
        let rows: [(&str, Offer<'_>, Standing, &[Reason]); 13] = [
            ("never seen", offer("a"), Standing::default(), &[Unknown]),
            (
                "never seen, flagged",
                Offer { gravest: Some(Severity::Medium), ..offer("a") },
                Standing::default(),
                &[Flagged, Unknown],
            ),
            (
                "below the threshold",
                Offer { gravest: Some(Severity::Low), ..offer("a") },
                Standing::default(),
                &[Unknown],
            ),
            ("renamed", Offer { renamed: true, ..offer("a") }, Standing::default(), &[Renamed]),
            ("pinned as it is", offer("a"), pinned(vec![pin("a", Level::Key, "a", 200)]), &[]),
            ("pinned, run out", offer("a"), pinned(vec![pin("a", Level::Key, "a", 100)]), &[Expiring]),
            ("another digest is pinned", offer("b"), pinned(vec![pin("a", Level::Key, "a", 200)]), &[Changed]),
            ("another digest was pinned", offer("b"), pinned(vec![pin("a", Level::Key, "a", 50)]), &[Changed]),
            ("another digest is denied", offer("b"), denied("a"), &[Changed]),
            ("this digest is denied", offer("a"), denied("a"), &[]),
            (
                "weaker evidence",
                offer("a"),
                pinned(vec![pin("a", Level::Sigstore, "c", 200)]),
                &[Downgrade, SignerChange],
            ),
            ("another key", offer("a"), pinned(vec![pin("a", Level::Key, "b", 200)]), &[SignerChange]),
            (
                "another endpoint",
                Offer { remotes: elsewhere, ..offer("a") },
                pinned(vec![pin("a", Level::Key, "a", 200)]),
                &[EndpointChange],
            ),
        ];
        let now = Timestamp::from_micros(100).expect("in range");
        for (what, offer, standing, expected) in rows {
            assert_eq!(reasons(&offer, &standing, Severity::Medium, now), expected, "{what}");
        }
    }

    #[test]
    fn flipping_one_hint_is_a_change_even_beside_an_older_pin_that_overlaps() {
        let standing =
            Standing { pins: vec![pin("a", Level::Key, "a", 150), pin("b", Level::Key, "a", 200)], denials: vec![] };
        let now = Timestamp::from_micros(100).expect("in range");
        assert_eq!(reasons(&offer("a"), &standing, Severity::Medium, now), []);
        assert_eq!(reasons(&offer("c"), &standing, Severity::Medium, now), [Reason::Changed]);
    }
}
