//! `countersign trust`: takes over a registry's trust file, once a person has compared its fingerprint.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    client,
    env::Env,
    keys::KeyId,
    pinset::trust::{BadTrust, Terms},
};

use super::{Exit, Failure, files, print, registry::registry};

/// Fetch a registry's trust file, which names the keys that a gateway believes
#[derive(clap::Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
The trust file is signed by the registry's root key. Nothing vouches for that key but you: compare its \
fingerprint with the one that the registry's operator tells you on another way (`serve` prints it).

Examples:
  countersign trust https://pins.example -o trust.txt
      shows the fingerprint and asks
  countersign trust https://pins.example -o trust.txt --fingerprint 9f2c…
      for scripts: takes the file only if its root key has this fingerprint"
)]
pub(super) struct Args {
    #[command(subcommand)]
    sign: Option<Sign>,
    /// The registry's address [env: COUNTERSIGN_REGISTRY]
    #[arg(value_name = "URL")]
    registry: Option<String>,
    /// Where the trust file goes
    #[arg(short, long = "output", value_name = "FILE", required = true)]
    output: Option<PathBuf>,
    /// The root key's fingerprint, 64 hex digits, as its operator told you
    #[arg(long, value_name = "F", conflicts_with = "yes")]
    fingerprint: Option<KeyId>,
    /// Believe whatever key answers now
    #[arg(long)]
    yes: bool,
}

#[derive(clap::Subcommand, Debug)]
enum Sign {
    /// Sign the draft of a trust file, on the machine that has the root key
    ///
    /// Read the draft first: it is a text of a dozen lines, and gateways will believe whatever keys it names.
    #[command(after_help = "\
Example:
  countersign trust sign draft.txt --key root.pem -o trust.txt
      then, at the registry: countersign admin --data DIR trust publish trust.txt")]
    Sign {
        /// What `admin trust draft`, `admin key rotate --draft` or `admin epoch new --draft` wrote
        #[arg(value_name = "FILE")]
        draft: PathBuf,
        /// The root key; where the root changes, the new one and the one before
        #[arg(long, value_name = "ROOT.pem", required = true)]
        key: Vec<PathBuf>,
        /// Where the signed trust file goes
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
}

/// A trust file holds a handful of keys.
const MAX_DRAFT: usize = 64 << 10;

fn sign(draft: &Path, keys: &[PathBuf], output: &Path, env: &mut Env) -> Result<Exit, Failure> {
    let bytes = files::read(env, draft, MAX_DRAFT)?;
    let bad = |e: BadTrust| Failure::no(format_args!("{}: {e}", draft.display()));
    let terms = Terms::parse(&String::from_utf8_lossy(&bytes)).map_err(bad)?;
    let keys = keys.iter().map(|key| files::signing_key(env, key)).collect::<Result<Vec<_>, _>>()?;
    let signed = terms.sign(&keys.iter().collect::<Vec<_>>()).map_err(bad)?;
    files::replace(output, signed.note().as_bytes())?;
    let (origin, version) = (print::inert(&terms.origin), terms.version);
    print::line(env, format_args!("trust file {version} of {origin}, epoch {}, in {}", terms.epoch, output.display()))?;
    Ok(Exit::Done)
}

pub(super) async fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    if let Some(Sign::Sign { draft, key, output }) = &args.sign {
        return sign(draft, key, output, env);
    }
    let registry = registry(args.registry.as_deref(), env)?;
    let clock = Arc::clone(&env.clock);
    let trust = client::trust(&registry, &*clock).await?;
    let trust = trust.map_err(|e| Failure::blind(format_args!("the registry's trust file is refused: {e}")))?;
    let (fingerprint, terms) = (trust.fingerprint(), trust.terms());
    print::line(
        env,
        format_args!(
            "registry {}, epoch {}, trust file version {}",
            print::inert(&terms.origin),
            terms.epoch,
            terms.version
        ),
    )?;
    print::line(env, format_args!("fingerprint {fingerprint}"))?;
    match args.fingerprint {
        Some(expected) if expected == fingerprint => {}
        Some(expected) => {
            return Err(Failure::no(format_args!("the root key's fingerprint is {fingerprint}, not {expected}"))
                .next("do not trust this registry before its operator has explained the difference"));
        }
        None if args.yes => {}
        None if confirmed(env)? => {}
        None => return Err(Failure::no("the trust file was not taken")),
    }
    let Some(output) = &args.output else { return Err(Failure::usage("say where the trust file goes: -o FILE")) };
    files::replace(output, trust.note().as_bytes())?;
    print::line(env, format_args!("trust file in {}", output.display()))?;
    Ok(Exit::Done)
}

/// Whether the person at the terminal compared the fingerprint. Without one there is nobody to ask.
fn confirmed(env: &mut Env) -> Result<bool, Failure> {
    if !env.terminal.stdin {
        return Err(Failure::usage("nobody is here to compare the fingerprint")
            .next("pass --fingerprint F with the one that the registry's operator told you"));
    }
    print::note(env, "Does the operator tell you the same fingerprint? Type yes to trust this registry:")?;
    let mut answer = String::new();
    BufReader::new((&mut env.stdin).take(64)).read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}
