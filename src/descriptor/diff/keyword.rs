//! JSON Schema keywords: what a change of one means, and whether it lets more through.

use std::{cmp::Ordering, collections::BTreeSet};

use super::{
    Class, Growth, destination, say,
    walk::{Side, Verdict},
};
use crate::canon::Value;

type Old<'v, 'a> = Option<&'v Value<'a>>;

/// A keyword whose value is one thing, or holds a schema on at most one side.
pub(super) fn one(name: &str, owner: &str, side: Side, old: Old<'_, '_>, new: Old<'_, '_>) -> Verdict {
    let (class, growth) = match name {
        "required" | "dependentRequired" => return required(name, owner, side, old, new),
        "type" => (order_or(Class::Type, old, new), widens_type(old, new).then_some(Growth::Type)),
        "nullable" => (Class::Type, (new.and_then(Value::as_bool) == Some(true)).then_some(Growth::Type)),
        "enum" | "const" => {
            let address = new.is_some_and(destination::holds_address);
            let growth = if address { Growth::Destination } else { Growth::Values };
            (Class::Enum, (address || widens_values(old, new)).then_some(growth))
        }
        "default" => {
            let address = destination::named(owner) || new.is_some_and(destination::holds_address);
            (Class::Default, (address && new.is_some()).then_some(Growth::Destination))
        }
        "additionalProperties" | "unevaluatedProperties" => {
            let growth = (openness(new) > openness(old)).then_some(Growth::AdditionalProperties);
            (Class::AdditionalProperties, growth)
        }
        "format" => match new {
            Some(new) if destination::is_destination("", &format_alone(new)) => {
                (Class::Destination, Some(Growth::Destination))
            }
            _ => (Class::Bounds, old.map(|_| Growth::Bounds)),
        },
        "x-mcp-header" => (Class::Destination, new.map(|_| Growth::Destination)),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" | "minContains" => {
            (Class::Bounds, moves(old, new, Ordering::Less).then_some(Growth::Bounds))
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" | "maxContains" => {
            (Class::Bounds, moves(old, new, Ordering::Greater).then_some(Growth::Bounds))
        }
        // Which of two patterns lets more through can't be told; a first one lets less through.
        "pattern" | "multipleOf" | "uniqueItems" => (Class::Bounds, old.map(|_| Growth::Bounds)),
        "$schema" | "$id" | "$anchor" | "examples" | "deprecated" | "readOnly" | "writeOnly" => (Class::Schema, None),
        "$ref" | "$dynamicRef" | "$recursiveRef" => (Class::Schema, Some(Growth::Schema)),
        // A schema inside that came, went, or is a truth value on one side.
        _ => (Class::Schema, (openness(new) > openness(old)).then_some(Growth::Schema)),
    };
    let growth = seen_from(side, growth);
    let looser = if growth.is_some() { ", lets more through" } else { "" };
    let order = if class == Class::Order { " (order only)" } else { "" };
    let sentence = format!("{} of {owner} changed{looser}{order}: {}", say::cut(name), say::arrow(old, new));
    Verdict { class, growth, sentence }
}

/// The whole of `properties`, where it came or went.
pub(super) fn members(side: Side, old: Old<'_, '_>, new: Old<'_, '_>) -> Verdict {
    let mut verdict = member("", side, old, new);
    let listed = |side: Old<'_, '_>| match side.and_then(Value::as_object) {
        Some(object) => say::names(object.iter().map(|(name, _)| name)),
        None => say::short(side),
    };
    let is_destination = |side: Old<'_, '_>| {
        let object = side.and_then(Value::as_object);
        object.is_some_and(|o| o.iter().any(|(name, schema)| destination::is_destination(name, schema)))
    };
    if side != Side::Output && is_destination(new) {
        (verdict.class, verdict.growth) = (Class::Destination, Some(Growth::Destination));
    }
    let what = if new.is_some() { "members added" } else { "members removed" };
    verdict.sentence = format!("{what}: {}", listed(new.or(old)));
    verdict
}

