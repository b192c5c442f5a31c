//! The canonicaliser against `serde_json_canonicalizer` with sha2, and against CPython's profile, in one run.
//!
//! `cargo bench --bench canon --no-default-features` prints criterion's figures and then the ratios.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a bench stops at a fault and prints its table")]

use std::{
    hint::black_box,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use countersign::canon::{Sha256, parse_up_to};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const SIZES: [(&str, usize); 4] = [("1 KB", 1_000), ("5 KB", 5_000), ("20 KB", 20_000), ("1 MB", 1_000_000)];

/// A tool as real servers list them: prose, an input schema of many members, members in no order. `tail` ends each
/// description; with a letter beyond ASCII the second recipe has to be written anew.
fn tool(size: usize, tail: &str) -> Vec<u8> {
    let mut out = String::from(
        r#"{"name":"search_records","title":"Search records","description":"Searches the archive and returns matching records.","annotations":{"readOnlyHint":true,"openWorldHint":false},"inputSchema":{"type":"object","properties":{"#,
    );
    let mut i = 0;
    while out.len() + 400 < size.max(700) {
        let comma = if i > 0 { "," } else { "" };
        out.push_str(&format!(
            r#"{comma}"{}_{i}":{{"type":"string","description":"The {i}th way to narrow the search.\nUse \"quotes\" for a phrase{tail}","minLength":{},"maxLength":4096,"enum":["open","closed","draft"],"default":"open"}}"#,
            ["status", "zone", "author", "kind"][i % 4],
            i % 7,
        ));
        i += 1;
    }
    out.push_str(r#"},"required":["status_0"],"additionalProperties":false,"$schema":"https://json-schema.org/draft/2020-12/schema"}}"#);
    out.into_bytes()
}

fn one(bytes: &[u8]) -> Sha256 {
    parse_up_to(bytes, usize::MAX).expect("strict JSON").digest().sha256
}

fn both(bytes: &[u8]) -> (Sha256, Sha256) {
    let value = parse_up_to(bytes, usize::MAX).expect("strict JSON");
    let canonical = value.canonical();
    let python = canonical.python_digest().unwrap_or_else(|| value.python_digest());
    (canonical.digest.sha256, python.sha256)
}

fn crates(bytes: &[u8]) -> Sha256 {
    let value: serde_json::Value = serde_json::from_slice(bytes).expect("JSON");
    Sha256::of(&serde_json_canonicalizer::to_vec(&value).expect("canonicalises"))
}

fn canon(criterion: &mut Criterion) {
    for (name, size) in SIZES {
        let (ascii, wide) = (tool(size, "."), tool(size, " – für später."));
        assert_eq!(one(&ascii), crates(&ascii));
        assert_eq!(one(&wide), crates(&wide));
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(600));
        group.throughput(Throughput::Bytes(ascii.len() as u64));
        group.bench_with_input(BenchmarkId::from_parameter("recipe one"), &ascii, |b, bytes| b.iter(|| one(bytes)));
        group.bench_with_input(BenchmarkId::from_parameter("both"), &ascii, |b, bytes| b.iter(|| both(bytes)));
        group.bench_with_input(BenchmarkId::from_parameter("both, wide"), &wide, |b, bytes| b.iter(|| both(bytes)));
        group.bench_with_input(BenchmarkId::from_parameter("crates"), &ascii, |b, bytes| b.iter(|| crates(bytes)));
        group.finish();
    }
    println!("{:>6} {:>9} {:>11} {:>11} {:>11} {:>10}", "size", "ns", "× crates", "× CPython", "both/one", "wide");
    for (name, size) in SIZES {
        let (ascii, wide) = (tool(size, "."), tool(size, " – für später."));
        let [ours, both_ascii, theirs, one_wide, both_wide] = fastest([
            &|| {
                black_box(one(&ascii));
            },
            &|| {
                black_box(both(&ascii));
            },
            &|| {
                black_box(crates(&ascii));
            },
            &|| {
                black_box(one(&wide));
            },
            &|| {
                black_box(both(&wide));
            },
        ]);
        let python = cpython(&ascii).map_or("no python3".to_owned(), |ns| format!("{:.2}", ns / ours));
        let (crates, ascii, wide) = (theirs / ours, both_ascii / ours, both_wide / one_wide);
        println!("{name:>6} {ours:>9.0} {crates:>11.2} {python:>11} {ascii:>11.2} {wide:>10.2}");
    }
}

/// Nanoseconds a call of each, the best of several rounds in turn: what else runs on the machine only ever adds.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn fastest<const N: usize>(calls: [&dyn Fn(); N]) -> [f64; N] {
    let started = Instant::now();
    calls[0]();
    let rounds = (Duration::from_millis(4).as_nanos() / started.elapsed().as_nanos().max(1)).clamp(1, 10_000) as u32;
    let mut best = [f64::INFINITY; N];
    for _ in 0..25 {
        for (best, call) in best.iter_mut().zip(calls) {
            let started = Instant::now();
            for _ in 0..rounds {
                call();
            }
            *best = best.min(started.elapsed().as_nanos() as f64 / f64::from(rounds));
        }
    }
    best
}

/// Nanoseconds that CPython takes for its profile of the same bytes: loads, dumps with sorted keys, SHA-256.
fn cpython(bytes: &[u8]) -> Option<f64> {
    const SCRIPT: &str = r"
import hashlib, json, sys, time
text = sys.stdin.buffer.read()
def once():
    return hashlib.sha256(json.dumps(json.loads(text), sort_keys=True, separators=(',', ':')).encode()).hexdigest()
once()
rounds = max(1, 400_000 // len(text))
best = float('inf')
for _ in range(7):
    started = time.perf_counter_ns()
    for _ in range(rounds): once()
    best = min(best, (time.perf_counter_ns() - started) / rounds)
print(best)
";
    let mut child =
        Command::new("python3").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    std::io::Write::write_all(&mut child.stdin.take()?, bytes).ok()?;
    String::from_utf8(child.wait_with_output().ok()?.stdout).ok()?.trim().parse().ok()
}

criterion_group!(benches, canon);
criterion_main!(benches);
