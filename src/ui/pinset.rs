//! A pin set, and the list of all.

use askama::Template;

use super::{
    figure::{Count, Short},
    html::Html,
    piece::{Empty, Link, Note, Tab},
    sign::{Level, Sign},
    when::When,
};

/// All pin sets.
#[derive(Template)]
#[template(path = "pinsets.html")]
pub(crate) struct PinsetsPage {
    pub(crate) lead: String,
    pub(crate) rows: Vec<PinsetRow>,
}

/// One of them.
pub(crate) struct PinsetRow {
    pub(crate) name: String,
    pub(crate) version: u64,
    /// How long its head is good for; none once it ran out.
    pub(crate) good_for: Option<String>,
    pub(crate) servers: Count,
    pub(crate) pins: Count,
    pub(crate) denied: Count,
    pub(crate) waiting: Count,
    /// "1 ballot; 2 if risky", "solo".
    pub(crate) policy: String,
    pub(crate) published: When,
}

/// One pin set.
#[derive(Template)]
#[template(path = "pinset.html")]
pub(crate) struct PinsetPage {
    pub(crate) name: String,
    pub(crate) lead: Html,
    pub(crate) notes: Vec<Note>,
    pub(crate) good_for: Option<String>,
    /// "signed 10:21, ends 11:21 UTC".
    pub(crate) head_note: Html,
    pub(crate) set: Short,
    /// "version 412, 123,456 bytes".
    pub(crate) set_note: Html,
    pub(crate) log_size: Count,
    pub(crate) log_note: String,
    pub(crate) policy: String,
    pub(crate) policy_note: String,
    pub(crate) policy_href: String,
    /// What a person compares before they trust this registry.
    pub(crate) fingerprint: String,
    /// The commands that use it.
    pub(crate) commands: Vec<String>,
    pub(crate) states: Vec<Tab>,
    pub(crate) search: String,
    /// The state that a search keeps.
    pub(crate) state: String,
    pub(crate) groups: Vec<AliasGroup>,
    pub(crate) empty: Option<Empty>,
    pub(crate) more: Option<Link>,
    pub(crate) denied: Vec<DeniedRow>,
    /// "25 digests that no gateway lets through, whatever else says yes".
    pub(crate) denied_lead: String,
}

/// The pins of one alias.
pub(crate) struct AliasGroup {
    pub(crate) alias: String,
    pub(crate) server: Html,
    pub(crate) href: String,
    pub(crate) version: Html,
    /// "12 pins, 1 prompt".
    pub(crate) about: String,
    pub(crate) next: Option<Link>,
    pub(crate) pins: Vec<PinRow>,
    /// "7 more pins of calendar".
    pub(crate) more: Option<Link>,
}

/// One pin.
pub(crate) struct PinRow {
    pub(crate) name: Html,
    pub(crate) href: String,
    /// Its kind where it isn't a tool, its variant, what else waits.
    pub(crate) sub: Option<String>,
    pub(crate) sign: Sign,
    pub(crate) level: Level,
    pub(crate) digest: Short,
    /// "2 of 2", "solo".
    pub(crate) mode: String,
    pub(crate) approved: When,
    pub(crate) ends: When,
}

/// One denied digest.
pub(crate) struct DeniedRow {
    pub(crate) name: Html,
    pub(crate) sign: Sign,
    pub(crate) digest: Short,
    pub(crate) why: String,
    pub(crate) log_index: Count,
}
