//! Review: what a person is shown, how ballots become a decision, and which states a candidate passes through.
//!
//! Everything here is a pure function of its arguments: no clock, no store. A [`View`] is the document a page was made
//! from; a [`Ballot`] names its digest, so that nobody approves what they didn't see; [`Candidate::apply`] is the only
//! way from one [`State`] to another; a [`Decision`] is what the log keeps of the outcome. The fold in `pinset` turns
//! decisions into pins; this module doesn't know pin sets, only the standing of one name in one of them.

mod ballot;
mod candidate;
mod decision;
mod opening;
mod policy;
mod reason;
mod view;

pub use ballot::{Ballot, BallotType, NotAReviewer, Outcome, ReviewerId};
pub use candidate::{Action, Candidate, Eligible, Refused, State, Step};
pub use decision::{
    CandidateId, Decision, Digests, Mode, NotACandidate, NotAMode, NotAReason, ReasonText, Superseded, Unsound,
};
pub use opening::{Offer, Standing, StandingDenial, StandingPin, reasons};
pub use policy::{BadPolicy, HoldAt, Policy, Risk};
pub use reason::{Reason, UnknownReason};
pub use view::{Shown, View, ViewEvidence, ViewType};
