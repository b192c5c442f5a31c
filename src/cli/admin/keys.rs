//! Keys, versions of the trust file, epochs.

use std::path::{Path, PathBuf};

use crate::{
    clock::{Span, Timestamp},
    config::Origin,
    env::Env,
    keys::SigningKey,
    pinset::trust::Terms,
    service::{
        App, WriteError,
        trust::{self, Change, Draft, KeyState, Published, Refused, Scheduled},
    },
};

use super::{
    super::{
        Failure, files,
        print::{self, Rows, Tone},
    },
    govern::operator,
};

#[derive(clap::Subcommand, Debug)]
pub(super) enum Key {
    /// List the keys of the trust file in force, when they count, and whether they are here
    List {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Make a new key and publish the trust file that names it
    #[command(subcommand)]
    Rotate(Rotate),
    /// Publish a trust file without the keys that were announced and have not begun to count
    #[command(subcommand)]
    Cancel(Cancel),
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Cancel {
    /// Keys that would sign heads
    Head {
        #[command(flatten)]
        way: Way,
    },
    /// Keys that would sign the log
    Log {
        #[command(flatten)]
        way: Way,
    },
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Rotate {
    /// The key that signs heads
    #[command(after_help = ROTATE)]
    Head {
        #[command(flatten)]
        time: Activation,
        #[command(flatten)]
        way: Way,
    },
    /// The key that signs the log
    #[command(after_help = ROTATE)]
    Log {
        #[command(flatten)]
        time: Activation,
        /// How long the key before signs along, for gateways that don't know the new one yet, as 7d
        #[arg(long, value_name = "TIME", default_value = "7d")]
        overlap: In,
        #[command(flatten)]
        way: Way,
    },
    /// The key that signs trust files; both sign the one that names the new key
    #[command(after_help = "\
Examples:
  countersign keygen -o new-root
  countersign admin --data DIR key rotate root --new new-root.pub --draft draft.txt
  countersign trust sign draft.txt --key new-root --key root.pem -o trust.txt      where the keys are
  countersign admin --data DIR trust publish trust.txt")]
    Root {
        /// The new root key's public half, as `countersign keygen` wrote it
        #[arg(long, value_name = "FILE.pub")]
        new: PathBuf,
        #[command(flatten)]
        way: Way,
    },
}

const ROTATE: &str = "\
Gateways learn of the new key when they next pull; give them the time. The key is made in the directory of keys: \
bring its file to every replica before it counts. A key that was announced and would begin later than the new one is left \
out of the trust file.

With the root key on this machine it is all one step. With the root key elsewhere:
  countersign admin --data DIR key rotate head --activates 7d --draft draft.txt
  countersign trust sign draft.txt --key root.pem -o trust.txt      where the root key is
  countersign admin --data DIR trust publish trust.txt";

#[derive(clap::Args, Debug)]
pub(super) struct Activation {
    /// In what time the key begins to count, as 7d, 12h, 30m; `now` after a theft
    #[arg(long, value_name = "TIME")]
    activates: In,
}

/// How the root key gets to sign.
#[derive(clap::Args, Debug)]
pub(super) struct Way {
    /// A root key that isn't in the directory of keys; repeats
    #[arg(long, value_name = "ROOT.pem", conflicts_with = "draft")]
    root: Vec<PathBuf>,
    /// Write what is to be signed here, for `countersign trust sign`, instead of signing and publishing it
    #[arg(long, value_name = "FILE")]
    draft: Option<PathBuf>,
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Trust {
    /// Write what the trust file says, in its next version and with the witnesses of the settings, as a text to be signed
    Draft {
        /// Where it goes
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Put a trust file in force that the root key has signed
    Publish {
        /// What `countersign trust sign` wrote
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Epoch {
    /// Go on under another name, from where this copy of the database ends
    ///
    /// For a registry whose newest database is lost, and only for that: what this copy lacks is given up, and gateways are
    /// told so under the root key. Everything in this copy stays in force. The name before signs nothing more.
    New {
        /// The registry's name from here on, as pins.example/2
        #[arg(long, value_name = "NAME")]
        origin: String,
        /// A version higher than any trust file that a gateway has, where this copy lacks some
        #[arg(long, value_name = "N")]
        version: Option<u64>,
        #[command(flatten)]
        way: Way,
    },
}

/// A span of time from now.
#[derive(Clone, Copy, Debug)]
pub(super) struct In(Span);

impl std::str::FromStr for In {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WHY: &str = "must be `now` or a number of days, hours or minutes, as 7d, 12h, 30m";
        /// A key that counts in more than ten years is a mistake in typing.
        const MAX_DAYS: u32 = 3_650;
        if text == "now" {
            return Ok(Self(Span::ZERO));
        }
        let (number, unit): (_, fn(u32) -> Span) = match text.as_bytes().last() {
            Some(b'd') => (&text[..text.len() - 1], Span::days),
            Some(b'h') => (&text[..text.len() - 1], Span::hours),
            Some(b'm') => (&text[..text.len() - 1], Span::minutes),
            _ => return Err(WHY),
        };
        let number = number.parse().ok().filter(|n: &u32| *n <= MAX_DAYS);
        number.map(|n| Self(unit(n))).ok_or(WHY)
    }
}

/// A trust file holds a handful of keys.
const MAX_TRUST: usize = 64 << 10;

pub(super) async fn key(key: &Key, app: &App, env: &mut Env) -> Result<(), Failure> {
    let from = |time: &Activation| app.clock().now() + time.activates.0;
    match key {
        Key::List { json } => list(*json, app, env),
        Key::Rotate(Rotate::Head { time, way }) => change(app, Change::Head { from: from(time) }, way, env).await,
        Key::Rotate(Rotate::Log { time, overlap, way }) => {
            change(app, Change::Log { from: from(time), overlap: overlap.0 }, way, env).await
        }
        Key::Rotate(Rotate::Root { new, way }) => {
            let new = files::verifying_key(env, new)?;
            change(app, Change::Root(new), way, env).await
        }
        Key::Cancel(Cancel::Head { way }) => change(app, Change::Cancel(Scheduled::Head), way, env).await,
        Key::Cancel(Cancel::Log { way }) => change(app, Change::Cancel(Scheduled::Log), way, env).await,
    }
}

pub(super) async fn trust(trust: &Trust, app: &App, env: &mut Env) -> Result<(), Failure> {
    match trust {
        Trust::Draft { output } => write(&trust::draft(app, Change::Settings)?.terms, output, env),
        Trust::Publish { file } => {
            let note = files::read(env, file, MAX_TRUST)?;
            publish(app, &String::from_utf8_lossy(&note), env).await
        }
    }
}

pub(super) async fn epoch(epoch: &Epoch, app: &App, env: &mut Env) -> Result<(), Failure> {
    let Epoch::New { origin, version, way } = epoch;
    let origin = Origin::parse(origin)?.as_str().to_owned();
    change(app, Change::Epoch { origin, version: *version }, way, env).await
}

/// Drafts, and signs and publishes too where the root key is at hand.
async fn change(app: &App, change: Change, way: &Way, env: &mut Env) -> Result<(), Failure> {
    let roots = way.root.iter().map(|file| files::signing_key(env, file)).collect::<Result<Vec<_>, _>>()?;
    if way.draft.is_none() {
        // Before a key is made that would then lie about unused.
        trust::signable(app, &roots)?;
    }
    let draft = trust::draft(app, change)?;
    let done = match &way.draft {
        Some(path) => write(&draft.terms, path, env).map_err(|failure| (failure, true)),
        None => sign_and_publish(app, &draft, roots, env).await,
    };
    if let Err((failure, for_certain)) = done {
        if for_certain {
            trust::discard(app, &draft)?;
        }
        return Err(failure);
    }
    for id in &draft.left_out {
        print::line(env, format_args!("left out: key {id}, which was announced and never counted"))?;
    }
    Ok(())
}

fn write(terms: &Terms, path: &Path, env: &mut Env) -> Result<(), Failure> {
    files::replace(path, terms.text().map_err(Failure::no)?.as_bytes())?;
    let (version, path) = (terms.version, path.display());
    Ok(print::line(env, format_args!("draft of trust file {version} in {path}; `countersign trust sign` is next"))?)
}

/// Whether it failed for certain: what a lost connection hides may be committed, and then its key will be needed.
async fn sign_and_publish(
    app: &App,
    draft: &Draft,
    roots: Vec<SigningKey>,
    env: &mut Env,
) -> Result<(), (Failure, bool)> {
    let signed = trust::sign(app, &draft.terms, roots).map_err(|why| (why.into(), true))?;
    let was = app.moment().checkpoint.origin.clone();
    let before = app.read_only().is_some();
    match trust::publish(app, signed.note(), operator()).await {
        Ok(published) => say(&published, &was, env).map_err(|failure| (failure, false)),
        Err(e) => {
            let for_certain = before || matches!(e, WriteError::Refused(_) | WriteError::Fold(_));
            Err((unpublished(e), for_certain))
        }
    }
}

async fn publish(app: &App, note: &str, env: &mut Env) -> Result<(), Failure> {
    let was = app.moment().checkpoint.origin.clone();
    let published = trust::publish(app, note, operator()).await.map_err(unpublished)?;
    say(&published, &was, env)
}

fn unpublished(e: WriteError<Refused>) -> Failure {
    match e {
        WriteError::Refused(why) => why.into(),
        WriteError::ReadOnly(why) => Failure::blind(why),
        other => Failure::blind(other),
    }
}

fn say(published: &Published, was: &str, env: &mut Env) -> Result<(), Failure> {
    print::line(env, format_args!("trust file {} is in force", published.version))?;
    if published.origin != was {
        let (now, epoch) = (&published.origin, published.epoch);
        print::line(env, format_args!("{was} is {now} from here on, in epoch {epoch}; restart `countersign serve`"))?;
    }
    Ok(())
}

fn list(json: bool, app: &App, env: &mut Env) -> Result<(), Failure> {
    let keys = app.keys();
    if json {
        let rows: Vec<_> = keys
            .iter()
            .map(|key| {
                serde_json::json!({
                    "signs": key.kind.word(), "id": key.id, "state": key.state.to_string(), "from": key.from,
                    "until": key.until, "here": key.here,
                })
            })
            .collect();
        return print::json(env, &rows);
    }
    let mut table = Rows::new(["key", "id", "state", "from", "until", "here"]);
    for key in keys {
        let from = if key.from == Timestamp::EPOCH { "the beginning".to_owned() } else { key.from.to_string() };
        let tone = match key.state {
            KeyState::Active => Tone::Good,
            KeyState::Pending | KeyState::Retired => Tone::Quiet,
        };
        table.push([
            (key.kind.to_string(), Tone::Plain),
            (key.id.to_string(), Tone::Quiet),
            (key.state.to_string(), tone),
            (from, Tone::Plain),
            (key.until.map_or(String::new(), |until| until.to_string()), Tone::Plain),
            (if key.here { "yes" } else { "no" }.to_owned(), Tone::Plain),
        ]);
    }
    Ok(table.print(env)?)
}

impl From<Refused> for Failure {
    fn from(e: Refused) -> Self {
        let next = match &e {
            Refused::NoKey { kind: crate::service::KeyKind::Root, .. } => {
                "give it with --root FILE, or write a draft with --draft FILE and sign it where the root key is"
            }
            Refused::NoKey { .. } => "bring the key's file here first; it was made where the draft was",
            Refused::Version { .. } => "draft again: another version was published in between",
            Refused::Counts(_) => "draft again: the key's time came while the draft waited for its signature",
            _ => return Self::no(e),
        };
        Self::no(e).next(next)
    }
}
