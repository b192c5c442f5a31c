//! `countersign audit`: verifies everything that a registry ever logged, from outside or in its database.

mod stored;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use self::stored::Stored;
use super::{
    Exit, Failure, files,
    print::{self, Rows, Tone},
    registry::registry,
};
use crate::{
    client::{
        State,
        audit::{Asked, Blind, Fault, Http, Kept, Report, Resume, Source, audit},
    },
    config::{self, DatabaseText, Flags},
    env::Env,
    pinset::trust::Trust,
    store,
};

/// Verify everything that a registry ever logged
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Reads the whole log and trusts nothing but the trust file: hashes every entry, compares the tiles, verifies every \
checkpoint, replays the events, compares each document of each pin set byte for byte, and checks the heads that are \
served now. --heads takes the heads that a gateway kept: one that the log does not bear out convicts the registry, and \
the evidence is printed as it was signed.

DIR is a registry's data directory: the database is read beside a running server, or without one, and nothing is written.

FILE of --resume says how far an audit has come and is made by the first run. Entries are read and hashed again and must \
come to what it says; it is trusted for what else was compared up to there.

Ends with 0 if everything was verified, 1 if something contradicts or is missing, 3 if something could not be looked at.

Examples:
  countersign audit https://pins.example --trust trust.txt --heads /var/lib/countersign
  countersign audit https://pins.example --trust trust.txt --resume audit.json
  countersign audit /var/lib/registry --trust trust.txt --json")]
pub(super) struct Args {
    /// The registry's address, or its data directory
    #[arg(value_name = "URL|DIR")]
    target: String,
    /// The file that `countersign trust` wrote [default: the one in the state directory of --heads]
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// A gateway's state directory, or its file `heads`
    #[arg(long, value_name = "STATE|FILE")]
    heads: Option<PathBuf>,
    /// Go on where an earlier run ended, and write down how far this one comes
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// With DIR: PostgreSQL instead of the file in DIR [env: COUNTERSIGN_DATABASE_URL]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

/// A trust file holds a handful of keys.
const MAX_TRUST: usize = 64 << 10;
/// An anchor is one signed note.
const MAX_ANCHOR: usize = 256 << 10;
/// Bundles, tiles and documents are read side by side.
const CONNECTIONS: u32 = 8;

pub(super) async fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let trust = trust(args, env)?;
    let mut kept = match &args.heads {
        Some(path) => Kept::load(path, &trust).map_err(Failure::usage)?,
        None => Kept::default(),
    };
    let resume = match &args.resume {
        Some(path) => resume(path, &trust)?,
        None => None,
    };
    let (source, reader): (Arc<dyn Source>, _) = if is_address(&args.target) {
        (Arc::new(Http::new(registry(Some(&args.target), env)?, Arc::clone(&env.clock))), None)
    } else {
        let settings = settings(args, env)?;
        if let Some(note) = anchor(&settings, env)? {
            kept.checkpoint(note, "the registry's anchor", &trust);
        }
        let reader = store::open_to_read(&settings.database, CONNECTIONS).await.map_err(|e| {
            Failure::blind(format_args!("{}: {e}", args.target))
                .next("run this as a user that may read the database; is DIR the registry's data directory?")
        })?;
        (Arc::new(Stored::new(reader.clone())), Some(reader))
    };
    let clock = Arc::clone(&env.clock);
    let bar = print::bar(env, "leaves");
    let asked = Asked { trust, kept, resume, save: args.resume.clone() };
    let report = audit(source, asked, &*clock, &|done, all| {
        bar.set_length(all);
        bar.set_position(done);
    })
    .await;
    bar.finish_and_clear();
    if let Some(reader) = reader {
        reader.close().await;
    }
    if args.json {
        print::json(env, &report)?;
    } else {
        say(&report, env)?;
    }
    exit(report, env)
}

/// The trust file that was given, or the one that the gateway goes by.
fn trust(args: &Args, env: &mut Env) -> Result<Trust, Failure> {
    if let Some(path) = &args.trust {
        let bytes = files::read(env, path, MAX_TRUST).map_err(|e| Failure { exit: Exit::Usage, ..e })?;
        return Trust::first(&String::from_utf8_lossy(&bytes)).map_err(|e| {
            Failure::usage(format_args!("{}: {e}", path.display()))
                .next("give the file that `countersign trust URL -o FILE` wrote")
        });
    }
    if let Some(path) = args.heads.as_deref().filter(|path| path.is_dir())
        && let Some(state) = State::open(path)?
    {
        return Ok(state.trust().clone());
    }
    Err(Failure::usage("an audit needs to know whose keys to believe").next(
        "pass --trust FILE, as `countersign trust URL -o FILE` wrote it, or --heads with a gateway's state directory",
    ))
}

