//! The review queue, full and empty.

use super::*;

pub(super) fn row(
    sign: Sign,
    tool: &str,
    what: Html,
    findings: &[(Severity, u64)],
    level: Option<Level>,
    ballots: Ballots,
    waits: &str,
) -> Row {
    Row {
        sign,
        also: None,
        name: name(tool),
        href: "/candidates/5f0c".to_owned(),
        kind: None,
        what,
        findings: Severities(findings.to_vec()),
        level,
        ballots,
        waits: age(waits),
    }
}

pub(super) fn queue() -> QueuePage {
    let counted = |given, needed| Ballots::Counted { given, needed };
    let group =
        |server: &str, version: &str, about: Html, received: Option<&str>, next: Option<Link>, rows: Vec<Row>| Group {
            server: name(server),
            href: format!("/servers/{server}"),
            version: version.into(),
            about,
            received: received.map(minute),
            next,
            rows,
        };
    use Severity::{Critical, High, Low, Medium};
    QueuePage {
        lead: "61 candidates wait. 8 are decided one by one; the other 53 are in 3 releases.".to_owned(),
        notes: Vec::new(),
        states: Vec::new(),
        kept: Vec::new(),
        reasons: vec![
            tab("/queue", "All", None, 61, true),
            tab("/queue?reason=changed", "changed", Some(Sign::Changed), 2, false),
            tab("/queue?reason=downgrade", "downgrade", Some(Sign::Downgrade), 2, false),
            tab("/queue?reason=signer-change", "signer-change", Some(Sign::SignerChange), 2, false),
            tab("/queue?reason=flagged", "flagged", Some(Sign::Flagged), 2, false),
            tab("/queue?reason=unknown", "unknown", Some(Sign::Unknown), 44, false),
            tab("/queue?reason=expiring", "expiring", Some(Sign::Expiring), 9, false),
        ],
        sets: vec![tab("/queue", "default", None, 58, true), tab("/queue?set=prod", "prod", None, 3, false)],
        search: String::new(),
        groups: vec![
            group(
                "com.example/notes",
                "1.5.0",
                "13 descriptors: 10 unchanged, 3 wait".into(),
                Some("11-30T08:31"),
                Some(link("/servers/com.example/notes", "See release")),
                vec![
                    row(
                        Sign::Changed,
                        "notes.export",
                        html!(
                            "inputSchema gains ",
                            [mono("destination")],
                            " · ",
                            [mono("destructiveHint")],
                            " true → false · hidden text in one string"
                        ),
                        &[(Critical, 1), (High, 2), (Medium, 1)],
                        Some(Level::Key),
                        counted(1, 2),
                        "11-30T08:31",
                    ),
                    row(
                        Sign::Changed,
                        "notes.search",
                        "description: 6 words differ, nothing else".into(),
                        &[(Low, 1)],
                        Some(Level::Key),
                        counted(0, 1),
                        "11-30T08:31",
                    ),
                    row(
                        Sign::Unknown,
                        "notes.share_link",
                        "new tool, 4 parameters, 1 required".into(),
                        &[],
                        Some(Level::Key),
                        Ballots::Solo { given: false },
                        "11-30T08:31",
                    ),
                ],
            ),
            group(
                "io.github.harborline/ledger",
                "3.0.1",
                "evidence is weaker than what was approved".into(),
                Some("11-29T13:40"),
                Some(link("/servers/io.github.harborline/ledger", "See release")),
                vec![
                    row(
                        Sign::Downgrade,
                        "ledger.post_entry",
                        "Sigstore identity → capture; the descriptor is identical, byte for byte".into(),
                        &[],
                        Some(Level::Capture),
                        counted(1, 2),
                        "11-29T13:40",
                    ),
                    row(
                        Sign::Flagged,
                        "ledger.void_entry",
                        "new tool; its text asks the model to keep the result from the user".into(),
                        &[(High, 1), (Medium, 1)],
                        Some(Level::Capture),
                        counted(0, 2),
                        "11-29T13:40",
                    ),
                ],
            ),
            group(
                "dev.quarry/tickets",
                "2026.11",
                "signed by a new key, generation 2, which inherits nothing".into(),
                Some("11-28T09:00"),
                Some(link("/servers/dev.quarry/tickets", "See release")),
                vec![
                    row(
                        Sign::SignerChange,
                        "tickets.create",
                        "key 4be1…90c2 → key e07d…13aa; proved by DNS on 28 Nov".into(),
                        &[],
                        Some(Level::Key),
                        counted(0, 1),
                        "11-28T09:00",
                    ),
                    Row {
                        kind: Some("prompt"),
                        ..row(
                            Sign::EndpointChange,
                            "tickets.weekly_summary",
                            "mcp.quarry.example → mcp2.quarry.example".into(),
                            &[],
                            Some(Level::Key),
                            counted(0, 1),
                            "11-28T09:00",
                        )
                    },
                ],
            ),
            group(
                "crm",
                "no release",
                "reported by 2 gateways, covered by no pin; can be rejected, never approved".into(),
                None,
                Some(link("/docs#pull", "How to adopt it")),
                vec![row(
                    Sign::Flagged,
                    "crm.get_customer_profile_with_extended_interaction_history_and_consent_state_for_all_linked_accounts_v2",
                    "seen 4,812 times since 26 Nov; 37 different digests, newest shown".into(),
                    &[(High, 1)],
                    None,
                    Ballots::RejectOnly,
                    "11-26T08:00",
                )],
            ),
            group(
                "org.meridian-atlas/geo",
                "0.9.0",
                html!("first release; says of itself ", [text::said("✔ Officially verified by Countersign", 80)]),
                Some("11-29T10:00"),
                None,
                vec![row(
                    Sign::Unknown,
                    "geo.geocode",
                    "new tool, 2 parameters, 1 required".into(),
                    &[(Low, 3)],
                    Some(Level::Sigstore),
                    counted(0, 1),
                    "11-29T10:00",
                )],
            ),
            group(
                "com.example/calendar",
                "2.1.0",
                "approved by 2 of 2 on 12 Jun".into(),
                None,
                None,
                vec![row(
                    Sign::Expiring,
                    "calendar.create_event",
                    "the approval ends on 9 Dec 2026, in 9 days; nothing changed since".into(),
                    &[],
                    Some(Level::Key),
                    counted(0, 1),
                    "11-25T08:00",
                )],
            ),
        ],
        empty: None,
        more: Some(link("/queue?cursor=x", "The next 40")),
        as_of: when::clock(now(), now()),
    }
}

#[test]
pub(super) fn the_queue_groups_by_release_and_says_what_is_new() {
    let html = page("queue", &frame("Review queue", Section::Queue, Keys::List), &queue());
    insta::assert_snapshot!("queue", words(&html));
}

#[test]
pub(super) fn an_empty_queue_says_what_was_last_and_what_would_fill_it() {
    let empty = QueuePage {
        lead: "Nothing waits.".to_owned(),
        groups: Vec::new(),
        sets: Vec::new(),
        more: None,
        reasons: vec![tab("/queue", "All", None, 0, true)],
        empty: Some(Empty {
            headline: "Nothing waits.".to_owned(),
            detail: "The last decision was notes.tag, 3 hours ago. New releases and sightings show up here.".to_owned(),
            link: None,
        }),
        ..queue()
    };
    let html = page("queue-empty", &frame("Review queue", Section::Queue, Keys::List), &empty);
    insta::assert_snapshot!("queue-empty", words(&html));
}
