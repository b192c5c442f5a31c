//! The dashboard, servers and pin sets.

use super::*;
use crate::ui::{dashboard::*, pinset::*, server::*};

fn counted(given: u32, needed: u32) -> Ballots {
    Ballots::Counted { given, needed }
}

fn dashboard() -> DashboardPage {
    let line = |sign: Sign, figure: &str| Line { sign, words: sign.word().to_owned(), figure: figure.to_owned() };
    let health =
        |what: &str, figure: &str| Health { good: Some(true), what: what.to_owned(), figure: figure.to_owned() };
    let decision = |sign, tool: &str, ballots, when: &str| DecisionRow {
        sign,
        name: name(tool),
        href: "/decisions/73911".to_owned(),
        set: "default".to_owned(),
        ballots,
        at: minute(when),
    };
    let set = |set: &str, version, good: Option<&str>, pins, waiting| SetRow {
        name: set.to_owned(),
        href: format!("/pinsets/{set}"),
        version,
        good_for: good.map(str::to_owned),
        pins: Count(pins),
        waiting: Count(waiting),
    };
    DashboardPage {
        headline: "3 things need someone now".to_owned(),
        detail: "Everything else is as it should be.".to_owned(),
        notes: Vec::new(),
        first_steps: Vec::new(),
        alerts: vec![
            Alert { sign: Sign::Changed, what: html!([mono("notes.export")], " differs from what was approved. 1 of 2 ballots."), next: link("/candidates/5f0c", "Review") },
            Alert { sign: Sign::Downgrade, what: html!("<b>", [name("io.github.harborline/ledger")], "</b> 3.0.1 came without its Sigstore identity; 2 pins would lose evidence."), next: link("/queue?reason=downgrade", "Review") },
            Alert { sign: Sign::Stale, what: html!("The head of <b>lab</b> ran out at 09:12; its gateways refuse every tool."), next: link("/pinsets/lab", "Pin set") },
        ],
        sets: vec![set("default", 412, Some("41 min"), 1_204, 58), set("prod", 88, Some("44 min"), 689, 3), set("lab", 7, None, 12, 0)],
        waiting: Count(61),
        waiting_note: "wait, oldest 5 d".to_owned(),
        reasons: vec![
            line(Sign::Changed, "2, oldest 2 h"),
            line(Sign::Downgrade, "2, oldest 21 h"),
            line(Sign::SignerChange, "2, oldest 2 d"),
            line(Sign::Flagged, "2, oldest 4 d"),
            line(Sign::Unknown, "44 in 2 releases"),
            line(Sign::Expiring, "9 in 1 release"),
        ],
        decisions: vec![
            decision(Sign::Approved, "notes.tag", counted(1, 1), "11-30T07:40"),
            decision(Sign::Rejected, "maps.track_device", counted(1, 1), "11-29T16:02"),
            decision(Sign::Approved, "ledger.reconcile", counted(2, 2), "11-29T15:10"),
            decision(Sign::Revoked, "notes.wipe", counted(1, 1), "11-03T11:20"),
        ],
        health: vec![
            health("Log, 74,002 entries", "signed 12 s ago"),
            health("Anchor equals the log", "14 s ago"),
            health("Head of default, v412", "good for 41 min"),
            health("Head of prod, v88", "good for 44 min"),
            Health { good: Some(false), what: "Head of lab, v7".to_owned(), figure: "ran out 09:12".to_owned() },
            health("Scanner self-test", "at start, 212 of 212"),
            Health { good: None, what: "New rules over old pins".to_owned(), figure: "1,204 of 1,893 pins".to_owned() },
        ],
        ending: Count(16),
        ending_chart: Some(crate::ui::piece::Columns {
            sentence: "Approvals that end in the next 30 days: 9 on 9 December, 2 on 12 December, 4 on 15 December, 1 on 24 December".to_owned(),
            columns: (0..30)
                .map(|day| crate::ui::piece::Column {
                    label: match day { 1 => "1 Dec", 15 => "15 Dec", 28 => "28 Dec", _ => "" }.to_owned(),
                    value: match day { 9 => 9, 12 => 2, 15 => 4, 24 => 1, _ => 0 },
                })
                .collect(),
        }),
        pins: Count(1_905),
        pins_note: "in 3 sets, 57 servers".to_owned(),
        levels: vec![(Level::Sigstore, Count(611)), (Level::Key, Count(886)), (Level::Capture, Count(408))],
        denied: vec![
            Line { sign: Sign::Held, words: "held by a rule".to_owned(), figure: "3".to_owned() },
            Line { sign: Sign::Revoked, words: "revoked, in 30 days".to_owned(), figure: "5".to_owned() },
        ],
        as_of: when::clock(now(), now()),
    }
}

