//! What a release lists, each entry with how it stands in a pin set: a piece of the list at a time.

use super::{label, neighbours, queue::says, signs};
use crate::{
    canon::{Digest, Sha256},
    clock::Timestamp,
    name::{DescriptorName, SetName},
    pinset::SetState,
    scan::Report,
    service::Moment,
    store::{Candidate, Conn, Descriptor, Release, StoreError},
    ui::{
        figure::{Count, Short},
        html::Html,
        piece::{Link, Tab},
        server::{DescriptorRow, Listing, Unpinnable},
        sign::{Severities, Sign},
    },
};

/// Entries on one page.
const ROWS: usize = 100;
/// As much of a tool's own words as a row has room for.
const SAID: usize = 160;

/// What is asked for.
pub(super) struct Wanted<'a> {
    pub(super) moment: &'a Moment,
    pub(super) now: Timestamp,
    pub(super) release: &'a Release,
    pub(super) set: &'a SetName,
    /// The first entry.
    pub(super) from: usize,
    /// Whether candidates and findings are for whoever looks.
    pub(super) reviews: bool,
    pub(super) headline: &'static str,
    /// The page's address.
    pub(super) page: &'a str,
}

impl Wanted<'_> {
    pub(super) async fn listing(&self, conn: &mut Conn) -> Result<Listing, StoreError> {
        let all = conn.descriptors(&self.release.id).await?;
        let opened: Vec<Candidate> = match self.reviews {
            true => conn.candidates_of_release(&self.release.id).await?,
            false => Vec::new(),
        };
        let mut rows = Vec::new();
        for entry in all.iter().skip(self.from).take(ROWS) {
            rows.push(self.row(conn, entry, &opened).await?);
        }
        let href = |from: usize| format!("{}?set={}&from={from}#h-desc", self.page, self.set);
        let unpinnable = all.iter().filter(|entry| entry.unpinnable.is_some()).skip(self.from).take(ROWS);
        Ok(Listing {
            headline: self.headline,
            total: Count(all.len() as u64),
            set: self.set.to_string(),
            sets: self.sets(),
            rows,
            before: (self.from > 0)
                .then(|| Link { href: href(self.from.saturating_sub(ROWS)), words: "Entries before".to_owned() }),
            more: (self.from + ROWS < all.len())
                .then(|| Link { href: href(self.from + ROWS), words: "More entries".to_owned() }),
            unpinnable: unpinnable.map(unpinned).collect(),
        })
    }

    fn sets(&self) -> Vec<Tab> {
        let names = self.moment.state.sets().map(SetState::name);
        let tab = |name: &SetName| Tab {
            href: format!("{}?set={name}#h-desc", self.page),
            words: name.to_string(),
            sign: None,
            count: None,
            current: name == self.set,
        };
        names.map(tab).collect()
    }

    async fn row(
        &self,
        conn: &mut Conn,
        entry: &Descriptor,
        opened: &[Candidate],
    ) -> Result<DescriptorRow, StoreError> {
        let candidate = opened.iter().rfind(|c| c.pinset == *self.set && c.position == entry.position);
        let (sign, decision) = self.sign(entry, candidate);
        let raw = conn.content(entry.raw).await?;
        let read = raw.and_then(|raw| crate::descriptor::Descriptor::parse(entry.kind, &raw.bytes).ok());
        let next = match (candidate, decision) {
            (Some(c), _) if c.state == crate::store::Stage::Pending => Some((neighbours::address(&c.id), "Review")),
            (_, Some(decision)) => Some((format!("/decisions/{decision}"), "Decision")),
            (Some(c), None) => Some((neighbours::address(&c.id), "Candidate")),
            (None, None) => None,
        };
        Ok(DescriptorRow {
            name: label::listed(entry.name.trim_start()),
            href: candidate.map(|c| neighbours::address(&c.id)),
            kind: label::kind(entry.kind),
            sign,
            says: read.map_or_else(Html::new, |read| says(&read, SAID)),
            digest: Short::digest(Digest::jcs(entry.digest)),
            findings: if self.reviews { self.findings(conn, entry).await? } else { None },
            next: next.map(|(href, words)| Link { href, words: words.to_owned() }),
        })
    }

    /// How the digest stands under its name, and the decision that put it there.
    fn sign(&self, entry: &Descriptor, candidate: Option<&Candidate>) -> (Sign, Option<Sha256>) {
        if entry.unpinnable.is_some() {
            return (Sign::Unpinnable, candidate.and_then(|c| c.decision));
        }
        let pinned = || {
            let set = self.moment.state.set(self.set)?;
            let name = DescriptorName::new(entry.kind, &entry.name).ok()?;
            let (alias, qualified, _) = set.joined(&self.release.server, &name).ok()?;
            let (under, digest) = (set.alias(&alias)?, Digest::jcs(entry.digest));
            let variant = &self.release.variant;
            let pin = under.pins().find(|p| {
                p.kind == entry.kind && p.name == qualified && p.variant == *variant && p.digests.digest() == digest
            });
            let denied = under
                .denied()
                .find(|d| d.kind == entry.kind && d.name == qualified && d.variant == *variant && d.digest == digest);
            let denied = denied.map(|d| (signs::of_denied(d.state), candidate.and_then(|c| c.decision)));
            denied.or_else(|| pin.map(|pin| (signs::of_pin(pin, self.now), Some(pin.approval.decision_sha256))))
        };
        pinned().unwrap_or_else(|| match candidate {
            Some(c) => (signs::of_stage(c.state, c.reason), c.decision),
            None => (Sign::Unknown, None),
        })
    }

    async fn findings(&self, conn: &mut Conn, entry: &Descriptor) -> Result<Option<Severities>, StoreError> {
        let Some(registry) = self.moment.state.registry() else { return Ok(None) };
        let scan = conn.scan(&Digest::jcs(entry.digest).to_string(), registry.ruleset).await?;
        let Some(scan) = scan else { return Ok(None) };
        if scan.findings == 0 {
            return Ok(Some(Severities::default()));
        }
        let report = conn.content(scan.report).await?;
        let report = report.and_then(|report| serde_json::from_slice::<Report>(&report.bytes).ok());
        Ok(report.map(|report| signs::severities(&report)))
    }
}

