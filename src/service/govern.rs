//! What governs review: pin sets, their policies, aliases, and who may speak for a namespace.

use std::convert::Infallible;

use super::{
    App, Step, Stop, Work, WriteError, Written,
    commit::JSON,
    desk::bare,
    opening::{self, Brought},
    scanning,
};
use crate::{
    attest::{Role, Scope},
    canon::{Sha256, to_jcs},
    clock::Timestamp,
    descriptor::Descriptor,
    event::{AliasBound, AuthorityGranted, AuthorityRevoked, Event, PolicySet, RulesetSet},
    keys::VerifyingKey,
    name::{Alias, ServerName, SetName},
    pinset::{FoldError, HeldPin},
    review::{BadPolicy, Policy, ReasonText, ReviewerId},
    scan::Ruleset,
    store::{self, Candidate, Content, Stage, StoreError},
};

/// Who governs, for the log and for the audit trail.
#[derive(Clone, Debug)]
pub struct Governor {
    /// In the log.
    pub by: ReviewerId,
    /// In the audit trail.
    pub name: String,
}

/// Why it was refused. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// A pin set of this name exists.
    #[error("the pin set exists already")]
    SetExists,
    /// No such pin set.
    #[error("there is no pin set {0}")]
    NoSet(SetName),
    /// No release of this server was ever published.
    #[error("no release of {0} was published yet")]
    NoServer(ServerName),
    /// Alias and server are bound otherwise.
    #[error("{0}; an alias belongs to one server for good")]
    Bound(String),
    /// The policy is out of range.
    #[error(transparent)]
    Policy(#[from] BadPolicy),
    /// The key has this authority already.
    #[error("the key has this authority already")]
    Granted,
    /// No such authority.
    #[error("there is no such authority")]
    NoAuthority,
    /// It is revoked already.
    #[error("the authority is revoked already")]
    Revoked,
    /// Several people must agree, and these ways let one act alone.
    #[error("{0} people must agree on this; `countersign admin` beside the database can do it alone")]
    NeedsQuorum(u32),
}

/// Makes a pin set with the default policy, or the one given.
#[derive(Clone, Debug)]
pub struct CreateSet {
    /// Its name.
    pub pinset: SetName,
    /// Its policy.
    pub policy: Policy,
    /// Who.
    pub by: Governor,
}

/// Puts a policy in force; open ballots become void.
#[derive(Clone, Debug)]
pub struct SetPolicy {
    /// The pin set.
    pub pinset: SetName,
    /// The policy.
    pub policy: Policy,
    /// Who.
    pub by: Governor,
    /// Whether one may act alone although several must agree: only beside the database.
    pub alone: bool,
}

/// Binds an alias to a server for good.
#[derive(Clone, Debug)]
pub struct Bind {
    /// The pin set.
    pub pinset: SetName,
    /// The alias.
    pub alias: Alias,
    /// The server.
    pub server: ServerName,
    /// Who.
    pub by: Governor,
}

/// Lets a key speak for a namespace or server.
#[derive(Clone, Debug)]
pub struct Grant {
    /// For what.
    pub scope: Scope,
    /// Which key.
    pub key: VerifyingKey,
    /// As whom.
    pub role: Role,
    /// Whose account holds the key, if one does.
    pub holder: Option<ReviewerId>,
    /// Who.
    pub by: Governor,
    /// See [`SetPolicy::alone`].
    pub alone: bool,
}

/// Takes an authority away, as of a moment.
#[derive(Clone, Debug)]
pub struct Withdraw {
    /// The authority's id.
    pub authority: String,
    /// Pins whose evidence came at or after this moment are held; absent means from now on.
    pub since: Option<Timestamp>,
    /// Why.
    pub reason: ReasonText,
    /// Who.
    pub by: Governor,
}

/// Does one of these.
///
/// # Errors
/// [`WriteError::Refused`].
pub async fn create_set(app: &App, asked: CreateSet) -> Result<Written<()>, WriteError<Refused>> {
    app.write(asked).await
}

/// Does one of these.
///
/// # Errors
/// [`WriteError::Refused`].
pub async fn set_policy(app: &App, asked: SetPolicy) -> Result<Written<()>, WriteError<Refused>> {
    app.write(asked).await
}

/// Binds, and opens candidates for the newest release of each variant and role. The answer counts them.
///
/// # Errors
/// [`WriteError::Refused`].
pub async fn bind(app: &App, asked: Bind) -> Result<Written<usize>, WriteError<Refused>> {
    app.write(Binding { asked, rules: app.rules().clone() }).await
}

/// Grants; the answer is the authority's id.
///
/// # Errors
/// [`WriteError::Refused`].
pub async fn grant(app: &App, asked: Grant) -> Result<Written<String>, WriteError<Refused>> {
    app.write(asked).await
}

