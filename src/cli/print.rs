//! The one place that prints: tables, JSON, notes, and strangers' text made inert.
//!
//! What a command found goes to standard output; what it says about itself goes to standard error. Colours and progress
//! only where a person sits. Text of publishers, servers and registries passes through [`inert`], so that it can neither
//! steer the terminal nor pass for ours.

use std::{
    borrow::Cow,
    fmt::Display,
    io::{self, Write as _},
    time::Duration,
};

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::{
    env::Env,
    text::{Reading, marked},
};

use super::Failure;

/// How a word is meant. A sign is always the word itself; the colour only repeats it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Tone {
    /// Nothing to say about it.
    Plain,
    /// Verified or approved, nothing else.
    Good,
    /// Waits for someone.
    Wait,
    /// Refused or dangerous.
    Bad,
    /// Second text.
    Quiet,
}

/// A table under construction.
pub(super) struct Rows {
    header: Vec<&'static str>,
    rows: Vec<Vec<(String, Tone)>>,
}

/// A line on standard output.
pub(super) fn line(env: &mut Env, text: impl Display) -> io::Result<()> {
    quiet_pipe(writeln!(env.stdout, "{text}"))
}

/// Bytes on standard output, as they are.
pub(super) fn bytes(env: &mut Env, bytes: &[u8]) -> io::Result<()> {
    quiet_pipe(env.stdout.write_all(bytes).and_then(|()| env.stdout.flush()))
}

/// A line on standard error.
pub(super) fn note(env: &mut Env, text: impl Display) -> io::Result<()> {
    quiet_pipe(writeln!(env.stderr, "{text}"))
}

/// A document on standard output, indented for people where one sits there.
pub(super) fn json<T: Serialize>(env: &mut Env, document: &T) -> Result<(), Failure> {
    let text =
        if env.terminal.stdout { serde_json::to_string_pretty(document) } else { serde_json::to_string(document) };
    let text = text.map_err(|e| Failure::blind(format_args!("the answer can't be written as JSON: {e}")))?;
    Ok(line(env, text)?)
}

/// Says on standard error why a command failed and what to do next.
pub(super) fn failure(env: &mut Env, failure: &Failure) -> io::Result<()> {
    let (red, off) = if colours(env, env.terminal.stderr) { ("\u{1b}[31m", "\u{1b}[0m") } else { ("", "") };
    note(env, format_args!("{red}error:{off} {}", inert(&failure.what)))?;
    match &failure.next {
        Some(next) => note(env, format_args!("  next: {next}")),
        None => Ok(()),
    }
}

/// A stranger's text on one line, with everything visible that is in it and nothing active.
pub(super) fn inert(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| matches!(b, b' '..=b'~')) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(marked(text, Reading::Prose).to_string())
    }
}

/// As [`inert`], cut to `max` characters.
pub(super) fn short(text: &str, max: usize) -> String {
    let shown = inert(text);
    if shown.chars().count() <= max {
        return shown.into_owned();
    }
    shown.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

/// The right form of a noun: `1 tool`, `2 tools`.
pub(super) fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// A spinner on standard error where a person sits, and nothing elsewhere.
pub(super) fn spinner(env: &Env, text: &'static str) -> ProgressBar {
    if !env.terminal.stderr {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message(text);
    bar.set_style(ProgressStyle::default_spinner());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// A progress bar on standard error where a person sits, and nothing elsewhere.
pub(super) fn bar(env: &Env, of: &'static str) -> ProgressBar {
    if !env.terminal.stderr {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} {msg}, {per_sec}, {eta} left");
    let bar = ProgressBar::new(0).with_message(of);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn colours(env: &Env, terminal: bool) -> bool {
    terminal && env.vars.get("NO_COLOR").is_none_or(String::is_empty)
}

/// Whoever closed the pipe has read enough: `countersign … | head` is no failure.
fn quiet_pipe(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

impl Rows {
    pub(super) fn new<const N: usize>(header: [&'static str; N]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new() }
    }

    /// Adds a row of our own text; pass strangers' text through [`inert`] or [`short`].
    pub(super) fn push<const N: usize>(&mut self, row: [(String, Tone); N]) {
        self.rows.push(row.into());
    }

    /// Prints the table, or nothing if it has no rows.
    pub(super) fn print(self, env: &mut Env) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let coloured = colours(env, env.terminal.stdout);
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        if env.terminal.stdout {
            table.set_content_arrangement(ContentArrangement::Dynamic);
        } else {
            table.force_no_tty().set_content_arrangement(ContentArrangement::Disabled);
        }
        if coloured {
            table.enforce_styling();
        }
        table.set_header(self.header.iter().map(|name| cell(name, Tone::Quiet, coloured)));
        for row in &self.rows {
            table.add_row(row.iter().map(|(text, tone)| cell(text, *tone, coloured)));
        }
        for i in 0..self.header.len() {
            if let Some(column) = table.column_mut(i) {
                column.set_padding((0, 2));
            }
        }
        for text in table.lines() {
            line(env, text.trim_end())?;
        }
        Ok(())
    }
}

fn cell(text: &str, tone: Tone, coloured: bool) -> Cell {
    let cell = Cell::new(text);
    match tone {
        _ if !coloured => cell,
        Tone::Plain => cell,
        Tone::Good => cell.fg(Color::Green),
        Tone::Wait => cell.fg(Color::Yellow),
        Tone::Bad => cell.fg(Color::Red),
        Tone::Quiet => cell.add_attribute(Attribute::Dim),
    }
}
