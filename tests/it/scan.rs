//! The scanner from outside: what it finds in real and in poisoned descriptors, what it can't be tricked past, and what
//! it says when it gives up.

mod cases;
mod corpus;
mod evasions;
mod limits;

use countersign::{
    descriptor::Descriptor,
    name::Kind,
    scan::{Report, Ruleset, Severity},
};

/// A tool with this description.
fn tool(description: &str) -> Descriptor {
    let tool = serde_json::json!({"name": "berths", "description": description, "inputSchema": {"type": "object"}});
    Descriptor::parse(Kind::Tool, tool.to_string().as_bytes()).expect("strict JSON")
}

fn rules() -> Ruleset {
    Ruleset::builtin().expect("the built-in packs pass their own examples")
}

/// The rules that found something of medium weight or more, each once.
fn found(report: &Report) -> Vec<&str> {
    let heavy = report.findings.iter().filter(|finding| finding.severity >= Severity::Medium);
    let mut rules: Vec<&str> = heavy.map(|finding| finding.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}
