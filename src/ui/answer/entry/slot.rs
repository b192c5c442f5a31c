//! Where a digest under a name stands today: pinned, by which decision; denied, by which entry; or neither.

use super::super::{label, signs};
use crate::{
    canon::Sha256,
    clock::Timestamp,
    name::{Kind, QualifiedName, SetName, Variant},
    pinset::{AliasState, Denial, Pin},
    service::Moment,
    ui::{
        html::{Html, html},
        when,
    },
};

/// A digest under a name in a set, as an entry of the log decided about it.
pub(super) struct Slot<'a> {
    pub(super) moment: &'a Moment,
    pub(super) set: &'a SetName,
    pub(super) kind: Kind,
    /// None while the server has no alias.
    pub(super) name: Option<&'a QualifiedName>,
    pub(super) variant: &'a Variant,
    pub(super) digest: Sha256,
    /// The entry's index.
    pub(super) index: u64,
    pub(super) now: Timestamp,
}

impl Slot<'_> {
    /// Where an approval stands.
    pub(super) fn approved(&self, decision: Sha256) -> Html {
        let until = |words: &'static str, pin: &Pin| {
            let mut html = Html::new();
            html.safe(&signs::of_pin(pin, self.now)).tag(words).safe(&when::date(pin.approval.not_after, self.now));
            html
        };
        let live: Vec<&Pin> = self.pins().collect();
        if let Some(pin) = live.iter().find(|pin| pin.approval.decision_sha256 == decision) {
            return until(" by this decision; it ends ", pin);
        }
        if let Some(pin) = live.iter().find(|pin| pin.digests.jcs == self.digest) {
            return html!("the same digest was approved again by ", [of_pin(pin)]);
        }
        if let Some(denial) = self.denial() {
            return html!("taken back: ", [denied(denial)]);
        }
        match live.first() {
            Some(pin) => html!("superseded: another digest is approved by ", [of_pin(pin)]),
            None => "its pin is gone, and the name has none".into(),
        }
    }

    /// Where a rejection, revocation or hold stands.
    pub(super) fn refused(&self) -> Html {
        if let Some(pin) = self.pins().find(|pin| pin.digests.jcs == self.digest) {
            return html!("superseded: the digest is approved by ", [of_pin(pin)]);
        }
        match self.denial() {
            Some(denial) if denial.log_index == self.index => {
                let mut html = Html::new();
                html.safe(&signs::of_denied(denial.state)).tag(" by this entry; gateways block the digest");
                html
            }
            Some(denial) => denied(denial),
            None if self.name.is_none() => {
                "the server had no alias: it denies the digest once one is bound, unless that is done already".into()
            }
            None => "the digest is not denied: something else was refused, such as its evidence".into(),
        }
    }

    /// Where a reopened digest stands.
    pub(super) fn reopened(&self) -> Html {
        if let Some(pin) = self.pins().find(|pin| pin.digests.jcs == self.digest) {
            return html!("approved since by ", [of_pin(pin)]);
        }
        match self.denial() {
            Some(denial) => denied(denial),
            None => "it is neither pinned nor denied".into(),
        }
    }

    fn under(&self) -> impl Iterator<Item = &AliasState> {
        self.moment.state.set(self.set).into_iter().flat_map(|set| set.aliases().map(|(_, under)| under))
    }

    /// The pins of the name and variant.
    fn pins(&self) -> impl Iterator<Item = &Pin> {
        let of = |pin: &&Pin| pin.kind == self.kind && Some(&pin.name) == self.name && pin.variant == *self.variant;
        self.under().flat_map(AliasState::pins).filter(of)
    }

    fn denial(&self) -> Option<&Denial> {
        let of = |d: &&Denial| {
            d.kind == self.kind
                && Some(&d.name) == self.name
                && d.variant == *self.variant
                && d.digest.sha256 == self.digest
        };
        self.under().flat_map(AliasState::denied).find(of)
    }
}

/// The decision behind a pin.
fn of_pin(pin: &Pin) -> Html {
    let decision = label::link(&format!("/decisions/{}", pin.approval.decision_sha256), "a decision");
    html!([decision], ", ", [label::entry(pin.approval.log_index)])
}

fn denied(denial: &Denial) -> Html {
    let mut html = Html::new();
    html.safe(&signs::of_denied(denial.state)).tag(" by ").html(&label::entry(denial.log_index));
    html
}
