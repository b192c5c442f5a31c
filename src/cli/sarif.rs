//! Findings as SARIF 2.1.0, for code scanning services.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::scan::{Finding, Severity};

use super::scan::{Scanned, word};

/// The document: one run, one result a finding.
pub(super) fn document(scanned: &[Scanned]) -> impl Serialize {
    let findings = || scanned.iter().flat_map(|file| file.findings.iter().map(move |finding| (file, finding)));
    let rules: BTreeMap<&str, &Finding> = findings().map(|(_, finding)| (finding.rule.as_str(), finding)).collect();
    let rules: Vec<Value> = rules.iter().map(|(id, finding)| rule(id, finding)).collect();
    let results: Vec<Value> = findings().map(|(file, finding)| result(&file.path.to_string_lossy(), finding)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "countersign", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(id: &str, finding: &Finding) -> Value {
    // The scale of code scanning services runs from 0 to 10.
    let security = match finding.severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.0",
        Severity::Low => "3.0",
        Severity::Info => "0.0",
    };
    json!({
        "id": id,
        "properties": {"security-severity": security, "tags": ["security", finding.surface]},
    })
}

fn result(path: &str, finding: &Finding) -> Value {
    let level = match finding.severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    };
    json!({
        "ruleId": finding.rule,
        "level": level,
        "message": {"text": finding.message},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": path}},
            "logicalLocations": [{
                "name": finding.name,
                "kind": "member",
                "fullyQualifiedName": format!("{}/{}#{}", finding.kind, finding.name, finding.pointer),
            }],
        }],
        "partialFingerprints": {"countersignFinding/v1": finding.id},
        "properties": {
            "severity": word(finding.severity),
            "surface": finding.surface,
            "view": finding.view,
            "span": finding.span,
        },
    })
}
