//! `countersign publish`: submits a release with its attestation.

use std::{path::PathBuf, sync::Arc};

use crate::{client, descriptor::MAX_CAPTURE_BYTES, env::Env};

use super::{
    Exit, Failure, files,
    print::{self, Rows, Tone},
    registry::registry,
};

/// Submit a release with its attestation, for review
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Sends the release's bytes as they are. Publishing the same release again changes nothing and answers the \
same. Ends with 0 also while candidates wait for a reviewer: publishing is done, approving is somebody else's.

Examples:
  export COUNTERSIGN_TOKEN=cs_…
  countersign publish release.json --attestation attestation.json --registry https://pins.example")]
pub(super) struct Args {
    /// The file that `countersign capture` wrote
    #[arg(value_name = "release.json")]
    release: PathBuf,
    /// The file that `countersign attest` wrote
    #[arg(long, value_name = "FILE")]
    attestation: PathBuf,
    /// The registry's address [env: COUNTERSIGN_REGISTRY]
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
    /// Print the registry's answer as it is
    #[arg(long)]
    json: bool,
}

/// An attestation names each descriptor in about 200 bytes.
const MAX_ATTESTATION: usize = 2 << 20;

pub(super) async fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let registry = registry(args.registry.as_deref(), env)?;
    let release = files::read(env, &args.release, MAX_CAPTURE_BYTES)?;
    let attestation = files::read(env, &args.attestation, MAX_ATTESTATION)?;
    files::release(&args.release, &release)?;
    let Some(body) = client::submission(&release, &attestation) else {
        return Err(Failure::no(format_args!("{} is no attestation: not a JSON object", args.attestation.display()))
            .next("give the file that `countersign attest -o FILE` wrote"));
    };
    let clock = Arc::clone(&env.clock);
    let spinner = print::spinner(env, "publishing");
    let published = client::publish(&registry, &*clock, body).await;
    spinner.finish_and_clear();
    let published = published?;
    if args.json {
        print::bytes(env, &published.json)?;
        print::line(env, "")?;
        return Ok(Exit::Done);
    }
    let answer = &published.answer;
    let logged = answer.log.as_ref().map(|log| format!(", logged at {}", log.index)).unwrap_or_default();
    let again = if published.again { " (published before)" } else { "" };
    let (release, level) = (print::short(&answer.release, 64), print::short(&answer.level, 16));
    print::line(env, format_args!("release {release}, level {level}{logged}{again}"))?;
    let mut rows = Rows::new(["set", "item", "reason", "candidate"]);
    for candidate in &answer.candidates {
        rows.push([
            (print::short(&candidate.pinset, 32), Tone::Plain),
            (format!("{}/{}", print::short(&candidate.kind, 20), print::short(&candidate.name, 60)), Tone::Plain),
            (print::short(&candidate.reason, 24), Tone::Wait),
            (print::short(&candidate.id, 40), Tone::Quiet),
        ]);
    }
    rows.print(env)?;
    let said = [
        (answer.candidates.len() as u64, "waiting for review"),
        (answer.unchanged, "decided before"),
        (answer.unpinnable.len() as u64, "that can't be approved"),
        (answer.findings, "findings by the scanner"),
    ];
    let said: Vec<String> = said.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if !said.is_empty() {
        print::line(env, said.join(", "))?;
    }
    Ok(Exit::Done)
}