#[test]
pub(super) fn the_dashboard_says_first_what_needs_someone() {
    let html = page("dashboard", &frame("3 things need someone now", Section::Dashboard, Keys::Few), &dashboard());
    insta::assert_snapshot!("dashboard", words(&html));
    let step =
        |done, what: &str, href: &str, words: &str| FirstStep { done, what: what.into(), next: link(href, words) };
    let fresh = DashboardPage {
        headline: "Nothing is pinned yet".to_owned(),
        detail: "Three steps lead to the first approval.".to_owned(),
        first_steps: vec![
            step(true, "Give a publisher’s key authority over a namespace.", "/settings/authorities", "Authorities"),
            step(false, "Make a publish token for it.", "/settings/tokens", "Tokens"),
            step(false, "Publish a release, bind its alias, and review what it lists.", "/docs#pull", "How"),
        ],
        alerts: Vec::new(),
        sets: vec![SetRow {
            name: "default".to_owned(),
            href: "/pinsets/default".to_owned(),
            version: 1,
            good_for: Some("59 min".to_owned()),
            pins: Count(0),
            waiting: Count(0),
        }],
        waiting: Count(0),
        waiting_note: "wait".to_owned(),
        reasons: Vec::new(),
        decisions: Vec::new(),
        ending: Count(0),
        ending_chart: None,
        pins: Count(0),
        pins_note: "in 1 set".to_owned(),
        levels: Vec::new(),
        denied: Vec::new(),
        ..dashboard()
    };
    page("dashboard-empty", &frame("Nothing is pinned yet", Section::Dashboard, Keys::Few), &fresh);
}

fn servers() -> ServersPage {
    let row =
        |server: &str, says: Option<&str>, version: &str, received: &str, level, aliases: &[&str], pins, waiting| {
            ServerRow {
                name: name(server),
                href: format!("/servers/{server}"),
                says: says.map(|says| text::said(says, 60)),
                version: version.into(),
                received: minute(received),
                level,
                aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
                pins: Count(pins),
                waiting: Count(waiting),
            }
        };
    ServersPage {
        lead: "57 servers of 31 namespaces have a release here.".to_owned(),
        search: String::new(),
        rows: vec![
            row(
                "com.example/calendar",
                Some("Calendar"),
                "2.1.0",
                "06-12T09:00",
                Level::Key,
                &["default: calendar", "prod: calendar"],
                18,
                9,
            ),
            row(
                "com.example/notes",
                Some("Notes <b>Pro</b>"),
                "1.5.0",
                "11-30T08:31",
                Level::Key,
                &["default: notes"],
                13,
                3,
            ),
            row(
                "io.github.harborline/ledger",
                None,
                "3.0.1",
                "11-29T13:40",
                Level::Capture,
                &["default: ledger"],
                14,
                2,
            ),
            row(
                "org.meridian-atlas/geo",
                Some("✔ Officially verified by Countersign"),
                "0.9.0",
                "11-29T10:00",
                Level::Sigstore,
                &[],
                0,
                43,
            ),
        ],
        empty: None,
        more: Some(link("/servers?cursor=x", "The next 40")),
    }
}

