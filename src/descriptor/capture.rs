//! A capture: everything a server listed at one moment, and whether that was all.
//!
//! The JSON form is our own and strict: an unknown member is an error, because whoever wrote it meant something by it.
//! [`Capture::read_any`] takes what people have at hand instead.

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::Listed;
use crate::{
    canon::{self, Code, Refused},
    clock::Timestamp,
    name::Kind,
};

/// A request body's bound; a capture has to fit one. The largest real server lists 1 MiB.
pub const MAX_CAPTURE_BYTES: usize = 8 << 20;
/// Ten times what the largest server lists; a review queue with more is of no use to anybody.
pub const MAX_DESCRIPTORS: usize = 2_000;
/// The protocol versions whose descriptors are understood.
pub const PROTOCOL_VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// What a server listed at one moment, raw bytes, complete or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capture {
    /// Whether every list was read to its end. One that isn't complete can be neither attested nor passed by a check.
    pub complete: bool,
    /// Why not, for a person to read.
    pub why_incomplete: Option<String>,
    /// One of [`PROTOCOL_VERSIONS`], if known.
    pub protocol_version: Option<String>,
    /// What the server says about itself, as raw JSON. Display data: it proves nothing.
    pub server_info: Option<Vec<u8>>,
    /// Every item of every list: tools, prompts, resources, resource templates, instructions, each in its order.
    pub listed: Vec<Listed>,
    /// How it was taken, if that is known.
    pub taken: Option<Taken>,
}

/// How a capture was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// By which way.
    pub method: Method,
    /// The command and its arguments, for `stdio`.
    pub command: Option<Vec<String>>,
    /// The URL, for `http`.
    pub endpoint: Option<String>,
    /// The capabilities that the client declared, as raw JSON: some servers list more to some clients.
    pub client_capabilities: Option<Vec<u8>>,
    /// When, by the clock of whoever took it.
    pub at: Option<Timestamp>,
}

/// The way in which a capture was taken.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// A process was started and spoken to over its standard streams.
    Stdio,
    /// A URL was called.
    Http,
    /// A file was read, whoever made it.
    File,
}

/// The bytes are no capture. Refused items inside one are no error.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CaptureError {
    /// The file as a whole, or a member beside the lists, isn't strict JSON.
    #[error("{member}: {refused}")]
    Refused {
        /// The member, or "the file".
        member: &'static str,
        /// Why.
        refused: Refused,
    },
    /// The text ends too early: it was cut off, so what it would have said is unknown.
    #[error("the text breaks off: {0}")]
    Truncated(String),
    /// JSON of another shape; the message says what and where.
    #[error("{0}")]
    Shape(String),
    /// More than [`MAX_DESCRIPTORS`] items.
    #[error("more than {MAX_DESCRIPTORS} descriptors")]
    TooMany,
    /// A protocol version that isn't one of [`PROTOCOL_VERSIONS`].
    #[error("unknown protocol version {:?}; known are {}", .0, PROTOCOL_VERSIONS.join(", "))]
    ProtocolVersion(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Wire<'a> {
    complete: bool,
    incomplete: Option<String>,
    protocol_version: Option<String>,
    #[serde(borrow)]
    server_info: Option<&'a RawValue>,
    method: Option<Method>,
    command: Option<Vec<String>>,
    endpoint: Option<String>,
    #[serde(borrow)]
    client_capabilities: Option<&'a RawValue>,
    captured_at: Option<Timestamp>,
    #[serde(borrow, default)]
    tools: Items<'a>,
    #[serde(borrow, default)]
    prompts: Items<'a>,
    #[serde(borrow, default)]
    resources: Items<'a>,
    #[serde(borrow, default)]
    resource_templates: Items<'a>,
    #[serde(borrow, default, deserialize_with = "present")]
    instructions: Option<&'a RawValue>,
}

