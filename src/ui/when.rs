//! Times for people: dates as `9 Dec 2026`, ages as `2 h`, all in UTC, all inside `<time>`.

use std::fmt;

use askama::filters::HtmlSafe;
use jiff::civil::DateTime;

use super::html::{Html, display};
use crate::clock::{Span, Timestamp};

/// A time with the moment it is looked at from, and how to say it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct When {
    at: Timestamp,
    now: Timestamp,
    form: Form,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Date,
    Minute,
    Age,
    Clock,
}

/// `9 Dec 2026`, without the year inside this one: for days.
pub(crate) const fn date(at: Timestamp, now: Timestamp) -> When {
    When { at, now, form: Form::Date }
}

/// `30 Nov, 09:20`, and `09:20` alone today: for moments.
pub(crate) const fn minute(at: Timestamp, now: Timestamp) -> When {
    When { at, now, form: Form::Minute }
}

/// `2 h`, `21 h`, `4 d`: how long it waits.
pub(crate) const fn age(at: Timestamp, now: Timestamp) -> When {
    When { at, now, form: Form::Age }
}

/// `10:41:07`: for what is right as of a second.
pub(crate) const fn clock(at: Timestamp, now: Timestamp) -> When {
    When { at, now, form: Form::Clock }
}

/// `41 min`, `2 h`, `4 d`: the length alone, rounded down, at least one second.
pub(crate) fn length(span: Span) -> String {
    match span.as_seconds() {
        s @ ..60 => format!("{} s", s.max(1)),
        s @ ..3_600 => format!("{} min", s / 60),
        s @ ..86_400 => format!("{} h", s / 3_600),
        s => format!("{} d", s / 86_400),
    }
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn civil(at: Timestamp) -> Option<DateTime> {
    let at = jiff::Timestamp::from_microsecond(at.micros()).ok()?;
    Some(jiff::tz::Offset::UTC.to_datetime(at))
}

impl When {
    /// The words without the markup: for titles and sentences.
    pub(crate) fn words(&self) -> String {
        let (Some(at), Some(now)) = (civil(self.at), civil(self.now)) else { return self.at.to_string() };
        let month = usize::try_from(at.month() - 1).ok().and_then(|m| MONTHS.get(m)).copied().unwrap_or("");
        let day = match at.year() == now.year() {
            true => format!("{} {month}", at.day()),
            false => format!("{} {month} {}", at.day(), at.year()),
        };
        let hour = format!("{:02}:{:02}", at.hour(), at.minute());
        match self.form {
            Form::Date => day,
            Form::Minute if at.date() == now.date() => hour,
            Form::Minute => format!("{day}, {hour}"),
            Form::Age => length(self.now.since(self.at)),
            Form::Clock => format!("{hour}:{:02}", at.second()),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let full = self.at.to_string();
        let mut html = Html::new();
        html.tag("<time datetime=\"").text(&full).tag("\"");
        if self.form == Form::Age {
            html.tag(" title=\"").text(&full).tag("\"");
        }
        html.tag(">").text(&self.words()).tag("</time>");
        display(f, &html)
    }
}

impl HtmlSafe for When {}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn times_are_said_as_briefly_as_today_allows() {
        let now = at("2026-11-30T10:41:07.000000Z");
        let rows = [
            (date(at("2026-12-09T00:00:00.000000Z"), now), "9 Dec"),
            (date(at("2027-05-08T00:00:00.000000Z"), now), "8 May 2027"),
            (minute(at("2026-11-30T09:20:00.000000Z"), now), "09:20"),
            (minute(at("2026-11-09T14:40:00.000000Z"), now), "9 Nov, 14:40"),
            (age(at("2026-11-30T08:31:00.000000Z"), now), "2 h"),
            (age(at("2026-11-26T08:31:00.000000Z"), now), "4 d"),
            (age(at("2026-11-30T10:41:07.000000Z"), now), "1 s"),
            (clock(now, now), "10:41:07"),
        ];
        for (when, expected) in rows {
            assert_eq!(when.words(), expected);
        }
        assert_eq!(
            date(at("2026-12-09T00:00:00.000000Z"), now).to_string(),
            "<time datetime=\"2026-12-09T00:00:00.000000Z\">9 Dec</time>"
        );
    }
}