fn server() -> ServerPage {
    let row = |sign, tool: &str, kind, says: &str, findings: &[(Severity, u64)], next: Option<Link>| DescriptorRow {
        name: name(tool),
        href: Some("/candidates/5f0c".to_owned()),
        kind,
        sign,
        says: text::said(says, 120),
        digest: digest(tool),
        findings: Some(Severities(findings.to_vec())),
        next,
    };
    let release = |version: &str, role, level, descriptors, received: &str, log_index| ReleaseRow {
        href: "/releases/00".to_owned(),
        version: version.into(),
        role,
        level,
        signer: Short::key(Sha256::of(b"key")),
        descriptors: Count(descriptors),
        received: minute(received),
        log_index: Count(log_index),
    };
    ServerPage {
        name: name("com.example/notes"),
        lead: "13 descriptors in the newest release; 10 are approved in default and 3 wait for review.".to_owned(),
        notes: Vec::new(),
        says: Some(text::said("Notes \u{202e}orP", 60)),
        newest: "1.5.0".into(),
        newest_note: html!("received ", (minute("11-30T08:31").words()), ", 10 unchanged"),
        level: Level::Key,
        level_note: "same key as before".into(),
        authority: mono("com.example/*"),
        authority_note: "1 key, generation 1".to_owned(),
        aliases: vec![AliasRow {
            set: "default".to_owned(),
            href: "/pinsets/default".to_owned(),
            alias: "notes".to_owned(),
        }],
        bind: Some(Bind {
            action: "/servers/com.example/notes/aliases".to_owned(),
            sets: vec!["prod".to_owned()],
            alias: "notes--pro".to_owned(),
            candidate: None,
            error: Some("An alias has no two hyphens in a row.".to_owned()),
        }),
        listing: Listing {
            headline: "Descriptors of the newest release",
            total: Count(13),
            before: None,
            more: None,
            sets: vec![
                tab("/servers/com.example/notes", "default", None, 13, true),
                tab("/servers/com.example/notes?set=prod", "prod", None, 0, false),
            ],
            set: "default".to_owned(),
            rows: vec![
                row(
                    Sign::Changed,
                    "notes.export",
                    "tool",
                    "Export notes as files. The result is a list of links that stay valid for an hour.",
                    &[(Severity::Critical, 1), (Severity::High, 2)],
                    Some(link("/candidates/5f0c", "In review")),
                ),
                row(
                    Sign::Unknown,
                    "notes.share_link",
                    "tool",
                    "Make a link that others can open.",
                    &[],
                    Some(link("/candidates/5f0c", "In review")),
                ),
                row(Sign::Approved, "notes.create", "tool", "Create a note in a folder.", &[], None),
                row(Sign::Approved, "notes.weekly_summary", "prompt", "Sum up the notes of a week.", &[], None),
                row(Sign::Unpinnable, "purge", "tool", "Remove notes.", &[], None),
            ],
            unpinnable: vec![Unpinnable {
                name: name("purge"),
                code: "root-type".to_owned(),
                pointer: name("/inputSchema/type"),
                why: "The input schema’s root must be an object.".to_owned(),
            }],
        },
        releases_more: None,
        releases: vec![
            release("1.5.0", "publisher", Level::Key, 13, "11-30T08:31", 73_988),
            release("1.4.0", "publisher", Level::Key, 12, "05-14T12:58", 61_190),
            release("1.3.2", "capture", Level::Capture, 12, "02-03T10:00", 51_188),
        ],
    }
}

#[test]
pub(super) fn a_server_shows_what_it_lists_and_where_it_stands() {
    let html = page("servers", &frame("Servers", Section::Servers, Keys::List), &servers());
    assert!(html.contains("&lt;b&gt;Pro&lt;/b&gt;"));
    let html = page("server", &frame("com.example/notes", Section::Servers, Keys::List), &server());
    insta::assert_snapshot!("server", words(&html));
}

