//! DSSE v1 envelopes (secure-systems-lab/dsse, `protocol.md` and `envelope.md`): sign bytes, check bytes, hand back the
//! bytes that were checked.
//!
//! ```text
//! {"payload":"<base64>","payloadType":"<text>","signatures":[{"keyid":"<key id>","sig":"<base64 of 64 bytes>"}]}
//! ```
//!
//! Strict JSON of at most [`MAX_ENVELOPE`] bytes, in any order and with any white space, 1 to [`MAX_SIGNATURES`]
//! signatures. What is signed is `DSSEv1`, the length of the payload type, the payload type, the length of the payload
//! and the payload, with one space between each; lengths are decimal and count bytes. A signature that names a known
//! key must be that key's. One that names another key says nothing; so does one without a `keyid` (or with an empty
//! one) that no known key made. At least one must be by a known key.
//!
//! No meaning of the payload, no trust in `keyid`: it only says which key to try. Stricter than the specification where
//! it leaves room: standard base64 in its one canonical spelling, no members besides the specification's, one signature
//! a key.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::members::{Malformed, Members};
use crate::{
    canon::{self, Value},
    keys::{KeyId, Signature, SigningKey, VerifyingKey},
};

/// An envelope as it was read. Nothing in it is verified; the payload comes out of [`Envelope::verify`] only.
#[derive(Clone, Debug)]
pub struct Envelope {
    payload_type: String,
    payload: Vec<u8>,
    signatures: Vec<Signed>,
}

#[derive(Clone, Debug)]
struct Signed {
    keyid: Option<String>,
    signature: Signature,
}

/// What [`Envelope::verify`] found, and the only way to the payload.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Checked<'e> {
    /// Exactly the bytes that the signatures were checked over.
    pub payload: &'e [u8],
    /// The keys that signed them, each once, sorted; at least one.
    pub by: Vec<KeyId>,
}

/// Why an envelope isn't one, or doesn't verify.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refused {
    /// Not strict JSON of the envelope's form.
    #[error("no DSSE envelope: {0}")]
    Malformed(#[from] Malformed),
    /// Another payload type than the caller reads.
    #[error("the payload type is {0:?}")]
    PayloadType(String),
    /// The list of signatures is empty.
    #[error("the envelope holds no signature")]
    Unsigned,
    /// No signature is by a key that the caller knows.
    #[error("no signature is by a known key")]
    UnknownKey,
    /// A signature that names a known key isn't that key's over this payload.
    #[error("the signature does not verify")]
    Signature,
    /// Two signatures by one key: they must not be counted as two.
    #[error("two signatures are by one key")]
    RepeatedKey,
}

/// A statement over 2,000 descriptors, each with the longest name, is 2.3 MB; its base64 is a third more.
pub const MAX_ENVELOPE: usize = 4 << 20;
/// Far more people than sign one release, few enough that trying every known key on each stays cheap.
pub const MAX_SIGNATURES: usize = 16;

/// Signs a payload and writes the envelope as canonical JSON.
pub fn sign(payload_type: &str, payload: &[u8], key: &SigningKey) -> Vec<u8> {
    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Out<'a> {
        payload: String,
        payload_type: &'a str,
        signatures: [OutSignature; 1],
    }
    #[derive(serde::Serialize)]
    struct OutSignature {
        keyid: KeyId,
        sig: String,
    }
    let sig = STANDARD.encode(key.sign(&pae(payload_type, payload)));
    let signatures = [OutSignature { keyid: key.verifying().id(), sig }];
    canon::to_jcs(&Out { payload: STANDARD.encode(payload), payload_type, signatures })
}

/// DSSE's pre-authentication encoding: lengths make it impossible to move a byte from one field to the other.
fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