/// The raw items of one list; counting stops one past the limit, so that a list of a million zeros costs nothing.
#[derive(Default)]
pub(super) struct Items<'a>(pub(super) Vec<&'a RawValue>);

impl Capture {
    /// Reads a capture's own JSON form. Items that the strict parser refuses are kept as refused.
    ///
    /// # Errors
    /// [`CaptureError`]; unknown and duplicate members beside the lists are fatal.
    pub fn parse(bytes: &[u8]) -> Result<Self, CaptureError> {
        let text = text(bytes, MAX_CAPTURE_BYTES)?;
        let wire: Wire<'_> = serde_json::from_str(text)?;
        let lists = [
            (Kind::Tool, wire.tools.0),
            (Kind::Prompt, wire.prompts.0),
            (Kind::Resource, wire.resources.0),
            (Kind::ResourceTemplate, wire.resource_templates.0),
            (Kind::Instructions, wire.instructions.into_iter().collect()),
        ];
        let mut capture = Self {
            complete: wire.complete,
            why_incomplete: wire.incomplete,
            server_info: strict("serverInfo", wire.server_info)?,
            taken: None,
            ..Self::default()
        };
        if capture.complete && capture.why_incomplete.is_some() {
            return Err(CaptureError::Shape("a complete capture says why it is incomplete".to_owned()));
        }
        capture.set_protocol_version(wire.protocol_version)?;
        let client_capabilities = strict("clientCapabilities", wire.client_capabilities)?;
        let told = wire.command.is_some()
            || wire.endpoint.is_some()
            || client_capabilities.is_some()
            || wire.captured_at.is_some();
        match wire.method {
            Some(method) => {
                let (command, endpoint, at) = (wire.command, wire.endpoint, wire.captured_at);
                capture.taken = Some(Taken { method, command, endpoint, client_capabilities, at });
            }
            None if told => {
                return Err(CaptureError::Shape(
                    "command, endpoint, clientCapabilities and capturedAt need a method".to_owned(),
                ));
            }
            None => {}
        }
        for (kind, items) in lists {
            capture.push_all(kind, &items)?;
        }
        Ok(capture)
    }

    /// The JSON that [`Capture::parse`] reads; each descriptor's bytes go out as they came in.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = b"{\"complete\":".to_vec();
        append(&mut out, &self.complete);
        let mut member = |name: &str, value: &dyn Fn(&mut Vec<u8>)| {
            out.extend_from_slice(format!(",\"{name}\":").as_bytes());
            value(&mut out);
        };
        if let Some(why) = &self.why_incomplete {
            member("incomplete", &|out| append(out, why));
        }
        if let Some(version) = &self.protocol_version {
            member("protocolVersion", &|out| append(out, version));
        }
        if let Some(info) = &self.server_info {
            member("serverInfo", &|out| out.extend_from_slice(info));
        }
        if let Some(taken) = &self.taken {
            member("method", &|out| append(out, &taken.method));
            if let Some(command) = &taken.command {
                member("command", &|out| append(out, command));
            }
            if let Some(endpoint) = &taken.endpoint {
                member("endpoint", &|out| append(out, endpoint));
            }
            if let Some(capabilities) = &taken.client_capabilities {
                member("clientCapabilities", &|out| out.extend_from_slice(capabilities));
            }
            if let Some(at) = &taken.at {
                member("capturedAt", &|out| append(out, at));
            }
        }
        for (name, kind) in LISTS {
            let mut items = self.of_kind(kind).peekable();
            if kind == Kind::Tool || items.peek().is_some() {
                let items: Vec<&[u8]> = items.map(|listed| &*listed.raw).collect();
                member(name, &|out| {
                    out.push(b'[');
                    out.extend_from_slice(&items.join(&b','));
                    out.push(b']');
                });
            }
        }
        if let Some(instructions) = self.of_kind(Kind::Instructions).next() {
            member("instructions", &|out| out.extend_from_slice(&instructions.raw));
        }
        out.push(b'}');
        out
    }

    /// The items of one kind, in their order.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Listed> {
        self.listed.iter().filter(move |listed| listed.kind == kind)
    }

    pub(super) fn set_protocol_version(&mut self, version: Option<String>) -> Result<(), CaptureError> {
        if let Some(unknown) = version.as_ref().filter(|v| !PROTOCOL_VERSIONS.contains(&v.as_str())) {
            return Err(CaptureError::ProtocolVersion(unknown.clone()));
        }
        self.protocol_version = version;
        Ok(())
    }

    pub(super) fn push_all(&mut self, kind: Kind, items: &[&RawValue]) -> Result<(), CaptureError> {
        if self.listed.len() + items.len() > MAX_DESCRIPTORS {
            return Err(CaptureError::TooMany);
        }
        self.listed.extend(items.iter().map(|raw| Listed::new(kind, raw.get().as_bytes())));
        Ok(())
    }
}

