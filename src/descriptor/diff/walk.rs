//! Walks two values side by side and gives each difference to whoever knows the place.

use super::{Change, Class, Growth, hint, keyword, say};
use crate::canon::{
    Value,
    pointer::{push_token, tokens},
};

/// Past this many changes a reviewer reads the two descriptors, not a list.
const MAX_CHANGES: usize = 1_000;
/// A pointer is repeated in each change below it, so long names must not be: real pointers have a tenth of this.
const MAX_POINTER: usize = 512;

/// What the judge of a place says about a change there.
pub(super) struct Verdict {
    pub(super) class: Class,
    pub(super) growth: Option<Growth>,
    pub(super) sentence: String,
}

/// Which way a schema looks: what is looser is more for an input, nothing for an output, and under a `not` or an `if`
/// nobody can tell.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    Input,
    Output,
    Turned,
}

/// Where in a descriptor a value stands.
#[derive(Clone, Copy)]
enum Place {
    Root,
    /// Anything whose class is known from here on inwards.
    Plain(Class),
    Annotations,
    Hint,
    Meta,
    Interface,
    Arguments,
    Argument,
    ArgumentRequired,
    Schema(Side),
    /// A keyword that holds a schema or a truth value.
    Inner(Side),
    /// `properties`, and one entry of it.
    Members(Side),
    Member(Side),
    /// `$defs` and the like.
    Schemas(Side),
    /// `anyOf` and the like.
    Alternatives(Side),
    Keyword(Side),
}

struct Walk {
    changes: Vec<Change>,
    pointer: String,
}

pub(super) fn changes(old: &Value<'_>, new: &Value<'_>) -> Vec<Change> {
    let mut walk = Walk { changes: Vec::new(), pointer: String::new() };
    walk.compare(Place::Root, "", Some(old), Some(new));
    walk.changes
}

impl Walk {
    fn compare(&mut self, place: Place, name: &str, old: Option<&Value<'_>>, new: Option<&Value<'_>>) {
        if old == new {
            return;
        }
        let verdict = match (old, new) {
            (Some(Value::Object(a)), Some(Value::Object(b))) if place.is_entered() => {
                let mut members: Vec<_> = a.iter().map(|(name, old)| (name, Some(old), b.get(name))).collect();
                members.extend(
                    b.iter().filter(|(name, _)| a.get(name).is_none()).map(|(name, new)| (name, None, Some(new))),
                );
                members.retain(|(_, old, new)| old != new);
                members.sort_by_key(|(name, _, _)| *name);
                if self.has_room_for(members.len()) {
                    for (name, old, new) in members {
                        self.member(place, name, old, new);
                    }
                    return;
                }
                place.too_much()
            }
            (Some(Value::Array(a)), Some(Value::Array(b)))
                if place.is_entered() && a.len() == b.len() && !keyword::is_reordered(a, b) =>
            {
                let differing = a.iter().zip(b).filter(|(old, new)| old != new).count();
                if self.has_room_for(differing) {
                    for (i, (old, new)) in a.iter().zip(b).enumerate() {
                        let token = i.to_string();
                        self.at(&token, |walk| walk.compare(place.element(), &token, Some(old), Some(new)));
                    }
                    return;
                }
                place.too_much()
            }
            _ => place.judge(name, &owner(&self.pointer), old, new),
        };
        self.push(verdict, old, new);
    }

    fn member(&mut self, place: Place, name: &str, old: Option<&Value<'_>>, new: Option<&Value<'_>>) {
        self.at(name, |walk| {
            if place.takes_empty_for_absent(name) && is_empty(old) && is_empty(new) {
                let sentence = format!("only the form of nothing changed: {} {}", say::cut(name), say::arrow(old, new));
                walk.push(Verdict { class: Class::AbsenceForm, growth: None, sentence }, old, new);
            } else {
                walk.compare(place.inside(name), name, old, new);
            }
        });
    }

    fn at(&mut self, token: &str, inside: impl FnOnce(&mut Self)) {
        let before = self.pointer.len();
        push_token(&mut self.pointer, token);
        inside(self);
        self.pointer.truncate(before);
    }

