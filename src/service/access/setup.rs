//! The one-time set-up link, by which the first administrator is made in a browser.

use std::{collections::BTreeSet, fs, io, path::Path};

use subtle::ConstantTimeEq as _;

use super::{AccountName, AccountRefused, PasswordHash, Principal, Secret, accounts::add};
use crate::{
    canon::Sha256,
    config::PublicUrl,
    event::PolicySet,
    review::{Policy, ReviewerId},
    service::{App, Step, Stop, Work, durable, govern},
    store::{Role, StoreError},
};

/// Makes the first administrator, who reviews too.
#[derive(Clone, Debug)]
pub struct SetUp {
    /// SHA-256 of the link's secret.
    pub secret: Sha256,
    /// The account's name.
    pub name: AccountName,
    /// Its password, hashed by [`App::hash_password`].
    pub password: PasswordHash,
    /// Whether this person reviews alone: the policy of every pin set becomes `solo`.
    pub alone: bool,
}

/// The file in the data directory that holds the link until it is used.
pub const SETUP_LINK: &str = "setup-link";
/// Where the link leads; the secret follows.
const PATH: &str = "/setup/";

/// The set-up link can't be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Its file can't be read or written.
    #[error("{SETUP_LINK}: {0}")]
    File(#[from] io::Error),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// The set-up link under this public URL, as long as there is no administrator; it is also in `DIR/setup-link`, which
    /// only its owner reads, and which goes once there is one. A restart keeps a link that is still valid.
    ///
    /// # Errors
    /// [`SetupError`].
    pub async fn setup_link(&self, data: &Path, url: &PublicUrl) -> Result<Option<String>, SetupError> {
        let file = data.join(SETUP_LINK);
        let held = match fs::read_to_string(&file) {
            Ok(link) => Some(link),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e.into()),
        };
        let secret = held.as_deref().and_then(|link| link.trim_end().rsplit('/').next());
        let Some(secret) = self.setup_secret(secret).await? else {
            if held.is_some() {
                fs::remove_file(&file)?;
            }
            return Ok(None);
        };
        let link = format!("{}{PATH}{}", url.as_str(), secret.reveal());
        durable::replace(&file, format!("{link}\n").as_bytes())?;
        Ok(Some(link))
    }

    /// The secret of the set-up link, as long as there is no administrator: the one that `held` says if it is still
    /// valid, else a new one that takes its place.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn setup_secret(&self, held: Option<&str>) -> Result<Option<Secret>, StoreError> {
        if self.access().has_admin() || self.read_only().is_some() {
            return Ok(None);
        }
        if let Some(held) = held
            && self.is_setup_secret(held).await?
        {
            return Ok(Some(Secret::held(held)));
        }
        let secret = Secret::plain(self.core.rng.as_ref());
        let mut tx = self.core.writer.begin().await?;
        let kept = tx.put_setup(secret.sha256(), self.core.clock.now()).await?;
        tx.commit().await?;
        Ok(kept.then_some(secret))
    }

    /// Whether a secret is the set-up link's, and the link still valid.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    pub async fn is_setup_secret(&self, secret: &str) -> Result<bool, StoreError> {
        let Some(sha256) = Secret::sha256_of(secret) else { return Ok(false) };
        let setup = self.reader().conn().await?.setup().await?;
        Ok(setup.is_some_and(|setup| setup.used_at.is_none() && same(setup.sha256, sha256)))
    }
}

impl Step for SetUp {
    type Done = ReviewerId;
    type Refused = AccountRefused;

    async fn run(&self, work: &mut Work) -> Result<ReviewerId, Stop<AccountRefused>> {
        let setup = work.read().setup().await?;
        let valid = setup.is_some_and(|setup| setup.used_at.is_none() && same(setup.sha256, self.secret));
        if !valid || work.read().has_role(Role::Admin).await? {
            return Err(Stop::Refused(AccountRefused::SetupOver));
        }
        if work.read().account(self.name.as_str()).await?.is_some() {
            return Err(Stop::Refused(AccountRefused::Exists(self.name.to_string())));
        }
        let roles = BTreeSet::from([Role::Admin, Role::Reviewer]);
        let reviewer = add(work, &self.name, &self.password, &roles, &Principal::Anonymous).await?;
        // Whoever says that they are alone may be wrong: other reviewers may have been made by `admin` before.
        if self.alone && work.state().reviewers().len() == 1 {
            let sets: Vec<_> = work.state().sets().map(|set| set.name().clone()).collect();
            for pinset in sets {
                let policy = PolicySet { pinset, policy: Policy::solo(), by: reviewer.clone() };
                govern::put_policy(work, policy).await?;
            }
        }
        Ok(reviewer)
    }
}

fn same(one: Sha256, other: Sha256) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}
