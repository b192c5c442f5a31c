//! "Paste a tools/list": what a gateway would do with it, by the one verdict function.

use axum::{extract::State, http::StatusCode, response::Response};

use super::{form::Fields, label, neighbours, signs};
use crate::{
    descriptor::{Capture, CaptureError},
    name::{Alias, SetName, Variant},
    pinset::verdict::Listing,
    service::{
        access::Principal,
        distribute::{self, Checked, CheckedItem, Judgement},
    },
    store::Stage,
    ui::{
        around,
        check::{Answer, CheckPage, SetChoice, Verdict},
        figure::Short,
        frame::{Keys, Section},
        html::{Html, html},
        piece::{Link, Note, Tone},
        sentence, text, when,
    },
    web::{Form, Kind, Problem, Reader, Web},
};

/// As much of a verdict's sentence as a row has room for; it may quote what was listed.
const SAID: usize = 300;

/// What was typed.
#[derive(Debug)]
struct Sent {
    list: String,
    set: String,
    alias: String,
    variant: String,
    complete: bool,
}

pub(super) async fn form(State(web): State<Web>, Reader(who): Reader) -> Result<Response, Problem> {
    let sent =
        Sent { list: String::new(), set: String::new(), alias: String::new(), variant: String::new(), complete: true };
    respond(&web, &who, sent, Ok(None)).await
}

pub(super) async fn check(
    State(web): State<Web>,
    Reader(who): Reader,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let sent = Sent::read(Fields::new(fields))?;
    let judged = {
        let (web, sent) = (web.clone(), sent.input());
        tokio::task::spawn_blocking(move || judge(&web, &sent)).await.map_err(Problem::internal)?
    };
    let answer = match judged {
        Ok((judgement, why)) => Ok(Some((judgement.explained(web.app()).await?, why))),
        Err(wrong) => Err(wrong),
    };
    respond(&web, &who, sent, answer).await
}

/// What is judged: bytes, set, alias, variant, and whether it is the whole list.
struct Input {
    bytes: Vec<u8>,
    set: String,
    alias: String,
    variant: String,
    complete: bool,
}

/// Why a list couldn't be judged at all: the status and the words beside the field.
type Wrong = (StatusCode, String);

/// Judges, and says why the list isn't whole if it isn't.
fn judge(web: &Web, input: &Input) -> Result<(Judgement, Option<String>), Wrong> {
    let unprocessable = |text: String| (StatusCode::UNPROCESSABLE_ENTITY, text);
    let set: SetName = input.set.parse().map_err(|e| unprocessable(sentence(&e)))?;
    let alias = match input.alias.trim() {
        "" => None,
        text => Some(text.parse::<Alias>().map_err(|e| unprocessable(sentence(&e)))?),
    };
    let variant = match input.variant.trim() {
        "" => None,
        text => Some(text.parse::<Variant>().map_err(|e| unprocessable(sentence(&e)))?),
    };
    let capture = Capture::read_any(&input.bytes).map_err(|e| unprocessable(wrong(&e)))?;
    let listing = Listing {
        alias: alias.as_ref(),
        complete: input.complete && capture.complete,
        variant: variant.as_ref(),
        endpoint: None,
        artifact: None,
        listed: &capture.listed,
    };
    let judged = distribute::judge(web.app(), &set, &[listing]);
    let judged = judged.ok_or_else(|| (StatusCode::NOT_FOUND, "There is no such pin set.".to_owned()))?;
    let said = capture.why_incomplete.filter(|_| !capture.complete);
    Ok((judged, said.or_else(|| (!input.complete).then(|| "you said that it is not the whole list".to_owned()))))
}

/// What the reader refused, with code, place and offset where it knows them.
fn wrong(error: &CaptureError) -> String {
    match error {
        CaptureError::Refused { member, refused } => format!(
            "{} in {member}, at {}, byte {}. Nothing was checked.",
            refused.code,
            if refused.pointer.is_empty() { "the top" } else { refused.pointer.as_str() },
            refused.offset
        ),
        other => format!("{} Nothing was checked.", sentence(other)),
    }
}

