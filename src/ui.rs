//! The pages: what a person sees, and nothing that decides.
//!
//! A page is a struct of facts with an askama template beside it; [`frame`] puts the page's body into the common layout.
//! Here nothing is read or written and no rule of the domain is known: handlers fetch, these files draw.
//!
//! Everything that a publisher wrote is hostile. It reaches a page only through [`text`], which shows it inert and with
//! every hidden character marked, or through askama's escaping where it is a checked name. [`html::Html`] is the only
//! type that is not escaped, and only this module's own literals can get into it unescaped. Pages work without scripts
//! and under a policy that allows no inline style or script.

pub(crate) mod html;

pub(crate) mod figure;
//X pub(crate) mod frame;
pub(crate) mod name;
pub(crate) mod sign;
//X pub(crate) mod statics;
pub(crate) mod symbol;
pub(crate) mod when;

pub(crate) mod decoded;
pub(crate) mod difftree;
pub(crate) mod text;

//X pub(crate) mod candidate;
//X pub(crate) mod check;
//X pub(crate) mod dashboard;
//X pub(crate) mod decision;
//X pub(crate) mod docs;
//X pub(crate) mod log;
//X pub(crate) mod pinset;
//X pub(crate) mod problem;
//X pub(crate) mod publishers;
//X pub(crate) mod queue;
//X pub(crate) mod server;
//X pub(crate) mod settings;
//X pub(crate) mod signin;

//X #[cfg(test)]
//X mod gallery;
