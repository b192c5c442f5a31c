//! `countersign bundle`: one file that proves a pin to somebody who has only the trust file.

use std::{path::PathBuf, sync::Arc};

use crate::{
    canon::Digest,
    client::{self, BundleError, Wanted},
    env::Env,
    name::{Kind, SetName, Variant},
};

use super::{Exit, Failure, files, print, registry::registry};

/// Collect what proves a pin into one file, for `countersign verify`
#[derive(clap::Args, Debug)]
#[command(after_help = "\
FILE holds the descriptor, the publisher's attestation, the log's leaves for authority, release, decision and \
pin set version with their proofs under one signed checkpoint, the signed head, and the set's documents. \
`countersign verify` checks all of it offline, now or in years; so does any other program, the format is \
documented. Keep the trust file beside it: it names the keys.

Without --trust the bundle is checked against the trust file that the registry itself serves, which shows \
that it holds together and nothing about whose it is.

Examples:
  countersign bundle notes.export --pinset default --trust trust.txt -o notes.export.bundle.json
  countersign bundle notes.review --kind prompt --pinset prod -o review.bundle.json")]
pub(super) struct Args {
    /// The qualified name of the pin, as notes.export
    #[arg(value_name = "NAME")]
    name: String,
    /// The registry's address [env: COUNTERSIGN_REGISTRY]
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
    /// The pin set
    #[arg(long, value_name = "SET")]
    pinset: SetName,
    /// The kind, where a tool and a prompt have one name: tool, prompt, resource, resource-template, instructions
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// The variant, where several are pinned; "" is the usual list
    #[arg(long, value_name = "V")]
    variant: Option<Variant>,
    /// The digest, where several are pinned, as jcs-sha256:HEX
    #[arg(long, value_name = "DIGEST")]
    digest: Option<Digest>,
    /// The trust file to check it against before it is written
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// Where the bundle goes
    #[arg(short, long = "output", value_name = "FILE")]
    output: PathBuf,
}

pub(super) async fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let registry = registry(args.registry.as_deref(), env)?;
    let clock = Arc::clone(&env.clock);
    let digest = args.digest.map(files::deciding).transpose()?;
    let (trust, given, not_followed) = match &args.trust {
        Some(path) => {
            let mut trust = files::trust(env, path)?;
            let given = trust.terms().version;
            let not_followed = client::follow_trust(&registry, &*clock, &mut trust).await?;
            (trust, given, not_followed)
        }
        None => {
            let trust = client::trust(&registry, &*clock).await?.map_err(Failure::blind)?;
            let given = trust.terms().version;
            (trust, given, None)
        }
    };
    let (pinset, name) = (args.pinset.clone(), args.name.clone());
    let wanted = Wanted { pinset, name, kind: args.kind, variant: args.variant.clone(), digest };
    let spinner = print::spinner(env, "collecting");
    let collected = client::bundle(&registry, &trust, &wanted, &*clock).await;
    spinner.finish_and_clear();
    let (bundle, proven) = collected.map_err(|error| {
        let unverified = matches!(error, BundleError::Refused(_) | BundleError::Broken(_));
        match not_followed {
            Some(why) if unverified => Failure::blind(error).next(format_args!(
                "fetch a newer trust file with `countersign trust {} -o FILE` and compare it: the one that the registry \
                 serves does not follow from yours ({why}); nothing was written",
                registry.address()
            )),
            _ => Failure::from(error),
        }
    })?;
    let bytes = bundle.to_bytes();
    files::replace(&args.output, &bytes)?;
    print::line(
        env,
        format_args!(
            "{} in version {} of {}: {} bytes -> {}",
            proven.pin().name,
            proven.head().version,
            proven.head().name,
            bytes.len(),
            args.output.display()
        ),
    )?;
    let needed = trust.terms().version;
    if needed != given {
        print::note(
            env,
            format_args!(
                "keys changed: `countersign verify` needs trust file version {needed}, which follows from yours, version \
                 {given}; fetch it with `countersign trust URL -o FILE`"
            ),
        )?;
    }
    if args.trust.is_none() {
        print::note(
            env,
            format_args!(
                "it holds together under the trust file that the registry serves, fingerprint {}; verify it with the \
                 trust file that you compared",
                trust.fingerprint()
            ),
        )?;
    }
    Ok(Exit::Done)
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        let failure = |exit| Self { exit, what: error.to_string(), next: None };
        match error {
            BundleError::Fetch(error) => error.into(),
            BundleError::NoPin { .. } => {
                failure(Exit::No).next("a bundle is made of a live pin; its page in the registry lists the names")
            }
            BundleError::Several(_) => failure(Exit::Usage).next("say which with --kind, --variant or --digest"),
            BundleError::NoAuthority(_) => failure(Exit::Blind).next("try again in a second"),
            BundleError::Log(_) | BundleError::Refused(_) | BundleError::Broken(_) => {
                failure(Exit::Blind).next("show this to whoever runs the registry; nothing was written")
            }
        }
    }
}