impl Envelope {
    /// Reads an envelope of at most [`MAX_ENVELOPE`] bytes.
    ///
    /// # Errors
    /// [`Refused::Malformed`] or [`Refused::Unsigned`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Refused> {
        let value = canon::parse_up_to(bytes, MAX_ENVELOPE).map_err(Malformed::from)?;
        let mut members = Members::of(&value, String::new())?;
        let payload_type = members.text("payloadType")?.to_owned();
        let payload = decode(members.text("payload")?).ok_or_else(|| members.form("payload", CANONICAL))?;
        let listed = members.array("signatures")?;
        if listed.is_empty() {
            return Err(Refused::Unsigned);
        }
        if listed.len() > MAX_SIGNATURES {
            return Err(members.form("signatures", "at most 16 signatures").into());
        }
        members.done()?;
        let signatures = listed.into_iter().map(|(pointer, value)| Signed::read(value, pointer));
        Ok(Self { payload_type, payload, signatures: signatures.collect::<Result<_, _>>()? })
    }

    /// The key ids that signatures name, in the form that keys have here; whether they signed is not known.
    pub fn key_ids(&self) -> impl Iterator<Item = KeyId> {
        self.signatures.iter().filter_map(|signed| signed.keyid.as_deref()?.parse().ok())
    }

    /// Checks every signature that names a known key, or names none, and hands out the payload.
    ///
    /// A signature that names an unknown key, or none while no known key made it, says nothing and is passed over; one
    /// that names a known key and fails condemns the envelope.
    ///
    /// # Errors
    /// The first of [`Refused`], in the order of its variants; never a payload beside a failure.
    pub fn verify(&self, payload_type: &str, keys: &BTreeMap<KeyId, VerifyingKey>) -> Result<Checked<'_>, Refused> {
        if self.payload_type != payload_type {
            return Err(Refused::PayloadType(self.payload_type.clone()));
        }
        let message = pae(&self.payload_type, &self.payload);
        let mut by = Vec::new();
        for signed in &self.signatures {
            let made = |key: &VerifyingKey| key.verify(&message, &signed.signature).is_ok();
            match signed.keyid.as_deref() {
                None | Some("") => by.extend(keys.iter().find(|(_, key)| made(key)).map(|(id, _)| *id)),
                Some(keyid) => {
                    let Some((id, key)) = keyid.parse().ok().and_then(|id: KeyId| keys.get_key_value(&id)) else {
                        continue;
                    };
                    if !made(key) {
                        return Err(Refused::Signature);
                    }
                    by.push(*id);
                }
            }
        }
        by.sort_unstable();
        if by.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Refused::RepeatedKey);
        }
        if by.is_empty() { Err(Refused::UnknownKey) } else { Ok(Checked { payload: &self.payload, by }) }
    }
}

impl Signed {
    fn read(value: &Value<'_>, pointer: String) -> Result<Self, Malformed> {
        let mut members = Members::of(value, pointer)?;
        let keyid = members.optional_text("keyid")?.map(str::to_owned);
        let bytes = decode(members.text("sig")?).ok_or_else(|| members.form("sig", CANONICAL))?;
        let signature = bytes.try_into().map_err(|_| members.form("sig", "64 bytes"))?;
        members.done()?;
        Ok(Self { keyid, signature })
    }
}

const CANONICAL: &str = "standard base64 with padding, in its one canonical spelling";

