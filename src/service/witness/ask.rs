//! One conversation with a witness, by C2SP tlog-witness: `add-checkpoint`, and once more from where a 409 says that it is.
//!
//! Bounded in time, in size and in how often; keeps nothing.

use std::{fmt, str::FromStr};

use reqwest::{Client, header::CONTENT_TYPE};
use url::Url;

use crate::{
    clock::{Span, Timestamp},
    env::Clock,
    log::{
        Hash,
        note::{OpenError, Verifier},
        witness::{AddCheckpoint, MAX_ANSWER, cosignature, size},
    },
};

use super::CLOCK_SKEW;

/// A witness verifies two signatures and writes a row; one that takes longer than this is stuck.
pub(super) const PATIENCE: Span = Span::seconds(10);
/// How often it is asked in one conversation: from where we think it is, from where it says that it is, and once more for
/// a monitor that brought it further in between.
pub(super) const TRIES: u32 = 3;

/// What came of it.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It cosigned: the verified line.
    Cosigned(String),
    /// It says that it has cosigned this larger checkpoint, which the log has too.
    Beyond(u64),
    /// Nothing, and why.
    Failed(Trouble),
}

/// What is wrong with a witness. Its word is in `/readyz`, in metrics and in the database.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// No answer, or none in time.
    Unreachable,
    /// Another status than the protocol's: it doesn't know this log, or is broken.
    Refused,
    /// An answer that can't be read.
    Malformed,
    /// A cosignature that isn't its key's, or none.
    BadCosignature,
    /// A cosignature dated too far in the future.
    Early,
    /// Conflicts without end.
    Conflict,
    /// It says that it has cosigned a longer log than this one: this database may be an old copy.
    Ahead,
    /// It says that this log doesn't continue what it has seen: there may be two logs under one key.
    Fork,
}

const WORDS: [(Trouble, &str); 8] = [
    (Trouble::Unreachable, "unreachable"),
    (Trouble::Refused, "refused"),
    (Trouble::Malformed, "malformed"),
    (Trouble::BadCosignature, "bad-cosignature"),
    (Trouble::Early, "early"),
    (Trouble::Conflict, "conflict"),
    (Trouble::Ahead, "ahead"),
    (Trouble::Fork, "fork"),
];

impl Trouble {
    /// All there are.
    pub const ALL: [Self; 8] = {
        let mut all = [Self::Fork; 8];
        let mut n = 0;
        while n < all.len() {
            all[n] = WORDS[n].0;
            n += 1;
        }
        all
    };

    /// Its word.
    pub fn word(self) -> &'static str {
        WORDS.iter().find(|(trouble, _)| *trouble == self).map_or("", |(_, word)| word)
    }

    /// Whether somebody has to look: the witness contradicts this registry, or isn't itself.
    pub const fn is_grave(self) -> bool {
        matches!(self, Self::Ahead | Self::Fork | Self::BadCosignature)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreachable => "it didn't answer in time",
            Self::Refused => "it refused: does it know this log?",
            Self::Malformed => "its answer can't be read",
            Self::BadCosignature => "its answer isn't signed with its key",
            Self::Early => "its clock is ahead",
            Self::Conflict => "it answers with conflicts without end",
            Self::Ahead => "it says that it has cosigned a longer log than this: is this database an old copy?",
            Self::Fork => "it says that this log doesn't continue what it has seen: are there two under one key?",
        })
    }
}

impl FromStr for Trouble {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        WORDS.iter().find(|(_, known)| *known == word).map(|(trouble, _)| *trouble).ok_or(())
    }
}

/// What a witness is asked, and what is known about it.
pub(super) struct Question<'a> {
    pub(super) http: &'a Client,
    pub(super) clock: &'a dyn Clock,
    pub(super) url: &'a Url,
    pub(super) key: &'a Verifier,
    /// The checkpoint's note, and its size.
    pub(super) checkpoint: &'a str,
    pub(super) size: u64,
    /// How long the log is.
    pub(super) newest: u64,
}

/// What came of one request.
pub(super) enum Answer {
    /// The end of the conversation.
    Ends(Outcome),
    /// Ask again from the size that it says it is at.
    From(u64),
}

impl Question<'_> {
    /// Asks from the size that the witness is thought to be at, with the consistency proof from there.
    pub(super) async fn ask(&self, old: u64, proof: Vec<Hash>) -> Answer {
        let request = AddCheckpoint { old, proof, checkpoint: self.checkpoint.to_owned() };
        let (status, body) = match self.post(request.to_string()).await {
            Ok(answer) => answer,
            Err(trouble) => return Answer::Ends(Outcome::Failed(trouble)),
        };
        let trouble = match (status, size(&body)) {
            (200, _) => match self.cosignature(&body) {
                Ok(line) => return Answer::Ends(Outcome::Cosigned(line)),
                Err(trouble) => trouble,
            },
            (409, Some(at)) if at > self.newest => Trouble::Ahead,
            (409, Some(at)) if at > self.size => return Answer::Ends(Outcome::Beyond(at)),
            (409, Some(at)) if at != old => return Answer::From(at),
            // It is where we said, and of the same size, but not of the same root.
            (409, _) if old == self.size => Trouble::Fork,
            (409, Some(_)) => Trouble::Conflict,
            (409, None) => Trouble::Malformed,
            (422, _) => Trouble::Fork,
            _ => {
                tracing::warn!(url = %self.url, status, "a witness refused");
                Trouble::Refused
            }
        };
        Answer::Ends(Outcome::Failed(trouble))
    }

    fn cosignature(&self, body: &str) -> Result<String, Trouble> {
        let (line, at) = cosignature(body, self.checkpoint, self.key).map_err(|e| match e {
            OpenError::TooLarge | OpenError::Malformed => Trouble::Malformed,
            OpenError::BadSignature { .. } | OpenError::Ambiguous { .. } | OpenError::Unknown => {
                Trouble::BadCosignature
            }
        })?;
        let latest: Timestamp = self.clock.now() + CLOCK_SKEW;
        if at <= latest { Ok(line) } else { Err(Trouble::Early) }
    }

    async fn post(&self, body: String) -> Result<(u16, String), Trouble> {
        let request = self.http.post(self.url.clone()).header(CONTENT_TYPE, "text/plain; charset=utf-8").body(body);
        let answer = async {
            let mut response = request.send().await.map_err(|e| self.unreachable(&e))?;
            let status = response.status().as_u16();
            let mut bytes = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(|e| self.unreachable(&e))? {
                if bytes.len() + chunk.len() > MAX_ANSWER {
                    return Err(Trouble::Malformed);
                }
                bytes.extend_from_slice(&chunk);
            }
            // Of other answers only the status counts.
            Ok((status, String::from_utf8(bytes).unwrap_or_default()))
        };
        tokio::select! {
            answered = answer => answered,
            () = self.clock.until(self.clock.now() + PATIENCE) => Err(Trouble::Unreachable),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Trouble {
        tracing::debug!(url = %self.url, %error, "a witness was not reached");
        Trouble::Unreachable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trouble_has_a_word_of_its_own() {
        for trouble in Trouble::ALL {
            assert_eq!(trouble.word().parse(), Ok(trouble));
        }
        assert_eq!("".parse::<Trouble>(), Err(()));
    }
}
