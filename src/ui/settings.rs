//! Settings: one's own account, the registry's health, and for administrators users, tokens, authorities, policies and
//! keys.
//!
//! A form that is refused comes back as it was sent, with the error beside its field, secrets excepted.

pub(super) mod authorities;
pub(super) mod keys;
mod password;
pub(super) mod policy;
pub(super) mod registry;
pub(super) mod tokens;
pub(super) mod user;
pub(super) mod users;
pub(super) mod withdrawal;
pub(super) mod you;

use std::collections::BTreeSet;

use super::{
    around,
    frame::{Frame, Keys, Section},
    html::html,
    piece::{Note, Tab},
};
use crate::{
    service::{access::Principal, govern::Governor},
    store::Role,
    web::{Kind, Problem, Web},
};

/// Which page of the settings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    You,
    Health,
    Users,
    Tokens,
    Authorities,
    Policy,
    Keys,
}

/// The pages of the settings as links; the administrator's are left out for others.
pub(crate) fn parts(current: Part, administrator: bool) -> Vec<Tab> {
    [
        (Part::You, "/settings", "You"),
        (Part::Health, "/settings/registry", "Health"),
        (Part::Users, "/settings/users", "Users"),
        (Part::Tokens, "/settings/tokens", "Tokens"),
        (Part::Authorities, "/settings/authorities", "Authorities"),
        (Part::Policy, "/settings/policy", "Policy"),
        (Part::Keys, "/settings/keys", "Keys"),
    ]
    .into_iter()
    .filter(|(part, ..)| administrator || matches!(part, Part::You | Part::Health))
    .map(|(part, href, words)| Tab {
        href: href.to_owned(),
        words: words.to_owned(),
        sign: None,
        count: None,
        current: part == current,
    })
    .collect()
}

async fn frame(web: &Web, who: &Principal, title: &str) -> Result<Frame, Problem> {
    around::frame(web, who, title, Section::Settings, Keys::Few).await
}

/// In whose name something is governed.
fn governor(who: &Principal) -> Result<Governor, Problem> {
    let by = who.reviewer().ok_or_else(|| Problem::new(Kind::Unauthenticated))?;
    Ok(Governor { by, name: who.actor().to_owned() })
}

/// Several must agree: what was not done, and who can do it.
fn needs_quorum(quorum: u32, command: &str) -> Note {
    let detail = html!(
        "Nothing was changed. Pages let one person act alone only where one ballot is enough; an operator can do it \
         beside the database with <code>",
        (command),
        "</code>, and the log shows that it was done that way."
    );
    Note::refused(&format!("{quorum} people must agree on this."), detail)
}

/// "administrator, reviewer".
fn words(roles: &BTreeSet<Role>) -> String {
    let word = |role: &Role| match role {
        Role::Admin => "administrator",
        Role::Reviewer => "reviewer",
        Role::Auditor => "auditor",
    };
    let words: Vec<&str> = roles.iter().map(word).collect();
    if words.is_empty() { "no role".to_owned() } else { words.join(", ") }
}

/// Everybody who may do anything, by name.
fn accounts(web: &Web) -> Vec<String> {
    let mut names: Vec<String> = web.app().access().users().map(|user| user.account.clone()).collect();
    names.sort();
    names
}
