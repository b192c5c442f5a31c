//! Accounts and their roles. Who reviews is in the log, under random ids; the rest is in the database alone.

use std::{collections::BTreeSet, fmt, str::FromStr};

use super::{Password, PasswordHash, Principal, Secret};
use crate::{
    event::{Event, PolicySet, ReviewerSet},
    review::{Policy, ReviewerId},
    service::{App, Step, Stop, Work, govern},
    store::{Account, Role},
};

/// The name of an account, in lower case: two that differ in case alone would be taken for each other.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct AccountName(String);

/// The text is no account's name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an account's name has 1 to 64 letters, digits and the characters . _ @ -, the first a letter or digit")]
pub struct BadAccountName;

/// Makes an account.
#[derive(Clone, Debug)]
pub struct AddAccount {
    /// Its name.
    pub name: AccountName,
    /// Its password, hashed by [`App::hash_password`].
    pub password: PasswordHash,
    /// Its roles.
    pub roles: BTreeSet<Role>,
    /// Who makes it.
    pub by: Principal,
}

/// Gives an account exactly these roles.
#[derive(Clone, Debug)]
pub struct SetRoles {
    /// The account.
    pub name: AccountName,
    /// Its roles from now on.
    pub roles: BTreeSet<Role>,
    /// Who says so.
    pub by: Principal,
}

/// Disables an account, or enables it again.
#[derive(Clone, Debug)]
pub struct SetDisabled {
    /// The account.
    pub name: AccountName,
    /// Whether it may do nothing from now on.
    pub disabled: bool,
    /// Who says so.
    pub by: Principal,
}

/// Replaces an account's password and ends its sessions.
#[derive(Clone, Debug)]
pub struct SetPassword {
    /// The account.
    pub name: AccountName,
    /// The new one, hashed by [`App::hash_password`].
    pub password: PasswordHash,
    /// Who says so.
    pub by: Principal,
}

/// Why an account can't be made or changed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AccountRefused {
    /// There is one of this name.
    #[error("there is an account {0} already")]
    Exists(String),
    /// There is none.
    #[error("there is no account {0}")]
    Unknown(String),
    /// Nobody could administer any more.
    #[error("this is the last administrator")]
    LastAdmin,
    /// The set-up link is used up, or is another one.
    #[error("the set-up link is not valid any more")]
    SetupOver,
    /// Several people must agree on who reviews.
    #[error("{0} people must agree on who reviews; `countersign admin` beside the database can do it alone")]
    NeedsQuorum(u32),
}

/// A name is shown in tables and log lines.
const MAX_NAME: usize = 64;
/// Names that audit rows use for who has no account.
const RESERVED: [&str; 2] = ["anonymous", "local-operator"];

impl AccountName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AccountName {
    type Err = BadAccountName;

    fn from_str(text: &str) -> Result<Self, BadAccountName> {
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'@' | b'-');
        let starts = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        let name = text.to_ascii_lowercase();
        if !starts || text.len() > MAX_NAME || !text.bytes().all(legal) || RESERVED.contains(&name.as_str()) {
            return Err(BadAccountName);
        }
        Ok(Self(name))
    }
}

impl fmt::Display for AccountName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl App {
    /// Hashes a new password. `None` if too many are being hashed.
    pub async fn hash_password(&self, password: Password) -> Option<PasswordHash> {
        self.core.hashers.hash(password, self.core.rng.as_ref()).await.ok()
    }

    /// A password that nobody has to think of: to be shown once.
    pub fn make_password(&self) -> Secret {
        Secret::plain(self.core.rng.as_ref())
    }
}

impl Step for AddAccount {
    type Done = ReviewerId;
    type Refused = AccountRefused;

    async fn run(&self, work: &mut Work) -> Result<ReviewerId, Stop<AccountRefused>> {
        if work.read().account(self.name.as_str()).await?.is_some() {
            return Err(Stop::Refused(AccountRefused::Exists(self.name.0.clone())));
        }
        if self.roles.contains(&Role::Reviewer) {
            alone(work, &self.by)?;
        }
        add(work, &self.name, &self.password, &self.roles, &self.by).await
    }
}