    fn has_room_for(&self, more: usize) -> bool {
        self.changes.len() + more <= MAX_CHANGES && self.pointer.len() <= MAX_POINTER
    }

    fn push(&mut self, verdict: Verdict, old: Option<&Value<'_>>, new: Option<&Value<'_>>) {
        let owned = |side: Option<&Value<'_>>| side.map(|value| value.clone().into_owned());
        self.changes.push(Change {
            pointer: self.pointer.clone(),
            class: verdict.class,
            old: owned(old),
            new: owned(new),
            growth: verdict.growth,
            sentence: verdict.sentence,
        });
    }
}

impl Place {
    fn inside(self, name: &str) -> Self {
        match self {
            Self::Root => match name {
                "name" | "uri" | "uriTemplate" => Self::Plain(Class::Identity),
                "title" => Self::Plain(Class::Title),
                "description" => Self::Plain(Class::Wording),
                "inputSchema" => Self::Schema(Side::Input),
                "outputSchema" => Self::Schema(Side::Output),
                "annotations" => Self::Annotations,
                "icons" => Self::Plain(Class::Icons),
                "_meta" => Self::Meta,
                "arguments" => Self::Arguments,
                _ => Self::Plain(Class::Other),
            },
            Self::Annotations if name == "title" => Self::Plain(Class::Title),
            Self::Annotations => Self::Hint,
            Self::Meta if is_interface(name) => Self::Interface,
            Self::Argument => match name {
                "name" => Self::Plain(Class::Identity),
                "title" => Self::Plain(Class::Title),
                "description" => Self::Plain(Class::Wording),
                "required" => Self::ArgumentRequired,
                _ => Self::Plain(Class::Other),
            },
            Self::Schema(side) | Self::Inner(side) | Self::Member(side) => match name {
                "properties" | "patternProperties" => Self::Members(side),
                "$defs" | "definitions" | "dependencies" | "dependentSchemas" => Self::Schemas(side),
                "anyOf" | "oneOf" | "allOf" | "prefixItems" => Self::Alternatives(side),
                "not" | "if" if side == Side::Input => Self::Inner(Side::Turned),
                "additionalItems"
                | "additionalProperties"
                | "contains"
                | "else"
                | "if"
                | "items"
                | "not"
                | "propertyNames"
                | "then"
                | "unevaluatedItems"
                | "unevaluatedProperties" => Self::Inner(side),
                "description" | "$comment" => Self::Plain(Class::Wording),
                "title" => Self::Plain(Class::Title),
                _ => Self::Keyword(side),
            },
            Self::Members(side) => Self::Member(side),
            Self::Schemas(side) => Self::Schema(side),
            // An object where a list belongs.
            Self::Arguments => Self::Plain(Class::Other),
            Self::Alternatives(side) => Self::Keyword(side),
            same @ (Self::Plain(_)
            | Self::Hint
            | Self::Meta
            | Self::Interface
            | Self::ArgumentRequired
            | Self::Keyword(_)) => same,
        }
    }

    /// The place of an element, where the value is a list.
    const fn element(self) -> Self {
        match self {
            Self::Root => Self::Plain(Class::Other),
            Self::Arguments => Self::Argument,
            // Before 2020-12 `items` could be a list of schemas.
            Self::Inner(side) | Self::Alternatives(side) => Self::Schema(side),
            Self::Schema(side) | Self::Members(side) | Self::Member(side) | Self::Schemas(side) => Self::Keyword(side),
            same => same,
        }
    }

    /// Whether differences are reported inside, or the value is one thing.
    const fn is_entered(self) -> bool {
        !matches!(self, Self::Hint | Self::Keyword(_) | Self::ArgumentRequired)
    }

    /// Whether absent, `null`, `""`, `{}` and `[]` under this name mean the same thing, nothing. They don't among the
    /// members of a schema (`{}` admits anything) or for keywords such as `enum` and `additionalProperties`.
    fn takes_empty_for_absent(self, name: &str) -> bool {
        match self {
            Self::Root => true,
            Self::Annotations => name == "title",
            Self::Argument => matches!(name, "title" | "description"),
            Self::Schema(_) | Self::Inner(_) | Self::Member(_) => matches!(
                name,
                "$comment"
                    | "$defs"
                    | "definitions"
                    | "dependentRequired"
                    | "dependentSchemas"
                    | "description"
                    | "examples"
                    | "patternProperties"
                    | "properties"
                    | "required"
                    | "title"
            ),
            _ => false,
        }
    }

