//! JSON-RPC messages: requests as they are written, and what comes in, cut into raw parts.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Fault, Protocol, fault::quote};

/// A request of ours.
#[derive(Serialize)]
pub(super) struct Request<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<Params<'a>>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol_version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Empty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_info: Option<Client>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: &'static str,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    client: Client,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Empty,
}

#[derive(Serialize)]
struct Client {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Empty {}

const CLIENT: Client = Client { name: "countersign", version: env!("CARGO_PKG_VERSION") };

/// The capabilities that are declared: none, as the text that a capture records. A server that lists more for clients
/// with capabilities has another variant.
pub(super) const NO_CAPABILITIES: &[u8] = b"{}";

impl<'a> Request<'a> {
    /// The handshake of the older era.
    pub(super) fn initialize(version: Protocol) -> Self {
        Self::new(
            "initialize",
            Some(Params {
                protocol_version: Some(version.as_str()),
                capabilities: Some(Empty {}),
                client_info: Some(CLIENT),
                ..Params::default()
            }),
        )
    }

    /// The notification that ends the handshake.
    pub(super) const fn initialized() -> Self {
        Self::new("notifications/initialized", None)
    }

    /// What the newer era asks first.
    pub(super) fn discover() -> Self {
        Self::new("server/discover", Some(Params { meta: meta(Protocol::V2026_07_28), ..Params::default() }))
    }

    /// A page of a list.
    pub(super) fn list(method: &'static str, version: Protocol, cursor: Option<&'a str>) -> Self {
        let meta = meta(version);
        let params = (cursor.is_some() || meta.is_some()).then(|| Params { cursor, meta, ..Params::default() });
        Self::new(method, params)
    }

    const fn new(method: &'static str, params: Option<Params<'a>>) -> Self {
        Self { jsonrpc: "2.0", id: None, method, params }
    }

    pub(super) const fn method(&self) -> &'static str {
        self.method
    }

    /// The request under this id, as one line without its end.
    pub(super) fn into_line(mut self, id: Option<u64>) -> Vec<u8> {
        self.id = id;
        // Strings and numbers only: there is nothing in it that serde_json could refuse.
        serde_json::to_vec(&self).unwrap_or_default()
    }
}

fn meta(version: Protocol) -> Option<Meta> {
    version.is_sessionless().then(|| Meta { version: version.as_str(), client: CLIENT, capabilities: Empty {} })
}

/// What a server sent.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// An answer; `id` is its raw text, absent where the server couldn't tell.
    Answer { id: Option<&'a str>, answer: Answer },
    /// It wants something of the client.
    Request { id: &'a RawValue, method: String },
    /// It tells something.
    Notification { method: String },
}

/// The outcome of a request: the raw result, or the server's error.
pub(super) type Answer = Result<Box<RawValue>, RpcError>;

#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub(super) struct RpcError {
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) data: Option<Data>,
}

/// The part of an error's data that matters: which versions would have been right.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Data {
    pub(super) supported: Vec<String>,
}

/// Anything else than an object with `supported` is no error of the answer: data may be any value.
impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Known {
            #[serde(default)]
            supported: Vec<String>,
        }
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(serde_json::from_str::<Known>(raw.get()).map(|k| Self { supported: k.supported }).unwrap_or_default())
    }
}

impl RpcError {
    /// Codes that only the newer era has: header mismatch, missing capability, unsupported version.
    pub(super) const fn is_of_the_newer_era(&self) -> bool {
        matches!(self.code, -32_022..=-32_020)
    }

    pub(super) const fn is_method_not_found(&self) -> bool {
        self.code == -32_601
    }

    pub(super) fn fault(&self, method: &'static str) -> Fault {
        Fault::Error { method, code: self.code, message: quote(&self.message) }
    }
}

impl<'a> Message<'a> {
    /// Reads one message. Members named twice are refused by the reader; unknown ones are nobody's business.
    pub(super) fn parse(text: &'a str) -> Result<Self, Fault> {
        #[derive(Deserialize)]
        struct Envelope<'a> {
            jsonrpc: String,
            #[serde(borrow, default)]
            id: Option<&'a RawValue>,
            #[serde(default)]
            method: Option<String>,
            #[serde(default)]
            result: Option<Box<RawValue>>,
            #[serde(default)]
            error: Option<RpcError>,
        }
        let envelope: Envelope<'a> =
            serde_json::from_str(text).map_err(|e| Fault::NotAMessage(quote(&e.to_string())))?;
        let odd = |what: &str| Err(Fault::NotAMessage(what.to_owned()));
        if envelope.jsonrpc != "2.0" {
            return odd("it is not of JSON-RPC version 2.0");
        }
        match (envelope.method, envelope.id, envelope.result, envelope.error) {
            (Some(method), Some(id), None, None) => Ok(Self::Request { id, method }),
            (Some(method), None, None, None) => Ok(Self::Notification { method }),
            (None, Some(id), Some(result), None) => Ok(Self::Answer { id: Some(id.get()), answer: Ok(result) }),
            (None, id, None, Some(error)) => Ok(Self::Answer { id: id.map(RawValue::get), answer: Err(error) }),
            (None, None, Some(_), None) => odd("a result without an id"),
            (None, _, None, None) => odd("neither method nor result nor error"),
            _ => odd("more than one of method, result and error"),
        }
    }
}

/// The answer to a request of the server's: `ping` is answered, everything else isn't offered.
pub(super) fn reply(id: &RawValue, method: &str) -> Vec<u8> {
    let outcome = match method {
        "ping" => r#""result":{}"#,
        _ => r#""error":{"code":-32601,"message":"Method not found"}"#,
    };
    format!(r#"{{"jsonrpc":"2.0","id":{},{outcome}}}"#, id.get()).into_bytes()
}

/// Whether a notification says that a list isn't what it was.
pub(super) fn says_changed(method: &str) -> bool {
    method.starts_with("notifications/") && method.ends_with("/list_changed")
}
