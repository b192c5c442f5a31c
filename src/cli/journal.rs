//! The service's own log: what happened while it served, a line an event, on standard error.
//!
//! Events quote what clients and publishers sent, and errors of libraries that quote it in turn. So a line is made inert
//! where it leaves, whole, whatever an event forgot: no text can end a line, steer a terminal or hide. In the text form
//! hidden characters become visible marks; in the JSON form every character beyond ASCII is written as its escape, which
//! a reader of JSON turns back.

use std::{
    fmt,
    io::{self, Write},
    panic,
    sync::{Arc, Mutex, PoisonError},
};

use tracing::Subscriber;
use tracing_subscriber::{
    Layer as _,
    filter::Targets,
    fmt::{MakeWriter, format::Writer, time::FormatTime},
    layer::SubscriberExt as _,
};

use super::Failure;
use crate::{
    config::{Log, LogForm},
    env::{Clock, Env},
    text::{Reading, marked},
};

/// What takes the lines: a stream that others may write to as well.
#[derive(Clone)]
struct Shared(Arc<Mutex<Box<dyn Write + Send>>>);

/// Lends a stream to one line at a time.
struct Lines {
    to: Shared,
    form: LogForm,
}

/// A line on its way out. The formatter hands it over whole.
struct Line<'a>(&'a Lines);

/// Times by the registry's clock, in the form that all of it uses.
struct Times(Arc<dyn Clock>);

/// Logs from now on, panics included, to the environment's standard error, which stays usable for everything else.
///
/// # Errors
/// If something else in the process logs already.
pub(super) fn start(log: &Log, env: &mut Env) -> Result<(), Failure> {
    let shared = Shared(Arc::new(Mutex::new(std::mem::replace(&mut env.stderr, Box::new(io::sink())))));
    env.stderr = Box::new(shared.clone());
    let subscriber = lines(log, Arc::clone(&env.clock), shared);
    tracing::subscriber::set_global_default(subscriber).map_err(Failure::blind)?;
    panic::set_hook(Box::new(panicked));
    Ok(())
}

/// Writes events as lines to a stream.
pub fn subscriber(
    log: &Log,
    clock: Arc<dyn Clock>,
    to: Box<dyn Write + Send>,
) -> impl Subscriber + Send + Sync + use<> {
    lines(log, clock, Shared(Arc::new(Mutex::new(to))))
}

/// What a panic says, as an event: its message may quote anything, too.
pub fn panicked(panic: &panic::PanicHookInfo<'_>) {
    let at = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(at, message = panic.payload_as_str().unwrap_or("no message"), "panicked");
}

fn lines(log: &Log, clock: Arc<dyn Clock>, to: Shared) -> impl Subscriber + Send + Sync + use<> {
    // The settings were checked; with nothing understood, nothing is lost.
    let filter: Targets = log.filter.parse().unwrap_or_else(|_| Targets::new().with_default(tracing::Level::TRACE));
    let (lines, times) = (Lines { to, form: log.form }, Times(clock));
    let form = tracing_subscriber::fmt::layer().with_ansi(false).with_timer(times).with_writer(lines);
    let layer = match log.form {
        LogForm::Text => form.boxed(),
        LogForm::Json => form.json().boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(filter))
}

/// A line with nothing in it that could act or hide, but its own end.
fn inert(line: &str, form: LogForm) -> String {
    let text = line.strip_suffix('\n').unwrap_or(line);
    let mut safe = match form {
        LogForm::Text => marked(text, Reading::Prose).to_string(),
        LogForm::Json => escaped(text),
    };
    safe.push('\n');
    safe
}

/// JSON holds such characters in strings alone, where an escape means the same.
fn escaped(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, ' '..='~') {
            json.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                json.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    json
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let safe = inert(&String::from_utf8_lossy(line), self.0.form);
        self.0.to.clone().write_all(safe.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.to.clone().flush()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

impl FormatTime for Times {
    fn format_time(&self, to: &mut Writer<'_>) -> fmt::Result {
        write!(to, "{}", self.0.now())
    }
}
