//! The scanner's rules that a pin set names: our own where they are those, else the registry's packs.
//!
//! A set that was made with other rules is judged by those rules or not at all: without them what no pin covers is
//! blocked.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{
    canon::{self, Sha256},
    env::Clock,
    scan::Ruleset,
};

use super::{Registry, State};

/// A rule set's document names a few packs.
const MAX_DOCUMENT: usize = 64 << 10;
/// The largest pack of ours has 40 KiB.
const MAX_PACK: usize = 1 << 20;
/// An operator's own directory on top of ours.
const MAX_PACKS: usize = 64;

/// Compiling the rules and running their examples takes longer than anything else that a check does.
static OWN: LazyLock<Option<Ruleset>> = LazyLock::new(|| Ruleset::builtin().ok());

/// Rules that may scan for a set.
pub enum Rules {
    /// Those that come with this version.
    Own(&'static Ruleset),
    /// Those that were pulled with the set.
    Pulled(Box<Ruleset>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    r#type: String,
    #[expect(
        dead_code,
        reason = "part of the form; another engine's set has another digest and doesn't come out equal"
    )]
    engine: u32,
    packs: Vec<Named>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    sha256: Sha256,
}

impl State {
    /// The rules with this digest, if they are built in or were pulled.
    pub fn ruleset(&self, sha256: &Sha256) -> Option<Rules> {
        match own(sha256) {
            Some(own) => Some(Rules::Own(own)),
            None => compile(sha256, |id| self.document(id)).map(|rules| Rules::Pulled(Box::new(rules))),
        }
    }
}

impl std::ops::Deref for Rules {
    type Target = Ruleset;

    fn deref(&self) -> &Ruleset {
        match self {
            Self::Own(rules) => rules,
            Self::Pulled(rules) => rules,
        }
    }
}

fn own(sha256: &Sha256) -> Option<&'static Ruleset> {
    OWN.as_ref().filter(|own| own.sha256() == *sha256)
}

/// Fetches what of the rules isn't at hand. `None` where they can't be had, which is no reason to refuse the set.
pub(super) async fn fetch(
    registry: &Registry,
    clock: &dyn Clock,
    sha256: &Sha256,
    at_hand: impl Fn(&Sha256) -> Option<Vec<u8>>,
) -> Option<Vec<Vec<u8>>> {
    if own(sha256).is_some() {
        return Some(Vec::new());
    }
    let get = async |id: &Sha256, max| match at_hand(id) {
        Some(bytes) => Some(bytes),
        None => {
            let id_text = id.to_string();
            let body = registry.get(clock, &["v1", "content", &id_text], &[], None, max).await.ok()??;
            (Sha256::of(&body.bytes) == *id).then_some(body.bytes)
        }
    };
    let document = get(sha256, MAX_DOCUMENT).await?;
    let mut all = Vec::new();
    for pack in parse(&document)?.packs {
        all.push(get(&pack.sha256, MAX_PACK).await?);
    }
    all.push(document);
    Some(all)
}

/// The documents that make up a rule set, the set's own among them.
pub(super) fn parts(sha256: &Sha256, read: impl Fn(&Sha256) -> Option<Vec<u8>>) -> Vec<Sha256> {
    let packs = read(sha256).and_then(|document| parse(&document)).map(|document| document.packs).unwrap_or_default();
    packs.into_iter().map(|pack| pack.sha256).chain([*sha256]).collect()
}

fn compile(sha256: &Sha256, read: impl Fn(&Sha256) -> Option<Vec<u8>>) -> Option<Ruleset> {
    let packs = parse(&read(sha256)?)?.packs;
    let texts = packs.iter().map(|pack| Some((pack.name.clone(), String::from_utf8(read(&pack.sha256)?).ok()?)));
    let texts = texts.collect::<Option<Vec<_>>>()?;
    let packs: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    // Packs for another engine don't come out under this digest, and a pack that fails its own examples scans nothing.
    Ruleset::from_packs(&packs).ok().filter(|ruleset| ruleset.sha256() == *sha256)
}

fn parse(document: &[u8]) -> Option<Document> {
    let document: Document = canon::from_jcs(document, MAX_DOCUMENT).ok()?;
    (document.r#type == "countersign/ruleset/v1" && document.packs.len() <= MAX_PACKS).then_some(document)
}
