//! Checkpoints after C2SP tlog-checkpoint: the signed statement that a log has so many leaves and this root.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use super::{
    merkle::{Hash, MAX_SIZE},
    note::{self, OpenError, Signer, Unsignable, Verifier},
};
use crate::canon::Sha256;

/// A log's state. Signed it is a note ([`super::note`]) of three lines: the origin, which is also the name that the
/// log's key signs by; the size in decimal; the root in base64.
///
/// Its text has exactly three lines: the extension lines that the specification permits are opaque to
/// every auditor, so ours has none and another's are refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Checkpoint {
    /// The log's name, which is also the name that its key signs by.
    pub origin: String,
    /// How many leaves it has.
    pub size: u64,
    /// The root over them.
    pub root: Hash,
}

/// The text isn't exactly an origin, a size and a root.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not the text of a checkpoint: an origin, a size, a root hash")]
pub struct NotACheckpoint;

/// The checkpoint must not be believed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadCheckpoint {
    /// Its signatures don't verify.
    #[error(transparent)]
    Note(#[from] OpenError),
    /// What was signed is no checkpoint.
    #[error(transparent)]
    Text(#[from] NotACheckpoint),
    /// It is of another log than the one asked about.
    #[error("a checkpoint of the log {} where one of {expected} is needed", .found.escape_debug())]
    WrongLog {
        /// The log that the reader knows.
        expected: String,
        /// The origin that the text states, cut to 120 characters; not verified.
        found: String,
    },
}

/// The note by which a log's key signs a checkpoint.
///
/// # Errors
/// [`Unsignable`] unless the key's name is the checkpoint's origin and the size is at most [`MAX_SIZE`].
pub fn sign_checkpoint(checkpoint: &Checkpoint, log: &Signer) -> Result<String, Unsignable> {
    sign_checkpoint_by(checkpoint, &[log])
}

/// The same by all of the log's keys that count: two while one takes the other's place.
///
/// # Errors
/// As [`sign_checkpoint`], and for no key at all.
pub fn sign_checkpoint_by(checkpoint: &Checkpoint, log: &[&Signer]) -> Result<String, Unsignable> {
    if log.iter().any(|key| checkpoint.origin != key.name()) || checkpoint.size > MAX_SIZE {
        return Err(Unsignable);
    }
    note::sign(&checkpoint.to_string(), log)
}

/// The checkpoint in a note, if the log signed it.
///
/// # Errors
/// [`BadCheckpoint`]; [`BadCheckpoint::WrongLog`] goes before the signature's verdict, because "another log" is what a
/// caller has to be told when a receipt is held against the wrong key.
pub fn open_checkpoint(note: &str, log: &Verifier) -> Result<Checkpoint, BadCheckpoint> {
    open_checkpoint_by(note, std::slice::from_ref(log))
}

/// The same where the log has several keys: one of them must have signed. All are under the log's one name.
///
/// # Errors
/// As [`open_checkpoint`].
pub fn open_checkpoint_by(note: &str, log: &[Verifier]) -> Result<Checkpoint, BadCheckpoint> {
    if let (Some(text), Some(first)) = (note::unverified_text(note), log.first()) {
        let found = text.lines().next().unwrap_or_default();
        if found != first.name() {
            let found = found.chars().take(120).collect();
            return Err(BadCheckpoint::WrongLog { expected: first.name().to_owned(), found });
        }
    }
    Ok(note::open(note, &log.iter().collect::<Vec<_>>())?.text().parse()?)
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}\n{}", self.origin, self.size, BASE64.encode(self.root.0))
    }
}

impl FromStr for Checkpoint {
    type Err = NotACheckpoint;

    fn from_str(text: &str) -> Result<Self, NotACheckpoint> {
        let mut lines = text.strip_suffix('\n').ok_or(NotACheckpoint)?.split('\n');
        let (Some(origin), Some(size), Some(root), None) = (lines.next(), lines.next(), lines.next(), lines.next())
        else {
            return Err(NotACheckpoint);
        };
        let size = number(size).filter(|size| *size <= MAX_SIZE).ok_or(NotACheckpoint)?;
        let root = hash(root).ok_or(NotACheckpoint)?;
        let is_origin = !origin.is_empty() && origin.len() <= note::MAX_NAME && !origin.contains(char::is_control);
        if is_origin { Ok(Self { origin: origin.to_owned(), size, root }) } else { Err(NotACheckpoint) }
    }
}

/// A decimal number in its one spelling: digits, and no zero before another.
pub(super) fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// A hash in base64 in its one spelling.
pub(super) fn hash(text: &str) -> Option<Hash> {
    // 32 bytes are 44 digits; the length goes first so that a long line costs nothing.
    let bytes = if text.len() == 44 { BASE64.decode(text).ok()? } else { return None };
    bytes.try_into().ok().map(Sha256)
}