/// Standard alphabet, padding, no white space, no stray bits: one spelling for each sequence of bytes.
fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TYPE: &str = "application/example";

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_seed(&[seed; 32])
    }

    fn known(seeds: &[u8]) -> BTreeMap<KeyId, VerifyingKey> {
        seeds.iter().map(|seed| key(*seed).verifying()).map(|key| (key.id(), key)).collect()
    }

    fn signature(seed: u8, payload: &[u8]) -> String {
        STANDARD.encode(key(seed).sign(&pae(TYPE, payload)))
    }

    /// An envelope over `hi` with these signatures.
    fn envelope(signatures: &str) -> String {
        format!(r#"{{"payload":"aGk=","payloadType":"{TYPE}","signatures":[{signatures}]}}"#)
    }

    fn signed(keyid: &str, sig: &str) -> String {
        format!(r#"{{"keyid":"{keyid}","sig":"{sig}"}}"#)
    }

    fn judge(text: &str, keys: &[u8]) -> Result<Vec<u8>, Refused> {
        let envelope = Envelope::parse(text.as_bytes())?;
        envelope.verify(TYPE, &known(keys)).map(|checked| checked.payload.to_vec())
    }

    #[test]
    fn the_encoding_is_the_specifications_own_example() {
        let expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world";
        assert_eq!(pae("http://example.com/HelloWorld", b"hello world"), expected);
        assert_eq!(pae("", b""), b"DSSEv1 0  0 ");
    }

    #[test]
    fn what_is_signed_is_what_comes_out() {
        let bytes = sign(TYPE, b"hi", &key(1));
        let envelope = Envelope::parse(&bytes).expect("an envelope");
        let checked = envelope.verify(TYPE, &known(&[1, 2])).expect("verifies");
        assert_eq!(checked, Checked { payload: b"hi", by: vec![key(1).verifying().id()] });
        assert_eq!(envelope.verify("application/other", &known(&[1])), Err(Refused::PayloadType(TYPE.to_owned())));
        assert_eq!(envelope.verify(TYPE, &known(&[2])), Err(Refused::UnknownKey));
    }

    #[test]
    fn signatures_are_counted_by_distinct_key() {
        let (one, two) = (key(1).verifying().id().to_string(), key(2).verifying().id().to_string());
        let (by_one, by_two) = (signature(1, b"hi"), signature(2, b"hi"));
        let both = envelope(&[signed(&one, &by_one), signed(&two, &by_two)].join(","));
        let found = Envelope::parse(both.as_bytes()).expect("an envelope");
        assert_eq!(found.verify(TYPE, &known(&[1, 2])).expect("verifies").by.len(), 2);
        assert_eq!(found.verify(TYPE, &known(&[1])).expect("verifies").by.len(), 1);
        for again in [signed(&one, &by_one), signed("", &by_one), format!(r#"{{"sig":"{by_one}"}}"#)] {
            let text = envelope(&[signed(&one, &by_one), again].join(","));
            assert_eq!(judge(&text, &[1, 2]), Err(Refused::RepeatedKey), "{text}");
        }
    }

    #[test]
    fn a_key_id_is_a_hint_and_no_proof() {
        let (one, two) = (key(1).verifying().id().to_string(), key(2).verifying().id().to_string());
        let by_one = signature(1, b"hi");
        for (text, keys, expected) in [
            (signed("", &by_one), &[1, 2][..], Ok(b"hi".to_vec())),
            (format!(r#"{{"sig":"{by_one}"}}"#), &[1, 2], Ok(b"hi".to_vec())),
            (signed("", &by_one), &[2], Err(Refused::UnknownKey)),
            (signed(&two, &by_one), &[1, 2], Err(Refused::Signature)),
            (signed(&two, &by_one), &[1], Err(Refused::UnknownKey)),
            (signed("a laptop", &by_one), &[1], Err(Refused::UnknownKey)),
            (signed(&one.to_uppercase(), &by_one), &[1], Err(Refused::UnknownKey)),
            // A good signature does not excuse a bad one by a known key.
            ([signed(&one, &by_one), signed(&two, &by_one)].join(","), &[1, 2], Err(Refused::Signature)),
            ([signed(&two, &by_one), signed(&one, &by_one)].join(","), &[1], Ok(b"hi".to_vec())),
        ] {
            assert_eq!(judge(&envelope(&text), keys), expected, "{text} {keys:?}");
        }
    }

    #[test]
    fn an_envelope_has_one_spelling_of_its_bytes_and_no_other_members() {
        let sig = signature(1, b"hi");
        let good = envelope(&signed("", &sig));
        assert_eq!(judge(&good, &[1]), Ok(b"hi".to_vec()));
        let spaced = good.replace(',', " ,\n ");
        assert_eq!(judge(&spaced, &[1]), Ok(b"hi".to_vec()), "white space around members is not signed");
        for (what, text) in [
            ("no padding", good.replace("aGk=", "aGk")),
            ("stray bits", good.replace("aGk=", "aGl=")),
            ("line break", good.replace("aGk=", "aG\\nk=")),
            ("too much padding", good.replace("aGk=", "aGk==")),
            ("url alphabet", good.replace("aGk=", "a-_=")),
            ("short signature", envelope(&signed("", &sig[..84]))),
            ("signature of 65 bytes", envelope(&signed("", &STANDARD.encode([0; 65])))),
            ("another member", good.replacen('{', r#"{"note":"x","#, 1)),
            ("another member of a signature", good.replacen(r#"{"keyid""#, r#"{"cert":"x","keyid""#, 1)),
            ("another case", good.replacen("payloadType", "PayloadType", 1)),
            ("two payloads", good.replacen('{', r#"{"payload":"aGs=","#, 1)),
            ("two payloads, one escaped", good.replacen('{', r#"{"payl\u006fad":"aGs=","#, 1)),
            ("null key id", good.replacen(r#""keyid":"""#, r#""keyid":null"#, 1)),
            ("payload missing", good.replacen(r#""payload":"aGk=","#, "", 1)),
            ("signatures missing", format!(r#"{{"payload":"aGk=","payloadType":"{TYPE}"}}"#)),
            ("signatures no array", format!(r#"{{"payload":"aGk=","payloadType":"{TYPE}","signatures":{{}}}}"#)),
            ("an array", format!("[{good}]")),
            ("something after", format!("{good}{{}}")),
            ("byte-order mark", format!("\u{feff}{good}")),
            ("nothing", String::new()),
        ] {
            let refused = judge(&text, &[1]).expect_err(what);
            assert!(matches!(refused, Refused::Malformed(_)), "{what}: {refused}");
        }
        assert_eq!(judge(&envelope(""), &[1]), Err(Refused::Unsigned));
    }

    #[test]
    fn sixteen_signatures_are_read_and_seventeen_are_not() {
        let one = signed("a stranger", &signature(9, b"hi"));
        assert_eq!(judge(&envelope(&vec![one.clone(); MAX_SIGNATURES].join(",")), &[1]), Err(Refused::UnknownKey));
        let refused = judge(&envelope(&vec![one; MAX_SIGNATURES + 1].join(",")), &[1]).expect_err("one too many");
        assert_eq!(refused.to_string(), "no DSSE envelope: \"/signatures\" must be at most 16 signatures");
    }

    #[test]
    fn an_envelope_of_the_longest_size_is_read_and_one_byte_more_is_not() {
        let good = envelope(&signed("", &signature(1, b"hi")));
        let mut padded = good.clone() + &" ".repeat(MAX_ENVELOPE - good.len());
        assert_eq!(judge(&padded, &[1]), Ok(b"hi".to_vec()));
        padded.push(' ');
        assert!(matches!(judge(&padded, &[1]), Err(Refused::Malformed(Malformed::Json(_)))));
    }

    #[test]
    fn a_signature_with_the_group_order_added_is_refused() {
        const ORDER: [u8; 32] = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let mut raw = key(1).sign(&pae(TYPE, b"hi"));
        let mut carry = 0;
        for (byte, order) in raw[32..].iter_mut().zip(ORDER) {
            let sum = u16::from(*byte) + u16::from(order) + carry;
            *byte = (sum & 0xff) as u8;
            carry = sum >> 8;
        }
        let keyid = key(1).verifying().id().to_string();
        assert_eq!(judge(&envelope(&signed(&keyid, &STANDARD.encode(raw))), &[1]), Err(Refused::Signature));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_verify_and_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(envelope) = Envelope::parse(&bytes) {
                envelope.verify(TYPE, &known(&[1])).unwrap_err();
            }
        }

        #[test]
        fn a_changed_byte_of_an_envelope_never_yields_another_payload(at in 0usize..10_000, to in any::<u8>()) {
            let mut bytes = sign(TYPE, b"some payload", &key(1));
            let at = at % bytes.len();
            bytes[at] = to;
            if let Ok(envelope) = Envelope::parse(&bytes) && let Ok(checked) = envelope.verify(TYPE, &known(&[1])) {
                prop_assert_eq!(checked.payload, b"some payload");
            }
        }

        #[test]
        fn two_different_pairs_have_different_encodings(
            a in ("[a-z 0-9]{0,6}", "[a-z 0-9]{0,6}"), b in ("[a-z 0-9]{0,6}", "[a-z 0-9]{0,6}"),
        ) {
            prop_assert_eq!(a == b, pae(&a.0, a.1.as_bytes()) == pae(&b.0, b.1.as_bytes()));
        }
    }
}