/// Withdraws; the answer is how many pins are held for it.
///
/// # Errors
/// [`WriteError::Refused`].
pub async fn withdraw(app: &App, asked: Withdraw) -> Result<Written<usize>, WriteError<Refused>> {
    app.write(asked).await
}

/// Puts this program's scanner rules in force where the log names others, as after an upgrade. Without it gateways, and our
/// own checks, could not scan by the rules that a set names, and would block all that isn't pinned. Whether they changed.
///
/// # Errors
/// [`WriteError`], never a refusal.
pub async fn adopt_rules(app: &App) -> Result<bool, WriteError<Infallible>> {
    let in_force = app.moment().state.registry().map(|registry| registry.ruleset);
    if in_force == Some(app.rules().sha256()) {
        return Ok(false);
    }
    Ok(app.write(AdoptRules(app.rules().clone())).await?.done)
}

struct AdoptRules(std::sync::Arc<Ruleset>);

impl Step for AdoptRules {
    type Done = bool;
    type Refused = Infallible;

    async fn run(&self, work: &mut Work) -> Result<bool, Stop<Infallible>> {
        let ruleset = self.0.sha256();
        if work.state().registry().map(|registry| registry.ruleset) == Some(ruleset) {
            return Ok(false);
        }
        work.append(Event::RulesetSet(RulesetSet { ruleset }))?;
        work.write().put_content(&Content::new(self.0.document().to_vec(), JSON, true)).await?;
        for (_, text, _) in self.0.packs() {
            work.write().put_content(&Content::new(text.clone(), "application/toml", true)).await?;
        }
        work.audit("local-operator", "set-ruleset", &ruleset.to_string(), "");
        Ok(true)
    }
}

impl Step for CreateSet {
    type Done = ();
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<(), Stop<Refused>> {
        let policy = self.policy.clone().checked().map_err(|e| Stop::Refused(e.into()))?;
        if work.state().set(&self.pinset).is_some() {
            return Err(Stop::Refused(Refused::SetExists));
        }
        let (pinset, by) = (self.pinset.clone(), self.by.by.clone());
        let document = Content::new(policy.to_jcs(), JSON, true);
        work.append(Event::PinsetCreated(PolicySet { pinset, policy, by }))?;
        work.write().put_content(&document).await?;
        work.audit(&self.by.name, "create-pinset", self.pinset.as_str(), "");
        Ok(())
    }
}

impl Step for SetPolicy {
    type Done = ();
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<(), Stop<Refused>> {
        let policy = self.policy.clone().checked().map_err(|e| Stop::Refused(e.into()))?;
        let set = work.state().set(&self.pinset).ok_or_else(|| Stop::Refused(Refused::NoSet(self.pinset.clone())))?;
        alone(self.alone, set.policy())?;
        let (pinset, by) = (self.pinset.clone(), self.by.by.clone());
        put_policy(work, PolicySet { pinset, policy, by }).await?;
        work.audit(&self.by.name, "set-policy", self.pinset.as_str(), "");
        Ok(())
    }
}

struct Binding {
    asked: Bind,
    rules: std::sync::Arc<Ruleset>,
}

impl Step for Binding {
    type Done = usize;
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<usize, Stop<Refused>> {
        let Bind { pinset, alias, server, by } = &self.asked;
        let no_server = || Stop::Refused(Refused::NoServer(server.clone()));
        work.read().server(server).await?.ok_or_else(no_server)?;
        let state = work.state();
        let set = state.set(pinset).ok_or_else(|| Stop::Refused(Refused::NoSet(pinset.clone())))?;
        if set.alias_of(server) == Some(alias) {
            return Ok(0);
        }
        let bound =
            AliasBound { pinset: pinset.clone(), alias: alias.clone(), server: server.clone(), by: by.by.clone() };
        let placed = work.append(Event::AliasBound(bound)).map_err(|e| match e {
            FoldError::Bound(how) => Stop::Refused(Refused::Bound(how)),
            other => Stop::Fold(other),
        })?;
        work.audit(&by.name, "bind-alias", pinset.as_str(), &format!("{alias} {server}"));
        let mut opened = 0;
        for release in work.read().newest_releases(server).await? {
            opened += self.open(work, &release, placed.at, placed.index).await?;
        }
        Ok(opened)
    }
}