#[cfg(test)]
mod tests {
    use super::{super::merkle::empty_root, *};
    use crate::keys::SigningKey;

    fn log(name: &str, seed: u8) -> Signer {
        Signer::new(name, SigningKey::from_seed(&[seed; 32])).expect("a name")
    }

    const TEXT: &str = "log.example\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";

    #[test]
    fn a_checkpoint_has_one_text() {
        let checkpoint: Checkpoint = TEXT.parse().expect("a checkpoint");
        assert_eq!((checkpoint.origin.as_str(), checkpoint.size), ("log.example", 20_852_163));
        assert_eq!(checkpoint.to_string(), TEXT);
        let largest = TEXT.replace("20852163", &MAX_SIZE.to_string());
        assert_eq!(largest.parse::<Checkpoint>().expect("a checkpoint").size, MAX_SIZE);
    }

    #[test]
    fn other_texts_are_refused() {
        for (name, text) in [
            ("nothing", String::new()),
            ("no last newline", TEXT.trim_end().to_owned()),
            ("two last newlines", format!("{TEXT}\n")),
            ("an extension line", format!("{TEXT}extension\n")),
            ("no root", "log.example\n20852163\n".to_owned()),
            ("no origin", TEXT.replace("log.example", "")),
            ("a long origin", TEXT.replace("log.example", &"x".repeat(note::MAX_NAME + 1))),
            ("an escape in the origin", TEXT.replace("log.", "\u{1b}[2J")),
            ("a leading zero", TEXT.replace("2085", "02085")),
            ("a plus", TEXT.replace("2085", "+2085")),
            ("a minus", TEXT.replace("20852163", "-0")),
            ("a space", TEXT.replace("2085", " 2085")),
            ("a fraction", TEXT.replace("20852163", "1.0")),
            ("hexadecimal", TEXT.replace("20852163", "0x1")),
            ("one leaf too many", TEXT.replace("20852163", &(MAX_SIZE + 1).to_string())),
            ("beyond 64 bits", TEXT.replace("20852163", "18446744073709551616")),
            ("no padding", TEXT.replace('=', "")),
            ("bits after the last byte", TEXT.replace("q2I=", "q2J=")),
            ("31 bytes", TEXT.replace("q2I=", "qw==")),
            ("33 bytes", TEXT.replace("q2I=", "q2Kr")),
            ("base64url", TEXT.replace("qom/", "qom_")),
            ("a carriage return", TEXT.replace('\n', "\r\n")),
        ] {
            assert_eq!(text.parse::<Checkpoint>(), Err(NotACheckpoint), "{name}");
        }
    }

    #[test]
    fn only_the_log_itself_signs_its_checkpoints() {
        let ours = log("log.example", 1);
        let checkpoint = Checkpoint { origin: "log.example".to_owned(), size: 0, root: empty_root() };
        let note = sign_checkpoint(&checkpoint, &ours).expect("signs");
        assert_eq!(open_checkpoint(&note, ours.verifier()), Ok(checkpoint.clone()));
        assert_eq!(sign_checkpoint(&checkpoint, &log("other.example", 1)), Err(Unsignable));
        let endless = Checkpoint { size: MAX_SIZE + 1, ..checkpoint.clone() };
        assert_eq!(sign_checkpoint(&endless, &ours), Err(Unsignable));
        let broken = Checkpoint { origin: "log.example\n9".to_owned(), ..checkpoint };
        assert_eq!(sign_checkpoint(&broken, &ours), Err(Unsignable));
    }

    #[test]
    fn a_receipt_of_another_log_says_so() {
        let (a, b) = (log("a.example", 1), log("b.example", 2));
        let checkpoint = Checkpoint { origin: "a.example".to_owned(), size: 0, root: empty_root() };
        let note = sign_checkpoint(&checkpoint, &a).expect("signs");
        let wrong = BadCheckpoint::WrongLog { expected: "b.example".to_owned(), found: "a.example".to_owned() };
        assert_eq!(open_checkpoint(&note, b.verifier()), Err(wrong.clone()));
        // The same name with another key is the same log with a signature that nobody knows.
        assert_eq!(open_checkpoint(&note, log("a.example", 3).verifier()), Err(OpenError::Unknown.into()));
        // A text of one log under the signature of another.
        let crossed = note::sign(&checkpoint.to_string(), &[&b]).expect("signs");
        assert_eq!(open_checkpoint(&crossed, b.verifier()), Err(wrong));
    }

    #[test]
    fn a_signed_text_that_is_no_checkpoint_is_refused() {
        let a = log("a.example", 1);
        let note = note::sign("a.example\nhello\n", &[&a]).expect("signs");
        assert_eq!(open_checkpoint(&note, a.verifier()), Err(NotACheckpoint.into()));
    }
}
