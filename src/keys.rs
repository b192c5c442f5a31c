//! Ed25519 keys: sign, verify, name a key, and the text forms that key files hold.
//!
//! No files and no randomness: a new key is made from 32 random bytes that the caller brings. Verification is
//! `verify_strict` (RFC 8032 with the checks of "Taming the many EdDSAs"): points of small order and scalars that are
//! not reduced are refused, so that a signature can't be reshaped into another. Key text is PKCS #8 and SPKI in PEM
//! (RFC 5958, RFC 8410), which openssl reads and writes. A key is named by the SHA-256 of its SPKI, which is the twelve
//! bytes `302a300506032b6570032100` and the 32 of the compressed point; documents write both as 64 lower-case hex digits.
//! A key that is a point of small order is refused wherever one is read.

use std::{fmt, str::FromStr};

use ed25519_dalek::{
    Signer,
    pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, spki::der::pem::LineEnding},
};
use zeroize::Zeroizing;

use crate::canon::Sha256;

/// A private key. Its bytes are wiped when it is dropped and are never shown by `Debug`.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

/// A public key that is no point of small order.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct VerifyingKey(ed25519_dalek::VerifyingKey);

/// A signature of 64 bytes; says nothing until a key has verified it.
pub type Signature = [u8; 64];

/// The SHA-256 of a public key's SPKI, in hex: how authorities, releases and trust files name a key.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize)]
#[serde(transparent)]
pub struct KeyId(pub Sha256);

/// The text holds no usable key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BadKey {
    /// Not PEM, or PEM of something else.
    #[error("not an Ed25519 {0} key in PEM")]
    Text(&'static str),
    /// A point of small order, for which anyone can make signatures.
    #[error("a weak Ed25519 key (a point of small order)")]
    Weak,
    /// Not a point of the curve.
    #[error("not an Ed25519 public key of 32 bytes")]
    Point,
}

/// The signature isn't this key's over this message.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the signature does not verify")]
pub struct BadSignature;

impl SigningKey {
    /// The key whose secret is these 32 random bytes.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// Its public half.
    pub fn verifying(&self) -> VerifyingKey {
        VerifyingKey(self.0.verifying_key())
    }

    /// Signs a message as it stands; callers bring their own domain separation (DSSE's PAE, a note's text).
    pub fn sign(&self, message: &[u8]) -> Signature {
        self.0.sign(message).to_bytes()
    }

    /// PKCS #8 in PEM, for a file that only its owner reads.
    ///
    /// # Errors
    /// Never for a key of this type; the encoder's signature says it could.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, BadKey> {
        self.0.to_pkcs8_pem(LineEnding::LF).map_err(|_| BadKey::Text("private"))
    }

    /// Reads what [`SigningKey::to_pem`] writes, or `openssl genpkey -algorithm ed25519`.
    ///
    /// # Errors
    /// [`BadKey::Text`] for any other text.
    pub fn from_pem(text: &str) -> Result<Self, BadKey> {
        ed25519_dalek::SigningKey::from_pkcs8_pem(text).map(Self).map_err(|_| BadKey::Text("private"))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.verifying().id())
    }
}

impl VerifyingKey {
    /// The key with this compressed point.
    ///
    /// # Errors
    /// [`BadKey::Point`] or [`BadKey::Weak`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, BadKey> {
        Self::checked(ed25519_dalek::VerifyingKey::from_bytes(bytes).map_err(|_| BadKey::Point)?)
    }

    /// The compressed point.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// The SubjectPublicKeyInfo in DER: 44 bytes (RFC 8410).
    pub fn spki(&self) -> [u8; 44] {
        let mut der = [0; 44];
        der[..12].copy_from_slice(&[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]);
        der[12..].copy_from_slice(self.0.as_bytes());
        der
    }

    /// The SHA-256 of the SPKI.
    pub fn id(&self) -> KeyId {
        KeyId(Sha256::of(&self.spki()))
    }

    /// Checks a signature strictly.
    ///
    /// # Errors
    /// [`BadSignature`], and no reason: whoever is told which check failed is helped to pass it.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), BadSignature> {
        let signature = ed25519_dalek::Signature::from_bytes(signature);
        self.0.verify_strict(message, &signature).map_err(|_| BadSignature)
    }

    /// SPKI in PEM, for a `.pub` file.
    ///
    /// # Errors
    /// Never for a key of this type; the encoder's signature says it could.
    pub fn to_pem(&self) -> Result<String, BadKey> {
        self.0.to_public_key_pem(LineEnding::LF).map_err(|_| BadKey::Text("public"))
    }

    /// Reads what [`VerifyingKey::to_pem`] writes, or `openssl pkey -pubout`.
    ///
    /// # Errors
    /// [`BadKey::Text`] for any other text, [`BadKey::Weak`] for a point of small order.
    pub fn from_pem(text: &str) -> Result<Self, BadKey> {
        Self::checked(ed25519_dalek::VerifyingKey::from_public_key_pem(text).map_err(|_| BadKey::Text("public"))?)
    }

    fn checked(key: ed25519_dalek::VerifyingKey) -> Result<Self, BadKey> {
        if key.is_weak() { Err(BadKey::Weak) } else { Ok(Self(key)) }
    }
}

