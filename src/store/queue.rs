//! The review queue as people go through it: searched, counted, one candidate after the other.

use sqlx::FromRow;

use super::{Candidate, Conn, QueueKey, Result, Stage, candidates::candidate};
use crate::{
    canon::Sha256,
    name::{ServerName, SetName},
    review::Reason,
};

/// Which candidates of a state are looked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Search {
    /// Of this pin set only.
    pub pinset: Option<SetName>,
    /// Opened for this reason only.
    pub reason: Option<Reason>,
    /// Part of the server's or the descriptor's name in any case of letters, or the first digits of the digest; empty
    /// for all.
    pub text: String,
}

/// How many candidates of a pin set were opened for a reason.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct ReasonCount {
    /// The pin set.
    pub pinset: SetName,
    /// The most urgent reason.
    pub reason: Reason,
    /// How many.
    pub n: i64,
}

/// How many candidates of a server are in a state.
#[derive(Clone, Debug, Eq, FromRow, PartialEq)]
pub struct ServerCount {
    /// The server.
    pub server: ServerName,
    /// How many.
    pub n: i64,
}

impl Conn {
    /// What a search finds after a place, in the order of the queue.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn queue_search(
        &mut self,
        state: Stage,
        search: &Search,
        after: &QueueKey,
        limit: u32,
    ) -> Result<Vec<Candidate>> {
        const SQL: &str = candidate!(
            "WHERE state = $1 AND (urgency, opened_at, position, id) > ($2, $3, $11, $4) \
             AND ($5 = '' OR pinset = $5) AND ($6 = '' OR reason = $6) \
             AND ($7 = '' OR LOWER(server) LIKE $7 ESCAPE '!' OR LOWER(name) LIKE $7 ESCAPE '!' \
             OR (digest >= $8 AND digest <= $9)) ORDER BY urgency, opened_at, position, id LIMIT $10"
        );
        let (pattern, (from, to)) = (pattern(&search.text), digits(&search.text));
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL)
            .bind(state)
            .bind(after.urgency)
            .bind(after.opened_at)
            .bind(&after.id)
            .bind(search.pinset.as_ref().map_or("", SetName::as_str))
            .bind(search.reason.map_or("", Reason::as_str))
            .bind(&pattern)
            .bind(from)
            .bind(to)
            .bind(i64::from(limit))
            .bind(after.position)
            .fetch_all(&mut **c)
            .await?))
    }

    /// How many candidates in a state each reason opened in each pin set.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn queue_reasons(&mut self, state: Stage) -> Result<Vec<ReasonCount>> {
        const SQL: &str = "SELECT pinset, reason, COUNT(*) AS n FROM candidate WHERE state = $1 \
             GROUP BY pinset, reason ORDER BY pinset, reason";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(state).fetch_all(&mut **c).await?))
    }

    /// How many candidates in a state each server has; servers without one are left out.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn queue_servers(&mut self, state: Stage) -> Result<Vec<ServerCount>> {
        const SQL: &str =
            "SELECT server, COUNT(*) AS n FROM candidate WHERE state = $1 GROUP BY server ORDER BY server";
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL).bind(state).fetch_all(&mut **c).await?))
    }

    /// How many candidates in a state stand before a place.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn queue_length_before(&mut self, state: Stage, place: &QueueKey) -> Result<i64> {
        const SQL: &str =
            "SELECT COUNT(*) FROM candidate WHERE state = $1 AND (urgency, opened_at, position, id) < ($2, $3, $5, $4)";
        Ok(on!(&mut self.0, |c| sqlx::query_scalar(SQL)
            .bind(state)
            .bind(place.urgency)
            .bind(place.opened_at)
            .bind(&place.id)
            .bind(place.position)
            .fetch_one(&mut **c)
            .await?))
    }

    /// The candidate in a state that stands just before a place.
    ///
    /// # Errors
    /// [`super::StoreError`] as for all of these.
    pub async fn queue_previous(&mut self, state: Stage, place: &QueueKey) -> Result<Option<Candidate>> {
        const SQL: &str = candidate!(
            "WHERE state = $1 AND (urgency, opened_at, position, id) < ($2, $3, $5, $4) \
             ORDER BY urgency DESC, opened_at DESC, position DESC, id DESC LIMIT 1"
        );
        Ok(on!(&mut self.0, |c| sqlx::query_as(SQL)
            .bind(state)
            .bind(place.urgency)
            .bind(place.opened_at)
            .bind(&place.id)
            .bind(place.position)
            .fetch_optional(&mut **c)
            .await?))
    }
}

/// A pattern for LIKE that finds the text itself anywhere.
fn pattern(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut pattern = String::from("%");
    for c in text.to_lowercase().chars().filter(|c| *c != '\0') {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// The range of hashes that begin with the digits, with or without the recipe before them; an empty range where the text
/// is no beginning that a page would show.
fn digits(text: &str) -> (Sha256, Sha256) {
    /// Pages show eight; fewer find too much.
    const FEWEST: usize = 8;
    let hex = text.rsplit_once(':').map_or(text, |(_, hex)| hex);
    let range = |fill: char| format!("{hex:\0<64}").replace('\0', &fill.to_string()).parse::<Sha256>().ok();
    match (range('0'), range('f')) {
        (Some(from), Some(to)) if hex.len() >= FEWEST => (from, to),
        _ => (Sha256([0xff; 32]), Sha256([0; 32])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_searched_for_means_itself() {
        for (text, expected) in [("", ""), ("Notes", "%notes%"), ("50%_!", "%50!%!_!!%"), ("a\0b", "%ab%")] {
            assert_eq!(pattern(text), expected, "{text}");
        }
    }

    #[test]
    fn the_first_digits_of_a_digest_are_a_range() {
        let zeros = "0".repeat(56);
        for text in ["2bcb43cb", "jcs-sha256:2bcb43cb"] {
            let (from, to) = digits(text);
            assert_eq!(from.to_string(), format!("2bcb43cb{zeros}"), "{text}");
            assert_eq!(to.to_string(), format!("2bcb43cb{}", "f".repeat(56)), "{text}");
        }
        for text in ["", "2bcb43c", "2bcb43cg", &"a".repeat(65), "2BCB43CB"] {
            let (from, to) = digits(text);
            assert!(from.to_string() > to.to_string(), "{text} finds nothing");
        }
    }
}
