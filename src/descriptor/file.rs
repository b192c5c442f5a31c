//! What people have at hand instead of a capture: arrays, list results, recorded JSON-RPC traffic.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    Capture, CaptureError, Listed, MAX_CAPTURE_BYTES, Release,
    capture::{Items, LISTS, strict, text},
};
use crate::name::Kind;

impl Capture {
    /// Reads a capture, a release, an array of tools, list results as `{"tools": […]}`, or JSON-RPC messages one a line.
    ///
    /// An array is complete, and so is a list whose last page has no `nextCursor`. A list that goes on, an error among the
    /// responses, a last line that breaks off, or no list at all makes the capture incomplete and says why. Of messages,
    /// requests and notifications are passed over; members of a result that are part of no descriptor (cursors, `_meta`,
    /// `ttlMs`) are too.
    ///
    /// # Errors
    /// [`CaptureError`], when not even an incomplete capture can be made of the bytes.
    pub fn read_any(bytes: &[u8]) -> Result<Self, CaptureError> {
        Self::read_form(bytes).map_err(|error| match error {
            CaptureError::Shape(what) => CaptureError::Shape(format!("{what}; expected {FORMS}")),
            other => other,
        })
    }

    fn read_form(bytes: &[u8]) -> Result<Self, CaptureError> {
        let text = text(bytes, MAX_CAPTURE_BYTES)?;
        if text.trim_ascii_start().starts_with('[') {
            let items: Items<'_> = serde_json::from_str(text)?;
            let mut capture = Self { complete: true, ..Self::default() };
            capture.push_all(Kind::Tool, &items.0)?;
            return Ok(capture);
        }
        let mut messages = Messages::default();
        let mut read_one = false;
        for members in serde_json::Deserializer::from_str(text).into_iter::<Members<'_>>() {
            match members {
                Ok(members) if !read_one && members.0.contains_key("capture") => {
                    return Release::parse(bytes).map(|release| release.capture);
                }
                Ok(members) if !read_one && members.0.contains_key("complete") => return Self::parse(bytes),
                Ok(members) => messages.take(&members)?,
                Err(e) if read_one && e.is_eof() => messages.incomplete("the last line breaks off"),
                Err(e) => return Err(e.into()),
            }
            read_one = true;
        }
        if read_one { Ok(messages.finish()) } else { Err(CaptureError::Truncated("the file is empty".to_owned())) }
    }
}

/// What [`Capture::read_any`] reads, in words.
const FORMS: &str = "a capture, a release, an array of tools, {\"tools\": […]}, or JSON-RPC responses, one a line";

/// The raw members of one object; a name that stands twice is an error.
struct Members<'a>(BTreeMap<Cow<'a, str>, &'a RawValue>);

/// What the messages said so far.
#[derive(Default)]
struct Messages {
    capture: Capture,
    /// For each list that was seen, whether its last page promised another.
    lists: BTreeMap<&'static str, bool>,
}

impl Messages {
    fn take(&mut self, message: &Members<'_>) -> Result<(), CaptureError> {
        if message.text("method").is_some() {
            return Ok(());
        }
        if let Some(error) = message.there("error") {
            let error: String = error.get().chars().take(200).collect();
            self.incomplete(&format!("a response is an error: {error}"));
            return Ok(());
        }
        match (message.0.get("result"), message.0.contains_key("jsonrpc")) {
            (Some(result), _) => {
                let result = serde_json::from_str(result.get());
                self.result(&result.map_err(|e| CaptureError::within("result", &e))?)
            }
            (None, false) => self.result(message),
            (None, true) => {
                self.incomplete("a response has no result");
                Ok(())
            }
        }
    }

    fn result(&mut self, result: &Members<'_>) -> Result<(), CaptureError> {
        if let Some(unfinished) = result.text("resultType").filter(|t| t != "complete") {
            self.incomplete(&format!("a result is {unfinished:?}, not complete"));
        }
        if let Some(version) = result.text("protocolVersion") {
            self.capture.set_protocol_version(Some(version))?;
        }
        if let Some(info) = strict("serverInfo", result.there("serverInfo"))? {
            self.capture.server_info = Some(info);
        }
        let more = result.there("nextCursor").is_some();
        for (name, kind) in LISTS {
            if let Some(list) = result.0.get(name) {
                let items = serde_json::from_str::<Items<'_>>(list.get());
                self.capture.push_all(kind, &items.map_err(|e| CaptureError::within(name, &e))?.0)?;
                self.lists.insert(name, more);
            }
        }
        if let Some(instructions) = result.0.get("instructions") {
            let known = |listed: &Listed| *listed.raw == *instructions.get().as_bytes();
            // A recorded session may greet twice; saying something else the second time is two texts under one name.
            if !self.capture.of_kind(Kind::Instructions).any(known) {
                self.capture.push_all(Kind::Instructions, &[instructions])?;
            }
        }
        Ok(())
    }

    /// The first reason stays: what follows is often its consequence.
    fn incomplete(&mut self, why: &str) {
        self.capture.why_incomplete.get_or_insert_with(|| why.to_owned());
    }

    fn finish(mut self) -> Capture {
        if let Some((name, _)) = self.lists.iter().find(|(_, more)| **more) {
            self.incomplete(&format!("the last page of {name} has a nextCursor"));
        }
        if self.lists.is_empty() {
            self.incomplete("there is no list in it");
        }
        self.capture.complete = self.capture.why_incomplete.is_none();
        self.capture.listed.sort_by_key(|listed| listed.kind);
        self.capture
    }
}

impl<'a> Members<'a> {
    /// The member, unless it is absent or `null`.
    fn there(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied().filter(|raw| raw.get() != "null")
    }

    fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object, or an array of tools")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Members<'de>, A::Error> {
                let mut all = BTreeMap::new();
                while let Some((name, value)) = members.next_entry::<Cow<'de, str>, &RawValue>()? {
                    if all.insert(name.clone(), value).is_some() {
                        return Err(A::Error::custom(format_args!("the member {name:?} stands twice")));
                    }
                }
                Ok(Members(all))
            }
        }

        deserializer.deserialize_map(Object)
    }
}
