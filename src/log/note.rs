//! Signed notes after C2SP signed-note, with Ed25519 signatures (type 0x01) and the timestamped cosignatures of
//! tlog-cosignature (type 0x04).
//!
//! ```text
//! <text: lines that end, no control characters but the line feed>
//!
//! — <name> <base64 of the key's id and the signature>
//! ```
//!
//! The last empty line divides. A key's id is the first four bytes of SHA-256 over its name, a line feed, the byte of
//! its algorithm and the key; readers know it as a `vkey`, `name+<id in hex>+<base64 of algorithm byte and key>`. A
//! name has 1 to 512 bytes without white space, plus signs and control characters. A note has at most 256 KiB and 64
//! signature lines.
//!
//! A note is a text and signature lines below it. The text says nothing until [`open`] has returned it: a signature of a
//! known key that fails refuses the whole note, signatures of unknown keys are passed over, and at least one known key
//! must have signed. A key is known by its name and the 32 bits of its id together; the id is no secret and no proof.

use std::{collections::BTreeSet, fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use crate::{
    canon::Sha256,
    clock::Timestamp,
    keys::{Signature, SigningKey, VerifyingKey},
};

/// The longest note: room for a text of some pages and the signatures of many witnesses, post-quantum ones (5 kB each)
/// included.
pub const MAX_BYTES: usize = 256 * 1024;

/// The most signature lines: the specification asks for at least 16 from a reader; each known one costs a verification.
pub const MAX_SIGNATURES: usize = 64;

/// The longest key name: a host name and a path.
pub const MAX_NAME: usize = 512;

const LINE_START: &str = "\u{2014} ";

/// How a key signs a note's text.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Algorithm {
    /// Ed25519 over the text.
    Ed25519,
    /// Ed25519 over `cosignature/v1`, the time and the text: a witness saw no larger tree of this log until then.
    CosignatureV1,
}

/// A key that signs notes under a name.
#[derive(Clone, Debug)]
pub struct Signer {
    verifier: Verifier,
    key: SigningKey,
}

/// A key that a reader knows, under the name that it signs by. Its text is a `vkey`: `name+id+base64`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verifier {
    name: String,
    id: u32,
    algorithm: Algorithm,
    key: VerifyingKey,
}

/// A note whose signatures by known keys have been verified.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Opened {
    text: String,
    by: Vec<SignedBy>,
}

/// One verified signature.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SignedBy {
    /// The key's name.
    pub name: String,
    /// The key's id.
    pub id: u32,
    /// The time that a cosignature states.
    pub at: Option<Timestamp>,
}

/// Not a name of a key, or not the text of one.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotAKey {
    /// Empty, longer than [`MAX_NAME`], or with a space, a plus or a control character.
    #[error("not a key name: 1 to {MAX_NAME} bytes without spaces, plus signs and control characters")]
    Name,
    /// Not `name+id+base64`, or of an unknown kind of key.
    #[error("not the text of an Ed25519 note key: name+id+base64")]
    Text,
    /// The id is not that of the name and the key.
    #[error("the key id does not belong to this name and key")]
    Id,
    /// A broken or weak key.
    #[error(transparent)]
    Key(#[from] crate::keys::BadKey),
}

/// The text can't be signed: it doesn't end its last line, has control characters, or the note would be too long; or no
/// signer, or too many.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a text for a note: lines that end, without control characters, within {MAX_BYTES} bytes; or no signer")]
pub struct Unsignable;

/// The note must not be believed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum OpenError {
    /// Longer than [`MAX_BYTES`] or with more than [`MAX_SIGNATURES`] signatures.
    #[error("the note is too long or has too many signatures")]
    TooLarge,
    /// Not a text, a blank line and signature lines.
    #[error("not a signed note")]
    Malformed,
    /// A signature in the name of a known key is not that key's.
    #[error("the signature of {name} does not verify")]
    BadSignature {
        /// The known key's name.
        name: String,
    },
    /// Two of the known keys have one name and one id.
    #[error("two known keys are called {name} and have one id")]
    Ambiguous {
        /// Their name.
        name: String,
    },
    /// None of the known keys has signed.
    #[error("no known key has signed the note")]
    Unknown,
}