/// One member of `properties` that came, went, or has a truth value for a schema.
pub(super) fn member(name: &str, side: Side, old: Old<'_, '_>, new: Old<'_, '_>) -> Verdict {
    let shown = say::cut(name);
    let (class, growth, sentence) = match (old, new) {
        (None, Some(schema)) if side != Side::Output && destination::is_destination(name, schema) => {
            (Class::Destination, Some(Growth::Destination), format!("new input that can name a destination: {shown}"))
        }
        (None, Some(_)) if side == Side::Output => (Class::MemberAdded, None, format!("output added: {shown}")),
        (None, Some(_)) => (Class::MemberAdded, Some(Growth::Parameter), format!("input added: {shown}")),
        (Some(_), None) => (Class::MemberRemoved, None, format!("member removed: {shown}")),
        _ => {
            let growth = (openness(new) > openness(old)).then_some(Growth::Type);
            (Class::Schema, growth, format!("schema of {shown} changed: {}", say::arrow(old, new)))
        }
    };
    Verdict { class, growth: seen_from(side, growth), sentence }
}

/// A list of schemas whose length or order changed.
pub(super) fn alternatives(name: &str, owner: &str, side: Side, old: Old<'_, '_>, new: Old<'_, '_>) -> Verdict {
    let (a, b) = (items(old), items(new));
    let all_in = |these: &[Value<'_>], those: &[Value<'_>]| these.iter().all(|item| those.contains(item));
    let bounded = a.len().saturating_mul(b.len()) <= 10_000;
    let narrower = bounded
        && match name {
            "anyOf" | "oneOf" => old.is_none() || (new.is_some() && all_in(b, a)),
            "allOf" => all_in(a, b),
            _ => false,
        };
    let widens = !narrower && !is_reordered(a, b);
    let growth = seen_from(side, widens.then_some(if name == "allOf" { Growth::Schema } else { Growth::Type }));
    let what = match (is_reordered(a, b), growth) {
        (true, _) => "reordered",
        (false, Some(_)) => "changed, lets more through",
        (false, None) => "changed",
    };
    let sentence = format!("{name} of {owner} {what}: {} → {} schemas", a.len(), b.len());
    Verdict { class: Class::Schema, growth, sentence }
}

/// A prompt's arguments, where the list came, went, or changed in length or order.
pub(super) fn arguments(old: Old<'_, '_>, new: Old<'_, '_>) -> Verdict {
    let named = |side| -> BTreeSet<String> {
        items(side).iter().map(|item| item.get("name").and_then(Value::as_str).unwrap_or("?").to_owned()).collect()
    };
    let (a, b) = (named(old), named(new));
    let added: Vec<&str> = b.difference(&a).map(String::as_str).collect();
    let removed: Vec<&str> = a.difference(&b).map(String::as_str).collect();
    let (class, growth) = match (added.as_slice(), removed.as_slice()) {
        ([], []) => (Class::Other, None),
        ([], _) => (Class::MemberRemoved, None),
        (names, _) if names.iter().any(|name| destination::named(name)) => {
            (Class::Destination, Some(Growth::Destination))
        }
        _ => (Class::MemberAdded, Some(Growth::Parameter)),
    };
    let sentence = format!(
        "arguments changed: added {}; removed {}",
        say::names(added.into_iter()),
        say::names(removed.into_iter())
    );
    Verdict { class, growth, sentence }
}

/// Whether two lists hold the same values in another order.
pub(super) fn is_reordered(a: &[Value<'_>], b: &[Value<'_>]) -> bool {
    let sorted = |items: &[Value<'_>]| {
        let mut bytes: Vec<Vec<u8>> = items.iter().map(Value::to_jcs).collect();
        bytes.sort();
        bytes
    };
    a.len() == b.len() && a != b && sorted(a) == sorted(b)
}

