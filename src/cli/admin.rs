//! `countersign admin`: what an operator does beside the database, safe beside a running server.
//!
//! It opens the same registry as `serve` does and calls the same service; the log's head row keeps the two apart. Its
//! acts are recorded as `local-operator`'s.

use std::{collections::BTreeSet, path::PathBuf};

use clap::Subcommand;

use crate::{
    attest::{self, Role},
    clock::Timestamp,
    config,
    env::Env,
    name::{Alias, ServerName, SetName},
    review::{Policy, ReasonText, ReviewerId},
    service::{
        App,
        access::{AccountName, AddAccount, AddToken, Password, Principal, RevokeToken, Scope, SetPassword, SetRoles},
        govern::{self, Bind, CreateSet, Governor, Grant, SetPolicy, Withdraw},
    },
    store,
};

use super::{Exit, Failure, files, place::Place, place::open, print};

/// Administer a registry beside its database
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Runs as the owner of DIR, beside a running server or without one; the server notices within a second.

Examples:
  printf '%s' \"$PASSWORD\" | countersign admin --data DIR user add ada --role reviewer --password-stdin
  countersign admin --data DIR authority add com.example --key com.example.key.pub
  countersign admin --data DIR token add --scope publish:com.example --user ada --days 90
  countersign admin --data DIR alias bind default notes com.example/notes
  countersign admin --data DIR policy set default policy.toml")]
pub(super) struct Args {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// People who sign in
    #[command(subcommand)]
    User(User),
    /// Tokens for programs
    #[command(subcommand)]
    Token(Token),
    /// Keys that may speak for a namespace
    #[command(subcommand)]
    Authority(Authority),
    /// Pin sets
    #[command(subcommand)]
    Pinset(Pinset),
    /// Policies of pin sets
    #[command(subcommand)]
    #[command(name = "policy")]
    PolicyOf(PolicyOf),
    /// Names of servers in a pin set
    #[command(subcommand)]
    Alias(AliasOf),
    /// The highest checkpoint served
    #[command(subcommand)]
    Anchor(AnchorOf),
}

