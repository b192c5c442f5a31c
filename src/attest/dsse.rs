//! DSSE v1 envelopes (secure-systems-lab/dsse, `protocol.md` and `envelope.md`): sign bytes, check bytes, hand back the
//! bytes that were checked.
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

/// A statement over the 2,000 descriptors that a release may have is 400 KB; its base64 is a third more.
pub const MAX_ENVELOPE: usize = 1 << 20;
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
