//! `countersign pull`: brings a gateway's state directory up to date.

use std::{path::PathBuf, sync::Arc};

use crate::{client, env::Env, name::SetName};

use super::{Exit, Failure, files, print, registry::registry};

/// Fetch and verify the newest version of a pin set
#[derive(clap::Args, Debug)]
#[command(after_help = "\
DIR keeps the trust file, the newest set, and how far the registry's log had got, so that neither can go \
back. What was verified is persisted last; if anything is wrong, DIR stays as it was, and what it \
allows ends when its head expires. --trust starts a new DIR; afterwards DIR's own copy counts.

Example:
  countersign pull --registry https://pins.example --pinset default --trust trust.txt \\
      --state /var/lib/countersign")]
pub(super) struct Args {
    /// The registry's address [env: COUNTERSIGN_REGISTRY]
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
    /// The pin set
    #[arg(long, value_name = "SET")]
    pinset: SetName,
    /// The file that `countersign trust` wrote
    #[arg(long, value_name = "FILE")]
    trust: PathBuf,
    /// The state directory
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
}

pub(super) async fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let registry = registry(args.registry.as_deref(), env)?;
    let trust = files::trust(env, &args.trust)?;
    let clock = Arc::clone(&env.clock);
    let spinner = print::spinner(env, "pulling");
    let pulled = client::pull(&registry, &args.state, &args.pinset, trust, &*clock).await;
    spinner.finish_and_clear();
    let pulled = pulled?;
    let document = pulled.set.document();
    let pins: usize = pulled.set.aliases().map(|(_, alias)| alias.document().pins.len()).sum();
    let news = match pulled.before {
        Some(before) if before == document.version => "unchanged".to_owned(),
        Some(before) => format!("before {before}"),
        None => "first pull".to_owned(),
    };
    print::line(
        env,
        format_args!(
            "{} of {}: version {} ({news}), {} of {}, valid until {}",
            document.name,
            print::inert(&document.registry),
            document.version,
            print::count(pins, "pin", "pins"),
            print::count(document.aliases.len(), "server", "servers"),
            pulled.set.expires(),
        ),
    )?;
    if pulled.new_trust {
        print::note(env, "a newer trust file, signed by the root key in hand, took the place of the one before")?;
    }
    if let Some((name, kept)) = pulled.left {
        print::note(
            env,
            format_args!(
                "the registry began a new epoch: what it was as {} is over, and the last it said as that is kept in {}",
                print::inert(&name),
                kept.display()
            ),
        )?;
    }
    if !pulled.rules {
        print::note(
            env,
            "the set's scanner rules could not be had; until they are, whatever no pin covers is blocked",
        )?;
    }
    if let Some(why) = pulled.other_trust {
        print::note(
            env,
            format_args!(
                "the registry serves another trust file, which was not taken: {}",
                print::inert(&why.to_string())
            ),
        )?;
    }
    Ok(Exit::Done)
}
