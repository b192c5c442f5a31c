//! `countersign keygen`: a new Ed25519 key in two files.

use std::path::PathBuf;

use crate::{env::Env, keys::SigningKey};

use super::{Exit, Failure, files, print};

/// Make an Ed25519 key for a publisher, or for recording captures
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  countersign keygen -o com.example.key
      writes com.example.key (only you can read it) and com.example.key.pub
  countersign admin --data DIR authority add com.example --key com.example.key.pub
      lets the key speak for the namespace com.example

An existing file is never overwritten.")]
pub(super) struct Args {
    /// The private key's file; the public key goes to FILE.pub
    #[arg(short, long = "output", value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let mut public = args.output.clone().into_os_string();
    public.push(".pub");
    let public = PathBuf::from(public);
    // Looked at first, so that a refusal leaves no half of a pair behind.
    if public.symlink_metadata().is_ok() {
        return Err(Failure::no(format_args!("{} is already there", public.display()))
            .next("choose another name, or move the file away yourself"));
    }
    let seed = zeroize::Zeroizing::new(env.rng.bytes::<32>());
    let key = SigningKey::from_seed(&seed);
    let broken = |e| Failure::blind(format_args!("the key can't be written as text: {e}"));
    files::create(&args.output, key.to_pem().map_err(broken)?.as_bytes(), true)?;
    files::create(&public, key.verifying().to_pem().map_err(broken)?.as_bytes(), false)?;
    print::line(env, format_args!("key {}", key.verifying().id()))?;
    print::line(env, format_args!("private key in {}, public key in {}", args.output.display(), public.display()))?;
    Ok(Exit::Done)
}
