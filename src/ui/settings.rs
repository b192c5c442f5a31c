//! Settings: one's own account, and for administrators users, tokens, authorities, policies and keys.

use askama::Template;

use super::{
    figure::Short,
    html::Html,
    piece::{Note, Tab},
    when::When,
};

/// Which page of the settings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    You,
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
        (Part::Users, "/settings/users", "Users"),
        (Part::Tokens, "/settings/tokens", "Tokens"),
        (Part::Authorities, "/settings/authorities", "Authorities"),
        (Part::Policy, "/settings/policy", "Policy"),
        (Part::Keys, "/settings/keys", "Keys"),
    ]
    .into_iter()
    .filter(|(part, ..)| administrator || *part == Part::You)
    .map(|(part, href, words)| Tab {
        href: href.to_owned(),
        words: words.to_owned(),
        sign: None,
        count: None,
        current: part == current,
    })
    .collect()
}

/// One's own account.
#[derive(Template)]
#[template(path = "settings/you.html")]
pub(crate) struct YouPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) name: String,
    pub(crate) roles: String,
    pub(crate) sessions: Vec<SessionRow>,
    pub(crate) error: Option<String>,
}

/// One of their sessions.
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) began: When,
    pub(crate) seen: When,
    pub(crate) this: bool,
}

/// Accounts.
#[derive(Template)]
#[template(path = "settings/users.html")]
pub(crate) struct UsersPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) users: Vec<UserRow>,
    /// The form, as it was sent.
    pub(crate) name: String,
    pub(crate) error: Option<String>,
}

/// One account.
pub(crate) struct UserRow {
    pub(crate) name: String,
    pub(crate) roles: String,
    pub(crate) since: When,
    pub(crate) seen: Option<When>,
    /// Where the form that closes it goes; none for one's own.
    pub(crate) close: Option<String>,
    pub(crate) closed: bool,
}

/// Tokens.
#[derive(Template)]
#[template(path = "settings/tokens.html")]
pub(crate) struct TokensPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    /// A token just made: shown once.
    pub(crate) made: Option<String>,
    pub(crate) tokens: Vec<TokenRow>,
    pub(crate) users: Vec<String>,
    pub(crate) scope: String,
    pub(crate) error: Option<String>,
}

/// One token, without its secret.
pub(crate) struct TokenRow {
    pub(crate) id: String,
    pub(crate) scope: String,
    pub(crate) user: String,
    pub(crate) made: When,
    pub(crate) ends: Option<When>,
    pub(crate) used: Option<When>,
    pub(crate) revoke: String,
}

/// Who may speak for what.
#[derive(Template)]
#[template(path = "settings/authorities.html")]
pub(crate) struct AuthoritiesPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) authorities: Vec<AuthorityRow>,
    pub(crate) users: Vec<String>,
    pub(crate) scope: String,
    pub(crate) key: String,
    pub(crate) error: Option<String>,
}

/// One authority.
pub(crate) struct AuthorityRow {
    /// Namespace, server or `*`.
    pub(crate) scope: Html,
    pub(crate) role: &'static str,
    pub(crate) key: Short,
    pub(crate) holder: Option<String>,
    /// "an administrator", "DNS TXT, last seen today 06:00".
    pub(crate) proof: String,
    pub(crate) generation: u32,
    pub(crate) since: When,
    pub(crate) revoked: Option<When>,
    pub(crate) revoke: String,
}

/// A set's policy.
#[derive(Template)]
#[template(path = "settings/policy.html")]
pub(crate) struct PolicyPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) sets: Vec<Tab>,
    pub(crate) set: String,
    /// Each rule in a sentence: name, value, what it does.
    pub(crate) rules: Vec<(&'static str, String, &'static str)>,
    pub(crate) digest: Short,
    /// The policy as TOML, to be edited.
    pub(crate) toml: String,
    pub(crate) error: Option<String>,
    /// How many ballots a change takes.
    pub(crate) quorum: u32,
}

/// The registry's own keys.
#[derive(Template)]
#[template(path = "settings/keys.html")]
pub(crate) struct KeysPage {
    pub(crate) parts: Vec<Tab>,
    pub(crate) notes: Vec<Note>,
    pub(crate) keys: Vec<KeyRow>,
    /// The fingerprint that gateways compare, in full.
    pub(crate) fingerprint: String,
    pub(crate) command: String,
}

/// One key.
pub(crate) struct KeyRow {
    pub(crate) what: &'static str,
    pub(crate) key: Short,
    pub(crate) since: When,
    pub(crate) place: String,
    pub(crate) signs: &'static str,
}