    fn judge(self, name: &str, owner: &str, old: Option<&Value<'_>>, new: Option<&Value<'_>>) -> Verdict {
        let said = |class: Class, growth, what: &str| Verdict {
            class,
            growth,
            sentence: format!("{what} changed: {}", say::arrow(old, new)),
        };
        match self {
            // Instructions are one string; an object that became something else is no descriptor any more.
            Self::Root if old.and_then(Value::as_str).is_some() && new.and_then(Value::as_str).is_some() => {
                said(Class::Wording, None, "text")
            }
            Self::Root => said(Class::Other, Some(Growth::TooMuch), "the whole value"),
            Self::Plain(Class::Wording) => said(Class::Wording, None, &format!("wording of {owner}")),
            Self::Plain(class) => said(class, None, &say::cut(name)),
            Self::Annotations => hint::all(old, new),
            Self::Hint => hint::one(name, old, new),
            Self::Meta => {
                let brings = |side: Option<&Value<'_>>| {
                    side.and_then(Value::as_object).is_some_and(|o| o.iter().any(|(name, _)| is_interface(name)))
                };
                let growth =
                    (brings(new) && old.map(|o| o.get("ui")) != new.map(|n| n.get("ui"))).then_some(Growth::Interface);
                said(Class::Meta, growth, &say::cut(name))
            }
            Self::Interface => said(Class::Meta, new.map(|_| Growth::Interface), "user interface of the tool"),
            Self::Arguments => keyword::arguments(old, new),
            Self::Argument => said(Class::Other, None, "argument"),
            Self::ArgumentRequired => {
                let growth = (new.and_then(Value::as_bool) != Some(false) && new.is_some()).then_some(Growth::Required);
                said(Class::Required, growth, "whether the argument must be given")
            }
            Self::Members(side) => keyword::members(side, old, new),
            Self::Member(side) => keyword::member(name, side, old, new),
            Self::Alternatives(side) => keyword::alternatives(name, owner, side, old, new),
            Self::Schema(side) | Self::Inner(side) | Self::Schemas(side) | Self::Keyword(side) => {
                keyword::one(name, owner, side, old, new)
            }
        }
    }

    fn too_much(self) -> Verdict {
        let class = match self {
            Self::Plain(class) => class,
            Self::Annotations | Self::Hint => Class::Hint,
            Self::Meta | Self::Interface => Class::Meta,
            Self::Root | Self::Arguments | Self::Argument | Self::ArgumentRequired => Class::Other,
            Self::Schema(_)
            | Self::Inner(_)
            | Self::Members(_)
            | Self::Member(_)
            | Self::Schemas(_)
            | Self::Alternatives(_)
            | Self::Keyword(_) => Class::Schema,
        };
        let sentence = "too much changed to list: compare both versions".to_owned();
        Verdict { class, growth: Some(Growth::TooMuch), sentence }
    }
}

fn is_empty(side: Option<&Value<'_>>) -> bool {
    match side {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(object)) => object.is_empty(),
        Some(_) => false,
    }
}

/// Members of `_meta` by which hosts let a tool draw its own interface.
fn is_interface(name: &str) -> bool {
    name == "ui" || name.starts_with("ui/") || name.ends_with("/outputTemplate")
}

/// The innermost schema member that a pointer leads into; else the descriptor's part.
fn owner(pointer: &str) -> String {
    let mut tokens = tokens(pointer).unwrap_or_default().into_iter();
    let mut owner = match tokens.next().as_deref() {
        Some("inputSchema") => "the input".to_owned(),
        Some("outputSchema") => "the output".to_owned(),
        Some("arguments") => format!("argument {}", tokens.next().unwrap_or_default()),
        _ => "the descriptor".to_owned(),
    };
    while let Some(token) = tokens.next() {
        if matches!(token.as_str(), "properties" | "patternProperties" | "$defs" | "definitions")
            && let Some(member) = tokens.next()
        {
            owner = say::cut(&member);
        }
    }
    owner
}
