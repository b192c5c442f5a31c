//! What a checkpoint needs before heads over it are released.

use crate::{clock::Timestamp, config, log::policy::Policy, pinset::trust::Trust};

use super::CLOCK_SKEW;

/// The policies that all must hold: that of the settings, and that of the trust file where it is another. While one
/// of them changes, both count: nothing is released that a gateway would refuse.
pub(in super::super) struct Gate {
    policies: Vec<Policy>,
    in_trust: bool,
}

impl Gate {
    pub(in super::super) fn new(configured: Option<&config::Witnesses>, trust: &Trust) -> Self {
        let asked = configured.map(|configured| configured.policy().for_readers());
        let trusted = trust.terms().witnesses.clone().filter(|policy| !policy.asks_for_none());
        let in_trust = asked == trusted;
        let mut policies: Vec<Policy> = asked.into_iter().chain(trusted).collect();
        policies.dedup();
        Self { policies, in_trust }
    }

    /// Whether nothing is asked for.
    pub(in super::super) const fn is_open(&self) -> bool {
        self.policies.is_empty()
    }

    /// Whether gateways ask for what the settings ask for.
    pub(super) const fn is_in_trust(&self) -> bool {
        self.in_trust
    }

    /// Whether this checkpoint's note has all that it needs.
    pub(in super::super) fn passes(&self, note: &str, now: Timestamp) -> bool {
        self.policies.iter().all(|policy| policy.check(note, now + CLOCK_SKEW).is_ok())
    }

    /// Whether it can pass with cosignatures of only those witnesses, by their keys' texts.
    pub(super) fn could_pass(&self, may: impl Fn(&str) -> bool) -> bool {
        self.policies.iter().all(|policy| policy.holds(|witness| may(&witness.key.to_string())))
    }
}
