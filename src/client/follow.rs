//! From the trust file in hand to the newest that it leads to: what is stale, foreign or forged is not taken, and said.

use super::{Error, Registry};
use crate::{
    env::{BoxFuture, Clock},
    pinset::trust::{BadTrust, Trust},
};

/// A trust file holds a handful of keys.
const MAX_TRUST: usize = 64 << 10;
/// Versions of trust files between two looks: one for each key that changed. More in a row are no change of keys.
const MAX_STEPS: u64 = 64;

/// Brings the trust file in hand up to the newest that the registry serves; why not, if it doesn't lead there.
///
/// # Errors
/// [`Error`] if the registry can't be asked.
pub async fn trust(registry: &Registry, clock: &dyn Clock, trust: &mut Trust) -> Result<Option<BadTrust>, Error> {
    let newest = newest(registry, clock).await?;
    let between = |version: u64| -> BoxFuture<'_, Result<Option<String>, Error>> {
        Box::pin(async move {
            match registry.get(clock, &["v1", "trust", &version.to_string()], &[], None, MAX_TRUST).await {
                Ok(body) => Ok(body.map(|body| String::from_utf8_lossy(&body.bytes).into_owned())),
                Err(Error::Status { .. }) => Ok(None),
                Err(e) => Err(e),
            }
        })
    };
    to(trust, &newest, between).await
}

/// The trust file that a registry serves.
pub(super) async fn newest(registry: &Registry, clock: &dyn Clock) -> Result<String, Error> {
    let body = registry.get(clock, &["v1", "trust"], &[], None, MAX_TRUST).await?;
    Ok(body.map(|body| String::from_utf8_lossy(&body.bytes).into_owned()).unwrap_or_default())
}

/// Brings the trust file in hand up to `newest`. Where the root changed more than once, that isn't signed by the root in
/// hand, and the versions in between are asked for. What was reached counts even where the rest of the way is missing.
pub(super) async fn to<'a, E>(
    trust: &mut Trust,
    newest: &str,
    between: impl Fn(u64) -> BoxFuture<'a, Result<Option<String>, E>> + Send + Sync,
) -> Result<Option<BadTrust>, E> {
    for _ in 0..MAX_STEPS {
        let refused = match trust.next(newest) {
            Ok(next) => {
                if let Some(next) = next {
                    *trust = next;
                }
                return Ok(None);
            }
            Err(refused) => refused,
        };
        let offered = Trust::first(newest).map_or(0, |offered| offered.terms().version);
        let next = trust.terms().version + 1;
        if refused != BadTrust::OtherRoot || offered <= next {
            return Ok(Some(refused));
        }
        match between(next).await?.map(|note| trust.next(&note)) {
            Some(Ok(Some(between))) => *trust = between,
            Some(Err(refused)) => return Ok(Some(refused)),
            Some(Ok(None)) | None => return Ok(Some(refused)),
        }
    }
    Ok(Some(BadTrust::OtherRoot))
}
