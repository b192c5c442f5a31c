//! The states of a candidate and the one function that moves it from state to state.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ballot::{Ballot, Outcome, ReviewerId},
    decision::Mode,
    policy::{Policy, Risk},
};
use crate::{attest::Level, canon::Sha256};

/// Where a candidate stands. Expiry is no state: whoever evaluates a pin compares its end with the clock.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum State {
    /// Waits for ballots; these came so far.
    Pending {
        /// In the order they came.
        ballots: Vec<Ballot>,
    },
    /// Pinned by this decision.
    Approved {
        /// SHA-256 of the decision's leaf.
        decision: Sha256,
    },
    /// Refused by this decision.
    Rejected {
        /// SHA-256 of the decision's leaf.
        decision: Sha256,
    },
    /// Was pinned, and a reviewer took it back.
    Revoked {
        /// SHA-256 of the decision's leaf.
        decision: Sha256,
    },
    /// Was pinned, and its evidence or a finding took it back.
    Held,
}

/// What somebody wants to do to a candidate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Action {
    /// Vote to approve, reject or reopen; or take a pin back.
    Vote(Ballot),
    /// The log says that this decision was made.
    Decided(Outcome, Sha256),
    /// The log says that the pin was held.
    Hold,
}

/// What comes of an action.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// The ballot counts, and more are needed.
    Waiting {
        /// Ballots given.
        given: u32,
        /// Ballots needed.
        needed: u32,
    },
    /// These ballots make the decision, which is now to be logged.
    Decide {
        /// What was decided.
        outcome: Outcome,
        /// The ballots that counted.
        ballots: Vec<Ballot>,
        /// How many agreed, of how many.
        mode: Mode,
        /// Ids of findings that all of them accept, sorted.
        accepted: Vec<String>,
    },
    /// The state changed with what the log says.
    Moved,
}

/// All that a vote depends on besides the candidate's own state, read in the transaction that counts it.
#[derive(Clone, Debug)]
pub struct Eligible<'a> {
    /// The set's policy.
    pub policy: &'a Policy,
    /// SHA-256 of the view as it is now.
    pub view: Sha256,
    /// What makes an approval risky.
    pub risk: Risk,
    /// Accounts with the role `reviewer`.
    pub reviewers: &'a BTreeSet<ReviewerId>,
    /// Accounts behind the submission: who published it, and who holds the signing key.
    pub submitters: &'a BTreeSet<ReviewerId>,
    /// Level of the evidence.
    pub level: Level,
    /// Whether the server has an alias in the set.
    pub alias_bound: bool,
    /// Why the descriptor can't be pinned.
    pub unpinnable: Option<&'a str>,
}

/// Why an action was refused. Nothing changed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refused {
    /// The view is another one now.
    #[error("what you were shown has changed since")]
    ViewChanged,
    /// Only accounts with the role `reviewer` vote.
    #[error("only an account with the role reviewer can decide")]
    NotEligible,
    /// The account published this, or holds the key that signed it.
    #[error("nobody decides on what they submitted or signed themselves")]
    OwnSubmission,
    /// This reviewer's ballot is already counted.
    #[error("your ballot is already counted")]
    AlreadyVoted,
    /// The policy doesn't accept this level of evidence.
    #[error("the pin set's policy does not accept evidence of this level")]
    LevelNotAllowed,
    /// The descriptor breaks a rule that pins keep.
    #[error("the descriptor can't be pinned: {0}")]
    Unpinnable(String),
    /// No alias, hence no name to approve it under.
    #[error("the server has no alias in this pin set yet")]
    AliasUnbound,
    /// The action doesn't fit the state.
    #[error("{action} is not possible: the candidate is {state}")]
    NotFrom {
        /// The state's word.
        state: &'static str,
        /// The action's word.
        action: &'static str,
    },
}

/// A candidate as far as the state machine knows it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Candidate(pub State);

impl State {
    /// A new candidate's state.
    pub const fn opened() -> Self {
        Self::Pending { ballots: Vec::new() }
    }

