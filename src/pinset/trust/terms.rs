//! What a trust file says, and its one spelling.

use std::fmt::Write as _;

use super::{BadTrust, Trust, root_name};
use crate::{
    clock::{Span, Timestamp},
    event::{HeadTerm, Keys, LogTerm, MAX_KEYS},
    keys::{SigningKey, VerifyingKey},
    log::{
        note::{self, Signer, Verifier},
        policy::Policy,
    },
};

const HEADER: &str = "countersign/trust/v1";
/// A registry that lost its log eight times has other worries than the length of this list.
const MAX_FORMER: usize = 8;
/// A gateway would rest on a stolen head for that long.
const MAX_LIFETIME_SECONDS: u32 = 7 * 86_400;
/// Clocks that are further apart than an hour are broken.
const MAX_SKEW_SECONDS: u32 = 3_600;

/// What a trust file says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Terms {
    /// Grows with each trust file.
    pub version: u64,
    /// The name of registry and log.
    pub origin: String,
    /// The epoch that heads must have.
    pub epoch: u64,
    /// The names that the registry had in epochs before, oldest first.
    pub former: Vec<String>,
    /// The key that signs trust files.
    pub root: VerifyingKey,
    /// The keys that sign the log, in the order in which they begin to count.
    pub logs: Vec<LogKey>,
    /// The keys that sign heads, in the order in which they begin to count.
    pub heads: Vec<HeadKey>,
    /// The longest time a head may last.
    pub head_lifetime: Span,
    /// How far clocks may be apart.
    pub clock_skew: Span,
    /// Which witnesses must have cosigned a checkpoint.
    pub witnesses: Option<Policy>,
}

/// A key that signs the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogKey {
    /// The key.
    pub key: VerifyingKey,
    /// The first moment at which it counts; [`Timestamp::EPOCH`] is "from the beginning".
    pub from: Timestamp,
    /// The first moment at which it counts no more.
    pub until: Option<Timestamp>,
}

/// A key that signs heads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HeadKey {
    /// The key.
    pub key: VerifyingKey,
    /// The first moment at which it counts.
    pub from: Timestamp,
}

impl Terms {
    /// Signs the terms with the root key they name, and with the root key before it where it changed; under the names of
    /// epochs before too, because that is what gateways of those epochs know.
    ///
    /// # Errors
    /// [`BadTrust::Form`] for terms that no reader would accept.
    pub fn sign(&self, roots: &[&SigningKey]) -> Result<Trust, BadTrust> {
        let names = || std::iter::once(&self.origin).chain(&self.former).map(|origin| root_name(origin));
        let signer = |name: &str, key: &SigningKey| Signer::new(name, key.clone());
        let signers = roots.iter().flat_map(|key| names().map(move |name| signer(&name, key)));
        let signers: Result<Vec<Signer>, _> = signers.collect();
        let signers = signers.map_err(|e| BadTrust::Form(e.to_string()))?;
        let note = note::sign(&self.text()?, &signers.iter().collect::<Vec<_>>());
        Trust::first(&note.map_err(|e| BadTrust::Form(e.to_string()))?)
    }

    /// The keys as the log repeats them.
    pub fn keys(&self) -> Keys {
        let log = |log: &LogKey| LogTerm { key: log.key.id(), from: log.from, until: log.until };
        let head = |head: &HeadKey| HeadTerm { key: head.key.id(), from: head.from };
        let (logs, heads) = (self.logs.iter().map(log).collect(), self.heads.iter().map(head).collect());
        Keys { root: self.root.id(), logs, heads }
    }

    /// The text that is signed.
    ///
    /// # Errors
    /// [`BadTrust::Form`] if a key can't have the origin's name.
    pub fn text(&self) -> Result<String, BadTrust> {
        let key = |name: &str, key| Verifier::new(name, key).map_err(|e| BadTrust::Form(e.to_string()));
        let root = key(&root_name(&self.origin), self.root)?;
        let (version, origin, epoch) = (self.version, &self.origin, self.epoch);
        let mut text = format!("{HEADER}\nversion {version}\norigin {origin}\nepoch {epoch}\n");
        for former in &self.former {
            let _ = writeln!(text, "continues {former}");
        }
        let _ = writeln!(text, "root {root}");
        for log in &self.logs {
            let _ = write!(text, "log {}", key(origin, log.key)?);
            if log.from != Timestamp::EPOCH {
                let _ = write!(text, " from {}", log.from);
            }
            if let Some(until) = log.until {
                let _ = write!(text, " until {until}");
            }
            text.push('\n');
        }
        for head in &self.heads {
            let key = crate::canon::Sha256(*head.key.as_bytes());
            let _ = writeln!(text, "head {key} from {}", head.from);
        }
        let _ = writeln!(text, "head-lifetime {}", self.head_lifetime.as_seconds());
        let _ = writeln!(text, "clock-skew {}", self.clock_skew.as_seconds());
        if let Some(witnesses) = &self.witnesses {
            let _ = write!(text, "{}", witnesses.for_readers());
        }
        Ok(text)
    }