fn resume(path: &Path, trust: &Trust) -> Result<Option<Resume>, Failure> {
    let resume = Resume::load(path).map_err(|e| Failure::blind(e).next("remove the file to begin anew"))?;
    match resume {
        Some(resume) if resume.origin != trust.terms().origin => {
            let (theirs, ours) = (&resume.origin, &trust.terms().origin);
            Err(Failure::usage(format_args!("{} is of the registry {theirs}, not of {ours}", path.display())))
        }
        resume => Ok(resume),
    }
}

fn is_address(target: &str) -> bool {
    target.starts_with("http://") || target.starts_with("https://")
}

fn settings(args: &Args, env: &Env) -> Result<config::Registry, Failure> {
    let data = Path::new(&args.target);
    if !data.is_dir() {
        return Err(Failure::usage(format_args!("{} is neither a URL nor a directory", args.target)));
    }
    let database_url = args.database_url.clone().map(DatabaseText::new);
    Ok(config::Registry::load(data, &Flags { database_url, ..Flags::default() }, &env.vars)?)
}

/// The highest checkpoint that was served, where there is one to be read.
fn anchor(settings: &config::Registry, env: &mut Env) -> Result<Option<String>, Failure> {
    let config::Anchor::File { path, .. } = &settings.anchor else { return Ok(None) };
    if !path.is_file() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&files::read(env, path, MAX_ANCHOR)?).into_owned()))
}

fn say(report: &Report, env: &mut Env) -> Result<(), Failure> {
    let verified = report.verified;
    print::line(
        env,
        format_args!(
            "{}, epoch {}, by trust file version {}: {} leaves",
            print::inert(&report.registry),
            report.epoch,
            report.trust_version,
            report.size
        ),
    )?;
    if report.resumed_at > 0 {
        print::line(env, format_args!("resumed after {} leaves", report.resumed_at))?;
    }
    let mut rows = Rows::new(["verified", "", ""]);
    for (what, count, how) in [
        ("entries", verified.leaves, "hashed, and each follows from those before it"),
        ("bundles", verified.bundles, "hold these entries"),
        ("tiles", verified.tiles, "are made of these entries"),
        ("checkpoints", verified.checkpoints, "are signed by the log, and each is a prefix of the next"),
        ("versions", verified.versions, "of pin sets follow from the entries"),
        ("documents", verified.documents, "are there byte for byte"),
        ("heads", verified.heads, "are signed over this log and name the newest version"),
        ("kept heads", verified.kept_heads, "are borne out by the log"),
    ] {
        rows.push([(what.to_owned(), Tone::Plain), (count.to_string(), Tone::Plain), (how.to_owned(), Tone::Quiet)]);
    }
    rows.print(env)?;
    for what in &report.not_verified {
        print::line(env, format_args!("not verified: {}", print::inert(what)))?;
    }
    for set in &report.expired_heads {
        print::line(env, format_args!("note: the stored head of {set} has run out; nobody may rely on it"))?;
    }
    for why in &report.unusable_heads {
        print::line(env, format_args!("not looked at: {}", print::inert(why)))?;
    }
    for fault in &report.faults {
        accuse(fault, env)?;
    }
    let outcome = match (report.is_clean(), report.faults.len()) {
        (true, _) => "nothing contradicts".to_owned(),
        (false, 0) => "not everything was looked at".to_owned(),
        (false, n) => print::count(n, "fault", "faults"),
    };
    Ok(print::line(env, outcome)?)
}

/// A fault, with what was signed as it was signed.
fn accuse(fault: &Fault, env: &mut Env) -> Result<(), Failure> {
    print::line(env, format_args!("FAULT: {}", print::inert(&fault.what)))?;
    for evidence in &fault.evidence {
        print::line(env, "  evidence:")?;
        for text in evidence.lines() {
            print::line(env, format_args!("    {}", print::inert(text)))?;
        }
    }
    Ok(())
}

/// What couldn't be looked at wins over what contradicts.
fn exit(report: Report, env: &mut Env) -> Result<Exit, Failure> {
    let found = if report.faults.is_empty() { Exit::Done } else { Exit::No };
    if let Some(blind) = report.blind {
        return Err(match blind {
            Blind::Fetch(error) => error.into(),
            Blind::Stored(what) | Blind::Form(what) | Blind::Resume(what) => Failure::blind(what),
        });
    }
    if !report.unusable_heads.is_empty() {
        print::note(env, "some kept heads could not be held to this log; see `not looked at`")?;
        return Ok(Exit::Blind);
    }
    Ok(found)
}
