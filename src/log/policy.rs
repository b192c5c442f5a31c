//! Which witnesses must have cosigned a checkpoint, after C2SP tlog-policy.
//!
//! A policy is a text, one statement a line, its words divided by spaces or tabs; empty lines and those that begin with
//! `#` say nothing:
//!
//! ```text
//! log VKEY [URL]
//! witness NAME VKEY [URL]
//! group NAME all|any|K NAME…
//! quorum NAME|none
//! ```
//!
//! A log's key is of the type 0x01, a witness's of the type 0x04 ([`note::Verifier`]). Names are compared byte for byte;
//! witnesses and groups share them, and each is defined once, before a group or the quorum uses it. `none` is nobody's
//! name. A name is a member of at most one group, so that no witness counts twice. A group has witnessed a checkpoint
//! when K of its members have (`any`: one, `all`: all), and there is exactly one `quorum` line.
//!
//! Stricter than the specification where that leaves room: the text is UTF-8, K has one spelling, and ML-DSA keys (type
//! 0x06) are not known here. Laxer in one point: the last line may lack its newline.
//!
//! Judges cosignatures and nothing else: whether the log itself has signed is for [`open_checkpoint`](super::open_checkpoint).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use super::note::{self, Algorithm, NotAKey, OpenError, SignedBy, Verifier};
use crate::clock::Timestamp;

/// The longest text: three full tables with long names and addresses.
pub const MAX_BYTES: usize = 64 << 10;
/// The most witnesses, as many as the specification asks a reader to take; each costs a verification a checkpoint.
pub const MAX_WITNESSES: usize = 32;
/// The most groups, as many as the specification asks for.
pub const MAX_GROUPS: usize = 32;
/// The most logs, as many as the specification asks for.
pub const MAX_LOGS: usize = 32;

/// A quorum of witnesses: names resolved, thresholds within reach, nobody counted twice.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Policy {
    logs: Vec<Log>,
    witnesses: Vec<Witness>,
    /// A group's members stand before it, so one pass from the first to the last decides them all.
    groups: Vec<Group>,
    quorum: Option<Member>,
}

/// A log that the policy is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Log {
    /// Its key, under its origin.
    pub key: Verifier,
    /// Where it is reached, as it was written; not checked.
    pub url: Option<String>,
}

/// A witness.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Witness {
    /// What the policy calls it.
    pub name: String,
    /// Its key, under the name that it signs by.
    pub key: Verifier,
    /// Where it takes requests, as it was written; not checked.
    pub url: Option<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Group {
    name: String,
    needs: usize,
    members: Vec<Member>,
}

/// A place in the table of witnesses or of groups.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Member {
    Witness(usize),
    Group(usize),
}

/// The text is no policy.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}{why}", Where(*.line))]
pub struct NotAPolicy {
    /// Which line, from 1; 0 where it is the text as a whole.
    pub line: usize,
    /// What is wrong with it.
    pub why: Fault,
}

/// What is wrong with a policy.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// More than [`MAX_BYTES`], [`MAX_WITNESSES`], [`MAX_GROUPS`] or [`MAX_LOGS`].
    #[error(
        "a policy has at most {MAX_BYTES} bytes, {MAX_WITNESSES} witnesses, {MAX_GROUPS} groups and {MAX_LOGS} logs"
    )]
    TooLarge,
    /// A control character other than tab and newline.
    #[error("a control character")]
    Control,
    /// No statement of a policy, or with too few or too many words.
    #[error("not `log VKEY [URL]`, `witness NAME VKEY [URL]`, `group NAME all|any|K NAME…` or `quorum NAME|none`")]
    Statement,
    /// Not a key, or not one that can sign as what it is to sign as.
    #[error("{0}")]
    Key(NotAKey),
    /// A key of another type than logs (0x01) or witnesses (0x04) have.
    #[error("the key is not of the type that a log (0x01) or witness (0x04) signs with")]
    KeyType,
    /// The same key, or the same name and id in notes, twice.
    #[error("the key stands here twice")]
    KeyTwice,
    /// The name is defined already, or is `none`.
    #[error("the name {0} is taken")]
    NameTaken(String),
    /// The name isn't defined on a line before this one.
    #[error("no witness or group above is called {0}")]
    NameUnknown(String),
    /// The name is a member of a group already.
    #[error("{0} is a member of a group already, and counts once")]
    MemberTwice(String),
    /// The threshold is no number from 1 to the number of members.
    #[error("a threshold is `all`, `any` or a number from 1 to that of the members")]
    Threshold,
    /// A second quorum line.
    #[error("there is a quorum already")]
    QuorumTwice,
    /// No quorum line.
    #[error("there is no quorum line")]
    NoQuorum,
}

