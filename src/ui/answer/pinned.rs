//! What became of an approval: whether the pin that it made is there still.

use crate::{canon::Sha256, clock::Timestamp, pinset::Pin, review::View, service::Moment};

/// What gateways make of an approved digest now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Standing {
    /// They let it through.
    Live,
    /// Its pin's time is over.
    Expired,
    /// A later decision under its name took its place.
    Ended,
}

impl Standing {
    /// How a view's digest stands, and whether another one under its name is let through.
    pub(super) fn of(view: &View, moment: &Moment, now: Timestamp) -> (Self, bool) {
        let under = moment.state.set(&view.pinset).zip(view.alias.as_ref());
        let pins = under.and_then(|(set, alias)| set.alias(alias)).into_iter().flat_map(|under| under.pins());
        let of_name = pins.filter(|pin| {
            pin.kind == view.kind && Some(&pin.name) == view.qualified.as_ref() && pin.variant == view.variant
        });
        let (own, others): (Vec<&Pin>, Vec<&Pin>) =
            of_name.partition(|pin| pin.digests.digest() == view.digests.digest());
        (Self::of_pins(&own, now), others.iter().any(|pin| pin.approval.not_after > now))
    }

    /// How the pin of this very decision stands.
    pub(super) fn of_decision<'a>(decision: Sha256, pins: impl IntoIterator<Item = &'a Pin>, now: Timestamp) -> Self {
        let own: Vec<&Pin> = pins.into_iter().filter(|pin| pin.approval.decision_sha256 == decision).collect();
        Self::of_pins(&own, now)
    }

    fn of_pins(own: &[&Pin], now: Timestamp) -> Self {
        match own {
            [] => Self::Ended,
            own if own.iter().any(|pin| pin.approval.not_after > now) => Self::Live,
            _ => Self::Expired,
        }
    }

    /// A few words beside "approved", where that alone would mislead.
    pub(super) const fn word(self) -> Option<&'static str> {
        match self {
            Self::Live => None,
            Self::Expired => Some("expired"),
            Self::Ended => Some("ended by a later decision"),
        }
    }
}