fn pinset() -> PinsetPage {
    let pin = |tool: &str, sub: Option<&str>, sign, level, mode: &str, approved: &str, ends: When| PinRow {
        name: name(tool),
        href: "/decisions/73911".to_owned(),
        sub: sub.map(str::to_owned),
        sign,
        level,
        digest: digest(tool),
        mode: mode.to_owned(),
        approved: date(approved),
        ends,
    };
    let denied = |tool: &str, sign, why: &str, log_index| DeniedRow {
        name: name(tool),
        sign,
        digest: digest(tool),
        why: why.to_owned(),
        log_index: Count(log_index),
    };
    PinsetPage {
        name: "default".to_owned(),
        lead: "What gateways may trust: 1,204 approved digests of 41 servers, signed together. Version 412 was published today at 08:12.".into(),
        notes: Vec::new(),
        good_for: Some("41 min".to_owned()),
        head_note: "signed 10:21, ends 11:21 UTC".into(),
        set: Short::hash("set digest", Sha256::of(b"set")),
        set_note: "version 412, 123,456 bytes".into(),
        fingerprint: Sha256::of(b"root").to_string(),
        state: String::new(),
        log_size: Count(74_002),
        log_note: "no witness is configured".to_owned(),
        policy: "1 ballot; 2 if risky".to_owned(),
        policy_note: "180 days, no overlap".to_owned(),
        policy_href: "/settings/policy?set=default".to_owned(),
        commands: vec!["countersign pull --registry https://pins.example --pinset default --trust trust.txt --state ./state".to_owned()],
        states: vec![
            tab("/pinsets/default", "All", None, 1_204, true),
            tab("/pinsets/default?state=approved", "approved", Some(Sign::Approved), 1_194, false),
            tab("/pinsets/default?state=expiring", "expiring", Some(Sign::Expiring), 9, false),
            tab("/pinsets/default?state=expired", "expired", Some(Sign::Expired), 1, false),
        ],
        search: String::new(),
        groups: vec![
            AliasGroup {
                alias: "calendar".to_owned(), server: name("com.example/calendar"), href: "/servers/com.example/calendar".to_owned(), version: "2.1.0".into(), about: "9 pins".to_owned(),
                next: Some(link("/queue?reason=expiring", "9 wait for renewal")),
                pins: vec![pin("calendar.create_event", None, Sign::Expiring, Level::Key, "2 of 2", "06-12T09:00", date("12-09T00:00"))],
                more: Some(link("/pinsets/default?alias=calendar", "8 more pins of calendar")),
            },
            AliasGroup {
                alias: "notes".to_owned(), server: name("com.example/notes"), href: "/servers/com.example/notes".to_owned(), version: "1.4.0".into(), about: "12 pins, 1 prompt".to_owned(),
                next: Some(link("/queue", "1.5.0 waits for review")),
                pins: vec![
                    pin("notes.create", None, Sign::Approved, Level::Key, "1 of 1", "11-09T14:40", year("2027-05-08")),
                    pin("notes.export", Some("another digest waits for review"), Sign::Approved, Level::Key, "2 of 2", "11-09T14:40", year("2027-05-08")),
                    pin("notes.weekly_summary", Some("prompt"), Sign::Approved, Level::Sigstore, "solo", "11-09T14:40", year("2027-05-08")),
                    pin("notes.import_archive", None, Sign::Expired, Level::Capture, "1 of 1", "06-01T08:00", date("11-28T08:00")),
                ],
                more: None,
            },
        ],
        empty: None,
        more: None,
        denied: vec![
            denied("ledger.export_all_journal_lines_between_two_booking_dates_with_attachments", Sign::Held, "A rule of 29 Nov matches it; a review is open.", 73_902),
            denied("notes.wipe", Sign::Revoked, "Key of the publisher was stolen on 3 Nov; everything received since is denied.", 72_118),
            denied("maps.track_device", Sign::Rejected, "Text told the model to keep calls from the user.", 70_412),
        ],
        denied_lead: "25 digests that no gateway lets through, whatever else says yes".to_owned(),
    }
}

#[test]
pub(super) fn a_pin_set_shows_its_head_its_pins_and_what_it_denies() {
    let html = page("pinset", &frame("Pin set default", Section::Pinsets, Keys::List), &pinset());
    insta::assert_snapshot!("pinset", words(&html));
    let row = |name: &str, version, good: Option<&str>, pins, policy: &str| PinsetRow {
        name: name.to_owned(),
        version,
        good_for: good.map(str::to_owned),
        servers: Count(pins / 29),
        pins: Count(pins),
        denied: Count(25),
        waiting: Count(3),
        policy: policy.to_owned(),
        published: minute("11-30T08:12"),
    };
    let list = PinsetsPage {
        lead: "Each is what the gateways of one environment may trust.".to_owned(),
        rows: vec![
            row("default", 412, Some("41 min"), 1_204, "1 ballot; 2 if risky"),
            row("prod", 88, Some("44 min"), 689, "2 ballots"),
            row("lab", 7, None, 12, "solo"),
        ],
    };
    page("pinsets", &frame("Pin sets", Section::Pinsets, Keys::List), &list);
}
