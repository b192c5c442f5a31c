//! Members that say where data goes: by their name, their format, or an address inside them.

use crate::canon::Value;

/// Whole words of a name that mean a place or a receiver.
const WORDS: &[&str] = &[
    "address",
    "bcc",
    "callback",
    "cc",
    "dest",
    "destination",
    "domain",
    "email",
    "emails",
    "endpoint",
    "forward",
    "hook",
    "host",
    "hostname",
    "href",
    "link",
    "links",
    "mail",
    "mirror",
    "origin",
    "proxy",
    "recipient",
    "recipients",
    "redirect",
    "remote",
    "sink",
    "target",
    "to",
    "upload",
    "uri",
    "uris",
    "url",
    "urls",
    "webhook",
];
/// Endings of names written as one word: `callbackurl`.
const ENDINGS: &[&str] = &["url", "urls", "webhook", "hostname", "email"];
/// JSON Schema formats whose values are addresses.
const FORMATS: &[&str] =
    &["email", "hostname", "idn-email", "idn-hostname", "ipv4", "ipv6", "iri", "iri-reference", "uri", "uri-reference"];

/// Whether a schema member of this name and schema takes an address, itself or anywhere inside.
pub(super) fn is_destination(name: &str, schema: &Value<'_>) -> bool {
    named(name) || inside(schema)
}

/// Whether a name means a place or a receiver.
pub(super) fn named(name: &str) -> bool {
    let lower = name.to_lowercase();
    ENDINGS.iter().any(|ending| lower.ends_with(ending)) || words(name).iter().any(|w| WORDS.contains(&w.as_str()))
}

/// Whether a value holds something that reads as an address: `https://…`, `someone@example.com`.
pub(super) fn holds_address(value: &Value<'_>) -> bool {
    match value {
        Value::String(text) => {
            let mail = text.split_once('@').is_some_and(|(who, host)| !who.is_empty() && host.contains('.'));
            text.contains("://") || text.starts_with("//") || mail
        }
        Value::Array(items) => items.iter().any(holds_address),
        Value::Object(object) => object.iter().any(|(_, value)| holds_address(value)),
        _ => false,
    }
}

fn inside(schema: &Value<'_>) -> bool {
    match schema {
        Value::Object(object) => object.iter().any(|(name, value)| match (name, value) {
            ("format", Value::String(format)) => FORMATS.contains(&format.as_ref()),
            ("x-mcp-header", _) => true,
            ("default" | "const" | "enum", value) => holds_address(value),
            ("properties", Value::Object(members)) => members.iter().any(|(name, value)| is_destination(name, value)),
            (_, value) => inside(value),
        }),
        Value::Array(items) => items.iter().any(inside),
        _ => false,
    }
}

/// The words of `snake_case`, `kebab-case` and `camelCase` names, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::parse;

    #[test]
    fn names_formats_and_addresses_mean_a_destination() {
        let cases: &[(&str, &str, bool)] = &[
            ("webhook_url", "{}", true),
            ("callbackUrl", "{}", true),
            ("callbackurl", "{}", true),
            ("to", "{}", true),
            ("reply-to", "{}", true),
            ("target", "{}", true),
            ("title", "{}", false),
            ("tomorrow", "{}", false),
            ("security", "{}", false),
            ("limit", r#"{"type":"integer"}"#, false),
            ("where", r#"{"format":"uri"}"#, true),
            ("where", r#"{"items":{"format":"email"}}"#, true),
            ("where", r#"{"default":"https://example.com"}"#, true),
            ("options", r#"{"type":"object","properties":{"endpoint":{}}}"#, true),
            ("options", r#"{"description":"not a url"}"#, false),
            ("format", r#"{"format":"date"}"#, false),
            ("token", r#"{"x-mcp-header":"Token"}"#, true),
        ];
        for (name, schema, expected) in cases {
            let schema = parse(schema.as_bytes()).expect("strict JSON");
            assert_eq!(is_destination(name, &schema), *expected, "{name}");
        }
    }
}
