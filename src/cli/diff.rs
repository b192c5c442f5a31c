//! `countersign diff`: what moved between two descriptors, or between two lists of them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    descriptor::{Capture, Descriptor, Kind, Listed, MAX_CAPTURE_BYTES, Rename, diff, renamed},
    env::Env,
};

use super::{
    Exit, Failure, files,
    print::{self, Rows, Tone},
};

/// Show what moved between two descriptors, or two lists of them
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Each file holds one descriptor, or a list: a release, a capture, an array of tools, {\"tools\": […]}, \
or JSON-RPC responses, one a line. Descriptors of two lists are paired by kind and name.

Changes by which a tool can do or receive more are named in the column `grew`. No growth proves nothing.
Ends with 0 if nothing differs, 1 if something does, 3 if a list isn't complete.

Examples:
  countersign diff release-1.4.0.json release-1.5.0.json
  countersign diff --json old-tool.json new-tool.json | jq '.items[].changes[] | select(.growth)'")]
pub(super) struct Args {
    /// What it was
    #[arg(value_name = "OLD.json")]
    old: PathBuf,
    /// What it is
    #[arg(value_name = "NEW.json")]
    new: PathBuf,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    differs: bool,
    complete: bool,
    items: Vec<Item>,
}

/// A descriptor that isn't the same on both sides.
#[derive(Serialize)]
struct Item {
    kind: Kind,
    name: String,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<diff::Change>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Changed,
    Added,
    Removed,
    Renamed,
    /// Listed twice on a side, so nothing says which is which.
    Ambiguous,
    /// Refused by the strict parser, so nothing can be compared.
    Refused,
}

pub(super) fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let (old, new) = (side(env, &args.old)?, side(env, &args.new)?);
    let complete = old.complete && new.complete;
    let items = compare(&old, &new);
    let report = Report { differs: !items.is_empty(), complete, items };
    if args.json {
        print::json(env, &report)?;
    } else {
        table(&report, env)?;
    }
    for (path, capture) in [(&args.old, &old), (&args.new, &new)] {
        if !capture.complete {
            let why = capture.why_incomplete.as_deref().unwrap_or("it says so itself");
            return Err(Failure::blind(format_args!("{} is not a complete list: {why}", path.display()))
                .next("capture the server again; what is missing from an incomplete list is not removed"));
        }
    }
    Ok(if report.differs { Exit::No } else { Exit::Done })
}

/// A file's list; one descriptor alone is a list of one.
fn side(env: &mut Env, path: &Path) -> Result<Capture, Failure> {
    let bytes = files::read(env, path, MAX_CAPTURE_BYTES)?;
    files::list(path, &bytes)
}

fn compare(old: &Capture, new: &Capture) -> Vec<Item> {
    let (old_names, new_names) = (by_name(old), by_name(new));
    let mut items = Vec::new();
    let (mut vanished, mut appeared) = (Vec::new(), Vec::new());
    for ((kind, name), before) in &old_names {
        let item = |state, changes| Item { kind: *kind, name: name.clone(), state, was: None, changes };
        match (before.as_slice(), new_names.get(&(*kind, name.clone())).map(Vec::as_slice)) {
            ([before], Some([after])) => match (&before.parsed, &after.parsed) {
                (Ok(before), Ok(after)) if before.digest() == after.digest() => {}
                (Ok(before), Ok(after)) => items.push(item(State::Changed, changes(before, after))),
                _ if before.raw == after.raw => {}
                _ => items.push(item(State::Refused, Vec::new())),
            },
            (_, Some(_)) => items.push(item(State::Ambiguous, Vec::new())),
            // Missing from an incomplete list is no news.
            (_, None) if !new.complete => {}
            ([Listed { parsed: Ok(before), .. }], None) => vanished.push(before),
            (_, None) => items.push(item(State::Removed, Vec::new())),
        }
    }
    for ((kind, name), after) in &new_names {
        if old_names.contains_key(&(*kind, name.clone())) {
            continue;
        }
        match after.as_slice() {
            [Listed { parsed: Ok(after), .. }] => appeared.push(after),
            [_] => items.push(Item {
                kind: *kind,
                name: name.clone(),
                state: State::Refused,
                was: None,
                changes: Vec::new(),
            }),
            _ => items.push(Item {
                kind: *kind,
                name: name.clone(),
                state: State::Ambiguous,
                was: None,
                changes: Vec::new(),
            }),
        }
    }
    pair(&vanished, &appeared, &mut items);
    items.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    items
}