/// A checkpoint doesn't have the cosignatures that it must have.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unwitnessed {
    /// Not a note, or a signature in the name of a witness isn't that witness's.
    #[error("the checkpoint's cosignatures can't be read: {0}")]
    Note(#[from] OpenError),
    /// Too few.
    #[error("the checkpoint lacks its witness quorum: of {of} witnesses {counted} have cosigned it{}", and_early(*.early))]
    Quorum {
        /// How many cosignatures count.
        counted: usize,
        /// How many witnesses there are.
        of: usize,
        /// How many don't count because they are dated too far in the future.
        early: usize,
    },
}

impl Policy {
    /// The logs that it lists; often none, where the log is known from elsewhere.
    pub fn logs(&self) -> &[Log] {
        &self.logs
    }

    /// All witnesses, also those that the quorum doesn't need.
    pub fn witnesses(&self) -> &[Witness] {
        &self.witnesses
    }

    /// Whether it asks for no witness: `quorum none`.
    pub const fn asks_for_none(&self) -> bool {
        self.quorum.is_none()
    }

    /// What those who only verify need: the same witnesses, groups and quorum, without addresses and logs.
    #[must_use]
    pub fn for_readers(&self) -> Self {
        let witnesses = self.witnesses.iter().map(|witness| Witness { url: None, ..witness.clone() });
        Self { logs: Vec::new(), witnesses: witnesses.collect(), ..self.clone() }
    }

    /// Whether it holds if exactly the witnesses that `cosigned` names have cosigned.
    pub fn holds(&self, cosigned: impl Fn(&Witness) -> bool) -> bool {
        let witnesses: Vec<bool> = self.witnesses.iter().map(cosigned).collect();
        let mut groups: Vec<bool> = Vec::with_capacity(self.groups.len());
        let has = |groups: &[bool], member: &Member| match member {
            Member::Witness(n) => witnesses.get(*n).copied().unwrap_or(false),
            Member::Group(n) => groups.get(*n).copied().unwrap_or(false),
        };
        for group in &self.groups {
            let witnessed = group.members.iter().filter(|member| has(&groups, member)).count() >= group.needs;
            groups.push(witnessed);
        }
        self.quorum.as_ref().is_none_or(|quorum| has(&groups, quorum))
    }

    /// Whether a checkpoint's note carries the cosignatures that it must have. A cosignature that is dated after
    /// `latest` doesn't count: whoever calls this allows for clocks that differ.
    ///
    /// # Errors
    /// [`Unwitnessed`].
    pub fn check(&self, note: &str, latest: Timestamp) -> Result<(), Unwitnessed> {
        let known: Vec<&Verifier> = self.witnesses.iter().map(|witness| &witness.key).collect();
        let by = match note::open(note, &known) {
            Ok(opened) => opened.by().to_vec(),
            Err(OpenError::Unknown) => Vec::new(),
            Err(e) => return Err(e.into()),
        };
        let is = |witness: &Witness, by: &SignedBy| (witness.key.id(), witness.key.name()) == (by.id, by.name.as_str());
        let (counted, early): (Vec<_>, Vec<_>) = by.iter().partition(|by| by.at.is_some_and(|at| at <= latest));
        if self.holds(|witness| counted.iter().any(|by| is(witness, by))) {
            return Ok(());
        }
        Err(Unwitnessed::Quorum { counted: counted.len(), of: self.witnesses.len(), early: early.len() })
    }

    fn name(&self, member: Member) -> &str {
        let name = match member {
            Member::Witness(n) => self.witnesses.get(n).map(|witness| witness.name.as_str()),
            Member::Group(n) => self.groups.get(n).map(|group| group.name.as_str()),
        };
        name.unwrap_or_default()
    }
}

/// The policy in its one spelling: logs, witnesses, groups with thresholds as numbers, quorum; single spaces.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = |url: &Option<String>| url.as_ref().map(|url| format!(" {url}")).unwrap_or_default();
        for log in &self.logs {
            writeln!(f, "log {}{}", log.key, url(&log.url))?;
        }
        for witness in &self.witnesses {
            writeln!(f, "witness {} {}{}", witness.name, witness.key, url(&witness.url))?;
        }
        for Group { name, needs, members } in &self.groups {
            write!(f, "group {name} {needs}")?;
            for member in members {
                write!(f, " {}", self.name(*member))?;
            }
            writeln!(f)?;
        }
        writeln!(f, "quorum {}", self.quorum.map_or(NONE, |quorum| self.name(quorum)))
    }
}

const NONE: &str = "none";

impl FromStr for Policy {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Self, NotAPolicy> {
        let whole = |why| NotAPolicy { line: 0, why };
        if text.len() > MAX_BYTES {
            return Err(whole(Fault::TooLarge));
        }
        let mut reading = Reading::default();
        for (n, line) in text.split('\n').enumerate() {
            reading.line(line).map_err(|why| NotAPolicy { line: n + 1, why })?;
        }
        let Reading { logs, witnesses, groups, quorum, .. } = reading;
        Ok(Self { logs, witnesses, groups, quorum: quorum.ok_or(whole(Fault::NoQuorum))? })
    }
}

