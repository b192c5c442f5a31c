//! Accounts and tokens.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Read as _},
};

use crate::{
    env::Env,
    service::{
        App,
        access::{
            AccountName, AddAccount, AddToken, Password, PasswordHash, Principal, RevokeToken, Scope, SetDisabled,
            SetPassword, SetRoles,
        },
    },
    store,
};

use super::super::{
    Failure,
    print::{self, Rows, Tone},
};

#[derive(clap::Subcommand, Debug)]
pub(super) enum User {
    /// Make an account; its password is the first line of standard input
    Add {
        /// The account's name
        #[arg(value_name = "NAME")]
        name: AccountName,
        /// What it may do; repeats
        #[arg(long, value_enum, required = true)]
        role: Vec<As>,
        /// Read the password from standard input
        #[arg(long, required = true)]
        password_stdin: bool,
    },
    /// Give an account exactly these roles
    Roles {
        /// The account's name
        #[arg(value_name = "NAME")]
        name: AccountName,
        /// What it may do from now on; repeats
        #[arg(long, value_enum, required = true)]
        role: Vec<As>,
    },
    /// Replace an account's password and end its sessions
    Password {
        /// The account's name
        #[arg(value_name = "NAME")]
        name: AccountName,
        /// Read the password from standard input
        #[arg(long, required = true)]
        password_stdin: bool,
    },
    /// Disable an account: it may do nothing, and its tokens and sessions are dead
    Disable {
        /// The account's name
        #[arg(value_name = "NAME")]
        name: AccountName,
    },
    /// Enable a disabled account
    Enable {
        /// The account's name
        #[arg(value_name = "NAME")]
        name: AccountName,
    },
    /// List accounts
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Token {
    /// Make a token and print it, alone and once
    Add {
        /// publish:NAMESPACE, pull:SET, report:SET or review
        #[arg(long, value_name = "SCOPE")]
        scope: Scope,
        /// The account in whose name it acts
        #[arg(long, value_name = "NAME")]
        user: AccountName,
        /// How many days it lives
        #[arg(long, value_name = "N", default_value_t = 90)]
        days: u32,
    },
    /// Revoke a token; a running registry refuses it within 250 ms
    Revoke {
        /// The token's id, from `token list`
        #[arg(value_name = "ID")]
        id: String,
    },
    /// List tokens, without their secrets
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
}

/// What an account may do.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum As {
    Admin,
    Reviewer,
    Auditor,
}

pub(super) async fn user(user: &User, app: &App, env: &mut Env) -> Result<(), Failure> {
    let by = Principal::LocalOperator;
    match user {
        User::Add { name, role, .. } => {
            let password = hashed(app, env).await?;
            app.write(AddAccount { name: name.clone(), password, roles: roles(role), by }).await?;
            Ok(print::line(env, format_args!("account {name}: {}", words(&roles(role))))?)
        }
        User::Roles { name, role } => {
            app.write(SetRoles { name: name.clone(), roles: roles(role), by }).await?;
            Ok(print::line(env, format_args!("account {name}: {}", words(&roles(role))))?)
        }
        User::Password { name, .. } => {
            let password = hashed(app, env).await?;
            app.write(SetPassword { name: name.clone(), password, by }).await?;
            Ok(print::line(env, format_args!("account {name} has a new password and no sessions"))?)
        }
        User::Disable { name } => {
            app.write(SetDisabled { name: name.clone(), disabled: true, by }).await?;
            Ok(print::line(env, format_args!("account {name} is disabled"))?)
        }
        User::Enable { name } => {
            app.write(SetDisabled { name: name.clone(), disabled: false, by }).await?;
            Ok(print::line(env, format_args!("account {name} is enabled"))?)
        }
        User::List { json } => list_users(*json, app, env).await,
    }
}