/// Makes an account that isn't there.
pub(super) async fn add(
    work: &mut Work,
    name: &AccountName,
    password: &PasswordHash,
    roles: &BTreeSet<Role>,
    by: &Principal,
) -> Result<ReviewerId, Stop<AccountRefused>> {
    let reviewer = ReviewerId::random(work.rng().bytes());
    let at = work.now();
    let account = Account {
        name: name.0.clone(),
        password: password.0.clone(),
        created_at: at,
        disabled_at: None,
        last_seen_at: None,
        reviewer: reviewer.clone(),
    };
    work.write().put_account(&account).await?;
    for role in roles {
        work.write().put_role(&name.0, *role).await?;
    }
    if roles.contains(&Role::Admin) {
        // The set-up link dies with the first administrator, however made.
        work.write().end_setup(at).await?;
    }
    if roles.contains(&Role::Reviewer) {
        set_reviewer(work, &reviewer, true, by).await?;
    }
    work.audit(by.actor(), "account-add", &name.0, &words(roles));
    work.access_changed().await?;
    Ok(reviewer)
}

impl Step for SetRoles {
    type Done = ();
    type Refused = AccountRefused;

    async fn run(&self, work: &mut Work) -> Result<(), Stop<AccountRefused>> {
        let account = known(work, &self.name).await?;
        let held: BTreeSet<Role> = work.read().roles(&account.name).await?.into_iter().collect();
        if held == self.roles {
            return Ok(());
        }
        if held.contains(&Role::Admin) && !self.roles.contains(&Role::Admin) {
            keep_an_admin(work, &account).await?;
        }
        if self.roles.contains(&Role::Reviewer) && !held.contains(&Role::Reviewer) {
            alone(work, &self.by)?;
        }
        for role in held.difference(&self.roles) {
            work.write().drop_role(&account.name, *role).await?;
        }
        for role in self.roles.difference(&held) {
            work.write().put_role(&account.name, *role).await?;
        }
        if self.roles.contains(&Role::Admin) {
            let at = work.now();
            work.write().end_setup(at).await?;
        }
        let reviews = self.roles.contains(&Role::Reviewer) && account.disabled_at.is_none();
        set_reviewer(work, &account.reviewer, reviews, &self.by).await?;
        work.audit(self.by.actor(), "account-roles", &account.name, &words(&self.roles));
        work.access_changed().await?;
        Ok(())
    }
}

impl Step for SetDisabled {
    type Done = ();
    type Refused = AccountRefused;

    async fn run(&self, work: &mut Work) -> Result<(), Stop<AccountRefused>> {
        let account = known(work, &self.name).await?;
        if account.disabled_at.is_some() == self.disabled {
            return Ok(());
        }
        let roles = work.read().roles(&account.name).await?;
        if self.disabled && roles.contains(&Role::Admin) {
            keep_an_admin(work, &account).await?;
        }
        if !self.disabled && roles.contains(&Role::Reviewer) {
            alone(work, &self.by)?;
        }
        let since = self.disabled.then(|| work.now());
        work.write().set_disabled(&account.name, since).await?;
        work.write().drop_sessions_of(&account.name).await?;
        let reviews = !self.disabled && roles.contains(&Role::Reviewer);
        set_reviewer(work, &account.reviewer, reviews, &self.by).await?;
        let action = if self.disabled { "account-disable" } else { "account-enable" };
        work.audit(self.by.actor(), action, &account.name, "");
        work.access_changed().await?;
        Ok(())
    }
}

impl Step for SetPassword {
    type Done = ();
    type Refused = AccountRefused;