/// A policy as far as it was read.
#[derive(Default)]
struct Reading {
    logs: Vec<Log>,
    witnesses: Vec<Witness>,
    groups: Vec<Group>,
    quorum: Option<Option<Member>>,
    names: BTreeMap<String, Member>,
    /// Names that are members of a group.
    members: BTreeSet<String>,
}

impl Reading {
    fn line(&mut self, line: &str) -> Result<(), Fault> {
        if line.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f) {
            return Err(Fault::Control);
        }
        let words: Vec<&str> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [] => Ok(()),
            [first, ..] if first.starts_with('#') => Ok(()),
            ["log", key, url @ ..] if url.len() <= 1 => self.log(key, url.first()),
            ["witness", name, key, url @ ..] if url.len() <= 1 => self.witness(name, key, url.first()),
            ["group", name, needs, members @ ..] if !members.is_empty() => self.group(name, needs, members),
            ["quorum", name] => self.quorum(name),
            _ => Err(Fault::Statement),
        }
    }

    fn log(&mut self, key: &str, url: Option<&&str>) -> Result<(), Fault> {
        let key = verifier(key, Algorithm::Ed25519)?;
        if self.logs.len() == MAX_LOGS {
            return Err(Fault::TooLarge);
        }
        if self.logs.iter().any(|log| same(&log.key, &key)) {
            return Err(Fault::KeyTwice);
        }
        self.logs.push(Log { key, url: url.map(|url| (*url).to_owned()) });
        Ok(())
    }

    fn witness(&mut self, name: &str, key: &str, url: Option<&&str>) -> Result<(), Fault> {
        let key = verifier(key, Algorithm::CosignatureV1)?;
        if self.witnesses.len() == MAX_WITNESSES {
            return Err(Fault::TooLarge);
        }
        if self.witnesses.iter().any(|witness| same(&witness.key, &key)) {
            return Err(Fault::KeyTwice);
        }
        self.define(name, Member::Witness(self.witnesses.len()))?;
        self.witnesses.push(Witness { name: name.to_owned(), key, url: url.map(|url| (*url).to_owned()) });
        Ok(())
    }

    fn group(&mut self, name: &str, needs: &str, names: &[&str]) -> Result<(), Fault> {
        if self.groups.len() == MAX_GROUPS {
            return Err(Fault::TooLarge);
        }
        let mut members = Vec::with_capacity(names.len());
        for member in names {
            members.push(self.known(member)?);
            if !self.members.insert((*member).to_owned()) {
                return Err(Fault::MemberTwice((*member).to_owned()));
            }
        }
        let needs = match needs {
            "any" => 1,
            "all" => members.len(),
            k => k.parse().ok().filter(|n: &usize| n.to_string() == k).ok_or(Fault::Threshold)?,
        };
        if !(1..=members.len()).contains(&needs) {
            return Err(Fault::Threshold);
        }
        self.define(name, Member::Group(self.groups.len()))?;
        self.groups.push(Group { name: name.to_owned(), needs, members });
        Ok(())
    }

    fn quorum(&mut self, name: &str) -> Result<(), Fault> {
        if self.quorum.is_some() {
            return Err(Fault::QuorumTwice);
        }
        self.quorum = Some(if name == NONE { None } else { Some(self.known(name)?) });
        Ok(())
    }

    fn known(&self, name: &str) -> Result<Member, Fault> {
        self.names.get(name).copied().ok_or_else(|| Fault::NameUnknown(name.to_owned()))
    }

    fn define(&mut self, name: &str, member: Member) -> Result<(), Fault> {
        if name == NONE || self.names.contains_key(name) {
            return Err(Fault::NameTaken(name.to_owned()));
        }
        self.names.insert(name.to_owned(), member);
        Ok(())
    }
}

fn verifier(key: &str, algorithm: Algorithm) -> Result<Verifier, Fault> {
    let key: Verifier = key.parse().map_err(Fault::Key)?;
    if key.algorithm() == algorithm { Ok(key) } else { Err(Fault::KeyType) }
}

/// One key under two names is one signer; two keys under one name and id can't be told apart in a note.
fn same(a: &Verifier, b: &Verifier) -> bool {
    a.key() == b.key() || (a.name(), a.id()) == (b.name(), b.id())
}

fn and_early(n: usize) -> String {
    if n == 0 { String::new() } else { format!(", {n} more at a time that hasn't come yet") }
}

struct Where(usize);

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, "line {}: ", self.0) }
    }
}

#[cfg(test)]
#[path = "policy/tests.rs"]
mod tests;
