//! `countersign check`: what a pulled pin set says about what a server lists.

use std::{
    cell::LazyCell,
    path::{Path, PathBuf},
};

use crate::{
    client::{State, StateError},
    descriptor::{Capture, Descriptor, MAX_CAPTURE_BYTES},
    env::Env,
    name::{Alias, Variant},
    pinset::{
        PinSet,
        verdict::{Action, Answer, Binding, Listing, Scan, Verdict, judge},
    },
};

use super::{
    Exit, Failure, files,
    print::{self, Rows, Tone},
};

/// Judge what servers list by a pulled pin set
#[derive(clap::Args, Debug)]
#[command(after_help = "\
FILE is a release, a capture, an array of tools, {\"tools\": […]}, or JSON-RPC responses, one a line; - is \
standard input. The same function judges here, in the registry's API and in a gateway. A matching \
digest proves that a descriptor did not change, not that it is safe.

Ends with 0 if everything is allowed, 1 if anything isn't or the pin set has no such alias, 3 if a list is not complete or the set has expired.

Examples:
  countersign check --state DIR --alias notes tools.json
  countersign check --state DIR notes=notes.json mail=mail.json
  countersign check --state DIR --json --alias notes --endpoint https://mcp.example.com/mcp tools.json")]
pub(super) struct Args {
    /// The state directory that `countersign pull` keeps
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
    /// The server's alias, for one FILE
    #[arg(long, value_name = "ALIAS")]
    alias: Option<Alias>,
    /// Admit pins of this variant only
    #[arg(long, value_name = "V")]
    variant: Option<Variant>,
    /// The endpoint that the server is reached at
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// The digest of the package that runs, as sha256:HEX
    #[arg(long, value_name = "DIGEST")]
    artifact: Option<String>,
    /// Print the verdicts as the API does
    #[arg(long)]
    json: bool,
    /// What a server lists, with or without its alias
    #[arg(value_name = "[ALIAS=]FILE", required = true)]
    files: Vec<String>,
}

pub(super) fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let state = State::open(&args.state)?.ok_or_else(|| StateError::Missing(args.state.clone()))?;
    let now = env.clock.now();
    let set = state.pin_set(now)?;
    let mut lists = Vec::new();
    for (alias, path) in named(args)? {
        let bytes = files::read(env, &path, MAX_CAPTURE_BYTES)?;
        lists.push((alias, path.clone(), files::capture(&path, &bytes)?));
    }
    let listings: Vec<Listing<'_>> =
        lists.iter().map(|(alias, _, capture)| listing(args, alias.as_ref(), capture)).collect();
    // Only what no pin covers is scanned; mostly that is nothing.
    let ruleset = LazyCell::new(|| state.ruleset(&set.document().ruleset_sha256));
    let scan = |descriptor: &Descriptor| match ruleset.as_ref().map(|ruleset| ruleset.scan(descriptor)) {
        Some(report) if report.complete => Scan::Done(report.worst()),
        _ => Scan::Failed,
    };
    let answer = judge(&set, &listings, scan, now);
    if args.json {
        print::json(env, &answer)?;
    } else {
        table(&answer, env)?;
    }
    for (_, path, capture) in &lists {
        if !capture.complete {
            let why = capture.why_incomplete.as_deref().unwrap_or("it says so itself");
            return Err(Failure::blind(format_args!("{} is not a complete list: {why}", path.display())));
        }
    }
    if now >= set.expires() {
        return Err(Failure::blind(format_args!("the pin set expired at {}", set.expires()))
            .next("run `countersign pull`; until then nothing is allowed"));
    }
    if let Some(alias) = lists.iter().find_map(|(alias, ..)| alias.as_ref().filter(|alias| set.alias(alias).is_none()))
    {
        return Err(no_alias(&set, alias));
    }
    Ok(if answer.allows_all() { Exit::Done } else { Exit::No })
}

/// Nothing under a wrong alias is known, which says nothing about the server: so that is said, and it is no.
fn no_alias(set: &PinSet, alias: &Alias) -> Failure {
    /// More are read in the registry's pages.
    const MAX_NAMED: usize = 20;
    let document = set.document();
    let there: Vec<&str> = document.aliases.keys().map(Alias::as_str).collect();
    let more = if there.len() > MAX_NAMED { ", …" } else { "" };
    let named = there.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
    let has = if there.is_empty() { "it has none yet".to_owned() } else { format!("it has {named}{more}") };
    Failure::no(format_args!("the pin set {} has no alias {alias}; {has}", document.name))
        .next("state the alias that the server is bound to, or pull again if it was bound just now")
}

/// The files with their aliases. A text before `=` that is no alias belongs to the path.
fn named(args: &Args) -> Result<Vec<(Option<Alias>, PathBuf)>, Failure> {
    if let Some(alias) = &args.alias {
        let [file] = args.files.as_slice() else {
            return Err(Failure::usage("--alias goes with one FILE").next("write ALIAS=FILE for several"));
        };
        return Ok(vec![(Some(alias.clone()), PathBuf::from(file))]);
    }
    let split = |text: &String| match text.split_once('=').map(|(alias, file)| (alias.parse::<Alias>(), file)) {
        Some((Ok(alias), file)) => (Some(alias), PathBuf::from(file)),
        _ => (None, PathBuf::from(text)),
    };
    let files: Vec<_> = args.files.iter().map(split).collect();
    if files.iter().filter(|(_, path)| path == Path::new("-")).count() > 1 {
        return Err(Failure::usage("standard input is one list"));
    }
    Ok(files)
}

fn listing<'a>(args: &'a Args, alias: Option<&'a Alias>, capture: &'a Capture) -> Listing<'a> {
    Listing {
        alias,
        complete: capture.complete,
        variant: args.variant.as_ref(),
        endpoint: args.endpoint.as_deref(),
        artifact: args.artifact.as_deref(),
        listed: &capture.listed,
    }
}

fn table(answer: &Answer, env: &mut Env) -> Result<(), Failure> {
    let mut rows = Rows::new(["action", "verdict", "item", "why"]);
    for judged in &answer.results {
        let tone = match judged.action {
            Action::Allow => Tone::Good,
            Action::Quarantine => Tone::Wait,
            Action::Block => Tone::Bad,
        };
        let also = judged.also.iter().filter(|v| **v != judged.verdict).map(|v: &Verdict| v.as_str());
        let verdict = std::iter::once(judged.verdict.as_str()).chain(also).collect::<Vec<_>>().join(", ");
        let bound = match judged.binding {
            Binding::Unstated => "; pinned for one package or endpoint, none was stated",
            Binding::Matched | Binding::Unbound => "",
        };
        rows.push([
            (judged.action.to_string(), tone),
            (verdict, Tone::Plain),
            (format!("{}/{}", judged.kind, print::short(&judged.name, 80)), Tone::Plain),
            (format!("{}{bound}", print::short(&judged.reason, 160)), Tone::Plain),
        ]);
    }
    rows.print(env)?;
    let count = |action| answer.results.iter().filter(|judged| judged.action == action).count();
    let (allowed, kept, blocked) = (count(Action::Allow), count(Action::Quarantine), count(Action::Block));
    Ok(print::line(
        env,
        format_args!(
            "version {}, valid until {}: {allowed} allowed, {kept} quarantined, {blocked} blocked",
            answer.version, answer.expires
        ),
    )?)
}
