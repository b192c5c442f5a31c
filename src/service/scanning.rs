//! Scan reports: made before the queue, kept beside what they are about.

use crate::{
    canon::{Digest, to_jcs},
    descriptor::{Descriptor, Release},
    review::Policy,
    scan::{Report, Ruleset, Severity},
    store::{self, Content, StoreError, WriteTx},
};

use super::{commit::JSON, publish::Refused};

/// A descriptor's report, ready to be kept.
#[derive(Clone, Debug)]
pub(super) struct Scanned {
    /// Whose.
    pub digest: Digest,
    /// What the scanner said.
    pub report: Report,
}

/// Scans everything that a release lists.
pub(super) fn all(rules: &Ruleset, release: &Release) -> Result<Vec<Scanned>, Refused> {
    let descriptors = release.capture.listed.iter().filter_map(|listed| listed.parsed.as_ref().ok());
    Ok(descriptors.map(|descriptor| one(rules, descriptor)).collect())
}

/// Scans one descriptor.
pub(super) fn one(rules: &Ruleset, descriptor: &Descriptor) -> Scanned {
    Scanned { digest: descriptor.digest(), report: rules.scan(descriptor) }
}

impl Scanned {
    /// Keeps the report. The same rules say the same of the same descriptor, so a second write changes nothing.
    pub(super) async fn write(&self, tx: &mut WriteTx) -> Result<(), StoreError> {
        // Reports quote what a publisher wrote; reviewers read them with the candidate, nobody else does.
        let document = Content::new(to_jcs(&self.report), JSON, false);
        tx.put_content(&document).await?;
        let row = store::Scan {
            subject: self.digest.to_string(),
            ruleset: self.report.ruleset,
            report: document.sha256,
            complete: self.report.complete,
            findings: i64::try_from(self.report.findings.len()).unwrap_or(i64::MAX),
            gravest: self.report.worst().map(|severity| severity.as_str().to_owned()),
        };
        tx.put_scan(&row).await
    }
}

/// The gravest finding as a set's policy weighs it. A report that isn't complete weighs as high: what wasn't looked at
/// isn't known to be harmless.
pub(super) fn gravest(report: &Report, policy: &Policy) -> Option<Severity> {
    let weigh = |rule: &String, own: Severity| policy.severities.get(rule).copied().unwrap_or(own);
    let found = report.findings.iter().map(|finding| weigh(&finding.rule, finding.severity)).max();
    if report.complete { found } else { found.max(Some(Severity::High)) }
}
