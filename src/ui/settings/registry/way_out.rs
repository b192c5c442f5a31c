//! Why nothing is written, and what an operator does about it.

use crate::{
    service::ReadOnly,
    ui::{
        html::{Html, html},
        piece::{Note, Tone},
    },
};

/// What happened, what it means, and the way out.
pub(super) fn note(reason: &ReadOnly) -> Note {
    let headline = "Nothing is written or signed until this is solved.".to_owned();
    let detail = html!(
        [what(reason)],
        " Until then gateways go on with the last head, and stop when it runs out. ",
        [next(reason)]
    );
    Note { tone: Tone::Bad, symbol: "rejected", headline, detail, link: None, alert: false }
}

/// The reason in a sentence.
pub(super) fn what(reason: &ReadOnly) -> Html {
    use crate::ui::figure::Count;
    match reason {
        ReadOnly::NoAnchor => {
            "The anchor is missing, so nobody can tell whether this database is the newest copy.".into()
        }
        ReadOnly::Behind { size, anchored } => html!(
            "The log here has ",
            (Count(*size)),
            " entries, and a checkpoint of ",
            (Count(*anchored)),
            " was served: this is an old copy."
        ),
        ReadOnly::Fork(size) => html!(
            "The log here differs from the checkpoint of ",
            (Count(*size)),
            " that was served: it is another log under the same key."
        ),
        ReadOnly::Damaged(why) => html!("What is stored contradicts itself: ", (why), "."),
        ReadOnly::NoKey { kind, id } => {
            html!("The ", (kind), " key <code>", (id), "</code> signs now, and its file is not here.")
        }
        ReadOnly::Unusable(why) => html!("The anchor can’t be read or written: ", (why), "."),
    }
}

fn next(reason: &ReadOnly) -> Html {
    match reason {
        ReadOnly::NoAnchor => html!(
            "Look first whether <code>--anchor</code> was left out at the start. If not, and this is the newest, run <code>countersign admin --data DIR anchor adopt</code> beside the database; this \
             server goes on by itself. If it was restored from a backup, restore the newest copy first."
        ),
        ReadOnly::Behind { .. } => html!(
            "Restore the newest copy and start again. Going on from an old one would sign a second history, which gateways \
             and auditors refuse. If there is no newer copy, the README’s part on recovery begins another epoch under the \
             root key."
        ),
        ReadOnly::Fork(_) => html!(
            "Keep both checkpoints: together they prove it. Restore the database that the served one belongs to, and find \
             out who wrote the other."
        ),
        ReadOnly::Damaged(_) => {
            html!("Restore the newest backup and start again: opening reads and hashes the whole log.")
        }
        ReadOnly::NoKey { .. } => {
            html!(
                "Put the key’s file into the directory of keys and start again; a new key would make this another registry."
            )
        }
        ReadOnly::Unusable(_) => html!("Look at the file’s disk and permissions, then start the server again."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_says_what_happened_and_the_way_out() {
        for reason in [
            ReadOnly::NoAnchor,
            ReadOnly::Behind { size: 7, anchored: 1_204 },
            ReadOnly::Fork(9),
            ReadOnly::Damaged("leaf <3>".to_owned()),
            ReadOnly::Unusable("no space".to_owned()),
        ] {
            let note = note(&reason).to_string();
            assert!(!note.contains("<3>"), "{note}");
            assert!(note.len() > 300, "{note}");
        }
        assert!(what(&ReadOnly::Behind { size: 7, anchored: 1_204 }).as_str().contains("1,204"));
    }
}