    /// The word for the state: `pending`, `approved`, `rejected`, `revoked` or `held`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pending { .. } => "pending",
            Self::Approved { .. } => "approved",
            Self::Rejected { .. } => "rejected",
            Self::Revoked { .. } => "revoked",
            Self::Held => "held",
        }
    }
}

impl Candidate {
    /// The next state, and what is to be done about it.
    ///
    /// A step of [`Step::Decide`] leaves the candidate pending: the caller logs the decision and then applies
    /// [`Action::Decided`], so that a candidate is never further than the log.
    ///
    /// # Errors
    /// [`Refused`], and nothing is to be written.
    pub fn apply(self, action: Action, desk: &Eligible<'_>) -> Result<(Self, Step), Refused> {
        use Outcome::{Approve, Reject, Reopen, Revoke};
        let state = match (self.0, action) {
            (State::Pending { ballots }, Action::Vote(ballot)) if matches!(ballot.outcome, Approve | Reject) => {
                return vote(ballots, ballot, desk);
            }
            (state @ State::Approved { .. }, Action::Vote(ballot)) if ballot.outcome == Revoke => {
                return alone(state, ballot, desk);
            }
            (state @ (State::Rejected { .. } | State::Revoked { .. } | State::Held), Action::Vote(ballot))
                if ballot.outcome == Reopen =>
            {
                return alone(state, ballot, desk);
            }
            (State::Pending { .. }, Action::Decided(Approve, decision)) => State::Approved { decision },
            (State::Pending { .. }, Action::Decided(Reject, decision)) => State::Rejected { decision },
            (State::Approved { .. }, Action::Decided(Revoke, decision)) => State::Revoked { decision },
            (State::Rejected { .. } | State::Revoked { .. } | State::Held, Action::Decided(Reopen, _)) => {
                State::opened()
            }
            (State::Approved { .. }, Action::Hold) => State::Held,
            (state, action) => return Err(Refused::NotFrom { state: state.as_str(), action: action.word() }),
        };
        Ok((Self(state), Step::Moved))
    }
}

/// Counts a vote to approve or reject.
fn vote(ballots: Vec<Ballot>, ballot: Ballot, desk: &Eligible<'_>) -> Result<(Candidate, Step), Refused> {
    if ballot.view != desk.view {
        return Err(Refused::ViewChanged);
    }
    may_vote(&ballot.reviewer, desk)?;
    // Ballots of an older view are void, and so is the ballot of somebody who is no reviewer any more.
    let mut counted: Vec<Ballot> =
        ballots.into_iter().filter(|b| b.view == desk.view && may_vote(&b.reviewer, desk).is_ok()).collect();
    if counted.iter().any(|b| b.reviewer == ballot.reviewer && b.outcome == ballot.outcome) {
        return Err(Refused::AlreadyVoted);
    }
    counted.retain(|b| b.reviewer != ballot.reviewer);
    if ballot.outcome == Outcome::Approve {
        may_approve(desk)?;
        counted.push(ballot);
        let needed = desk.policy.needed(desk.risk);
        let given = u32::try_from(counted.len()).unwrap_or(u32::MAX);
        if given < needed {
            return Ok((Candidate(State::Pending { ballots: counted }), Step::Waiting { given, needed }));
        }
        let step = Step::Decide {
            outcome: Outcome::Approve,
            mode: if desk.policy.solo { Mode::Solo } else { Mode::Ballots { given, needed } },
            accepted: accepted_by_all(&counted),
            ballots: counted.clone(),
        };
        return Ok((Candidate(State::Pending { ballots: counted }), step));
    }
    // Denying takes one.
    let step = one_ballot(ballot, desk);
    Ok((Candidate(State::Pending { ballots: counted }), step))
}

