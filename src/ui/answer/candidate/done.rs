//! What came of the vote that led here, told from the candidate it was about and not from the address.

use super::{known, title};
use crate::{
    service::desk,
    store::Stage,
    ui::{
        answer::{label, neighbours},
        html::html,
        piece::{Link, Note, Tone},
    },
    web::{Problem, Web},
};

pub(super) async fn note(web: &Web, done: Option<&str>) -> Result<Option<Note>, Problem> {
    let Some(Ok(id)) = done.map(known) else { return Ok(None) };
    let Some(desk) = desk::desk(web.app(), &id).await? else { return Ok(None) };
    let decided = desk.decisions.last();
    let (symbol, headline) = match desk.candidate.state {
        Stage::Pending => ("info", format!("{} of {} ballots given.", desk.ballots.len(), desk.view.needed)),
        Stage::Approved => ("approved", "Approved.".to_owned()),
        Stage::Rejected => ("rejected", "Rejected.".to_owned()),
        Stage::Revoked => ("revoked", "Revoked.".to_owned()),
        Stage::Held => ("held", "Held.".to_owned()),
    };
    let detail = match decided.filter(|_| desk.candidate.state != Stage::Pending) {
        Some((decided, _)) => html!(
            [label::mono(&title(&desk.view))],
            ", log ",
            [label::entry(decided.log_index)],
            ". This is the next one."
        ),
        None => html!([label::mono(&title(&desk.view))], " waits for more. This is the next one."),
    };
    let link = Link { href: neighbours::address(&id), words: "Back to it".to_owned() };
    Ok(Some(Note { tone: Tone::Plain, symbol, headline, detail, link: Some(link), alert: true }))
}