impl Binding {
    async fn open(
        &self,
        work: &mut Work,
        release: &store::Release,
        opened_at: Timestamp,
        log_index: u64,
    ) -> Result<usize, Stop<Refused>> {
        let attested = work.read().attestations(&release.id).await?;
        let newest = attested.last().and_then(|row| work.state().evidence(&row.sha256)).cloned();
        let Some(evidence) = newest else { return Ok(0) };
        let mut descriptors = Vec::new();
        for row in work.read().descriptors(&release.id).await? {
            let raw = work.read().content(row.raw).await?;
            descriptors.extend(raw.and_then(|raw| Descriptor::parse(row.kind, &raw.bytes).ok()));
        }
        let scanned: Vec<_> = descriptors.iter().map(|descriptor| scanning::one(&self.rules, descriptor)).collect();
        let brought = Brought {
            release: &release.id,
            server: &release.server,
            variant: &release.variant,
            attestation: evidence.facts.attestation,
            level: evidence.facts.level,
            signer: evidence.facts.signer,
            remotes: &evidence.facts.remotes,
            artifacts: &evidence.facts.artifacts,
            descriptors: descriptors.iter().collect(),
            scanned: &scanned,
            opened_at,
            log_index,
        };
        Ok(opening::in_set(work, &brought, &self.asked.pinset).await?.len())
    }
}

impl Step for Grant {
    type Done = String;
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<String, Stop<Refused>> {
        let state = work.state();
        for set in state.sets() {
            alone(self.alone, set.policy())?;
        }
        let key = self.key.id();
        let same = |known: &&crate::pinset::AuthorityState| {
            known.revoked.is_none()
                && known.facts.key.id() == key
                && known.facts.scope == self.scope
                && known.facts.role == self.role
        };
        if state.authorities().any(|known| same(&known)) {
            return Err(Stop::Refused(Refused::Granted));
        }
        let of_scope = |known: &&crate::pinset::AuthorityState| known.facts.scope == self.scope;
        let generation = state.authorities().filter(of_scope).map(|known| known.facts.generation).max();
        let generation = generation.map_or(1, |last| last + 1);
        let authority = Sha256::of(&to_jcs(&(&self.scope, key, self.role, generation))).id();
        let granted = AuthorityGranted {
            authority: authority.clone(),
            scope: self.scope.clone(),
            key: self.key,
            role: self.role,
            holder: self.holder.clone(),
            proof: "administrator".into(),
            generation,
            by: self.by.by.clone(),
        };
        work.append(Event::AuthorityGranted(granted))?;
        work.audit(&self.by.name, "grant-authority", &self.scope.to_string(), &key.to_string());
        Ok(authority)
    }
}

impl Step for Withdraw {
    type Done = usize;
    type Refused = Refused;

    async fn run(&self, work: &mut Work) -> Result<usize, Stop<Refused>> {
        let known = work.state().authority(&self.authority).ok_or(Stop::Refused(Refused::NoAuthority))?;
        if known.revoked.is_some() {
            return Err(Stop::Refused(Refused::Revoked));
        }
        let mut salt = [0; 16];
        work.rng().fill(&mut salt);
        let reason = self.reason.digest(&salt);
        let since = self.since.unwrap_or_else(|| work.at());
        let revoked = AuthorityRevoked {
            authority: self.authority.clone(),
            since: since.micros(),
            reason,
            by: self.by.by.clone(),
        };
        let placed = work.append(Event::AuthorityRevoked(revoked))?;
        let kept = store::Reason { sha256: reason, salt: salt.to_vec(), text: self.reason.as_str().to_owned() };
        work.write().put_reason(&kept).await?;
        for held in &placed.held {
            hold_candidates(work, held, placed.sha256).await?;
        }
        work.audit(&self.by.name, "revoke-authority", &self.authority, "");
        Ok(placed.held.len())
    }
}

/// Moves the candidates of a pin that was taken away by a rule.
async fn hold_candidates(work: &mut Work, held: &HeldPin, leaf: Sha256) -> Result<(), StoreError> {
    let alias = work.state().set(&held.pinset).and_then(|set| set.alias_of(&held.server)).cloned();
    let Some(name) = alias.and_then(|alias| bare(&alias, &held.key.name)) else { return Ok(()) };
    let key = &held.key;
    let named = work.read().candidates_named(&held.pinset, &held.server, &key.variant, key.kind, &name).await?;
    let approved = |row: &Candidate| row.state == Stage::Approved && row.digest == key.digest.sha256;
    for row in named.into_iter().filter(approved) {
        work.write().move_candidate(&row.id, Stage::Approved, Stage::Held, Some(leaf)).await?;
    }
    Ok(())
}

/// Logs a policy, keeps it as a document, and voids the ballots that were given under the one before.
pub(super) async fn put_policy<R>(work: &mut Work, set: PolicySet) -> Result<(), Stop<R>> {
    let (pinset, document) = (set.pinset.clone(), Content::new(set.policy.to_jcs(), JSON, true));
    let placed = work.append(Event::PolicySet(set))?;
    work.write().put_content(&document).await?;
    work.write().void_ballots_of(&pinset, placed.at).await?;
    Ok(())
}

/// One person may do what needs one; more than one must agree beside the database only.
fn alone(beside_the_database: bool, policy: &Policy) -> Result<(), Stop<Refused>> {
    if beside_the_database || policy.quorum <= 1 {
        Ok(())
    } else {
        Err(Stop::Refused(Refused::NeedsQuorum(policy.quorum)))
    }
}