impl Signer {
    /// A key that signs texts as they stand.
    ///
    /// # Errors
    /// [`NotAKey::Name`].
    pub fn new(name: &str, key: SigningKey) -> Result<Self, NotAKey> {
        Ok(Self { verifier: Verifier::new(name, key.verifying())?, key })
    }

    /// What its readers need.
    pub const fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// The name that it signs by.
    pub fn name(&self) -> &str {
        &self.verifier.name
    }
}

/// The note over this text by these keys.
///
/// # Errors
/// [`Unsignable`].
pub fn sign(text: &str, signers: &[&Signer]) -> Result<String, Unsignable> {
    let mut note = format!("{text}\n");
    for Signer { verifier, key } in signers {
        note.push_str(&verifier.line(&key.sign(text.as_bytes())));
    }
    let one_line_each = (1..=MAX_SIGNATURES).contains(&signers.len());
    if is_text(text) && one_line_each && note.len() <= MAX_BYTES { Ok(note) } else { Err(Unsignable) }
}

/// The signature line by which a witness confirms a checkpoint's text at a time, which counts in whole seconds.
///
/// # Errors
/// [`Unsignable`].
pub fn cosign(text: &str, name: &str, key: &SigningKey, at: Timestamp) -> Result<String, Unsignable> {
    let verifier = Verifier::cosigner(name, key.verifying()).map_err(|_| Unsignable)?;
    let seconds = u64::try_from(at.micros() / 1_000_000).map_err(|_| Unsignable)?;
    if !is_text(text) || text.len() > MAX_BYTES {
        return Err(Unsignable);
    }
    let mut signature = seconds.to_be_bytes().to_vec();
    signature.extend(key.sign(cosigned(seconds, text).as_bytes()));
    Ok(verifier.line(&signature))
}

/// Checks a note's signatures against the keys that the reader knows, and only then tells its text.
///
/// # Errors
/// [`OpenError`].
pub fn open(note: &str, known: &[&Verifier]) -> Result<Opened, OpenError> {
    let (text, lines) = divide(note)?;
    let mut by = Vec::new();
    let mut seen = BTreeSet::new();
    for line in lines {
        let mut matching = known.iter().filter(|key| key.id == line.id && key.name == line.name);
        let Some(key) = matching.next() else { continue };
        if matching.next().is_some() {
            return Err(OpenError::Ambiguous { name: line.name.to_owned() });
        }
        let at =
            key.check(text, &line.signature).ok_or_else(|| OpenError::BadSignature { name: line.name.to_owned() })?;
        // A repeated signature is no second witness.
        if seen.insert((line.name, line.id)) {
            by.push(SignedBy { name: line.name.to_owned(), id: line.id, at });
        }
    }
    if by.is_empty() { Err(OpenError::Unknown) } else { Ok(Opened { text: text.to_owned(), by }) }
}

/// A note's text that nobody has verified: only to explain why a note is refused.
pub(super) fn unverified_text(note: &str) -> Option<&str> {
    divide(note).ok().map(|(text, _)| text)
}

impl Opened {
    /// The text, its last newline included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Who has signed, of the known keys; never empty.
    pub fn by(&self) -> &[SignedBy] {
        &self.by
    }
}

impl Verifier {
    /// A known key that signs texts as they stand.
    ///
    /// # Errors
    /// [`NotAKey::Name`].
    pub fn new(name: &str, key: VerifyingKey) -> Result<Self, NotAKey> {
        Self::with(name, Algorithm::Ed25519, key)
    }

    /// A known witness's key.
    ///
    /// # Errors
    /// [`NotAKey::Name`].
    pub fn cosigner(name: &str, key: VerifyingKey) -> Result<Self, NotAKey> {
        Self::with(name, Algorithm::CosignatureV1, key)
    }