/// Vanished and new ones that are probably the same under another name are one item, not two.
fn pair(vanished: &[&Descriptor], appeared: &[&Descriptor], items: &mut Vec<Item>) {
    // Two descriptors given alone are meant as one, whatever they are called.
    let renames = match (vanished, appeared, items.as_slice()) {
        ([one], [other], []) if one.kind() == other.kind() => {
            vec![Rename { from: 0, to: 0, likeness: 100 }]
        }
        _ => renamed(vanished, appeared),
    };
    let item = |of: &Descriptor, state| Item {
        kind: of.kind(),
        name: of.listed_name().to_owned(),
        state,
        was: None,
        changes: Vec::new(),
    };
    for rename in &renames {
        let (before, after) = (vanished[rename.from], appeared[rename.to]);
        let was = Some(before.listed_name().to_owned());
        items.push(Item { was, changes: changes(before, after), ..item(after, State::Renamed) });
    }
    let left = |i: usize, of: fn(&Rename) -> usize| !renames.iter().any(|rename| of(rename) == i);
    items.extend(
        vanished.iter().enumerate().filter(|(i, _)| left(*i, |r| r.from)).map(|(_, d)| item(d, State::Removed)),
    );
    items.extend(appeared.iter().enumerate().filter(|(i, _)| left(*i, |r| r.to)).map(|(_, d)| item(d, State::Added)));
}

fn changes(before: &Descriptor, after: &Descriptor) -> Vec<diff::Change> {
    diff::diff(&before.value(), &after.value()).changes
}

fn by_name(capture: &Capture) -> BTreeMap<(Kind, String), Vec<&Listed>> {
    let mut names: BTreeMap<(Kind, String), Vec<&Listed>> = BTreeMap::new();
    for listed in &capture.listed {
        names.entry((listed.kind, listed.display_name().into_owned())).or_default().push(listed);
    }
    names
}

fn table(report: &Report, env: &mut Env) -> Result<(), Failure> {
    let mut rows = Rows::new(["item", "class", "grew", "at", "what"]);
    let quiet = |text: &str| (text.to_owned(), Tone::Quiet);
    for item in &report.items {
        let name = format!("{}/{}", item.kind, print::short(&item.name, 60));
        let mut first = true;
        let (state, tone, what) = match item.state {
            State::Changed => ("changed", Tone::Plain, ""),
            State::Added => ("added", Tone::Wait, "not there before"),
            State::Removed => ("removed", Tone::Plain, "no longer there"),
            State::Renamed => ("renamed", Tone::Wait, "probably the same under another name"),
            State::Ambiguous => ("ambiguous", Tone::Bad, "listed twice, so nothing says which is which"),
            State::Refused => ("refused", Tone::Bad, "the strict parser refuses it; see countersign digest"),
        };
        if !matches!(item.state, State::Changed) {
            let what = match &item.was {
                Some(was) => format!("{what}, before {}", print::short(was, 60)),
                None => what.to_owned(),
            };
            rows.push([
                (name.clone(), Tone::Plain),
                (state.to_owned(), tone),
                quiet(""),
                quiet(""),
                (what, Tone::Plain),
            ]);
            first = false;
        }
        for change in &item.changes {
            rows.push([
                (if first { name.clone() } else { String::new() }, Tone::Plain),
                (change.class.to_string(), Tone::Plain),
                (change.growth.map(|growth| growth.to_string()).unwrap_or_default(), Tone::Bad),
                quiet(&print::short(&change.pointer, 80)),
                (print::short(&change.sentence, 160), Tone::Plain),
            ]);
            first = false;
        }
    }
    rows.print(env)?;
    let grew = report.items.iter().filter(|item| item.changes.iter().any(|change| change.growth.is_some())).count();
    let summary = match (report.items.len(), grew) {
        (0, _) if !report.complete => "no difference as far as the lists go".to_owned(),
        (0, _) => "no difference".to_owned(),
        (n, 0) => format!("{} with a difference", print::count(n, "item", "items")),
        (n, grew) => format!("{} with a difference; {grew} can do or receive more", print::count(n, "item", "items")),
    };
    Ok(print::line(env, summary)?)
}