/// Revoking and reopening take one reviewer; an approval after reopening takes the quorum again.
fn alone(state: State, ballot: Ballot, desk: &Eligible<'_>) -> Result<(Candidate, Step), Refused> {
    if !desk.reviewers.contains(&ballot.reviewer) {
        return Err(Refused::NotEligible);
    }
    if ballot.outcome == Outcome::Reopen && ballot.view != desk.view {
        return Err(Refused::ViewChanged);
    }
    let step = one_ballot(ballot, desk);
    Ok((Candidate(state), step))
}

fn one_ballot(ballot: Ballot, desk: &Eligible<'_>) -> Step {
    Step::Decide {
        outcome: ballot.outcome,
        mode: if desk.policy.solo { Mode::Solo } else { Mode::Ballots { given: 1, needed: 1 } },
        accepted: Vec::new(),
        ballots: vec![ballot],
    }
}

fn may_vote(reviewer: &ReviewerId, desk: &Eligible<'_>) -> Result<(), Refused> {
    if !desk.reviewers.contains(reviewer) {
        return Err(Refused::NotEligible);
    }
    if desk.submitters.contains(reviewer) && !desk.policy.solo {
        return Err(Refused::OwnSubmission);
    }
    Ok(())
}

fn may_approve(desk: &Eligible<'_>) -> Result<(), Refused> {
    if let Some(code) = desk.unpinnable {
        return Err(Refused::Unpinnable(code.to_owned()));
    }
    if !desk.policy.levels.contains(&desk.level) {
        return Err(Refused::LevelNotAllowed);
    }
    if !desk.alias_bound {
        return Err(Refused::AliasUnbound);
    }
    Ok(())
}

/// The findings that every ballot accepts.
fn accepted_by_all(ballots: &[Ballot]) -> Vec<String> {
    let mut votes: BTreeMap<&String, usize> = BTreeMap::new();
    for ballot in ballots {
        for id in ballot.accepts.iter().collect::<BTreeSet<_>>() {
            *votes.entry(id).or_default() += 1;
        }
    }
    votes.into_iter().filter(|(_, n)| *n == ballots.len()).map(|(id, _)| id.clone()).collect()
}

impl Action {
    const fn word(&self) -> &'static str {
        match self {
            Self::Vote(ballot) => ballot.outcome.as_str(),
            Self::Decided(outcome, _) => outcome.as_str(),
            Self::Hold => "hold",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{BallotType, CandidateId},
        *,
    };
    use crate::{clock::Timestamp, scan::Severity};

    const NOW: &[u8] = b"the view as it is";
    const OLD: &[u8] = b"the view as it was";

    fn reviewer(n: u8) -> ReviewerId {
        ReviewerId::random([n; 16])
    }

    fn ballot(n: u8, outcome: Outcome, view: &[u8], accepts: &[&str]) -> Ballot {
        Ballot {
            r#type: BallotType::V1,
            registry: "pins.example".into(),
            pinset: "default".parse().expect("legal"),
            candidate: CandidateId::of(b"c"),
            outcome,
            view: Sha256::of(view),
            accepts: accepts.iter().map(|id| (*id).to_owned()).collect(),
            reviewer: reviewer(n),
            issued: Timestamp::EPOCH,
        }
    }

    /// Reviewers 1 to 4; 4 submitted.
    struct Team {
        policy: Policy,
        reviewers: BTreeSet<ReviewerId>,
        submitters: BTreeSet<ReviewerId>,
    }

    impl Team {
        fn of(quorum: u32) -> Self {
            Self {
                policy: Policy { quorum, quorum_risky: quorum + 1, ..Policy::default() },
                reviewers: (1..=4).map(reviewer).collect(),
                submitters: BTreeSet::from([reviewer(4)]),
            }
        }