fn unpinned(entry: &Descriptor) -> Unpinnable {
    let code = entry.unpinnable.clone().unwrap_or_default();
    Unpinnable {
        name: label::listed(entry.name.trim_start()),
        why: why(&code).to_owned(),
        code,
        pointer: label::listed(entry.pointer.as_deref().unwrap_or_default().trim_start()),
    }
}

/// A sentence for each rule that pins need.
fn why(code: &str) -> &'static str {
    match code {
        "not-an-object" => "It is no JSON object.",
        "not-a-string" => "Instructions are a text.",
        "name-missing" => "It has no name.",
        "name-illegal" => "The name has characters that no name may have, or is too long.",
        "null-member" => "A top-level member is null: some readers see it, some see nothing.",
        "schema-missing" => "A tool needs an inputSchema.",
        "schema-not-object" => "Its inputSchema is no object.",
        "schema-root-not-object" => "The root type of its inputSchema is not object.",
        "external-ref" => "A $ref leads out of the document, to a schema that no digest covers.",
        "arguments-illegal" => "Its arguments are no list of objects with a name each.",
        "duplicate-name" => "The release lists the name twice, so it says not which one is meant.",
        _ => "It breaks a rule that pins need.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_of_pins_has_its_sentence() {
        use crate::descriptor::Rule as R;
        for rule in [
            R::NotAnObject,
            R::NotAString,
            R::NameMissing,
            R::NameIllegal,
            R::NullMember,
            R::SchemaMissing,
            R::SchemaNotObject,
            R::SchemaRootNotObject,
            R::ExternalRef,
            R::ArgumentsIllegal,
            R::DuplicateName,
        ] {
            assert_ne!(why(rule.as_str()), why(""), "{rule}");
        }
    }
}
