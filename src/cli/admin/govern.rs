//! Pin sets, policies, aliases and authorities.

use std::path::PathBuf;

use crate::{
    attest::{Role, Scope},
    clock::Timestamp,
    env::Env,
    name::{self, ServerName, SetName},
    review::{self, ReasonText, ReviewerId},
    service::{
        App,
        access::AccountName,
        govern::{self, Bind, CreateSet, Governor, Grant, SetPolicy, Withdraw},
    },
};

use super::super::{
    Failure, files,
    print::{self, Rows, Tone},
};

/// A policy has a dozen lines.
const MAX_POLICY: usize = 64 << 10;

#[derive(clap::Subcommand, Debug)]
pub(super) enum Authority {
    /// Let a key speak for a namespace or a server
    Add {
        /// com.example, com.example/notes, or '*' with --capture
        #[arg(value_name = "NAMESPACE|*")]
        scope: Scope,
        /// The public key that `countersign keygen` wrote
        #[arg(long, value_name = "FILE.pub")]
        key: PathBuf,
        /// It records what servers list, for the operator; without, it speaks for the publisher
        #[arg(long)]
        capture: bool,
        /// The account that holds the key, which then can't approve what the key signed
        #[arg(long, value_name = "USER")]
        holder: Option<AccountName>,
    },
    /// Take an authority away: pins whose evidence came since then are held, in every set
    Revoke {
        /// The authority's id, from `authority list`
        #[arg(value_name = "ID")]
        id: String,
        /// Why, for the log's reader; 1 to 2,000 characters
        #[arg(long, value_name = "TEXT")]
        reason: ReasonText,
        /// The moment from which its evidence doesn't count, as 2026-12-01T00:00:00.000000Z [default: now]
        #[arg(long, value_name = "TIME")]
        since: Option<Timestamp>,
    },
    /// List authorities
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Pinset {
    /// Make a pin set, with the default policy
    Add {
        /// Its name
        #[arg(value_name = "SET")]
        set: SetName,
    },
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Policy {
    /// Put a policy in force; open ballots become void
    Set {
        /// The pin set
        #[arg(value_name = "SET")]
        set: SetName,
        /// The policy, in TOML; what it doesn't state has its default
        #[arg(value_name = "FILE.toml")]
        file: PathBuf,
    },
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Alias {
    /// Bind an alias to a server, for good
    Bind {
        /// The pin set
        #[arg(value_name = "SET")]
        set: SetName,
        /// The alias, as notes
        #[arg(value_name = "ALIAS")]
        alias: name::Alias,
        /// The server, as com.example/notes
        #[arg(value_name = "SERVER")]
        server: ServerName,
    },
}

pub(super) async fn authority(authority: &Authority, app: &App, env: &mut Env) -> Result<(), Failure> {
    match authority {
        Authority::Add { scope, key, capture, holder } => {
            if *scope == Scope::Any && !capture {
                return Err(Failure::usage("'*' goes with --capture only: no publisher speaks for every namespace"));
            }
            let key = files::verifying_key(env, key)?;
            let role = if *capture { Role::Capture } else { Role::Publisher };
            let holder = holder.as_ref().map(|name| reviewer(app, name)).transpose()?;
            let grant = Grant { scope: scope.clone(), key, role, holder, by: operator(), alone: true };
            let id = govern::grant(app, grant).await?.done;
            Ok(print::line(env, format_args!("authority {id}: key {} speaks for {scope} as {role}", key.id()))?)
        }
        Authority::Revoke { id, reason, since } => {
            let withdraw = Withdraw { authority: id.clone(), since: *since, reason: reason.clone(), by: operator() };
            let held = govern::withdraw(app, withdraw).await?.done;
            let held = print::count(held, "pin is", "pins are");
            Ok(print::line(env, format_args!("authority {} is revoked; {held} held", print::inert(id)))?)
        }
        Authority::List { json } => list(*json, app, env),
    }
}

pub(super) async fn pinset(pinset: &Pinset, app: &App, env: &mut Env) -> Result<(), Failure> {
    let Pinset::Add { set } = pinset;
    let policy = review::Policy::default();
    govern::create_set(app, CreateSet { pinset: set.clone(), policy, by: operator() }).await?;
    Ok(print::line(env, format_args!("pin set {set}: empty version 1"))?)
}

pub(super) async fn policy(policy: &Policy, app: &App, env: &mut Env) -> Result<(), Failure> {
    let Policy::Set { set, file } = policy;
    let bytes = files::read(env, file, MAX_POLICY)?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::no(format_args!("{} is not UTF-8", file.display())))?;
    let policy = review::Policy::from_toml(&text).map_err(|e| Failure::no(format_args!("{}: {e}", file.display())))?;
    let mode = if policy.solo { "; one person decides alone, and every pin will say so" } else { "" };
    govern::set_policy(app, SetPolicy { pinset: set.clone(), policy, by: operator(), alone: true }).await?;
    Ok(print::line(env, format_args!("pin set {set} has a new policy; open ballots are void{mode}"))?)
}

pub(super) async fn alias(alias: &Alias, app: &App, env: &mut Env) -> Result<(), Failure> {
    let Alias::Bind { set, alias, server } = alias;
    let bind = Bind { pinset: set.clone(), alias: alias.clone(), server: server.clone(), by: operator() };
    let opened = govern::bind(app, bind).await?.done;
    let opened = print::count(opened, "candidate", "candidates");
    Ok(print::line(env, format_args!("{alias} is {server} in {set}, for good; {opened} to review"))?)
}

fn list(json: bool, app: &App, env: &mut Env) -> Result<(), Failure> {
    let moment = app.moment();
    let rows = moment.state.authorities().map(|authority| {
        let facts = &authority.facts;
        let role = match facts.role {
            Role::Publisher => "publisher",
            Role::Capture => "capture",
        };
        (
            facts.authority.clone(),
            facts.scope.to_string(),
            role,
            facts.key.id(),
            authority.granted_at,
            authority.revoked,
        )
    });
    if json {
        let rows: Vec<_> = rows
            .map(|(id, scope, role, key, granted_at, revoked_since)| {
                serde_json::json!({
                    "id": id, "scope": scope, "role": role, "key": key,
                    "granted_at": granted_at, "revoked_since": revoked_since,
                })
            })
            .collect();
        return print::json(env, &rows);
    }
    let mut table = Rows::new(["authority", "scope", "role", "key", "state"]);
    for (id, scope, role, key, _, revoked) in rows {
        let (state, tone) = match revoked {
            Some(since) => (format!("revoked since {since}"), Tone::Bad),
            None => ("in force".to_owned(), Tone::Good),
        };
        table.push([
            (id, Tone::Plain),
            (scope, Tone::Plain),
            (role.to_owned(), Tone::Plain),
            (key.to_string(), Tone::Quiet),
            (state, tone),
        ]);
    }
    Ok(table.print(env)?)
}

pub(super) fn operator() -> Governor {
    Governor { by: ReviewerId::local_operator(), name: "local-operator".to_owned() }
}

fn reviewer(app: &App, name: &AccountName) -> Result<ReviewerId, Failure> {
    let access = app.access();
    let user = access.user(name.as_str());
    user.map(|user| user.reviewer.clone()).ok_or_else(|| Failure::no(format_args!("there is no account {name}")))
}
