//! Why a capture isn't complete.

use crate::{clock::Span, descriptor::Kind};

use super::Protocol;

/// The first thing that was wrong. Its text is the reason that the capture keeps; servers' own words in it are quoted
/// and cut.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The program couldn't be started.
    #[error("the program does not start: {0}")]
    Start(String),
    /// The program closed its output before it had answered.
    #[error("the server ended before it answered {0}")]
    Ended(&'static str),
    /// The program stopped reading.
    #[error("the server does not read what is sent to it")]
    Deaf,
    /// No answer in time.
    #[error("no answer to {method} within {} seconds", limit.as_seconds())]
    Timeout {
        /// The request's method.
        method: &'static str,
        /// How long was waited.
        limit: Span,
    },
    /// The capture as a whole took too long.
    #[error("the capture took longer than {} seconds", .0.as_seconds())]
    TotalTime(Span),
    /// The server answered with an error.
    #[error("the server answered {method} with error {code}: {message:?}")]
    Error {
        /// The request's method.
        method: &'static str,
        /// The error's code.
        code: i64,
        /// The error's message, cut.
        message: String,
    },
    /// Bytes that are no UTF-8.
    #[error("the server sent bytes that are not UTF-8")]
    NotUtf8,
    /// Something that begins as a message and is none.
    #[error("the server sent something that is not a JSON-RPC message: {0}")]
    NotAMessage(String),
    /// More lines that are no messages than anyone's banner has.
    #[error("the server writes more than {0} lines to its output that are not messages")]
    Noise(usize),
    /// An answer to nothing that was asked, or a second answer.
    #[error("the server answered a request that was not waiting for an answer (id {0})")]
    UnknownId(String),
    /// A request in the era that has none.
    #[error("the server sent a request ({0:?}), which protocol version 2026-07-28 forbids")]
    Asked(String),
    /// A result that doesn't have the shape that its method has.
    #[error("the answer to {method} is malformed: {what}")]
    Malformed {
        /// The request's method.
        method: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// The server wants something from the user before it lists.
    #[error("the server answered {method} with {result_type:?} instead of a complete result")]
    NotComplete {
        /// The request's method.
        method: &'static str,
        /// What it said instead of `complete`.
        result_type: String,
    },
    /// A version that isn't spoken here, or isn't the one that was asked for.
    #[error("the server speaks protocol version {0:?}, which was not asked for or is not known")]
    Version(String),
    /// The one version that was asked for isn't spoken there.
    #[error("the server does not speak protocol version {}", .0.as_str())]
    NotSpoken(Protocol),
    /// A cursor came a second time.
    #[error("the pages of {} repeat: a cursor came twice", plural(*.0))]
    CursorLoop(Kind),
    /// More pages than any list has.
    #[error("{} have more than {limit} pages", plural(*kind))]
    Pages {
        /// Of which list.
        kind: Kind,
        /// How many are read.
        limit: usize,
    },
    /// More descriptors than a release holds.
    #[error("the server lists more than {0} descriptors")]
    TooMany(usize),
    /// More bytes than a release holds.
    #[error("the server lists more than {0} bytes of descriptors")]
    TooLarge(usize),
    /// More bytes than are read at all.
    #[error("the server sent more than {0} bytes")]
    Flood(usize),
    /// The lists didn't hold still.
    #[error("the lists changed {0} times while they were read")]
    Changing(usize),
    /// The endpoint wasn't reached.
    #[error("the endpoint was not reached: {0}")]
    Network(String),
    /// A status that is no success.
    #[error("the endpoint answered {method} with HTTP status {status}{}", advice(*status))]
    Status {
        /// The request's method.
        method: &'static str,
        /// The status.
        status: u16,
    },
    /// A body of a kind that the transport doesn't have.
    #[error("the endpoint answered {method} with content type {content_type:?}")]
    ContentType {
        /// The request's method.
        method: &'static str,
        /// What it said.
        content_type: String,
    },
}

/// The longest that a server's own words get inside a reason.
const MAX_QUOTE: usize = 200;

/// A server's own words, cut for a reason.
pub(super) fn quote(text: &str) -> String {
    let cut: String = text.chars().take(MAX_QUOTE).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

const fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "tools",
        Kind::Prompt => "prompts",
        Kind::Resource => "resources",
        Kind::ResourceTemplate => "resource templates",
        Kind::Instructions => "instructions",
    }
}

const fn advice(status: u16) -> &'static str {
    match status {
        300..=399 => "; redirects are not followed, give the address it points to",
        401 | 403 => "; pass credentials with --header",
        404 | 405 => "; is this the MCP endpoint, and does it speak Streamable HTTP?",
        _ => "",
    }
}