        fn desk(&self) -> Eligible<'_> {
            Eligible {
                policy: &self.policy,
                view: Sha256::of(NOW),
                risk: Risk::default(),
                reviewers: &self.reviewers,
                submitters: &self.submitters,
                level: Level::Key,
                alias_bound: true,
                unpinnable: None,
            }
        }
    }

    fn pending(ballots: Vec<Ballot>) -> Candidate {
        Candidate(State::Pending { ballots })
    }

    #[test]
    fn an_approval_waits_for_its_quorum_and_names_who_agreed() {
        use Outcome::Approve;
        let team = Team::of(2);
        let first = ballot(1, Approve, NOW, &["f1", "f2"]);
        let (candidate, step) = pending(vec![]).apply(Action::Vote(first.clone()), &team.desk()).expect("counts");
        assert_eq!(step, Step::Waiting { given: 1, needed: 2 });
        let second = ballot(2, Approve, NOW, &["f2", "f3"]);
        let (candidate, step) = candidate.apply(Action::Vote(second.clone()), &team.desk()).expect("decides");
        let expected = Step::Decide {
            outcome: Approve,
            ballots: vec![first, second],
            mode: Mode::Ballots { given: 2, needed: 2 },
            accepted: vec!["f2".into()],
        };
        assert_eq!(step, expected);
        let decided = Action::Decided(Approve, Sha256::of(b"leaf"));
        let (candidate, step) = candidate.apply(decided, &team.desk()).expect("moves");
        assert_eq!((candidate.0, step), (State::Approved { decision: Sha256::of(b"leaf") }, Step::Moved));
    }

    #[test]
    fn ballots_of_an_older_view_are_void() {
        use Outcome::Approve;
        let team = Team::of(2);
        let held = pending(vec![ballot(1, Approve, OLD, &[])]);
        let (_, step) = held.clone().apply(Action::Vote(ballot(2, Approve, NOW, &[])), &team.desk()).expect("counts");
        assert_eq!(step, Step::Waiting { given: 1, needed: 2 });
        let late = held.apply(Action::Vote(ballot(2, Approve, OLD, &[])), &team.desk());
        assert_eq!(late, Err(Refused::ViewChanged));
    }

    #[test]
    fn a_ballot_of_somebody_who_lost_the_role_is_void() {
        use Outcome::Approve;
        let mut team = Team::of(2);
        team.reviewers.remove(&reviewer(1));
        let held = pending(vec![ballot(1, Approve, NOW, &[])]);
        let (_, step) = held.apply(Action::Vote(ballot(2, Approve, NOW, &[])), &team.desk()).expect("counts");
        assert_eq!(step, Step::Waiting { given: 1, needed: 2 });
    }

    #[test]
    fn votes_are_refused_with_their_reason() {
        use Outcome::{Approve, Reject};
        let team = Team::of(1);
        let solo = Team { policy: Policy::solo(), ..Team::of(1) };
        let strict = Team { policy: Policy { levels: vec![Level::Sigstore], ..Policy::default() }, ..Team::of(1) };
        let unbound = Eligible { alias_bound: false, ..team.desk() };
        let broken = Eligible { unpinnable: Some("top-level-null"), ..team.desk() };
        let rows = [
            (ballot(9, Approve, NOW, &[]), team.desk(), Some(Refused::NotEligible)),
            (ballot(4, Approve, NOW, &[]), team.desk(), Some(Refused::OwnSubmission)),
            (ballot(4, Reject, NOW, &[]), team.desk(), Some(Refused::OwnSubmission)),
            (ballot(4, Approve, NOW, &[]), solo.desk(), None),
            (ballot(1, Approve, NOW, &[]), strict.desk(), Some(Refused::LevelNotAllowed)),
            (ballot(1, Reject, NOW, &[]), strict.desk(), None),
            (ballot(1, Approve, NOW, &[]), unbound.clone(), Some(Refused::AliasUnbound)),
            (ballot(1, Reject, NOW, &[]), unbound, None),
            (ballot(1, Approve, NOW, &[]), broken.clone(), Some(Refused::Unpinnable("top-level-null".into()))),
            (ballot(1, Reject, NOW, &[]), broken, None),
        ];
        for (vote, desk, expected) in rows {
            let answer = pending(vec![]).apply(Action::Vote(vote.clone()), &desk);
            assert_eq!(answer.err(), expected, "{vote:?}");
        }
    }

    #[test]
    fn one_person_counts_once_and_may_change_their_mind() {
        use Outcome::{Approve, Reject};
        let team = Team::of(2);
        let held = pending(vec![ballot(1, Approve, NOW, &[])]);
        let again = held.clone().apply(Action::Vote(ballot(1, Approve, NOW, &[])), &team.desk());
        assert_eq!(again, Err(Refused::AlreadyVoted));
        let (candidate, step) = held.apply(Action::Vote(ballot(1, Reject, NOW, &[])), &team.desk()).expect("decides");
        assert_eq!(candidate, pending(vec![]));
        assert!(matches!(step, Step::Decide { outcome: Reject, .. }));
    }

    #[test]
    fn denying_takes_one_and_reinstating_the_quorum() {
        use Outcome::{Approve, Reject, Reopen, Revoke};
        let team = Team::of(2);
        let leaf = Sha256::of(b"leaf");
        let approved = Candidate(State::Approved { decision: leaf });
        let (_, step) = approved.clone().apply(Action::Vote(ballot(1, Revoke, OLD, &[])), &team.desk()).expect("one");
        assert!(matches!(step, Step::Decide { outcome: Revoke, mode: Mode::Ballots { given: 1, needed: 1 }, .. }));
        let (revoked, _) = approved.apply(Action::Decided(Revoke, leaf), &team.desk()).expect("moves");
        let (_, step) = revoked.clone().apply(Action::Vote(ballot(1, Reopen, NOW, &[])), &team.desk()).expect("one");
        assert!(matches!(step, Step::Decide { outcome: Reopen, .. }));
        let (reopened, _) = revoked.apply(Action::Decided(Reopen, leaf), &team.desk()).expect("moves");
        let (_, step) =
            reopened.clone().apply(Action::Vote(ballot(1, Approve, NOW, &[])), &team.desk()).expect("counts");
        assert_eq!(step, Step::Waiting { given: 1, needed: 2 });
        let (_, step) = reopened.apply(Action::Vote(ballot(1, Reject, NOW, &[])), &team.desk()).expect("one");
        assert!(matches!(step, Step::Decide { outcome: Reject, .. }));
    }

    #[test]
    fn a_graver_risk_needs_more_ballots() {
        let team = Team::of(1);
        let desk = Eligible { risk: Risk { finding: Some(Severity::High), ..Risk::default() }, ..team.desk() };
        let (_, step) =
            pending(vec![]).apply(Action::Vote(ballot(1, Outcome::Approve, NOW, &[])), &desk).expect("counts");
        assert_eq!(step, Step::Waiting { given: 1, needed: 2 });
    }

    #[test]
    fn only_these_moves_exist() {
        use Outcome::{Approve, Reject, Reopen, Revoke};
        let team = Team::of(1);
        let leaf = Sha256::of(b"leaf");
        let states = [
            State::opened(),
            State::Approved { decision: leaf },
            State::Rejected { decision: leaf },
            State::Revoked { decision: leaf },
            State::Held,
        ];
        let actions = [
            Action::Decided(Approve, leaf),
            Action::Decided(Reject, leaf),
            Action::Decided(Revoke, leaf),
            Action::Decided(Reopen, leaf),
            Action::Hold,
        ];
        let table: Vec<String> = states
            .iter()
            .flat_map(|state| actions.iter().map(move |action| (state, action)))
            .map(|(state, action)| {
                let next = Candidate(state.clone()).apply(action.clone(), &team.desk());
                let next = next.map_or_else(|refused| refused.to_string(), |(c, _)| c.0.as_str().to_owned());
                format!("{} {} -> {next}", state.as_str(), action.word())
            })
            .collect();
        let possible: Vec<&str> =
            table.iter().map(String::as_str).filter(|row| !row.contains("not possible")).collect();
        assert_eq!(
            possible,
            [
                "pending approve -> approved",
                "pending reject -> rejected",
                "approved revoke -> revoked",
                "approved hold -> held",
                "rejected reopen -> pending",
                "revoked reopen -> pending",
                "held reopen -> pending",
            ]
        );
    }
}