pub(super) async fn token(token: &Token, app: &App, env: &mut Env) -> Result<(), Failure> {
    let by = Principal::LocalOperator;
    match token {
        Token::Add { scope, user, days } => {
            let add = AddToken { scope: scope.clone(), account: user.clone(), days: Some(*days), by };
            let (secret, _) = app.add_token(add).await?.done;
            Ok(print::line(env, secret.reveal())?)
        }
        Token::Revoke { id } => {
            app.write(RevokeToken { id: id.clone(), by }).await?;
            Ok(print::line(env, format_args!("token {} is revoked", print::inert(id)))?)
        }
        Token::List { json } => list_tokens(*json, app, env).await,
    }
}

/// The first line of standard input, hashed.
async fn hashed(app: &App, env: &mut Env) -> Result<PasswordHash, Failure> {
    let mut line = zeroize::Zeroizing::new(String::new());
    BufReader::new((&mut env.stdin).take(4096))
        .read_line(&mut line)
        .map_err(|e| Failure::usage(format_args!("no password on standard input: {e}")))?;
    let password: Password = line.trim_end_matches(['\n', '\r']).parse().map_err(Failure::usage)?;
    app.hash_password(password)
        .await
        .ok_or_else(|| Failure::blind("too many passwords are being hashed").next("try again"))
}

async fn list_users(json: bool, app: &App, env: &mut Env) -> Result<(), Failure> {
    let accounts = app.reader().conn().await?.accounts().await?;
    let access = app.access();
    let rows: Vec<(String, String, bool)> = accounts
        .into_iter()
        .map(|account| {
            let roles = access.user(&account.name).map(|user| words(&user.roles)).unwrap_or_default();
            (account.name, roles, account.disabled_at.is_some())
        })
        .collect();
    if json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, roles, disabled)| serde_json::json!({"name": name, "roles": roles, "disabled": disabled}))
            .collect();
        return print::json(env, &rows);
    }
    let mut table = Rows::new(["account", "roles", ""]);
    for (name, roles, disabled) in rows {
        let state = if disabled { "disabled" } else { "" };
        table.push([(name, Tone::Plain), (roles, Tone::Plain), (state.to_owned(), Tone::Bad)]);
    }
    Ok(table.print(env)?)
}

async fn list_tokens(json: bool, app: &App, env: &mut Env) -> Result<(), Failure> {
    let tokens = app.reader().conn().await?.tokens().await?;
    let now = env.clock.now();
    let state = |token: &store::Token| match (token.revoked_at, token.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(at)) if at <= now => "expired",
        (None, _) => "live",
    };
    if json {
        let rows: Vec<_> = tokens
            .iter()
            .map(|token| {
                serde_json::json!({
                    "id": token.id, "account": token.account, "scope": token.scope, "state": state(token),
                    "created_at": token.created_at, "expires_at": token.expires_at, "last_used_at": token.last_used_at,
                })
            })
            .collect();
        return print::json(env, &rows);
    }
    let mut table = Rows::new(["token", "scope", "account", "state", "until"]);
    for token in &tokens {
        let tone = if state(token) == "live" { Tone::Good } else { Tone::Quiet };
        let until = token.expires_at.map_or_else(|| "it is revoked".to_owned(), |at| at.to_string());
        table.push([
            (token.id.clone(), Tone::Plain),
            (token.scope.clone(), Tone::Plain),
            (token.account.clone(), Tone::Plain),
            (state(token).to_owned(), tone),
            (until, Tone::Quiet),
        ]);
    }
    Ok(table.print(env)?)
}

fn roles(given: &[As]) -> BTreeSet<store::Role> {
    let role = |role: &As| match role {
        As::Admin => store::Role::Admin,
        As::Reviewer => store::Role::Reviewer,
        As::Auditor => store::Role::Auditor,
    };
    given.iter().map(role).collect()
}

fn words(roles: &BTreeSet<store::Role>) -> String {
    let word = |role: &store::Role| match role {
        store::Role::Admin => "admin",
        store::Role::Reviewer => "reviewer",
        store::Role::Auditor => "auditor",
    };
    roles.iter().map(word).collect::<Vec<_>>().join(", ")
}

impl From<store::StoreError> for Failure {
    fn from(error: store::StoreError) -> Self {
        Self::blind(format_args!("the database does not answer: {error}"))
    }
}
