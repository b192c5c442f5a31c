//! The sections of the page, each from what the service says of itself.

use super::{Body, Light, Section, way_out};
use crate::{
    clock::{Span, Timestamp},
    service::{
        AnchorHealth, Anchored, App, KeyKind,
        access::Principal,
        trust::{KeyState, KeyStatus},
    },
    ui::{
        figure::{Count, Short, count},
        html::{Html, html},
        when,
    },
    web::{Problem, Web},
};

/// A head that is this late after it was due isn't being signed: the job tries again each minute.
const LATE: Span = Span::minutes(2);

/// What this registry has.
pub(super) async fn sections(web: &Web, who: &Principal) -> Result<Vec<Section>, Problem> {
    let (app, now) = (web.app(), web.app().clock().now());
    let anchor = app.anchor().await;
    let last = app.reader().conn().await?.log_head().await?.last_at;
    let mut sections = vec![
        writes(app, last, now),
        anchored(app, &anchor, who),
        heads(app, now),
        keys(app, now),
        stored(app),
        database(app),
    ];
    sections.extend(witnesses(app, now));
    Ok(sections)
}

/// Who cosigns checkpoints, where anybody is asked to: heads are released once the quorum has.
fn witnesses(app: &App, now: Timestamp) -> Option<Section> {
    let (quorum, each) = (app.quorum(), app.witnesses());
    let size = app.moment().checkpoint.size;
    let (light, lead) = match quorum {
        None if each.is_empty() => return None,
        None => (Light::Care, "Witnesses are asked, and no quorum of them is.".into()),
        Some(quorum) if !quorum.in_trust => (
            Light::Care,
            "The trust file does not ask gateways for this quorum: sign a version with the root key that does.".into(),
        ),
        Some(quorum) if quorum.cosigned >= size => (Light::Good, "The newest checkpoint has the quorum.".into()),
        Some(quorum) => {
            let behind = count(size - quorum.cosigned, "entry", "entries");
            (Light::Care, html!("The newest ", (behind), " wait for the quorum; heads over them are not released yet."))
        }
    };
    let row = |witness: &crate::service::WitnessHealth| {
        let time = |at: Option<Timestamp>| {
            let mut html = Html::new();
            match at {
                Some(at) => html.safe(&when::minute(at, now)),
                None => html.tag("never"),
            };
            html
        };
        let trouble = match &witness.trouble {
            Some(trouble) => html!("", (trouble), ", ", [time(witness.trouble_at)]),
            None => "none".into(),
        };
        let name = html!("<b>", [crate::ui::name::name(&witness.name)], "</b>");
        vec![
            name,
            html!("", (Count(witness.size))),
            html!("", (Count(witness.lag))),
            time(witness.cosigned_at),
            trouble,
        ]
    };
    let columns = vec!["Witness", "Cosigned", "Behind", "Last", "Trouble"];
    let body = Body::Table { caption: "Witnesses", columns, rows: each.iter().map(row).collect() };
    Some(Section { id: "witnesses", title: "Witnesses", light, lead, body })
}

fn writes(app: &App, last: Timestamp, now: Timestamp) -> Section {
    let reason = app.read_only();
    let (light, lead) = match &reason {
        None => (Light::Good, "Decisions and releases are recorded.".into()),
        Some(reason) => (Light::Bad, html!("Read-only. ", [way_out::what(reason)])),
    };
    let mut entry = Html::new();
    entry.show(Count(app.moment().checkpoint.size)).tag(" entries, the last written ");
    entry.safe(&when::minute(last, now)).tag(" UTC");
    let waiting = html!(
        "up to ",
        (Count(app.limits().write_queue as u64)),
        " writes wait for their turn; the next is told to come back"
    );
    Section { id: "writes", title: "Writing", light, lead, body: Body::List(vec![("Log", entry), ("Queue", waiting)]) }
}

