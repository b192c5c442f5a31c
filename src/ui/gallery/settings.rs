//! Settings, publishers, the reference, the doors and the problems.

use super::*;
use crate::{
    store::Role,
    ui::{
        docs::{Call, DocsPage},
        problem::*,
        publishers::{Publisher, PublishersPage, SignerRow},
        settings::{
            Part,
            authorities::{AuthoritiesPage, AuthorityRow},
            keys::{KeyRow, KeysPage},
            parts,
            policy::PolicyPage,
            registry::{Body, HealthPage, Light, Section as HealthSection},
            tokens::{TokenRow, TokensPage},
            user::UserPage,
            users::{UserRow, UsersPage},
            withdrawal::WithdrawalPage,
            you::{SessionRow, YouPage},
        },
        setup::SetupPage,
        signin::SigninPage,
    },
};

#[test]
pub(super) fn settings_say_what_each_thing_is_for() {
    let at = |title: &str| frame(title, Section::Settings, Keys::Few);
    let users = || vec!["Mira Sandoval".to_owned(), "Jonas Weber".to_owned()];
    page(
        "settings-you",
        &at("Settings"),
        &YouPage {
            parts: parts(Part::You, true),
            notes: Vec::new(),
            name: "Mira Sandoval".to_owned(),
            roles: "administrator and reviewer".to_owned(),
            old_error: None,
            error: None,
            sessions: vec![
                SessionRow {
                    id: "a".to_owned(),
                    began: minute("11-30T08:00"),
                    seen: minute("11-30T10:41"),
                    this: true,
                },
                SessionRow {
                    id: "b".to_owned(),
                    began: minute("11-24T08:00"),
                    seen: minute("11-28T17:41"),
                    this: false,
                },
            ],
        },
    );
    page(
        "settings-users",
        &at("Users"),
        &UsersPage {
            parts: parts(Part::Users, true),
            notes: Vec::new(),
            made: None,
            name: "Jonas Weber".to_owned(),
            roles: [Role::Reviewer].into(),
            name_error: Some("There is an account of this name already.".to_owned()),
            password_error: None,
            roles_error: None,
            users: vec![
                UserRow {
                    name: "Mira Sandoval".to_owned(),
                    roles: "administrator, reviewer".to_owned(),
                    since: date("01-12T09:00"),
                    seen: Some(minute("11-30T10:41")),
                    closed: false,
                },
                UserRow {
                    name: "Jonas Weber".to_owned(),
                    roles: "reviewer".to_owned(),
                    since: date("01-14T09:00"),
                    seen: Some(minute("11-30T09:31")),
                    closed: false,
                },
                UserRow {
                    name: "Ola Brandt".to_owned(),
                    roles: "auditor".to_owned(),
                    since: date("03-01T09:00"),
                    seen: None,
                    closed: true,
                },
            ],
        },
    );
    page(
        "settings-user",
        &at("Account jonas"),
        &UserPage {
            parts: parts(Part::Users, true),
            notes: Vec::new(),
            name: "jonas".to_owned(),
            own: false,
            roles: [Role::Reviewer].into(),
            closed: false,
            made: Some("YHbV0Jx3nX5bq2kqk1cOe0qf0t7M5m5sV6l1yQ4q3rA".to_owned()),
            roles_error: None,
            password_error: None,
        },
    );
    page(
        "settings-withdrawal",
        &at("Revoke an authority"),
        &WithdrawalPage {
            parts: parts(Part::Authorities, true),
            notes: Vec::new(),
            action: "/settings/authorities/1".to_owned(),
            scope: name("com.example"),
            role: "publisher",
            key: Short::key(Sha256::of(b"key")),
            granted: date("02-03T09:00"),
            revoked: None,
            releases: "14 releases".to_owned(),
            since: "yesterday".to_owned(),
            reason: String::new(),
            since_error: Some("Write it as 2026-11-30 09:20, in UTC.".to_owned()),
            reason_error: None,
        },
    );
    page(
        "settings-tokens",
        &at("Tokens"),
        &TokensPage {
            parts: parts(Part::Tokens, true),
            notes: Vec::new(),
            made: Some("cs_pub_9f3kd82jx0aP4mQ7vT1sLz6yRw5uHbNe".to_owned()),
            users: users(),
            scope: String::new(),
            user: String::new(),
            days: "90".to_owned(),
            scope_error: None,
            user_error: None,
            days_error: None,
            tokens: vec![
                TokenRow {
                    id: "1".to_owned(),
                    scope: "publish:com.example".to_owned(),
                    user: "Mira Sandoval".to_owned(),
                    made: date("11-02T09:00"),
                    ends: Some(year("2027-01-31")),
                    used: Some(minute("11-30T08:31")),
                },
                TokenRow {
                    id: "2".to_owned(),
                    scope: "pull:default".to_owned(),
                    user: "Jonas Weber".to_owned(),
                    made: date("11-02T09:00"),
                    ends: None,
                    used: None,
                },
            ],
        },
    );
    page(
        "settings-authorities",
        &at("Authorities"),
        &AuthoritiesPage {
            parts: parts(Part::Authorities, true),
            notes: Vec::new(),
            users: users(),
            scope: String::new(),
            key: String::new(),
            role: String::new(),
            holder: String::new(),
            scope_error: None,
            key_error: None,
            role_error: None,
            holder_error: None,
            authorities: vec![
                AuthorityRow {
                    scope: name("com.example"),
                    role: "publisher",
                    key: Short::key(Sha256::of(b"key")),
                    holder: Some("Jonas Weber".to_owned()),
                    proof: "an administrator".to_owned(),
                    generation: 1,
                    since: date("02-03T09:00"),
                    revoked: None,
                    revoke: "/settings/authorities/1".to_owned(),
                },
                AuthorityRow {
                    scope: name("*"),
                    role: "capture",
                    key: Short::key(Sha256::of(b"capture")),
                    holder: None,
                    proof: "an administrator".to_owned(),
                    generation: 1,
                    since: date("01-12T09:00"),
                    revoked: Some(date("11-03T09:00")),
                    revoke: String::new(),
                },
            ],
        },
    );
    page("settings-policy", &at("Policy of default"), &PolicyPage {
        parts: parts(Part::Policy, true), notes: Vec::new(), sets: vec![Tab { count: None, ..tab("?set=default", "default", None, 0, true) }, Tab { count: None, ..tab("?set=prod", "prod", None, 0, false) }], set: "default".to_owned(), digest: Short::hash("policy digest", Sha256::of(b"policy")), quorum: 1, error: None,
        rules: vec![
            ("quorum", "1".to_owned(), "ballots that an approval takes"),
            ("quorum_risky", "2".to_owned(), "with a finding high or above, a capture, or a capability that grew"),
            ("lifetime_days", "180".to_owned(), "after which an approval ends by itself"),
            ("overlap_hours", "0".to_owned(), "for which an old pin stays beside a newer one"),
            ("levels", "sigstore, key, capture".to_owned(), "evidence that can be approved at all"),
            ("flag_at", "medium".to_owned(), "findings from here block what is not approved"),
            ("hold_at", "critical".to_owned(), "findings of newer rules from here hold what is approved"),
            ("solo", "false".to_owned(), "one reviewer decides alone, own submissions too"),
        ],
        toml: "quorum = 1\nquorum_risky = 2\nlifetime_days = 180\noverlap_hours = 0\nlevels = [\"sigstore\", \"key\", \"capture\"]\nflag_at = \"medium\"\nhold_at = \"critical\"\nsolo = false\n".to_owned(),
    });
    let html = page("settings-keys", &at("Keys"), &KeysPage {
        parts: parts(Part::Keys, true),
        notes: vec![Note { tone: Tone::Warn, symbol: "flagged", headline: "The root key is still on this machine.".to_owned(), detail: "Whoever takes the data folder can make gateways trust other keys. Move it off, and keep it for rotations.".into(), link: None, alert: false }],
        keys: vec![
            KeyRow { what: "Root", key: Short::key(Sha256::of(b"root")), since: Some(date("01-12T09:00")), place: "keys/root.pem".to_owned(), signs: "the trust file" },
            KeyRow { what: "Head", key: Short::key(Sha256::of(b"head")), since: Some(date("01-12T09:00")), place: "keys/head.pem".to_owned(), signs: "heads of pin sets, every 15 minutes" },
            KeyRow { what: "Log", key: Short::key(Sha256::of(b"log")), since: Some(date("01-12T09:00")), place: "keys/log.pem".to_owned(), signs: "checkpoints of the log" },
        ],
        fingerprint: Sha256::of(b"root").to_string(),
        command: "countersign trust https://pins.example -o trust.txt".to_owned(),
    });
    insta::assert_snapshot!("settings-keys", words(&html));
}

