//! `countersign attest`: signs what a release lists.

use std::path::PathBuf;

use crate::{
    attest::{Artifact, Role, Statement, dsse, statement::PAYLOAD_TYPE},
    descriptor::{MAX_CAPTURE_BYTES, Release},
    env::Env,
};

use super::{Exit, Failure, files, print};

/// Sign a release: name every descriptor by digest, for one server, version, variant and role
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Signs an in-toto statement in a DSSE envelope. What the signature is worth follows from the authority that \
the registry gave the key, not from --role; the two must agree.

Examples:
  countersign attest release.json --key com.example.key -o attestation.json
  countersign attest release.json --key operator.key --role capture -o attestation.json
  countersign attest release.json --key com.example.key -o attestation.json \\
      --artifact pkg:npm/%40example/notes@1.4.0=sha256:<64 hex> --remote https://mcp.example.com/mcp")]
pub(super) struct Args {
    /// The file that `countersign capture` wrote
    #[arg(value_name = "release.json")]
    release: PathBuf,
    /// The private key that `countersign keygen` wrote
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Speak for the namespace, or as the operator who recorded what the server lists
    #[arg(long, value_enum, default_value_t = As::Publisher)]
    role: As,
    /// A package that contains the server, and its digest; repeats
    #[arg(long = "artifact", value_name = "PURL=sha256:HEX")]
    artifacts: Vec<String>,
    /// An endpoint at which the server is reached; repeats
    #[arg(long = "remote", value_name = "URL")]
    remotes: Vec<url::Url>,
    /// Where the attestation goes
    #[arg(short, long = "output", value_name = "FILE")]
    output: PathBuf,
}

/// As whom the signer speaks.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum As {
    Publisher,
    Capture,
}

pub(super) fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let bytes = files::read(env, &args.release, MAX_CAPTURE_BYTES)?;
    let release = files::release(&args.release, &bytes)?;
    attestable(&args.release, &release)?;
    let key = files::signing_key(env, &args.key)?;
    let role = match args.role {
        As::Publisher => Role::Publisher,
        As::Capture => Role::Capture,
    };
    let mut statement = Statement::for_release(&release, role);
    statement.predicate.remotes = args.remotes.iter().map(ToString::to_string).collect();
    statement.predicate.artifacts = args.artifacts.iter().map(|text| artifact(text)).collect::<Result<_, _>>()?;
    let payload = statement.to_payload();
    // What a registry would refuse isn't worth a signature.
    Statement::parse(&payload).map_err(|e| Failure::usage(format_args!("the statement would be refused: {e}")))?;
    files::replace(&args.output, &dsse::sign(PAYLOAD_TYPE, &payload, &key))?;
    print::line(
        env,
        format_args!(
            "{} {}: {} signed by key {} -> {}",
            release.server,
            release.version,
            print::count(statement.subjects.len(), "descriptor", "descriptors"),
            key.verifying().id(),
            args.output.display()
        ),
    )?;
    Ok(Exit::Done)
}

/// Refuses what no registry takes, before a key is read.
fn attestable(path: &std::path::Path, release: &Release) -> Result<(), Failure> {
    if !release.capture.complete {
        let why = release.capture.why_incomplete.as_deref().unwrap_or("it says so itself");
        return Err(Failure::blind(format_args!("{} is incomplete and can't be attested: {why}", path.display()))
            .next("capture the server again"));
    }
    release.descriptors().map(drop).map_err(|(index, refused)| {
        let name = release.capture.listed.get(index).map(|listed| listed.display_name().into_owned());
        let name = name.unwrap_or_default();
        Failure::no(format_args!(
            "{} can't be attested: descriptor {index} ({name}) is refused: {refused}",
            path.display()
        ))
        .next("the server has to list it otherwise; nobody could tell what would be signed")
    })
}

fn artifact(text: &str) -> Result<Artifact, Failure> {
    // A package URL may hold `=` itself, the digest doesn't.
    match text.rsplit_once('=') {
        Some((purl, digest)) => Ok(Artifact { purl: purl.to_owned(), digest: digest.to_owned() }),
        None => Err(Failure::usage(format_args!("--artifact {text}: not of the form PURL=sha256:HEX"))),
    }
}