fn anchored(app: &App, anchor: &AnchorHealth, who: &Principal) -> Section {
    let size = app.moment().checkpoint.size;
    let (light, lead) = match (&anchor.held, anchor.inside_data) {
        (Anchored::Unusable(_), _) => (Light::Bad, "It can’t be used, so an old copy would not be noticed.".into()),
        (Anchored::Missing, _) => (Light::Bad, "There is none, so an old copy would not be noticed.".into()),
        (Anchored::Checkpoint(held), _) if held.size > size => {
            let ahead = count(held.size - size, "entry", "entries");
            (Light::Bad, html!("It is ", (ahead), " ahead of the log: this is an old copy."))
        }
        (_, true) => {
            (Light::Care, "It lies in the data directory: a restore of the whole directory is not noticed.".into())
        }
        (_, false) => (Light::Good, "A restored older database is noticed, and refuses to append.".into()),
    };
    let held = match &anchor.held {
        Anchored::Unusable(why) => html!("", (why)),
        Anchored::Missing => "nothing".into(),
        Anchored::LeftBehind => {
            "a checkpoint under the name before, which this epoch accounts for; it moves on with the next write".into()
        }
        Anchored::Checkpoint(held) => {
            let mut html = html!("", (Count(held.size)), " entries, ");
            html.tag(match held.size.cmp(&size) {
                std::cmp::Ordering::Less => "fewer than the log has: it moves on with the next write",
                std::cmp::Ordering::Equal if held.root == app.moment().checkpoint.root => "the same as the log",
                std::cmp::Ordering::Equal => "but another root than the log’s",
                std::cmp::Ordering::Greater => "more than the log has",
            });
            html.tag(", root ").safe(&Short::hash("root hash", held.root));
            html
        }
    };
    let mut rows = vec![("Holds", held), ("Log", html!((Count(size)), " entries"))];
    let place = if anchor.inside_data { "inside the data directory" } else { "outside the data directory" };
    rows.push((
        "Where",
        match who.may_administer() {
            true => html!("<code>", (&anchor.place), "</code>, ", (place)),
            false => place.into(),
        },
    ));
    rows.push(("Notices", match anchor.inside_data {
        true => html!(
            "an older database put in place of a newer one; not a restore of the whole directory, which brings the anchor \
             along. <code>--anchor PATH</code> on another disk notices that, too."
        ),
        false => "an older database, also with the whole data directory".into(),
    }));
    Section { id: "anchor", title: "Anchor", light, lead, body: Body::List(rows) }
}

fn heads(app: &App, now: Timestamp) -> Section {
    let (moment, times) = (app.moment(), app.heads());
    let late = moment.heads.values().filter(|head| head.issued + times.resign + LATE <= now).count() as u64;
    let over = moment.heads.values().filter(|head| head.expires <= now).count() as u64;
    let (light, lead) = match (over, late) {
        (0, 0) if app.read_only().is_some() => {
            let heads = count(moment.heads.len() as u64, "head", "heads");
            (Light::Care, html!((heads), ", and none is signed anew while nothing is written."))
        }
        (0, 0) => {
            let next = app.resign_due();
            let mut lead =
                html!((count(moment.heads.len() as u64, "head", "heads")), ", signed anew in time; the next ");
            match next > now {
                true => lead.safe(&when::clock(next, now)).tag(" UTC."),
                false => lead.tag("now."),
            };
            (Light::Good, lead)
        }
        (0, late) => {
            (Light::Care, html!((count(late, "head is", "heads are")), " late: they are not being signed anew."))
        }
        (over, _) => {
            (Light::Bad, html!((count(over, "head", "heads")), " ran out: gateways of that set let nothing through."))
        }
    };
    let row = |head: &crate::store::Head| {
        let name = html!("<a href=\"/pinsets/", (&head.pinset), "\">", (&head.pinset), "</a>");
        let time = |at: Timestamp| {
            let mut html = Html::new();
            html.safe(&when::minute(at, now));
            html
        };
        let left = head.expires.since(now);
        let good = match left.as_seconds() > 0 {
            true => html!([time(head.expires)], ", in ", (when::length(left))),
            false => html!("<b class=\"block\">ran out ", [time(head.expires)], "</b>"),
        };
        vec![
            name,
            html!((Count(head.version))),
            time(head.issued),
            time(head.issued + times.resign),
            good,
            html!((Count(head.checkpoint_size)), " entries"),
        ]
    };
    Section {
        id: "heads",
        title: "Heads",
        light,
        lead,
        body: Body::Table {
            caption: "Signed heads",
            columns: vec!["Pin set", "Version", "Signed", "Next due", "Good until", "Over"],
            rows: moment.heads.values().map(|head| row(head)).collect(),
        },
    }
}