    /// The name that the key signs by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The key's id: 32 bits of a hash over name, algorithm and key.
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// How it signs.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The key itself.
    pub const fn key(&self) -> &VerifyingKey {
        &self.key
    }

    fn with(name: &str, algorithm: Algorithm, key: VerifyingKey) -> Result<Self, NotAKey> {
        if !is_name(name) {
            return Err(NotAKey::Name);
        }
        let mut hashed = format!("{name}\n").into_bytes();
        hashed.extend(algorithm.material(&key));
        let [a, b, c, d, ..] = Sha256::of(&hashed).0;
        Ok(Self { name: name.to_owned(), id: u32::from_be_bytes([a, b, c, d]), algorithm, key })
    }

    fn line(&self, signature: &[u8]) -> String {
        let mut bytes = self.id.to_be_bytes().to_vec();
        bytes.extend(signature);
        format!("{LINE_START}{} {}\n", self.name, BASE64.encode(bytes))
    }

    /// `Some` if this is the key's signature over the text, with the time that it states.
    fn check(&self, text: &str, signature: &[u8]) -> Option<Option<Timestamp>> {
        match self.algorithm {
            Algorithm::Ed25519 => {
                let signature: &Signature = signature.try_into().ok()?;
                self.key.verify(text.as_bytes(), signature).ok().map(|()| None)
            }
            Algorithm::CosignatureV1 => {
                let (seconds, signature) = signature.split_first_chunk()?;
                let seconds = u64::from_be_bytes(*seconds);
                let signature: &Signature = signature.try_into().ok()?;
                self.key.verify(cosigned(seconds, text).as_bytes(), signature).ok()?;
                let micros = i64::try_from(seconds).ok()?.checked_mul(1_000_000)?;
                Timestamp::from_micros(micros).map(Some)
            }
        }
    }
}

impl Algorithm {
    /// The byte that names it, and the key after it.
    fn material(self, key: &VerifyingKey) -> [u8; 33] {
        let mut bytes = [0; 33];
        bytes[0] = match self {
            Self::Ed25519 => 0x01,
            Self::CosignatureV1 => 0x04,
        };
        bytes[1..].copy_from_slice(key.as_bytes());
        bytes
    }
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let material = BASE64.encode(self.algorithm.material(&self.key));
        write!(f, "{}+{:08x}+{material}", self.name, self.id)
    }
}

impl FromStr for Verifier {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        // Base64 may hold a plus; a name and an id may not.
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(material)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NotAKey::Text);
        };
        // 33 bytes are 44 digits.
        let material = if material.len() == 44 { BASE64.decode(material).ok() } else { None };
        let material: [u8; 33] = material.and_then(|m| m.try_into().ok()).ok_or(NotAKey::Text)?;
        let [algorithm, key @ ..] = material;
        let algorithm = match algorithm {
            0x01 => Algorithm::Ed25519,
            0x04 => Algorithm::CosignatureV1,
            _ => return Err(NotAKey::Text),
        };
        let verifier = Self::with(name, algorithm, VerifyingKey::from_bytes(&key)?)?;
        if format!("{:08x}", verifier.id) == id { Ok(verifier) } else { Err(NotAKey::Id) }
    }
}

/// A signature line, read and not verified.
struct Line<'a> {
    name: &'a str,
    id: u32,
    signature: Vec<u8>,
}

