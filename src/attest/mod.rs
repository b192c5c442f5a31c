//! Who speaks for a release.

use serde::{Deserialize, Serialize};

/// Who a release's signer speaks as.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// For the namespace.
    Publisher,
    /// For the operator, who recorded what the server lists.
    Capture,
}

/// How strong evidence is, weakest first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The operator's own capture.
    Capture,
    /// A publisher's enrolled key.
    Key,
    /// A Sigstore identity.
    Sigstore,
}
