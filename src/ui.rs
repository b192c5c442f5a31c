//! The pages: what a person sees, and nothing that decides.
//!
//! A page is a struct of facts with an askama template beside it; `frame` puts the page's body into the common layout.
//! Beside it are the handlers that fill it; `routes` says which is where, `around` what they share. They read through
//! a moment and a `Reader`, write through service functions, and know no rule of the domain.
//!
//! Everything that a publisher wrote is hostile. It reaches a page only through `text`, which shows it inert and with
//! every hidden character marked, or through askama's escaping where it is a checked name. `html::Html` is the only
//! type that is not escaped, and only this module's own literals can get into it unescaped. Pages work without scripts
//! and under a policy that allows no inline style or script.

#![cfg_attr(not(test), expect(dead_code, reason = "the handlers that fill these pages come with the service"))]

pub(crate) mod html;

pub(crate) mod figure;
pub(crate) mod frame;
pub(crate) mod name;
pub(crate) mod piece;
pub(crate) mod sign;
pub(crate) mod statics;
pub(crate) mod symbol;
pub(crate) mod when;

pub(crate) mod decoded;
pub(crate) mod difftree;
pub(crate) mod explain;
pub(crate) mod text;

mod answer;
mod around;
mod refused;
mod routes;

pub(crate) mod candidate;
pub(crate) mod check;
pub(crate) mod dashboard;
pub(crate) mod decision;
pub(crate) mod docs;
pub(crate) mod log;
pub(crate) mod pinset;
pub(crate) mod problem;
pub(crate) mod publishers;
pub(crate) mod queue;
pub(crate) mod release;
pub(crate) mod server;
pub(crate) mod settings;
pub(crate) mod setup;
pub(crate) mod signin;
pub(crate) mod version;

pub use routes::pages;

#[cfg(test)]
mod gallery;

/// An error's words as a sentence to stand beside a field.
fn sentence(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    let mut sentence: String = first.chain(letters).collect();
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}