/// Text and signature lines: the last empty line divides them.
fn divide(note: &str) -> Result<(&str, Vec<Line<'_>>), OpenError> {
    if note.len() > MAX_BYTES {
        return Err(OpenError::TooLarge);
    }
    let (before, lines) = note.rsplit_once("\n\n").ok_or(OpenError::Malformed)?;
    let lines = lines.strip_suffix('\n').ok_or(OpenError::Malformed)?;
    let text = note.get(..=before.len()).ok_or(OpenError::Malformed)?;
    if !is_text(text) {
        return Err(OpenError::Malformed);
    }
    if lines.split('\n').count() > MAX_SIGNATURES {
        return Err(OpenError::TooLarge);
    }
    let lines: Option<Vec<_>> = lines.split('\n').map(Line::parse).collect();
    Ok((text, lines.ok_or(OpenError::Malformed)?))
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (name, signature) = line.strip_prefix(LINE_START)?.split_once(' ')?;
        let bytes = BASE64.decode(signature).ok()?;
        let (id, signature) = bytes.split_first_chunk()?;
        let known_form = is_name(name) && !signature.is_empty();
        known_form.then(|| Self { name, id: u32::from_be_bytes(*id), signature: signature.to_vec() })
    }
}

/// What a cosignature signs.
fn cosigned(seconds: u64, text: &str) -> String {
    format!("cosignature/v1\ntime {seconds}\n{text}")
}

