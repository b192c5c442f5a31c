//! Every refusal of the service as a [`Problem`]. No arm is a catch-all: a new refusal is a decision about its slug.

use super::problem::{Kind, Problem};
use crate::{
    clock::Timestamp,
    descriptor::CaptureError,
    review,
    service::{
        ChallengeError, NoProof, WriteError,
        access::{AccountRefused, SignInError, TokenRefused},
        desk,
        distribute::NoHead,
        govern, publish,
    },
    store::StoreError,
};

/// A write that waited behind a full queue may get through a second later.
const RETRY_BUSY: u32 = 1;
/// Until another process has taken over.
const RETRY_STOPPING: u32 = 5;

impl<R: Into<Self>> From<WriteError<R>> for Problem {
    fn from(e: WriteError<R>) -> Self {
        match e {
            WriteError::Refused(refused) => refused.into(),
            WriteError::ReadOnly(reason) => Self::new(Kind::ReadOnly).caused(reason),
            WriteError::Busy => Self::new(Kind::Busy).retry_after(RETRY_BUSY),
            WriteError::Closed => Self::new(Kind::Stopping).retry_after(RETRY_STOPPING),
            WriteError::Store(e) => e.into(),
            WriteError::Fold(e) => Self::internal(e),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(e: StoreError) -> Self {
        match e {
            StoreError::Database(_) | StoreError::Unconfirmed => {
                Self::new(Kind::Unavailable).caused(e).retry_after(RETRY_STOPPING)
            }
            StoreError::Schema(_) | StoreError::Corrupt { .. } => Self::internal(e),
        }
    }
}

impl From<CaptureError> for Problem {
    fn from(e: CaptureError) -> Self {
        let detail = e.to_string();
        match e {
            CaptureError::Refused { member, refused } => Self::from(refused).detail(detail).with("member", member),
            CaptureError::Truncated(_) => Self::new(Kind::CaptureTruncated).detail(detail),
            CaptureError::Shape(_) => Self::new(Kind::CaptureMalformed).detail(detail),
            CaptureError::TooMany => Self::new(Kind::TooManyDescriptors).detail(detail),
            CaptureError::ProtocolVersion(_) => Self::new(Kind::ProtocolVersion).detail(detail),
        }
    }
}

impl From<publish::Refused> for Problem {
    fn from(refused: publish::Refused) -> Self {
        use publish::Refused as R;
        let detail = refused.to_string();
        match refused {
            R::Body(_) => Self::new(Kind::BodyMalformed).detail(detail),
            R::Capture(e) => e.into(),
            R::Attestation(e) => e.into(),
            R::NameTaken(_) => Self::new(Kind::NameTaken).detail(detail),
            R::ReleaseDiffers { first, submitted } => {
                Self::new(Kind::ReleaseDiffers).detail(detail).with("first", first).with("submitted", submitted)
            }
        }
    }
}

impl From<desk::Refused> for Problem {
    fn from(refused: desk::Refused) -> Self {
        use desk::Refused as R;
        let detail = refused.to_string();
        match refused {
            R::NoCandidate => Self::new(Kind::CandidateNotFound),
            R::NoPin => Self::new(Kind::PinNotFound),
            R::ViewChanged(shown) => Self::new(Kind::ViewChanged).detail(detail).with("shown", shown),
            R::Review(refused) => refused.into(),
            R::Clash(_) => Self::new(Kind::NameClash).detail(detail),
            R::NoFinding(_) => Self::new(Kind::FindingUnknown).detail(detail),
        }
    }
}

impl From<review::Refused> for Problem {
    fn from(refused: review::Refused) -> Self {
        use review::Refused as R;
        let kind = match &refused {
            R::ViewChanged => Kind::ViewChanged,
            R::NotEligible => Kind::NotEligible,
            R::OwnSubmission => Kind::OwnSubmission,
            R::AlreadyVoted => Kind::AlreadyVoted,
            R::LevelNotAllowed => Kind::LevelNotAllowed,
            R::Unpinnable(code) => return Self::new(Kind::Unpinnable).detail(&refused).with("code", code),
            R::AliasUnbound => Kind::AliasUnbound,
            R::NotFrom { state, .. } => {
                return Self::new(Kind::TransitionRefused).detail(&refused).with("state", state);
            }
        };
        Self::new(kind).detail(refused)
    }
}

impl From<govern::Refused> for Problem {
    fn from(refused: govern::Refused) -> Self {
        use govern::Refused as R;
        let kind = match &refused {
            R::SetExists => Kind::PinsetExists,
            R::NoSet(_) => Kind::PinsetNotFound,
            R::NoServer(_) => Kind::ServerNotFound,
            R::Bound(_) => Kind::AliasBound,
            R::Policy(_) => Kind::PolicyMalformed,
            R::Granted => Kind::AuthorityGranted,
            R::NoAuthority => Kind::AuthorityNotFound,
            R::Revoked => Kind::AuthorityRevoked,
            R::NeedsQuorum(_) => Kind::NeedsQuorum,
        };
        Self::new(kind).detail(refused)
    }
}

impl From<AccountRefused> for Problem {
    fn from(refused: AccountRefused) -> Self {
        let kind = match &refused {
            AccountRefused::Exists(_) => Kind::AccountExists,
            AccountRefused::Unknown(_) => Kind::AccountNotFound,
            AccountRefused::LastAdmin => Kind::LastAdmin,
            AccountRefused::SetupOver => Kind::SetupOver,
            AccountRefused::NeedsQuorum(_) => Kind::NeedsQuorum,
        };
        Self::new(kind).detail(refused)
    }
}

impl From<TokenRefused> for Problem {
    fn from(refused: TokenRefused) -> Self {
        let kind = match &refused {
            TokenRefused::NoAccount(_) => Kind::AccountNotFound,
            TokenRefused::NoToken(_) => Kind::TokenNotFound,
            TokenRefused::Days => Kind::TokenDays,
            TokenRefused::TooMany => Kind::TooManyTokens,
            TokenRefused::NoSet { .. } => Kind::PinsetNotFound,
            TokenRefused::OthersVote => Kind::Forbidden,
        };
        Self::new(kind).detail(refused)
    }
}

impl From<SignInError> for Problem {
    fn from(e: SignInError) -> Self {
        match e {
            SignInError::Wrong => Self::new(Kind::SignInWrong),
            SignInError::Throttled(until) => Self::new(Kind::SignInThrottled).retry_after(http_date(until)),
            SignInError::Busy => Self::new(Kind::Busy).retry_after(RETRY_BUSY),
            SignInError::Store(e) => e.into(),
        }
    }
}

impl From<NoHead> for Problem {
    fn from(e: NoHead) -> Self {
        let detail = e.to_string();
        match e {
            NoHead::NoSet => Self::new(Kind::PinsetNotFound),
            NoHead::Unreleased => Self::new(Kind::Unwitnessed),
            NoHead::Behind { signed, seen } => {
                Self::new(Kind::HeadBehind).detail(detail).with("signed", signed).with("seen", seen)
            }
            NoHead::Answer(e) => Self::internal(e),
            NoHead::Store(e) => e.into(),
        }
    }
}

impl From<NoProof> for Problem {
    fn from(e: NoProof) -> Self {
        match e {
            NoProof::Beyond => Self::new(Kind::NotInLog).detail(e),
            NoProof::Store(e) => e.into(),
        }
    }
}

impl From<ChallengeError> for Problem {
    fn from(e: ChallengeError) -> Self {
        match e {
            ChallengeError::Checkpoint(e) => Self::new(Kind::CheckpointForeign).detail(e),
            ChallengeError::Store(e) => e.into(),
        }
    }
}

/// The form of dates in HTTP headers, rounded up to the next second.
fn http_date(at: Timestamp) -> String {
    let seconds = at.micros().div_euclid(1_000_000) + 1;
    let date = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_dates_in_its_own_form() {
        let at = Timestamp::from_micros(1_796_025_600_000_001).expect("in range");
        assert_eq!(http_date(at), "Mon, 30 Nov 2026 08:00:01 GMT");
    }
}