/// The keys that gateways go by, and whether this process can sign with those that must.
fn keys(app: &App, now: Timestamp) -> Section {
    let keys = app.keys();
    let needed = |key: &&KeyStatus| key.kind != KeyKind::Root && key.state != KeyState::Retired && !key.here;
    let (missing, later) = keys.iter().filter(needed).fold((0, 0), |(now, later), key| match key.state {
        KeyState::Active => (now + 1, later),
        _ => (now, later + 1),
    });
    let (light, lead) = match (missing, later) {
        (0, 0) => {
            let registry = app.moment().state.registry().map(|registry| (registry.trust_version, registry.epoch));
            let (version, epoch) = registry.unwrap_or_default();
            (Light::Good, html!("Trust file ", (version), ", epoch ", (epoch), ": gateways go by these keys."))
        }
        (0, later) => {
            (Light::Care, html!((count(later, "key", "keys")), " that will sign are not on this machine yet."))
        }
        (missing, _) => {
            (Light::Bad, html!((count(missing, "key", "keys")), " that must sign now are not on this machine."))
        }
    };
    let row = |key: &KeyStatus| {
        let (what, signs) = match key.kind {
            KeyKind::Root => ("Root", "trust files"),
            KeyKind::Log => ("Log", "checkpoints"),
            KeyKind::Head => ("Head", "heads of pin sets"),
        };
        let mut active = html!("", (key.state));
        if key.from > Timestamp::EPOCH {
            active.tag(", from ").safe(&when::minute(key.from, now));
        }
        if let Some(until) = key.until {
            active.tag(", until ").safe(&when::minute(until, now));
        }
        let mut id = Html::new();
        id.safe(&Short::key(key.id.0));
        let here = if key.here { "on this machine" } else { "elsewhere" };
        vec![html!("<b>", (what), "</b>"), id, active, signs.into(), here.into()]
    };
    let columns = vec!["Key", "Id", "Counts", "Signs", "Is"];
    let body = Body::Table { caption: "Keys of the trust file", columns, rows: keys.iter().map(row).collect() };
    Section { id: "keys", title: "Keys", light, lead, body }
}

/// How far this process has read stored leaves again.
fn stored(app: &App) -> Section {
    let (walk, size) = (app.rechecked(), app.moment().checkpoint.size);
    let (light, lead) = match walk.passes {
        0 => (Light::Unknown, "They are being read again for the first time since this server started.".into()),
        n => (
            Light::Good,
            html!("They were read again, whole, ", (count(n, "time", "times")), " and hash to the signed root."),
        ),
    };
    let place = html!((Count(walk.leaves)), " of ", (Count(size)), " entries in this round");
    let rows = vec![
        ("Now at", place),
        ("Finds", "a bit that flipped in the database; the registry then turns read-only".into()),
    ];
    Section { id: "stored", title: "Stored entries", light, lead, body: Body::List(rows) }
}

fn database(app: &App) -> Section {
    let engine = app.reader().engine();
    let (lead, replicas) = match engine {
        "SQLite" => ("SQLite, in a file beside this server.", "one server, and <code>admin</code> beside it"),
        _ => ("PostgreSQL.", "any number: the log’s head row puts their writes in one order"),
    };
    let mut servers = Html::new();
    servers.tag(replicas);
    Section {
        id: "database",
        title: "Database",
        light: Light::Good,
        lead: lead.into(),
        body: Body::List(vec![
            ("Engine", engine.into()),
            ("Servers on it", servers),
            ("Connections", html!("up to ", (app.limits().read_connections), " that read")),
        ]),
    }
}
