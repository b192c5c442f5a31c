//! `countersign digest`: the digest of one JSON value by both recipes.

use std::path::PathBuf;

use crate::{canon, env::Env};

use super::{Exit, Failure, files, print};

/// Print the digest of a descriptor by both recipes
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Two lines, the deciding recipe first:
  jcs-sha256:<64 hex>             RFC 8785, then SHA-256: what pins compare
  python-sorted-sha256:<64 hex>   json.dumps(obj, sort_keys=True, separators=(\",\", \":\")): for small checkers

What the strict parser refuses prints its code (duplicate-key, integer-unsafe, …) and ends with 1.

Examples:
  countersign digest tool.json
  jq -c '.tools[0]' tools.json | countersign digest -")]
pub(super) struct Args {
    /// A file with one JSON value, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
}

pub(super) fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    // One byte over is enough for the parser to say `too-large`.
    let bytes = files::read(env, &args.file, canon::MAX_BYTES + 1).or_else(|failure| match failure.exit {
        Exit::No => Ok(vec![b' '; canon::MAX_BYTES + 1]),
        _ => Err(failure),
    })?;
    match canon::parse(&bytes) {
        Ok(value) => {
            print::line(env, value.digest())?;
            print::line(env, value.python_digest())?;
            Ok(Exit::Done)
        }
        Err(refused) => {
            print::line(env, refused.code)?;
            Err(Failure::no(format_args!("{} is refused: {refused}", args.file.display())))
        }
    }
}
