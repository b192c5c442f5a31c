//! What somebody typed to find an entry.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use crate::{canon::Sha256, service::Moment};

/// A number, a hash, or the id of a release.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Sought {
    Index(u64),
    Hash(Sha256),
    Release(String),
}

impl Sought {
    /// Reads it in the forms that pages, commands and proofs write: `1,204`, hex with or without its recipe, base64.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.bytes().all(|b| b.is_ascii_digit() || b == b',') && text.len() < 32 {
            return text.replace(',', "").parse().ok().map(Self::Index);
        }
        let hex = text.rsplit_once(':').map_or(text, |(_, hex)| hex).to_ascii_lowercase();
        if hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Some(Self::Release(hex));
        }
        if let Ok(hash) = hex.parse() {
            return Some(Self::Hash(hash));
        }
        let bytes = BASE64.decode(text).ok()?;
        Some(Self::Hash(Sha256(bytes.try_into().ok()?)))
    }
}

/// The entry that last decided about a descriptor of this digest, as far as it stands today.
pub(super) fn decided(moment: &Moment, sha256: Sha256) -> Option<u64> {
    let under = moment.state.sets().flat_map(|set| set.aliases().map(|(_, under)| under));
    let of = |under: &crate::pinset::AliasState| {
        let pins = under.pins().filter(|pin| pin.digests.jcs == sha256).map(|pin| pin.approval.log_index);
        pins.chain(under.denied().filter(|d| d.digest.sha256 == sha256).map(|d| d.log_index)).max()
    };
    under.filter_map(of).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_read_as_pages_commands_and_proofs_write_it() {
        let hash = Sha256::of(b"x");
        let hex = hash.to_string();
        let rows = [
            ("0", Some(Sought::Index(0))),
            (" 74,002 ", Some(Sought::Index(74_002))),
            ("99999999999999999999999", None),
            ("", None),
            (&hex, Some(Sought::Hash(hash))),
            (&hex.to_uppercase(), Some(Sought::Hash(hash))),
            (&format!("jcs-sha256:{hex}"), Some(Sought::Hash(hash))),
            (&format!("sha256:{hex}"), Some(Sought::Hash(hash))),
            (&BASE64.encode(hash.0), Some(Sought::Hash(hash))),
            (&hex[..32], Some(Sought::Release(hex[..32].to_owned()))),
            (&hex[..31], None),
            (&hex[..63], None),
            ("notes.export", None),
            ("<script>", None),
        ];
        for (text, expected) in rows {
            assert_eq!(Sought::parse(text), expected, "{text}");
        }
    }
}