    async fn run(&self, work: &mut Work) -> Result<(), Stop<AccountRefused>> {
        let account = known(work, &self.name).await?;
        let own = self.by.user().is_some_and(|user| user.account == account.name);
        if !own && work.read().roles(&account.name).await?.contains(&Role::Reviewer) {
            alone(work, &self.by)?;
        }
        work.write().set_password(&account.name, &self.password.0).await?;
        work.write().drop_sessions_of(&account.name).await?;
        work.audit(self.by.actor(), "account-password", &account.name, "");
        work.access_changed().await?;
        Ok(())
    }
}

async fn known(work: &mut Work, name: &AccountName) -> Result<Account, Stop<AccountRefused>> {
    let account = work.read().account(name.as_str()).await?;
    account.ok_or_else(|| Stop::Refused(AccountRefused::Unknown(name.0.clone())))
}

/// Refuses to let one person bring in a ballot where a pin set asks for several: by a new reviewer, or by the password of
/// one. Taking a reviewer away is open to one: it brings nothing in. The set-up link makes the first reviewer of all.
fn alone(work: &Work, by: &Principal) -> Result<(), Stop<AccountRefused>> {
    let quorum = work.state().sets().map(|set| set.policy().quorum).max().unwrap_or(1);
    match by {
        Principal::Session(..) | Principal::Token(..) if quorum > 1 => {
            Err(Stop::Refused(AccountRefused::NeedsQuorum(quorum)))
        }
        _ => Ok(()),
    }
}

/// Refuses what would leave no administrator but this one, who is about to be none.
async fn keep_an_admin(work: &mut Work, leaving: &Account) -> Result<(), Stop<AccountRefused>> {
    for other in work.read().accounts().await? {
        let counts = other.name != leaving.name && other.disabled_at.is_none();
        if counts && work.read().roles(&other.name).await?.contains(&Role::Admin) {
            return Ok(());
        }
    }
    Err(Stop::Refused(AccountRefused::LastAdmin))
}

/// Logs that an account reviews, or doesn't any more. The second reviewer ends solo review in every pin set.
async fn set_reviewer(
    work: &mut Work,
    reviewer: &ReviewerId,
    active: bool,
    by: &Principal,
) -> Result<(), Stop<AccountRefused>> {
    if work.state().reviewers().contains(reviewer) == active {
        return Ok(());
    }
    // Who sets the registry up has no account before this one.
    let by = by.reviewer().unwrap_or_else(|| reviewer.clone());
    work.append(Event::ReviewerSet(ReviewerSet { reviewer: reviewer.clone(), active, by: by.clone() }))?;
    if !active || work.state().reviewers().len() < 2 {
        return Ok(());
    }
    let solo = work.state().sets().filter(|set| set.policy().solo);
    let solo: Vec<_> = solo.map(|set| (set.name().clone(), set.policy().clone())).collect();
    for (pinset, policy) in solo {
        let quorum_risky = Policy::default().quorum_risky;
        let policy = Policy { solo: false, quorum_risky, ..policy };
        govern::put_policy(work, PolicySet { pinset, policy, by: by.clone() }).await?;
    }
    Ok(())
}

fn words(roles: &BTreeSet<Role>) -> String {
    let word = |role: &Role| match role {
        Role::Admin => "admin",
        Role::Reviewer => "reviewer",
        Role::Auditor => "auditor",
    };
    roles.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_name_is_lower_case_and_short() {
        let long = "a".repeat(65);
        let table = [
            ("ada", Some("ada")),
            ("Ada.Lovelace@example.org", Some("ada.lovelace@example.org")),
            ("1", Some("1")),
            (&long[..64], Some(&long[..64])),
            (&long, None),
            ("", None),
            ("-ada", None),
            ("ada lovelace", None),
            ("adä", None),
            ("Local-Operator", None),
            ("anonymous", None),
        ];
        for (text, expected) in table {
            assert_eq!(text.parse::<AccountName>().ok().as_ref().map(AccountName::as_str), expected, "{text}");
        }
    }
}
