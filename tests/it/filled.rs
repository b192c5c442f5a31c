//! Logs of any length, quickly: real events through the real commit path, thousands in one transaction.

use countersign::{
    attest::{Level, Role, Signer},
    canon::Sha256,
    event::{AuthorityGranted, Event, Evidence, ReviewerSet, Subjects},
    keys::SigningKey,
    review::ReviewerId,
    service::{App, Step, Stop, Work},
};

/// What the leaves say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum With {
    /// Accounts that never reviewed: short leaves after which the fold knows as much as before. 70,000 take seconds.
    Reviewers,
    /// Releases of one publisher: the leaves that real logs are full of, and the fold remembers each. No rows beside them.
    Releases,
}

/// As many as a transaction takes without anybody waiting long for it.
const AT_ONCE: u64 = 8_192;

/// Appends leaves until the log has `size` of them.
pub(crate) async fn fill(app: &App, size: u64, with: With) {
    while app.moment().checkpoint.size < size {
        let more = (size - app.moment().checkpoint.size).min(AT_ONCE);
        app.write(Fill { more, with }).await.expect("appended");
    }
    assert_eq!(app.moment().checkpoint.size, size);
}

struct Fill {
    more: u64,
    with: With,
}

impl Step for Fill {
    type Done = ();
    type Refused = &'static str;

    async fn run(&self, work: &mut Work) -> Result<(), Stop<&'static str>> {
        let before = work.state().size();
        while work.state().size() < before + self.more {
            let n = work.state().size();
            let event = match self.with {
                With::Reviewers => reviewer(n),
                With::Releases if work.state().authority(AUTHORITY).is_none() => authority(),
                With::Releases => release(n),
            };
            work.append(event)?;
        }
        Ok(())
    }
}

const AUTHORITY: &str = "filler";

fn key() -> SigningKey {
    SigningKey::from_seed(&[41; 32])
}

fn reviewer(n: u64) -> Event {
    let reviewer = ReviewerId::random(u128::from(n).to_be_bytes());
    Event::ReviewerSet(ReviewerSet { reviewer, active: false, by: ReviewerId::local_operator() })
}

fn authority() -> Event {
    Event::AuthorityGranted(AuthorityGranted {
        authority: AUTHORITY.to_owned(),
        scope: "com.filler".parse().expect("legal"),
        key: key().verifying(),
        role: Role::Publisher,
        holder: None,
        proof: "administrator".to_owned(),
        generation: 1,
        by: ReviewerId::local_operator(),
    })
}

fn release(n: u64) -> Event {
    let attestation = Sha256::of(&n.to_be_bytes());
    Event::ReleaseAttested(Evidence {
        release: attestation.id(),
        server: format!("com.filler/server-{}", n % 1_000).parse().expect("legal"),
        version: format!("1.0.{n}").parse().expect("legal"),
        variant: "".parse().expect("legal"),
        role: Role::Publisher,
        level: Level::Key,
        signer: Signer::Key(key().verifying().id()),
        authority: AUTHORITY.to_owned(),
        attestation,
        subjects: Subjects { count: 12, sha256: attestation },
        remotes: vec![],
        artifacts: vec![],
    })
}
