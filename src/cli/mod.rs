//! The command line: of the registry's operator, of publishers, of reviewers' tooling and of gateways.
//!
//! [`run`] is the entry point of the binary and of the tests; what it needs from outside comes in as an [`Env`]. A
//! command reads its arguments, calls one function of the module that does the work, and prints. Exit codes are [`Exit`]'s
//! and a contract; prose about failures goes to standard error and says what to do next.

mod admin;
mod attest;
mod audit;
mod bundle;
mod capture;
mod check;
mod diff;
mod digest;
mod exit;
mod files;
pub mod journal;
mod keygen;
mod place;
mod print;
mod publish;
mod pull;
mod registry;
mod sarif;
mod scan;
pub mod serve;
mod trust;
mod verify;

use std::ffi::OsString;

use clap::{Parser, error::ErrorKind};

use crate::env::Env;

pub use exit::{Exit, Failure};

/// Supply-chain registry and signing service for the descriptors that MCP servers advertise
#[derive(Debug, Parser)]
#[command(
    name = "countersign",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "\
Publish:  keygen, capture, attest, publish        what a publisher runs, or CI
Review:   serve, admin                            the registry with its pages
Enforce:  trust, pull, check                      what a gateway or CI runs
Prove:    bundle, verify, audit                   what an auditor runs: one pin offline, or a whole log
Look:     digest, diff, scan

Exit codes:
  0  all allowed, nothing found, no difference, or done
  1  the answer is no: not allowed, found, different, refused
  2  called wrongly, or the token is missing or unknown
  3  could not look: network, incomplete list, expired head, corrupt state; wins over 1

Environment: COUNTERSIGN_REGISTRY, COUNTERSIGN_TOKEN, COUNTERSIGN_LOG, COUNTERSIGN_LOG_FORMAT, NO_COLOR"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Serve(serve::Args),
    Admin(admin::Args),
    Keygen(keygen::Args),
    Digest(digest::Args),
    Diff(diff::Args),
    Capture(capture::Args),
    Attest(attest::Args),
    Scan(scan::Args),
    Publish(publish::Args),
    Trust(trust::Args),
    Pull(pull::Args),
    Check(check::Args),
    Bundle(bundle::Args),
    Verify(verify::Args),
    Audit(audit::Args),
}

/// Runs one command line; the first argument is the program's name.
pub async fn run(args: impl IntoIterator<Item = OsString>, env: &mut Env) -> Exit {
    let outcome = match Cli::try_parse_from(args) {
        Ok(cli) => dispatch(&cli.command, env).await,
        Err(error) => explain(&error, env).map_err(Failure::from),
    };
    outcome.unwrap_or_else(|failure| {
        // With standard error gone too there is nobody left to tell; the code still says it.
        let _ = print::failure(env, &failure);
        failure.exit
    })
}

async fn dispatch(command: &Command, env: &mut Env) -> Result<Exit, Failure> {
    match command {
        Command::Serve(args) => serve::run(args, env).await,
        Command::Admin(args) => admin::run(args, env).await,
        Command::Keygen(args) => keygen::run(args, env),
        Command::Digest(args) => digest::run(args, env),
        Command::Diff(args) => diff::run(args, env),
        Command::Capture(args) => capture::run(args, env).await,
        Command::Attest(args) => attest::run(args, env),
        Command::Scan(args) => scan::run(args, env),
        Command::Publish(args) => publish::run(args, env).await,
        Command::Trust(args) => trust::run(args, env).await,
        Command::Pull(args) => pull::run(args, env).await,
        Command::Check(args) => check::run(args, env),
        Command::Bundle(args) => bundle::run(args, env).await,
        Command::Verify(args) => verify::run(args, env),
        Command::Audit(args) => audit::run(args, env).await,
    }
}

/// Prints help and version where they belong, and everything else as a wrong call.
fn explain(error: &clap::Error, env: &mut Env) -> std::io::Result<Exit> {
    let text = error.render();
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let terminal = if asked { env.terminal.stdout } else { env.terminal.stderr };
    let text = if terminal { text.ansi().to_string() } else { text.to_string() };
    if asked {
        print::bytes(env, text.as_bytes())?;
        return Ok(Exit::Done);
    }
    print::note(env, text.trim_end())?;
    Ok(Exit::Usage)
}