#[test]
pub(super) fn health_is_told_part_by_part() {
    let section = |id, title, light, lead: &str, body| HealthSection { id, title, light, lead: lead.into(), body };
    let key = |seed: &[u8]| {
        let mut html = Html::new();
        html.safe(&Short::key(Sha256::of(seed)));
        html
    };
    let health = HealthPage {
        parts: parts(Part::Health, true),
        lead: "1 thing needs someone now.".to_owned(),
        notes: vec![Note {
            tone: Tone::Bad,
            symbol: "rejected",
            headline: "Nothing is written or signed until this is solved.".to_owned(),
            detail: html!("The anchor is missing. Run <code>countersign admin --data DIR anchor adopt</code>."),
            link: None,
            alert: false,
        }],
        sections: vec![
            section(
                "writes",
                "Writing",
                Light::Good,
                "Decisions and releases are recorded.",
                Body::List(vec![
                    ("Log", "74,002 entries, the last written 10:40 UTC".into()),
                    ("Queue", "up to 1,024 writes wait for their turn; the next is told to come back".into()),
                ]),
            ),
            section(
                "anchor",
                "Anchor",
                Light::Bad,
                "There is none, so an old copy would not be noticed.",
                Body::List(vec![(
                    "Where",
                    html!("<code>/var/lib/countersign/anchor</code>, inside the data directory"),
                )]),
            ),
            section(
                "heads",
                "Heads",
                Light::Care,
                "1 head is late: it is not being signed anew.",
                Body::Table {
                    caption: "Signed heads",
                    columns: vec!["Pin set", "Version", "Good until"],
                    rows: vec![vec![
                        html!("<a href=\"/pinsets/default\">default</a>"),
                        "412".into(),
                        "11:21, in 41 min".into(),
                    ]],
                },
            ),
            section(
                "keys",
                "Keys",
                Light::Unknown,
                "Trust file 1, epoch 1.",
                Body::Table {
                    caption: "Keys of the trust file",
                    columns: vec!["Key", "Id"],
                    rows: vec![vec![html!("<b>Root</b>"), key(b"root")], vec![html!("<b>Log</b>"), key(b"log")]],
                },
            ),
        ],
    };
    let html = page("settings-registry", &frame("Health of the registry", Section::Settings, Keys::Few), &health);
    assert!(words(&html).contains("stopped"), "{}", words(&html));
}