fn is_text(text: &str) -> bool {
    text.ends_with('\n') && !text.bytes().any(|byte| byte < b' ' && byte != b'\n')
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(|c| c == '+' || c.is_whitespace() || c < ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_seed(&[seed; 32])
    }

    fn signer(name: &str, seed: u8) -> Signer {
        Signer::new(name, key(seed)).expect("a name")
    }

    #[test]
    fn the_example_of_the_specification_has_the_form_that_we_read() {
        // The checkpoint and cosignature of C2SP tlog-cosignature's example, with keys that aren't published: the lines
        // are read, and nothing is believed.
        let note = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
            \u{2014} example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
            \u{2014} witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";
        let (text, lines) = divide(note).expect("a note");
        assert_eq!(text.lines().count(), 3);
        assert_eq!(
            lines.iter().map(|l| (l.id, l.signature.len())).collect::<Vec<_>>(),
            [(0x033d_e0ae, 64), (0x8d66_cf3f, 72)]
        );
        let known = signer("example.com/behind-the-sofa", 1);
        assert_eq!(open(note, &[known.verifier()]), Err(OpenError::Unknown));
    }

    #[test]
    fn a_note_opens_for_each_known_key_and_unknown_ones_are_passed_over() {
        let (a, b, c) = (signer("a.example", 1), signer("b.example", 2), signer("c.example", 3));
        let note = sign("one\n\ntwo\n", &[&a, &b]).expect("signs");
        let names = |opened: Opened| opened.by().iter().map(|s| s.name.clone()).collect::<Vec<_>>();
        let opened = open(&note, &[a.verifier(), b.verifier(), c.verifier()]).expect("opens");
        assert_eq!(opened.text(), "one\n\ntwo\n");
        assert_eq!(names(opened), ["a.example", "b.example"]);
        assert_eq!(names(open(&note, &[b.verifier()]).expect("opens")), ["b.example"]);
        assert_eq!(open(&note, &[c.verifier()]), Err(OpenError::Unknown));
        assert_eq!(open(&note, &[]), Err(OpenError::Unknown));
    }

    #[test]
    fn a_failing_signature_of_a_known_key_refuses_the_whole_note() {
        let (a, b) = (signer("a.example", 1), signer("b.example", 2));
        let note = sign("one\n", &[&a, &b]).expect("signs");
        let other = sign("two\n", &[&a]).expect("signs");
        let foreign = other.lines().last().expect("a line");
        let mixed = note.replace(note.lines().nth(2).expect("a's line"), foreign);
        let known = [a.verifier(), b.verifier()];
        assert_eq!(open(&mixed, &known), Err(OpenError::BadSignature { name: "a.example".to_owned() }));
        assert_eq!(
            open(&note.replace("one", "0ne"), &known[..1]),
            Err(OpenError::BadSignature { name: "a.example".to_owned() })
        );
        // Name or id alone make no known key.
        let namesake = signer("a.example", 9);
        assert_eq!(open(&note, &[namesake.verifier()]), Err(OpenError::Unknown));
        assert_eq!(
            open(&note, &[a.verifier(), a.verifier()]),
            Err(OpenError::Ambiguous { name: "a.example".to_owned() })
        );
    }

    #[test]
    fn a_repeated_signature_counts_once() {
        let a = signer("a.example", 1);
        let note = sign("one\n", &[&a, &a]).expect("signs");
        assert_eq!(open(&note, &[a.verifier()]).expect("opens").by().len(), 1);
    }

    #[test]
    fn a_cosignature_says_when_and_covers_it() {
        let log = signer("log.example", 1);
        let witness = Verifier::cosigner("w.example", key(2).verifying()).expect("a name");
        let at = Timestamp::from_micros(1_679_315_147_900_000).expect("a time");
        let text = "log.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";
        let line = cosign(text, "w.example", &key(2), at).expect("cosigns");
        let note = sign(text, &[&log]).expect("signs") + &line;
        let opened = open(&note, &[log.verifier(), &witness]).expect("opens");
        let expected = [
            SignedBy { name: "log.example".to_owned(), id: log.verifier().id(), at: None },
            SignedBy {
                name: "w.example".to_owned(),
                id: witness.id(),
                at: Timestamp::from_micros(1_679_315_147_000_000),
            },
        ];
        assert_eq!(opened.by(), expected);
        // The same key and name as an ordinary signer has another id, so neither is taken for the other.
        let ordinary = signer("w.example", 2);
        assert_ne!(ordinary.verifier().id(), witness.id());
        assert_eq!(open(&note, &[ordinary.verifier()]), Err(OpenError::Unknown));
        // A later time than the signed one.
        let mut bytes = BASE64.decode(line.split(' ').nth(2).expect("base64").trim()).expect("base64");
        bytes[11] ^= 1;
        let moved = format!("{text}\n\u{2014} w.example {}\n", BASE64.encode(bytes));
        assert_eq!(open(&moved, &[&witness]), Err(OpenError::BadSignature { name: "w.example".to_owned() }));
    }

    #[test]
    fn a_cosignature_has_the_bytes_that_the_specification_gives_it() {
        // Made by another implementation of Ed25519 from the specification's words: key id over name and 0x04 and key,
        // eight bytes of time, a signature over `cosignature/v1`, the time and the checkpoint's text.
        let text = "log.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";
        let line = "\u{2014} w.example om8q1wAAAABkGFDL/J0ouQApDnDDT4i3mXeOQMaYz/P8s4tD6yD0H483yy3brfYKfyi6TXyJ0X8cuFUpDOTy+ZMIirX2t60QBG2+CA==\n";
        let at = Timestamp::from_micros(1_679_315_147_000_000).expect("a time");
        assert_eq!(cosign(text, "w.example", &key(2), at).expect("cosigns"), line);
        let witness: Verifier =
            "w.example+a26f2ad7+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU".parse().expect("a key");
        let opened = open(&format!("{text}\n{line}"), &[&witness]).expect("opens");
        assert_eq!(opened.by()[0].at, Some(at));
    }

    #[test]
    fn what_is_not_a_note_is_refused() {
        let a = signer("a.example", 1);
        let note = sign("one\n", &[&a]).expect("signs");
        let line = note.lines().last().expect("a line");
        let known = [a.verifier()];
        for (name, note) in [
            ("nothing", String::new()),
            ("no signature", "one\n\n".to_owned()),
            ("no blank line", format!("one\n{line}\n")),
            ("no last newline", note.trim_end().to_owned()),
            ("a carriage return", note.replace("one", "one\r")),
            ("a nul", note.replace("one", "\0")),
            ("a hyphen for the dash", note.replace('\u{2014}', "-")),
            ("two spaces before the name", note.replace("\u{2014} ", "\u{2014}  ")),
            ("two spaces after the name", note.replace("a.example ", "a.example  ")),
            ("a space at the end", format!("one\n\n{line} \n")),
            ("no padding", note.replace('=', "")),
            ("a name with a plus", note.replace("a.example", "a+example")),
            ("an id without a signature", "one\n\n\u{2014} a.example AAAAAA==\n".to_owned()),
            ("text after the signatures", format!("{note}more\n")),
            ("a blank line after the signatures", format!("{note}\n")),
        ] {
            assert_eq!(open(&note, &known), Err(OpenError::Malformed), "{name}");
        }
        assert!(open(&note, &known).is_ok());
    }

    #[test]
    fn the_limits_hold_at_and_one_past_them() {
        let a = signer("a.example", 1);
        let overhead = sign("\n", &[&a]).expect("signs").len() - 1;
        let longest = "x".repeat(MAX_BYTES - overhead - 1) + "\n";
        let note = sign(&longest, &[&a]).expect("fits");
        assert_eq!(note.len(), MAX_BYTES);
        assert!(open(&note, &[a.verifier()]).is_ok());
        assert_eq!(sign(&format!("x{longest}"), &[&a]), Err(Unsignable));
        assert_eq!(open(&format!("x{note}"), &[a.verifier()]), Err(OpenError::TooLarge));

        let most = sign("one\n", &[&a; MAX_SIGNATURES]).expect("fits");
        assert!(open(&most, &[a.verifier()]).is_ok());
        assert_eq!(sign("one\n", &[&a; MAX_SIGNATURES + 1]), Err(Unsignable));
        let more = format!("{most}{}\n", most.lines().last().expect("a line"));
        assert_eq!(open(&more, &[a.verifier()]), Err(OpenError::TooLarge));

        assert!(Signer::new(&"n".repeat(MAX_NAME), key(1)).is_ok());
        assert_eq!(Signer::new(&"n".repeat(MAX_NAME + 1), key(1)).map(|_| ()), Err(NotAKey::Name));
    }

    #[test]
    fn only_texts_are_signed() {
        let a = signer("a.example", 1);
        for text in ["", "one", "one\r\n", "one\ttwo\n", "\u{1b}[2J\n"] {
            assert_eq!(sign(text, &[&a]), Err(Unsignable), "{text:?}");
            assert_eq!(cosign(text, "w", &key(1), Timestamp::EPOCH), Err(Unsignable), "{text:?}");
        }
        assert_eq!(sign("one\n", &[]), Err(Unsignable));
        assert_eq!(cosign("one\n", "w w", &key(1), Timestamp::EPOCH), Err(Unsignable));
        for name in ["", " ", "a b", "a+b", "a\u{a0}b", "a\nb", "a\u{1}b", "a\u{2003}b"] {
            assert_eq!(Signer::new(name, key(1)).map(|_| ()), Err(NotAKey::Name), "{name:?}");
        }
    }

    #[test]
    fn a_key_has_one_text() {
        let ordinary = Verifier::new("a.example/log", key(1).verifying()).expect("a name");
        let cosigner = Verifier::cosigner("a.example/log", key(1).verifying()).expect("a name");
        assert_eq!(ordinary.to_string(), "a.example/log+99092c5d+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c");
        for verifier in [ordinary.clone(), cosigner] {
            assert_eq!(verifier.to_string().parse(), Ok(verifier));
        }
        let text = ordinary.to_string();
        let weak = format!("a+00000000+{}", BASE64.encode([&[1, 1][..], &[0; 31]].concat()));
        for (bad, expected) in [
            (String::new(), NotAKey::Text),
            ("a.example/log".to_owned(), NotAKey::Text),
            (text.replace("a.example", "b.example"), NotAKey::Id),
            (text.replace("99092c5d", "99092C5D"), NotAKey::Id),
            (text.replace("99092c5d", "+99092c5d"), NotAKey::Text),
            (text.replace("+AY", "+BI"), NotAKey::Id),
            (text.replace("+AY", "+Ao"), NotAKey::Text),
            (format!("{text}AAAA"), NotAKey::Text),
            (format!(" {text}"), NotAKey::Name),
            (weak, NotAKey::Key(crate::keys::BadKey::Weak)),
        ] {
            assert_eq!(bad.parse::<Verifier>(), Err(expected), "{bad}");
        }
    }
}