/// 64 lower-case hex digits of the compressed point.
impl serde::Serialize for VerifyingKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Sha256(*self.as_bytes()))
    }
}

/// Refuses weak keys like every other way in.
impl<'de> serde::Deserialize<'de> for VerifyingKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Sha256(bytes) = Sha256::deserialize(deserializer)?;
        Self::from_bytes(&bytes).map_err(serde::de::Error::custom)
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({})", self.id())
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for KeyId {
    type Err = crate::canon::NotHex;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, section 7.1, test 2.
    const SEED: [u8; 32] = [
        0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e, 0x0f, 0x5b, 0x8a,
        0x31, 0x9f, 0x35, 0xab, 0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb,
    ];
    const SIGNATURE: &str = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn the_vector_of_rfc_8032_comes_out() {
        let key = SigningKey::from_seed(&SEED);
        let signature = key.sign(&[0x72]);
        assert_eq!(hex(&signature), SIGNATURE);
        assert_eq!(key.verifying().verify(&[0x72], &signature), Ok(()));
        assert_eq!(key.verifying().verify(&[0x73], &signature), Err(BadSignature));
    }

    #[test]
    fn a_signature_with_the_group_order_added_is_refused() {
        const ORDER: [u8; 32] = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let key = SigningKey::from_seed(&SEED);
        let mut signature = key.sign(b"m");
        let mut carry = 0;
        for (byte, order) in signature[32..].iter_mut().zip(ORDER) {
            let sum = u16::from(*byte) + u16::from(order) + carry;
            *byte = (sum & 0xff) as u8;
            carry = sum >> 8;
        }
        assert_eq!(carry, 0, "S + L still fits 32 bytes");
        assert_eq!(key.verifying().verify(b"m", &signature), Err(BadSignature));
    }

    #[test]
    fn weak_and_broken_points_are_refused() {
        let mut identity = [0; 32];
        identity[0] = 1;
        assert_eq!(VerifyingKey::from_bytes(&identity), Err(BadKey::Weak));
        assert_eq!(VerifyingKey::from_bytes(&[0; 32]), Err(BadKey::Weak));
        let mut off_curve = [0; 32];
        off_curve[0] = 2;
        assert_eq!(VerifyingKey::from_bytes(&off_curve), Err(BadKey::Point));
    }

    #[test]
    fn key_text_is_what_openssl_writes() {
        let key = SigningKey::from_seed(&SEED);
        let private = key.to_pem().expect("encodes");
        assert!(private.starts_with("-----BEGIN PRIVATE KEY-----\n"));
        let back = SigningKey::from_pem(&private).expect("decodes");
        assert_eq!(back.verifying(), key.verifying());
        let public = key.verifying().to_pem().expect("encodes");
        assert_eq!(
            public,
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n\
             -----END PUBLIC KEY-----\n"
        );
        assert_eq!(VerifyingKey::from_pem(&public), Ok(key.verifying()));
        assert_eq!(VerifyingKey::from_pem(&private), Err(BadKey::Text("public")));
        assert_eq!(
            key.verifying().id().to_string(),
            "deb2ded39dc26fce0e6085b6fc34bf6b5941913bbfe2ea614113cff9e004c170"
        );
    }

    #[test]
    fn debug_shows_no_secret() {
        let key = SigningKey::from_seed(&SEED);
        assert_eq!(format!("{key:?}"), format!("SigningKey({})", key.verifying().id()));
    }
}