/// The members that hold lists, in the order in which they are written and read.
pub(super) const LISTS: [(&str, Kind); 4] = [
    ("tools", Kind::Tool),
    ("prompts", Kind::Prompt),
    ("resources", Kind::Resource),
    ("resourceTemplates", Kind::ResourceTemplate),
];

/// The text of a whole file, of at most `max` bytes.
pub(super) fn text(bytes: &[u8], max: usize) -> Result<&str, CaptureError> {
    let refused = |code, offset| CaptureError::Refused {
        member: "the file",
        refused: Refused { code, pointer: String::new(), offset },
    };
    if bytes.len() > max {
        return Err(refused(Code::TooLarge, max));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(refused(Code::Bom, 0));
    }
    std::str::from_utf8(bytes).map_err(|e| refused(Code::InvalidUtf8, e.valid_up_to()))
}

/// A raw member that is kept for display: its bytes, once the strict parser has accepted them.
pub(super) fn strict(member: &'static str, raw: Option<&RawValue>) -> Result<Option<Vec<u8>>, CaptureError> {
    let Some(raw) = raw.map(|raw| raw.get().as_bytes()) else { return Ok(None) };
    canon::parse(raw).map_err(|refused| CaptureError::Refused { member, refused })?;
    Ok(Some(raw.to_vec()))
}

/// Appends a value of our own as JSON.
pub(super) fn append<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Writing strings, lists and times to memory can't fail.
    serde_json::to_writer(out, value).unwrap_or_default();
}

/// `null` is a value here, not an absence: instructions that are null are listed, and unpinnable.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an array of descriptors")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Items<'de>, A::Error> {
                let mut kept = Vec::new();
                while kept.len() <= MAX_DESCRIPTORS {
                    let Some(item) = items.next_element()? else { return Ok(Items(kept)) };
                    kept.push(item);
                }
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Items(kept))
            }
        }

        deserializer.deserialize_seq(List)
    }
}

impl From<serde_json::Error> for CaptureError {
    fn from(error: serde_json::Error) -> Self {
        let text = format!("line {}, column {}: {}", error.line(), error.column(), words(&error));
        if error.is_eof() { Self::Truncated(text) } else { Self::Shape(text) }
    }
}

impl CaptureError {
    /// A member's value, which is whole JSON, has another shape. Places count from its own beginning, so none is said.
    pub(super) fn within(member: &str, error: &serde_json::Error) -> Self {
        Self::Shape(format!("in {member}: {}", words(error)))
    }
}

/// What the reader says, without its place, and in words where it speaks of its grammar.
fn words(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    match said {
        "expected value" | "expected ident" => "this begins no JSON value".to_owned(),
        "trailing characters" => "something stands after the end of the JSON value".to_owned(),
        "key must be a string" => "a member's name must be a string in double quotes".to_owned(),
        "trailing comma" => "a comma stands before the end of the list or object".to_owned(),
        said => said.to_owned(),
    }
}
