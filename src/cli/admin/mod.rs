//! `countersign admin`: what an operator does beside a running registry, with the service's own functions.

mod accounts;
mod govern;
mod keys;

use crate::{
    config,
    env::Env,
    service::{self, App},
};

use super::{
    Exit, Failure,
    place::{self, Place},
    print,
};

/// Administer a registry on its own machine, also while it serves
#[derive(clap::Args, Debug)]
// What only `serve` goes by is taken, so that its line can be reused, and not worth reading about here.
#[command(
    mut_arg("listen", |arg| arg.hide(true)),
    mut_arg("admin_listen", |arg| arg.hide(true)),
    mut_arg("public_url", |arg| arg.hide(true)),
    mut_arg("trusted_proxy", |arg| arg.hide(true)),
)]
#[command(after_help = "\
Acts as `local-operator`, alone, whatever quorum a policy asks for; the log and the pages show it. Every change is in \
the log or the audit trail, and a running `serve` sees it within 250 ms.

Examples:
  countersign admin --data DIR user add ada --role admin --role reviewer --password-stdin < password
  countersign admin --data DIR authority add com.example --key com.example.key.pub --holder ada
  countersign admin --data DIR token add --scope publish:com.example --user ada --days 90
  countersign admin --data DIR alias bind default notes com.example/notes")]
pub(super) struct Args {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Accounts of people
    #[command(subcommand)]
    User(accounts::User),
    /// Tokens of programs
    #[command(subcommand)]
    Token(accounts::Token),
    /// Keys that may speak for a namespace or server
    #[command(subcommand)]
    Authority(govern::Authority),
    /// Pin sets
    #[command(subcommand)]
    Pinset(govern::Pinset),
    /// Policies of pin sets
    #[command(subcommand)]
    Policy(govern::Policy),
    /// Aliases of servers
    #[command(subcommand)]
    Alias(govern::Alias),
    /// Keys that sign for the registry
    #[command(subcommand)]
    Key(keys::Key),
    /// Versions of the trust file
    #[command(subcommand)]
    Trust(keys::Trust),
    /// The registry's name, which changes only when its newest copy is lost
    #[command(subcommand)]
    Epoch(keys::Epoch),
    /// The highest checkpoint served
    #[command(subcommand)]
    Anchor(Anchor),
}

#[derive(clap::Subcommand, Debug)]
enum Anchor {
    /// Take the database's newest checkpoint as the anchor, where the anchor is missing
    ///
    /// Only if this database is the newest copy: adopting an old one would fork the log.
    Adopt,
}

pub(super) async fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    ours(&args.place)?;
    let settings = config::Registry::load(&args.place.data, &args.place.flags(), &env.vars)?;
    let app = place::open(&settings, None, false, env).await?;
    let outcome = act(&args.command, &app, env).await;
    app.close().await;
    outcome.map(|()| Exit::Done)
}

/// Refuses to touch another user's registry: files that this process made there would be closed to its owner.
fn ours(place: &Place) -> Result<(), Failure> {
    match service::owns(&place.data) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::usage(format_args!("{} belongs to another user", place.data.display()))
            .next("run this as the user that runs `countersign serve`")),
        Err(e) => Err(Failure::usage(format_args!("{}: {e}", place.data.display()))
            .next("start `countersign serve --data DIR` first, or name its DIR")),
    }
}

async fn act(command: &Command, app: &App, env: &mut Env) -> Result<(), Failure> {
    match command {
        Command::User(user) => accounts::user(user, app, env).await,
        Command::Token(token) => accounts::token(token, app, env).await,
        Command::Authority(authority) => govern::authority(authority, app, env).await,
        Command::Pinset(pinset) => govern::pinset(pinset, app, env).await,
        Command::Policy(policy) => govern::policy(policy, app, env).await,
        Command::Alias(alias) => govern::alias(alias, app, env).await,
        Command::Key(key) => keys::key(key, app, env).await,
        Command::Trust(trust) => keys::trust(trust, app, env).await,
        Command::Epoch(epoch) => keys::epoch(epoch, app, env).await,
        Command::Anchor(Anchor::Adopt) => {
            app.adopt_anchor().await.map_err(|why| {
                Failure::no(format_args!("the anchor is not adopted: {why}")).next(
                    "an anchor is only adopted where it is missing and the log is whole; see Recovery in the README",
                )
            })?;
            let size = app.moment().checkpoint.size;
            Ok(print::line(env, format_args!("the anchor is at {size} leaves; a `serve` that runs goes on by itself"))?)
        }
    }
}