fn required(name: &str, owner: &str, side: Side, old: Old<'_, '_>, new: Old<'_, '_>) -> Verdict {
    let (a, b) = (items(old), items(new));
    if is_reordered(a, b) && old.is_some_and(|v| v.as_array().is_some()) {
        let sentence = format!("{name} of {owner}: order only");
        return Verdict { class: Class::Order, growth: None, sentence };
    }
    let text = |item: &Value<'_>| item.as_str().unwrap_or("?").to_owned();
    let known: BTreeSet<String> = a.iter().map(text).collect();
    let now: BTreeSet<String> = b.iter().map(text).collect();
    let added: Vec<&str> = now.difference(&known).map(String::as_str).collect();
    let removed: Vec<&str> = known.difference(&now).map(String::as_str).collect();
    let shapeless = [old, new].into_iter().flatten().any(|side| side.as_array().is_none());
    let growth = seen_from(side, (shapeless || !added.is_empty()).then_some(Growth::Required));
    let mut parts = Vec::new();
    if !added.is_empty() {
        parts.push(format!("must now be given: {}", say::names(added.into_iter())));
    }
    if !removed.is_empty() {
        parts.push(format!("no longer needed: {}", say::names(removed.into_iter())));
    }
    if parts.is_empty() {
        parts.push(say::arrow(old, new));
    }
    Verdict { class: Class::Required, growth, sentence: format!("{name} of {owner} changed: {}", parts.join("; ")) }
}

/// From an output nothing grows, and under a `not` anything may.
fn seen_from(side: Side, growth: Option<Growth>) -> Option<Growth> {
    match side {
        Side::Input => growth,
        Side::Output => None,
        Side::Turned => Some(Growth::Schema),
    }
}

fn items<'v, 'a>(side: Old<'v, 'a>) -> &'v [Value<'a>] {
    side.and_then(Value::as_array).unwrap_or_default()
}

fn order_or(class: Class, old: Old<'_, '_>, new: Old<'_, '_>) -> Class {
    if is_reordered(items(old), items(new)) { Class::Order } else { class }
}

fn widens_type(old: Old<'_, '_>, new: Old<'_, '_>) -> bool {
    fn listed<'v>(value: &'v Value<'_>) -> Vec<&'v str> {
        match value {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            value => value.as_str().into_iter().collect(),
        }
    }
    match (old, new) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(old), Some(new)) => {
            let old = listed(old);
            let covers = |t: &str| old.contains(&t) || (t == "integer" && old.contains(&"number"));
            !listed(new).into_iter().all(covers)
        }
    }
}

fn widens_values(old: Old<'_, '_>, new: Old<'_, '_>) -> bool {
    match (old, new) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            let known: BTreeSet<Vec<u8>> = old.iter().map(Value::to_jcs).collect();
            new.iter().any(|value| !known.contains(&value.to_jcs()))
        }
        _ => true,
    }
}

/// Whether a bound fell away, is no number, or moved towards `looser`.
fn moves(old: Old<'_, '_>, new: Old<'_, '_>, looser: Ordering) -> bool {
    match (old, new) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(old), Some(new)) => match (old.as_f64(), new.as_f64()) {
            (Some(old), Some(new)) => new.partial_cmp(&old) == Some(looser),
            _ => true,
        },
    }
}

/// How much a schema in this place lets through: nothing, some, anything. Absent lets anything through.
fn openness(schema: Old<'_, '_>) -> u8 {
    match schema {
        Some(Value::Bool(false)) => 0,
        None | Some(Value::Bool(true)) => 2,
        Some(Value::Object(object)) if object.is_empty() => 2,
        Some(_) => 1,
    }
}

fn format_alone<'a>(format: &Value<'a>) -> Value<'a> {
    let mut object = crate::canon::Object::default();
    object.insert("format".into(), format.clone());
    Value::Object(object)
}