#[test]
pub(super) fn the_doors_and_the_problems_say_what_to_do_next() {
    let html = page(
        "setup",
        &Frame::bare("Set up this registry"),
        &SetupPage {
            notes: Vec::new(),
            action: "/setup".to_owned(),
            origin: "localhost-5f0c9a1e".to_owned(),
            fingerprint: Sha256::of(b"root").to_string(),
            name: "Mira".to_owned(),
            name_error: None,
            password_error: Some("The password has 8 characters; it needs 12.".to_owned()),
            again_error: None,
            who: String::new(),
            who_error: None,
        },
    );
    insta::assert_snapshot!("setup", words(&html));
    assert!(!html.contains("value=\"solo\" required checked"), "no outcome is preselected");
    page(
        "signin",
        &Frame::bare("Sign in"),
        &SigninPage {
            notes: Vec::new(),
            name: "mira".to_owned(),
            next: "/queue".to_owned(),
            error: Some("Name or password is wrong.".to_owned()),
        },
    );
    page(
        "problem-404",
        &Frame::bare("Nothing here"),
        &ProblemPage {
            status: 404,
            headline: "There is nothing at this address".to_owned(),
            detail:
                "Nothing that you may read is here. It may have been moved by an import, or you may need to sign in."
                    .into(),
            tone: Tone::Plain,
            slug: Some("not-found"),
            request: None,
            next: vec![link("/", "Dashboard"), link("/sign-in", "Sign in")],
        },
    );
    page(
        "problem-503",
        &Frame::bare("The database did not answer"),
        &ProblemPage {
            status: 503,
            headline: "The database did not answer".to_owned(),
            detail: "Nothing was recorded. Try again in a minute.".into(),
            tone: Tone::Bad,
            slug: None,
            request: Some("01J8-QX4T-9M".to_owned()),
            next: vec![link("/queue", "Back to the queue")],
        },
    );
    page(
        "docs",
        &Frame::bare("What this is and isn’t"),
        &DocsPage {
            public_url: "https://pins.example".to_owned(),
            calls: vec![Call {
                method: "POST".to_owned(),
                path: "/v1/releases".to_owned(),
                who: "publish token".to_owned(),
                what: "submit an attested release".to_owned(),
            }],
        },
    );
    let signer = |key: &[u8], role, level, revoked| SignerRow {
        key: Short::key(Sha256::of(key)),
        role,
        level,
        proof: "an administrator".to_owned(),
        generation: 1,
        since: date("02-03T09:00"),
        revoked,
        releases: Count(14),
    };
    page(
        "publishers",
        &frame("Publishers", Section::Servers, Keys::Few),
        &PublishersPage {
            lead:
                "A publisher is whoever a namespace’s authority names. What a server calls itself counts for nothing."
                    .to_owned(),
            empty: None,
            publishers: vec![Publisher {
                namespace: name("com.example"),
                about: "2 servers, 14 releases".to_owned(),
                signers: vec![
                    signer(b"key", "publisher", Level::Key, None),
                    signer(b"old", "publisher", Level::Key, Some(date("11-03T09:00"))),
                ],
            }],
        },
    );
}