    /// Reads a text that nobody has signed yet.
    ///
    /// # Errors
    /// [`BadTrust::Form`].
    pub fn parse(text: &str) -> Result<Self, BadTrust> {
        let mut lines = Lines { rest: text.lines().enumerate().peekable() };
        lines.exact(HEADER)?;
        let version = lines.number("version")?;
        let origin = lines.value("origin")?.to_owned();
        let epoch = lines.number("epoch")?;
        let mut former = Vec::new();
        while let Some(name) = lines.optional("continues") {
            former.push(name.to_owned());
        }
        if former.len() > MAX_FORMER || former.contains(&origin) || former.iter().any(|name| !is_name(name)) {
            return Err(BadTrust::Form(format!("at most {MAX_FORMER} names of epochs before, none the present one")));
        }
        let root = lines.key("root", &root_name(&origin))?;
        let (mut logs, mut heads) = (Vec::new(), Vec::new());
        while let Some(line) = lines.optional("log") {
            logs.push(LogKey::parse(line, &origin).ok_or_else(|| BadTrust::Form(format!("log {line}")))?);
        }
        while let Some(line) = lines.optional("head") {
            heads.push(HeadKey::parse(line).ok_or_else(|| BadTrust::Form(format!("head {line}")))?);
        }
        let head_lifetime = lines.seconds("head-lifetime", 1..=MAX_LIFETIME_SECONDS)?;
        let clock_skew = lines.seconds("clock-skew", 0..=MAX_SKEW_SECONDS)?;
        let witnesses = lines.witnesses()?;
        let terms = Self { version, origin, epoch, former, root, logs, heads, head_lifetime, clock_skew, witnesses };
        if !terms.keys().is_sound() {
            return Err(BadTrust::Form(format!(
                "1 to {MAX_KEYS} log keys and head keys, each once, in the order of their times, and at every moment one counts"
            )));
        }
        // One text for one meaning: whatever is left over, doubled or spelled otherwise shows here.
        if terms.text()? == text { Ok(terms) } else { Err(BadTrust::Form("not in its one spelling".into())) }
    }
}

impl LogKey {
    fn parse(line: &str, origin: &str) -> Option<Self> {
        let (rest, until) = match line.split_once(" until ") {
            Some((rest, until)) => (rest, Some(until.parse().ok()?)),
            None => (line, None),
        };
        let (key, from) = match rest.split_once(" from ") {
            Some((key, from)) => (key, from.parse().ok()?),
            None => (rest, Timestamp::EPOCH),
        };
        let verifier = key.parse::<Verifier>().ok().filter(|key| key.name() == origin)?;
        Some(Self { key: *verifier.key(), from, until })
    }
}

impl HeadKey {
    fn parse(line: &str) -> Option<Self> {
        let (key, from) = line.split_once(" from ")?;
        let crate::canon::Sha256(bytes) = key.parse().ok()?;
        Some(Self { key: VerifyingKey::from_bytes(&bytes).ok()?, from: from.parse().ok()? })
    }
}

/// Whether a note's keys can have this name.
fn is_name(origin: &str) -> bool {
    !origin.is_empty() && origin.len() <= note::MAX_NAME && !origin.contains(|c: char| c.is_whitespace() || c == '+')
}

/// Reads `word value` lines in a fixed order.
struct Lines<'a> {
    rest: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
}

impl<'a> Lines<'a> {
    fn exact(&mut self, line: &str) -> Result<(), BadTrust> {
        let found = self.rest.next().map(|(_, found)| found);
        if found == Some(line) { Ok(()) } else { Err(BadTrust::Form(format!("the first line is not {line}"))) }
    }

    fn optional(&mut self, word: &str) -> Option<&'a str> {
        let value = |line: &'a str| line.strip_prefix(word)?.strip_prefix(' ');
        let (_, line) = self.rest.next_if(|(_, line)| value(line).is_some())?;
        value(line)
    }

    fn value(&mut self, word: &str) -> Result<&'a str, BadTrust> {
        let at = self.rest.peek().map_or(0, |(n, _)| n + 1);
        self.optional(word).ok_or_else(|| BadTrust::Form(format!("line {at} is not '{word} …'")))
    }

    fn number(&mut self, word: &str) -> Result<u64, BadTrust> {
        let value = self.value(word)?;
        let number = value.parse().ok().filter(|n: &u64| *n > 0 && n.to_string() == value);
        number.ok_or_else(|| BadTrust::Form(format!("{word} {value}")))
    }

    fn seconds(&mut self, word: &str, range: std::ops::RangeInclusive<u32>) -> Result<Span, BadTrust> {
        let value = self.value(word)?;
        let number = value.parse().ok().filter(|n: &u32| range.contains(n));
        number.map(Span::seconds).ok_or_else(|| BadTrust::Form(format!("{word} {value}")))
    }

    /// The rest, which is a policy of witnesses if it is anything.
    fn witnesses(&mut self) -> Result<Option<Policy>, BadTrust> {
        let rest: String = self.rest.by_ref().map(|(_, line)| format!("{line}\n")).collect();
        if rest.is_empty() {
            return Ok(None);
        }
        rest.parse().map(Some).map_err(|e| BadTrust::Form(format!("witnesses: {e}")))
    }

    fn key(&mut self, word: &str, name: &str) -> Result<VerifyingKey, BadTrust> {
        let value = self.value(word)?;
        let verifier = value.parse::<Verifier>().ok().filter(|key| key.name() == name);
        verifier.map(|key| *key.key()).ok_or_else(|| BadTrust::Form(format!("{word} {value}")))
    }
}
