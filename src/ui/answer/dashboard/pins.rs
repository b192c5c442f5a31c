//! Figures about all pins: how many, how strong, and which end soon.

use std::collections::BTreeSet;

use crate::{
    clock::{Span, Timestamp},
    pinset::Denied,
    service::Moment,
    ui::{
        answer::signs,
        dashboard::Line,
        figure::{Count, count},
        piece::{Column, Columns},
        sign::Level,
        when,
    },
};

/// Days that the chart covers, three to a column.
const DAYS: usize = 30;
const PER_COLUMN: usize = 3;

pub(super) struct Pins {
    pub(super) all: u64,
    pub(super) ending: u64,
    pub(super) levels: Vec<(Level, Count)>,
    sets: u64,
    servers: u64,
    columns: [u64; DAYS / PER_COLUMN],
    denials: [(Denied, u64); 3],
    now: Timestamp,
}

impl Pins {
    pub(super) fn of(moment: &Moment, now: Timestamp) -> Self {
        let (mut all, mut columns, mut servers) = (0, [0; DAYS / PER_COLUMN], BTreeSet::new());
        let mut levels = Level::ALL.map(|level| (level, 0));
        let mut denials = [(Denied::Rejected, 0), (Denied::Revoked, 0), (Denied::Held, 0)];
        for (_, under) in moment.state.sets().flat_map(crate::pinset::SetState::aliases) {
            servers.insert(under.server().clone());
            for pin in under.pins() {
                all += 1;
                let level = moment.state.evidence(&pin.evidence).map_or(Level::Capture, |e| e.facts.level.into());
                levels.iter_mut().filter(|(of, _)| *of == level).for_each(|(_, n)| *n += 1);
                let left = pin.approval.not_after.since(now).as_seconds();
                let day = usize::try_from(left / Span::days(1).as_seconds()).unwrap_or(usize::MAX);
                if left > 0 && day < DAYS {
                    columns[day / PER_COLUMN] += 1;
                }
            }
            for denial in under.denied() {
                denials.iter_mut().filter(|(of, _)| *of == denial.state).for_each(|(_, n)| *n += 1);
            }
        }
        Self {
            all,
            ending: columns.iter().sum(),
            levels: levels.into_iter().map(|(level, n)| (level, Count(n))).collect(),
            sets: moment.state.sets().count() as u64,
            servers: servers.len() as u64,
            columns,
            denials,
            now,
        }
    }

    pub(super) fn note(&self) -> String {
        format!("in {}, {}", count(self.sets, "set", "sets"), count(self.servers, "server", "servers"))
    }

    /// The chart; none when there is nothing to draw.
    pub(super) fn chart(&self) -> Option<Columns> {
        let label = |column: usize| {
            let days = u32::try_from(column * PER_COLUMN).unwrap_or(0);
            if column.is_multiple_of(3) {
                when::date(self.now + Span::days(days), self.now).words()
            } else {
                String::new()
            }
        };
        (self.ending > 0).then(|| Columns {
            sentence: format!("{} in the next {DAYS} days", count(self.ending, "approval ends", "approvals end")),
            columns: self.columns.iter().enumerate().map(|(i, n)| Column { label: label(i), value: *n }).collect(),
        })
    }

    pub(super) fn denied(&self) -> Vec<Line> {
        let line = |(denied, n): &(Denied, u64)| {
            let sign = signs::of_denied(*denied);
            (*n > 0).then(|| Line { sign, words: sign.word().to_owned(), figure: Count(*n).to_string() })
        };
        self.denials.iter().filter_map(line).collect()
    }
}
