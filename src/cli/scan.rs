//! `countersign scan`: what the scanner's rules find in lists of descriptors.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    canon::Sha256,
    descriptor::{Descriptor, MAX_CAPTURE_BYTES},
    env::Env,
    scan::{Finding, Ruleset, Severity},
};

use super::{
    Exit, Failure, files,
    print::{self, Rows, Tone},
    sarif,
};

/// Scan descriptors with the built-in rules
#[derive(clap::Args, Debug)]
#[command(after_help = "\
PATH is a file as `countersign check` takes it, one descriptor alone, or a directory, of which every .json and .jsonl \
file is scanned. Findings are evidence to look at, no verdict; no finding proves nothing.

Ends with 0 if nothing is found at or above --fail-on, 1 if something is or a descriptor is refused, 3 if a list is \
not complete or could not be scanned whole.

Examples:
  countersign scan tools.json
  countersign scan --fail-on medium releases/
  countersign scan --sarif release.json > scan.sarif")]
pub(super) struct Args {
    /// Files and directories, or - for standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print SARIF 2.1.0, for code scanning
    #[arg(long)]
    sarif: bool,
    /// The severity from which a finding makes the command end with 1
    #[arg(long, value_name = "SEVERITY", value_parser = severity, default_value = "high")]
    fail_on: Severity,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    complete: bool,
    packs_sha256: Sha256,
    findings: Vec<&'a Finding>,
}

/// One file's findings.
pub(super) struct Scanned {
    pub(super) path: PathBuf,
    pub(super) findings: Vec<Finding>,
}

/// Directories nest a few levels; a loop of links or mounts doesn't end.
const MAX_DEPTH: usize = 32;

pub(super) fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let ruleset = Ruleset::builtin().map_err(|e| Failure::blind(format_args!("the built-in rules are broken: {e}")))?;
    let mut paths = Vec::new();
    for path in &args.paths {
        collect(path, MAX_DEPTH, &mut paths)?;
    }
    let (mut scanned, mut exit, mut complete) = (Vec::new(), Exit::Done, true);
    for path in paths {
        let bytes = files::read(env, &path, MAX_CAPTURE_BYTES)?;
        let capture = files::list(&path, &bytes)?;
        if !capture.complete {
            let why = capture.why_incomplete.as_deref().unwrap_or("it says so itself");
            print::note(env, print::inert(&format!("{} is not a complete list: {why}", path.display())))?;
            (exit, complete) = (exit.max(Exit::Blind), false);
        }
        for listed in &capture.listed {
            if let Err(refused) = &listed.parsed {
                let name = print::short(&listed.display_name(), 60);
                print::note(env, format_args!("{}: {}/{name} is refused: {refused}", path.display(), listed.kind))?;
                (exit, complete) = (exit.max(Exit::No), false);
            }
        }
        let descriptors: Vec<&Descriptor> = capture.listed.iter().filter_map(|l| l.parsed.as_ref().ok()).collect();
        let report = ruleset.scan_release(&descriptors);
        if !report.complete {
            (exit, complete) = (exit.max(Exit::Blind), false);
        }
        if report.findings.iter().any(|finding| finding.severity >= args.fail_on) {
            exit = exit.max(Exit::No);
        }
        scanned.push(Scanned { path, findings: report.findings });
    }
    if args.json {
        let findings = scanned.iter().flat_map(|file| &file.findings).collect();
        print::json(env, &Report { complete, packs_sha256: ruleset.sha256(), findings })?;
    } else if args.sarif {
        print::json(env, &sarif::document(&scanned))?;
    } else {
        table(&scanned, env)?;
    }
    Ok(exit)
}

/// The files under a path, in the order of their names.
fn collect(path: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |e| Failure::usage(format_args!("{} can't be read: {e}", path.display()));
    if path == Path::new("-") || !fs::metadata(path).map_err(failed)?.is_dir() {
        paths.push(path.to_owned());
        return Ok(());
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Failure::usage(format_args!("{} is nested too deeply", path.display())));
    };
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    for entry in entries {
        let is_list = entry.extension().is_some_and(|extension| extension == "json" || extension == "jsonl");
        if is_list || entry.is_dir() {
            collect(&entry, depth, paths)?;
        }
    }
    Ok(())
}

fn table(scanned: &[Scanned], env: &mut Env) -> Result<(), Failure> {
    let mut rows = Rows::new(["severity", "item", "at", "rule", "what"]);
    let several = scanned.len() > 1;
    for file in scanned {
        for finding in &file.findings {
            let tone = match finding.severity {
                Severity::Critical | Severity::High => Tone::Bad,
                Severity::Medium => Tone::Wait,
                Severity::Low | Severity::Info => Tone::Plain,
            };
            let item = format!("{}/{}", finding.kind, print::short(&finding.name, 60));
            let item = if several { format!("{}: {item}", print::inert(&file.path.to_string_lossy())) } else { item };
            rows.push([
                (word(finding.severity).to_owned(), tone),
                (item, Tone::Plain),
                (print::short(&finding.pointer, 60), Tone::Quiet),
                (finding.rule.clone(), Tone::Quiet),
                (print::short(&finding.message, 200), Tone::Plain),
            ]);
        }
    }
    rows.print(env)?;
    let n = scanned.iter().map(|file| file.findings.len()).sum();
    let summary = match n {
        0 => "no findings, which proves nothing".to_owned(),
        n => print::count(n, "finding", "findings"),
    };
    Ok(print::line(env, format_args!("{summary} in {}", print::count(scanned.len(), "file", "files")))?)
}

/// The severity as it is written everywhere.
pub(super) const fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "critical",
        Severity::High => "high",
        Severity::Medium => "medium",
        Severity::Low => "low",
        Severity::Info => "info",
    }
}

fn severity(text: &str) -> Result<Severity, String> {
    let all = [Severity::Critical, Severity::High, Severity::Medium, Severity::Low, Severity::Info];
    let found = all.into_iter().find(|severity| word(*severity) == text);
    found.ok_or_else(|| "not one of critical, high, medium, low, info".to_owned())
}
