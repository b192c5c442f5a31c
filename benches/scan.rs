//! What a scan costs beside bounds that any scanner pays: reading the text once, and canonicalising and hashing it.
//!
//! `ordinary` is a tool as servers list them; `hostile` a megabyte written to tire a scanner out. The ratio of time a
//! byte between the two says whether the work is linear in practice.

#![expect(clippy::expect_used, reason = "a bench stops at a fault")]

use std::hint::black_box;

use countersign::{descriptor::Descriptor, name::Kind, scan::Ruleset};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn tool(description: &str) -> Vec<u8> {
    let parameters: serde_json::Map<String, serde_json::Value> = (0..8)
        .map(|i| {
            let text =
                format!("The value of field {i}, as a list of names. Defaults to all names when it is left out.");
            (format!("field_{i}"), serde_json::json!({"type": "string", "description": text, "default": "name"}))
        })
        .collect();
    let schema = serde_json::json!({"type": "object", "properties": parameters, "required": ["field_1"]});
    let tool = serde_json::json!({"name": "list_notes", "description": description, "inputSchema": schema});
    tool.to_string().into_bytes()
}

const ORDINARY: &str = "Lists the notes of a folder, newest first. Use it to find a note before reading or changing it. \
    IMPORTANT: pass the folder's id, not its title; call list_folders first if you don't know it. Returns at most 100 \
    notes with title, author and date of last change. Never returns the text of a note.";

fn scan(c: &mut Criterion) {
    let rules = Ruleset::builtin().expect("the built-in packs pass their own examples");
    let inputs = [
        ("ordinary", tool(ORDINARY)),
        ("hostile brackets", tool(&"<".repeat(1_000_000))),
        ("hostile beginnings", tool(&"ignore all do not tell ".repeat(40_000))),
        ("hostile marks", tool(&"a\u{301}\u{200b}".repeat(150_000))),
    ];
    for (name, raw) in &inputs {
        let descriptor = Descriptor::parse(Kind::Tool, raw).expect("strict JSON");
        let mut group = c.benchmark_group(format!("scan {name}"));
        group.throughput(Throughput::Bytes(raw.len() as u64)).sample_size(20);
        group.bench_function("bound: read once", |b| b.iter(|| memchr::memchr(0xff, black_box(raw))));
        group.bench_function("bound: parse, canonicalise, hash", |b| {
            b.iter_batched(|| raw.clone(), |raw| Descriptor::parse(Kind::Tool, &raw), BatchSize::SmallInput);
        });
        group.bench_function("scan", |b| b.iter(|| rules.scan(black_box(&descriptor))));
        group.finish();
    }
    c.bench_function("compile the built-in packs and run their examples", |b| b.iter(Ruleset::builtin));
}

criterion_group!(benches, scan);
criterion_main!(benches);
