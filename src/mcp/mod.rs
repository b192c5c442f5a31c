//! A raw client of the Model Context Protocol: opens a server, walks every page of every list, and keeps the bytes.
//!
//! Not a general client: it calls no tool, reads no resource and declares no capability. It exists because a digest is
//! only worth something over the bytes that were sent, and clients that parse into types have already lost members.
//! Each listed object is a `RawValue`, cut out of the message and never written again.
//!
//! Nothing a server sends is trusted. Whatever isn't a whole, orderly answer (an error, a timeout, an exit, a page that
//! repeats, a message that isn't one) ends the capture as *incomplete* with its reason; there is no way to get a list
//! that is shorter than the server's and says nothing about it.
//!
//! Two eras of the protocol are spoken. Up to 2025-11-25 a session opens with `initialize`; 2026-07-28 has no session,
//! `server/discover` tells what there is, and every request carries version and capabilities in `_meta`. The era is
//! found out as the specification's pages on versioning, stdio and Streamable HTTP say: probe with `server/discover`,
//! fall back unless the answer is one that only the newer era gives. Over HTTP only Streamable HTTP is spoken, not the
//! HTTP+SSE transport of 2024-11-05.

mod fault;
mod http;
mod lines;
mod lists;
mod message;
mod process;
mod session;
mod sse;

use std::{collections::BTreeMap, path::PathBuf, str::FromStr};

use crate::{
    clock::{Span, Timestamp},
    descriptor::{Capture, Kind, Method, Taken},
    env::Clock,
};

pub use fault::Fault;
pub use http::{BadHeader, Headers, header};
pub use process::child_vars;

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Target {
    /// A program to start, spoken to over its standard streams.
    Stdio {
        /// The program; looked up in `PATH` of `vars`.
        command: String,
        /// Its arguments. They are recorded in the capture, so no secret belongs here.
        args: Vec<String>,
        /// All of its environment; see [`child_vars`].
        vars: BTreeMap<String, String>,
        /// Its working directory; ours if absent.
        directory: Option<PathBuf>,
    },
    /// An endpoint that speaks Streamable HTTP.
    Http {
        /// The endpoint.
        url: url::Url,
        /// Further headers of each request, as `Authorization`; never recorded.
        headers: Headers,
    },
}

/// The protocol versions that are spoken.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Protocol {
    /// 2024-11-05.
    V2024_11_05,
    /// 2025-03-26.
    V2025_03_26,
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25, the last with `initialize`.
    V2025_11_25,
    /// 2026-07-28, the first without a session.
    V2026_07_28,
}

/// How long a capture may take, and which protocol it speaks.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The one version to speak; found out if absent.
    pub protocol: Option<Protocol>,
    /// How long the first answer may take.
    pub first: Span,
    /// How long a program may leave `server/discover` unanswered before `initialize` is sent behind it.
    pub probe: Span,
    /// How long any later answer may take.
    pub request: Span,
    /// How long everything may take together.
    pub total: Span,
}

/// What happens on the way, for whoever watches. All text is the server's own: make it inert before showing it.
#[derive(Debug)]
pub enum Seen<'a> {
    /// A line of the program's standard error.
    Stderr(&'a str),
    /// A line of its standard output that is no message. Nothing is lost by skipping it: an answer that never came is
    /// a timeout, not a shorter list.
    Noise(&'a str),
    /// The server answered, and this is the version that is spoken from here on.
    Opened(Protocol),
    /// A page of a list came in.
    Page {
        /// Of which list.
        kind: Kind,
        /// How many it held.
        count: usize,
    },
    /// The server said that a list changed; all lists are walked again.
    Again,
}

/// Is told what is [`Seen`].
pub type Watch<'a> = dyn FnMut(Seen<'_>) + Send + 'a;

impl Default for Options {
    fn default() -> Self {
        Self {
            protocol: None,
            // `npx` and `uvx` download the server before it can answer.
            first: Span::seconds(120),
            // A program that is up answers in milliseconds; one that ignores what it doesn't know never does.
            probe: Span::seconds(10),
            request: Span::seconds(30),
            total: Span::minutes(5),
        }
    }
}

impl Protocol {
    /// All versions, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The version as it is written in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether requests carry their own version and no session is opened.
    pub const fn is_sessionless(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }
}

/// The text names no protocol version that is spoken.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28")]
pub struct NotAProtocol;

impl FromStr for Protocol {
    type Err = NotAProtocol;

    fn from_str(text: &str) -> Result<Self, NotAProtocol> {
        Self::ALL.into_iter().find(|version| version.as_str() == text).ok_or(NotAProtocol)
    }
}

/// Captures what a server lists now. Always gives a capture: one that isn't complete says why.
pub async fn capture(target: &Target, options: &Options, clock: &dyn Clock, watch: &mut Watch<'_>) -> Capture {
    let at = clock.now();
    let mut run = Run::new(clock, options, watch);
    let mut harvest = lists::Harvest::default();
    let outcome = session::run(target, &mut run, &mut harvest).await;
    finish(target, at, harvest, outcome)
}

fn finish(target: &Target, at: Timestamp, harvest: lists::Harvest, outcome: Result<(), Fault>) -> Capture {
    let (method, command, endpoint) = match target {
        Target::Stdio { command, args, .. } => {
            (Method::Stdio, Some(std::iter::once(command).chain(args).cloned().collect()), None)
        }
        Target::Http { url, .. } => (Method::Http, None, Some(url.to_string())),
    };
    let why_incomplete = outcome.err().map(|fault| fault.to_string());
    Capture {
        complete: why_incomplete.is_none(),
        why_incomplete,
        protocol_version: harvest.version.map(|version| version.as_str().to_owned()),
        server_info: harvest.server_info,
        listed: harvest.listed,
        taken: Some(Taken {
            method,
            command,
            endpoint,
            client_capabilities: Some(message::NO_CAPABILITIES.to_vec()),
            at: Some(at),
        }),
    }
}

/// One capture under way: its clock, its limits and what they have left.
struct Run<'a> {
    clock: &'a dyn Clock,
    options: &'a Options,
    ends: Timestamp,
    answered: bool,
    received: usize,
    changed: bool,
    watch: &'a mut Watch<'a>,
}

#[cfg(test)]
mod tests;