async fn respond(
    web: &Web,
    who: &Principal,
    sent: Sent,
    answer: Result<Option<(Checked, Option<String>)>, Wrong>,
) -> Result<Response, Problem> {
    let moment = web.app().moment();
    let sets = moment.heads.values().map(|head| SetChoice {
        name: head.pinset.to_string(),
        words: format!("{}, v{}", head.pinset, head.version),
        chosen: head.pinset.as_str() == sent.set,
    });
    let (status, error) = match &answer {
        Ok(_) => (StatusCode::OK, None),
        Err((status, words)) => (*status, Some(words.clone())),
    };
    let mut page = CheckPage {
        notes: Vec::new(),
        sets: sets.collect(),
        error,
        answer: None,
        list: sent.list,
        alias: sent.alias,
        variant: sent.variant,
        complete: sent.complete,
    };
    if let Ok(Some((checked, why))) = answer {
        page.notes.extend(why.map(|why| incomplete(&why)));
        page.answer = Some(answered(web, who, &page, &sent.set, &checked));
    }
    let frame = around::frame(web, who, "Check a tool list", Section::Check, Keys::Few).await?;
    around::page_as(status, frame, page)
}

fn incomplete(why: &str) -> Note {
    Note {
        tone: Tone::Warn,
        symbol: "incomplete",
        headline: "The list is not whole.".to_owned(),
        detail: html!("Nothing of it would be let through: ", [text::inline(why, SAID)], "."),
        link: None,
        alert: true,
    }
}

fn answered(web: &Web, who: &Principal, page: &CheckPage, set: &str, checked: &Checked) -> Answer {
    let now = web.app().clock().now();
    let mut against = html!("against ", (set), " v", (checked.version));
    against.tag(if checked.expires > now { ", good until " } else { ", whose head ran out at " });
    against.safe(&when::minute(checked.expires, now)).tag(" UTC");
    let exit = exit(checked, checked.expires > now);
    let mut rows: Vec<Verdict> = checked.results.iter().map(|item| verdict(item, who.may_see_reviews())).collect();
    // Stable, so that the list's own order stays among equals.
    rows.sort_by_key(|row| std::cmp::Reverse(row.action));
    let alias = if page.alias.trim().is_empty() { String::new() } else { format!(" --alias {}", page.alias.trim()) };
    let variant = if page.variant.trim().is_empty() {
        String::new()
    } else {
        format!(" --variant '{}'", page.variant.trim().replace('\'', "'\\''"))
    };
    Answer { against, rows, command: format!("countersign check --state ./{set}{alias}{variant} tools.json"), exit }
}

/// What the command would exit with.
fn exit(checked: &Checked, fresh: bool) -> String {
    use crate::pinset::verdict::Action;
    if !checked.complete {
        "exit code 3: the list is not whole".to_owned()
    } else if !fresh {
        "exit code 3: the head ran out".to_owned()
    } else if checked.results.iter().all(|item| item.judged.action == Action::Allow) {
        "exit code 0: every descriptor is approved".to_owned()
    } else {
        "exit code 1: at least one descriptor isn’t approved".to_owned()
    }
}

fn verdict(item: &CheckedItem, reviews: bool) -> Verdict {
    let judged = &item.judged;
    let next = item.review.as_ref().filter(|_| reviews).map(|review| Link {
        href: neighbours::address(&review.candidate),
        words: if review.state == Stage::Pending { "Review" } else { "Candidate" }.to_owned(),
    });
    Verdict {
        name: label::listed(&judged.name),
        kind: label::unusual(judged.kind),
        why: why(&judged.reason),
        sign: signs::of_verdict(judged.verdict),
        also: judged.also.iter().copied().map(signs::of_verdict).collect(),
        action: signs::of_action(judged.action),
        digest: judged.digest.map(Short::digest),
        next,
    }
}

fn why(reason: &str) -> Html {
    text::inline(reason, SAID)
}

impl Sent {
    fn read(mut fields: Fields) -> Result<Self, Problem> {
        let sent = Self {
            list: fields.one("list")?,
            set: fields.one("set")?,
            alias: fields.optional("alias")?.unwrap_or_default(),
            variant: fields.optional("variant")?.unwrap_or_default(),
            complete: fields.optional("complete")?.is_some(),
        };
        fields.done()?;
        if sent.set.is_empty() { Err(Problem::new(Kind::PinsetNotFound)) } else { Ok(sent) }
    }

    fn input(&self) -> Input {
        Input {
            bytes: self.list.as_bytes().to_vec(),
            set: self.set.clone(),
            alias: self.alias.clone(),
            variant: self.variant.clone(),
            complete: self.complete,
        }
    }
}