#[derive(Debug, Subcommand)]
enum User {
    /// Make an account; the password is the first line of standard input
    Add {
        /// The name: letters, digits and . _ @ -
        name: AccountName,
        /// What it may do; repeats
        #[arg(long = "role", value_name = "ROLE", required = true)]
        roles: Vec<AccountRole>,
        /// Read the password from standard input
        #[arg(long, required = true)]
        password_stdin: bool,
    },
    /// Give an account exactly these roles
    Roles {
        /// The account
        name: AccountName,
        /// What it may do; repeats; none takes all away
        #[arg(long = "role", value_name = "ROLE")]
        roles: Vec<AccountRole>,
    },
    /// Replace a password, and end the account's sessions
    Password {
        /// The account
        name: AccountName,
        /// Read the password from standard input
        #[arg(long, required = true)]
        password_stdin: bool,
    },
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum AccountRole {
    /// Accounts, tokens, authorities, policies
    Admin,
    /// Ballots, aliases, revocations
    Reviewer,
    /// Reads everything, decides nothing
    Auditor,
}

#[derive(Debug, Subcommand)]
enum Token {
    /// Make a token and print it, alone and once
    Add {
        /// publish:NAMESPACE, pull:SET, report:SET or review
        #[arg(long)]
        scope: Scope,
        /// The account in whose name it acts
        #[arg(long)]
        user: AccountName,
        /// Days until it ends by itself
        #[arg(long)]
        days: Option<u32>,
    },
    /// Revoke a token; programs that use it are refused within a second
    Revoke {
        /// The token's id, as the settings page lists it
        id: String,
    },
}

#[derive(Debug, Subcommand)]
enum Authority {
    /// Let a key speak for a namespace or server
    Add {
        /// com.example, com.example/notes, or '*' for every server
        scope: attest::Scope,
        /// The public key, as `countersign keygen` wrote it
        #[arg(long, value_name = "FILE.pub")]
        key: PathBuf,
        /// It records what servers list, and doesn't speak for publishers
        #[arg(long)]
        capture: bool,
        /// The account that holds the key, which then can't approve what the key signed
        #[arg(long, value_name = "USER")]
        holder: Option<AccountName>,
    },
    /// Take an authority away; pins whose evidence came since are held
    Revoke {
        /// The authority's id, as `add` printed it
        id: String,
        /// Why; the text stays in the database
        #[arg(long)]
        reason: String,
        /// Since when the key is not trusted, as 2026-11-30T09:20:00.000000Z [default: now]
        #[arg(long, value_name = "TIME")]
        since: Option<Timestamp>,
    },
}

#[derive(Debug, Subcommand)]
enum Pinset {
    /// Make a pin set with the default policy
    Add {
        /// Its name
        set: SetName,
    },
}

#[derive(Debug, Subcommand)]
enum PolicyOf {
    /// Put a policy in force; ballots of pending candidates become void
    Set {
        /// The pin set
        set: SetName,
        /// The policy in TOML; what it doesn't say is the default
        file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
enum AliasOf {
    /// Bind an alias to a server, for good
    Bind {
        /// The pin set
        set: SetName,
        /// The alias, as notes
        alias: Alias,
        /// The server, as com.example/notes
        server: ServerName,
    },
}

#[derive(Debug, Subcommand)]
enum AnchorOf {
    /// Take the database as it is for the newest copy, where the anchor is missing
    Adopt,
}

/// A policy has a dozen lines and some overrides.
const MAX_POLICY: usize = 64 << 10;
/// A password has at most 256 characters.
const MAX_PASSWORD: usize = 4 << 10;

pub(super) async fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let registry = config::Registry::load(&args.place.data, &args.place.flags(), &env.vars)?;
    match crate::service::owns(&args.place.data) {
        Ok(true) => {}
        Ok(false) => {
            let what = format!("{} belongs to another user", args.place.data.display());
            return Err(Failure::usage(what).next("run this as the user that runs `countersign serve`"));
        }
        Err(e) => {
            return Err(Failure::usage(format_args!("{}: {e}", args.place.data.display()))
                .next("start `countersign serve` with this --data first"));
        }
    }
    let app = open(&registry, None, false, env).await?;
    let done = act(&app, &args.act, env).await;
    app.close().await;
    done.map(|()| Exit::Done)
}

async fn act(app: &App, act: &Act, env: &mut Env) -> Result<(), Failure> {
    match act {
        Act::User(user) => self::user(app, user, env).await,
        Act::Token(token) => self::token(app, token, env).await,
        Act::Authority(authority) => self::authority(app, authority, env).await,
        Act::Pinset(Pinset::Add { set }) => {
            let asked = CreateSet { pinset: set.clone(), policy: Policy::default(), by: operator() };
            govern::create_set(app, asked).await?;
            Ok(print::line(env, format_args!("pin set {set} is there, empty, with the default policy"))?)
        }
        Act::PolicyOf(PolicyOf::Set { set, file }) => {
            let text = files::read(env, file, MAX_POLICY)?;
            let text = String::from_utf8_lossy(&text);
            let policy = Policy::from_toml(&text).map_err(|e| Failure::no(format_args!("{}: {e}", file.display())))?;
            let solo = policy.solo;
            let asked = SetPolicy { pinset: set.clone(), policy, by: operator(), alone: true };
            govern::set_policy(app, asked).await?;
            let mode = if solo { "; one person decides alone, and every pin will say so" } else { "" };
            Ok(print::line(env, format_args!("the policy of {set} is in force{mode}"))?)
        }
        Act::Alias(AliasOf::Bind { set, alias, server }) => {
            let (pinset, alias, server) = (set.clone(), alias.clone(), server.clone());
            let said = format!("{alias} is {server} in {pinset}, for good");
            let opened = govern::bind(app, Bind { pinset, alias, server, by: operator() }).await?.done;
            Ok(print::line(env, format_args!("{said}; {opened} descriptors wait for review"))?)
        }
        Act::Anchor(AnchorOf::Adopt) => {
            app.adopt_anchor().await.map_err(Failure::blind)?;
            let size = app.moment().checkpoint.size;
            Ok(print::line(env, format_args!("the anchor is at {size} leaves; restart `countersign serve`"))?)
        }
    }
}

async fn user(app: &App, user: &User, env: &mut Env) -> Result<(), Failure> {
    let by = Principal::LocalOperator;
    match user {
        User::Add { name, roles, password_stdin: _ } => {
            let password = password(app, env).await?;
            app.write(AddAccount { name: name.clone(), password, roles: self::roles(roles), by }).await?;
            Ok(print::line(env, format_args!("account {name} is there"))?)
        }
        User::Roles { name, roles } => {
            app.write(SetRoles { name: name.clone(), roles: self::roles(roles), by }).await?;
            Ok(print::line(env, format_args!("account {name} has these roles now"))?)
        }
        User::Password { name, password_stdin: _ } => {
            let password = password(app, env).await?;
            app.write(SetPassword { name: name.clone(), password, by }).await?;
            Ok(print::line(env, format_args!("account {name} has a new password, and no sessions"))?)
        }
    }
}

async fn token(app: &App, token: &Token, env: &mut Env) -> Result<(), Failure> {
    let by = Principal::LocalOperator;
    match token {
        Token::Add { scope, user, days } => {
            let asked = AddToken { scope: scope.clone(), account: user.clone(), days: *days, by };
            let (secret, _) = app.add_token(asked).await?.done;
            // Alone on standard output, so that a script can take it.
            Ok(print::line(env, secret.reveal())?)
        }
        Token::Revoke { id } => {
            app.write(RevokeToken { id: id.clone(), by }).await?;
            Ok(print::line(env, format_args!("token {id} is revoked"))?)
        }
    }
}

async fn authority(app: &App, authority: &Authority, env: &mut Env) -> Result<(), Failure> {
    match authority {
        Authority::Add { scope, key, capture, holder } => {
            let key = files::verifying_key(env, key)?;
            let role = if *capture { Role::Capture } else { Role::Publisher };
            let holder = holder.as_ref().map(|name| reviewer(app, name)).transpose()?;
            let asked = Grant { scope: scope.clone(), key, role, holder, by: operator(), alone: true };
            let id = govern::grant(app, asked).await?.done;
            Ok(print::line(env, format_args!("authority {id}: key {} speaks for {scope} as {role}", key.id()))?)
        }
        Authority::Revoke { id, reason, since } => {
            let reason: ReasonText = reason.parse().map_err(Failure::usage)?;
            let asked = Withdraw { authority: id.clone(), since: *since, reason, by: operator() };
            let held = govern::withdraw(app, asked).await?.done;
            Ok(print::line(env, format_args!("authority {id} is revoked; {held} pins are held"))?)
        }
    }
}

fn operator() -> Governor {
    Governor { by: ReviewerId::local_operator(), name: "local-operator".into() }
}

fn reviewer(app: &App, name: &AccountName) -> Result<ReviewerId, Failure> {
    let known = app.access().user(name.as_str()).map(|user| user.reviewer.clone());
    known.ok_or_else(|| Failure::no(format_args!("there is no account {name}")))
}

fn roles(roles: &[AccountRole]) -> BTreeSet<store::Role> {
    let role = |role: &AccountRole| match role {
        AccountRole::Admin => store::Role::Admin,
        AccountRole::Reviewer => store::Role::Reviewer,
        AccountRole::Auditor => store::Role::Auditor,
    };
    roles.iter().map(role).collect()
}

/// The first line of standard input, hashed.
async fn password(app: &App, env: &mut Env) -> Result<crate::service::access::PasswordHash, Failure> {
    let bytes = zeroize::Zeroizing::new(files::read(env, std::path::Path::new("-"), MAX_PASSWORD)?);
    let text = std::str::from_utf8(&bytes).map_err(|_| Failure::usage("the password is not UTF-8"))?;
    let password: Password = text.lines().next().unwrap_or_default().parse().map_err(Failure::usage)?;
    let hash = app.hash_password(password).await;
    hash.ok_or_else(|| Failure::blind("the password could not be hashed now").next("try again"))
}
