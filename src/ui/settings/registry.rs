//! The registry's health: whether it writes, what the anchor notices, heads, keys, the database.
//!
//! The page is a list of sections, each with its light and a sentence; what this registry doesn't have has no section.

mod parts;
mod way_out;

use std::fmt;

use askama::{Template, filters::HtmlSafe};
use axum::{extract::State, response::Response};

use super::{Part, frame, parts as tabs};
use crate::{
    ui::{
        around::page,
        figure::count,
        html::{Html, display, html},
        piece::{Note, Tab},
        symbol::icon,
    },
    web::{Problem, ReviewReader, Web},
};

/// The registry's health.
#[derive(Template)]
#[template(path = "settings/registry.html")]
pub(crate) struct HealthPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) lead: String,
    pub(crate) notes: Vec<Note>,
    pub(crate) sections: Vec<Section>,
}

/// One part of the registry.
pub(crate) struct Section {
    /// Its anchor on the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) light: Light,
    /// How it is, in a sentence.
    pub(crate) lead: Html,
    pub(crate) body: Body,
}

/// What is known of it.
pub(crate) enum Body {
    /// Terms and what is to be said of them.
    List(Vec<(&'static str, Html)>),
    /// Several of the same.
    Table { caption: &'static str, columns: Vec<&'static str>, rows: Vec<Vec<Html>> },
}

/// How a part is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Light {
    /// As it should be.
    Good,
    /// It works, and someone should know.
    Care,
    /// It doesn't do what it is for.
    Bad,
    /// Nobody can tell.
    Unknown,
}

impl fmt::Display for Light {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (class, symbol, word) = match self {
            Self::Good => ("st ok", "ok", "in order"),
            Self::Care => ("st flagged", "flagged", "take care"),
            Self::Bad => ("st rejected", "rejected", "stopped"),
            Self::Unknown => ("st unknown", "unknown", "unknown"),
        };
        display(f, &html!("<span class=\"", (class), "\">", [icon(symbol)], "", (word), "</span>"))
    }
}

impl HtmlSafe for Light {}

/// `GET /settings/registry`
pub(in crate::ui) async fn show(State(web): State<Web>, ReviewReader(who): ReviewReader) -> Result<Response, Problem> {
    let sections = parts::sections(&web, &who).await?;
    let body = HealthPage {
        parts: tabs(Part::Health, who.may_administer()),
        lead: lead(&sections),
        notes: web.app().read_only().iter().map(way_out::note).collect(),
        sections,
    };
    page(frame(&web, &who, "Health of the registry").await?, body)
}

fn lead(sections: &[Section]) -> String {
    let n = |light| sections.iter().filter(|section| section.light == light).count() as u64;
    match (n(Light::Bad), n(Light::Care) + n(Light::Unknown)) {
        (0, 0) => "Everything is in order.".to_owned(),
        (0, care) => format!("It works; {} to know about.", count(care, "thing", "things")),
        (bad, _) => format!("{} someone now.", count(bad, "thing needs", "things need")),
    }
}
