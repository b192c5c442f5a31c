//! A genuine bundle with one thing changed and nothing signed anew: both verifiers refuse, for the same reason.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use countersign::pinset::bundle::Bundle;
use serde_json::Value;

use super::{
    Audit,
    forge::{flip, scalars},
};
use crate::verifiers::python_says;

/// The link at which this program refuses, or "ok".
pub(super) fn ours(bytes: &[u8], trust: &countersign::pinset::trust::Trust) -> &'static str {
    match Bundle::parse(bytes).and_then(|bundle| bundle.verify(trust)) {
        Ok(_) => "ok",
        Err(broken) => broken.link(),
    }
}

/// The same of a line of the verifier in Python.
pub(super) fn theirs(line: &str) -> &str {
    match line.strip_prefix("refused ") {
        Some(rest) => rest.split_once(':').expect("a link").0,
        None => {
            assert!(line.starts_with("ok "), "{line}");
            "ok"
        }
    }
}

/// What each verifier says of each row. Fails where they differ.
pub(super) fn verdicts(audit: &Audit, trust: &str, rows: Vec<(String, Vec<u8>)>) -> Vec<(String, &'static str)> {
    let folder = tempfile::tempdir_in(audit.folder.path()).expect("a folder");
    let trust_file = folder.path().join("trust.txt");
    std::fs::write(&trust_file, trust).expect("written");
    let parsed = countersign::pinset::trust::Trust::first(trust).expect("a trust file");
    let (names, contents): (Vec<String>, Vec<Vec<u8>>) = rows.into_iter().unzip();
    let ours: Vec<&'static str> = contents.iter().map(|bytes| ours(bytes, &parsed)).collect();
    let places = super::files(folder.path(), contents);
    if let Some(lines) = python_says(&["bundle".as_ref(), trust_file.as_os_str()], &places) {
        for ((name, ours), line) in names.iter().zip(&ours).zip(&lines) {
            assert_eq!(theirs(line), *ours, "{name}: {line}");
        }
    }
    names.into_iter().zip(ours).collect()
}

/// The file with one member of its JSON edited, in canonical form.
fn outer(bundle: &Bundle, edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut file: Value = serde_json::from_slice(&bundle.to_bytes()).expect("JSON");
    edit(&mut file);
    countersign::canon::to_jcs(&file)
}

const PARTS: [&str; 9] =
    ["descriptor", "attestation", "head", "set", "pins", "authority", "release", "decision", "published"];

fn part<'a>(file: &'a mut Value, name: &str) -> &'a mut Value {
    match name {
        "authority" | "release" | "decision" | "published" => &mut file[name]["leaf"],
        _ => &mut file[name],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_with_anything_changed_proves_nothing_to_either_verifier() {
    let audit = Audit::new().await;
    let (bundle, other) = (audit.genuine("notes.export").await, audit.genuine("notes.search").await);
    let trust = audit.trust().note().to_owned();
    let mut rows = vec![];

    // Each value in each JSON document inside, and each byte here and there where it isn't JSON that says something.
    for name in PARTS {
        let mut file: Value = serde_json::from_slice(&bundle.to_bytes()).expect("JSON");
        let bytes = STANDARD.decode(part(&mut file, name).as_str().expect("text")).expect("base64");
        let document: Value = serde_json::from_slice(&bytes).expect("every part is JSON");
        for pointer in scalars(&document) {
            let mut edited = document.clone();
            flip(edited.pointer_mut(&pointer).expect("is there"));
            let edited = STANDARD.encode(countersign::canon::to_jcs(&edited));
            rows.push((format!("{name}{pointer}"), outer(&bundle, |file| *part(file, name) = edited.into())));
        }
        for place in (0..bytes.len()).step_by(bytes.len().div_ceil(16)) {
            let mut edited = bytes.clone();
            edited[place] ^= 0x04;
            let edited = STANDARD.encode(edited);
            rows.push((format!("{name}, byte {place}"), outer(&bundle, |file| *part(file, name) = edited.into())));
        }
        rows.push((format!("{name} empty"), outer(&bundle, |file| *part(file, name) = "".into())));
        rows.push((
            format!("{name} cut"),
            outer(&bundle, |file| *part(file, name) = STANDARD.encode(&bytes[1..]).into()),
        ));
        let mut foreign: Value = serde_json::from_slice(&other.to_bytes()).expect("JSON");
        if foreign[name] != file[name] {
            let theirs = foreign[name].take();
            rows.push((format!("{name} of another bundle"), outer(&bundle, |file| file[name] = theirs)));
        }
        rows.push((
            format!("{name} missing"),
            outer(&bundle, |file| drop(file.as_object_mut().expect("one").remove(name))),
        ));
    }
    // Each line of each proof.
    for name in ["authority", "release", "decision", "published"] {
        let file: Value = serde_json::from_slice(&bundle.to_bytes()).expect("JSON");
        let proof = file[name]["proof"].as_str().expect("text").to_owned();
        for (n, line) in proof.split('\n').enumerate() {
            let mut edited: Vec<String> = proof.split('\n').map(str::to_owned).collect();
            let mut changed = Value::from(if line.is_empty() { "x" } else { line });
            flip(&mut changed);
            edited[n] = changed.as_str().expect("text").to_owned();
            rows.push((
                format!("{name}, line {n} of its proof"),
                outer(&bundle, |file| file[name]["proof"] = edited.join("\n").into()),
            ));
            let mut fewer: Vec<&str> = proof.split('\n').collect();
            fewer.remove(n);
            rows.push((
                format!("{name} without line {n} of its proof"),
                outer(&bundle, |file| file[name]["proof"] = fewer.join("\n").into()),
            ));
        }
        let extra = proof.replacen("index ", "extra AAAA\nindex ", 1);
        rows.push((format!("{name} with extra data"), outer(&bundle, |file| file[name]["proof"] = extra.into())));
    }
    // The file itself.
    let whole = bundle.to_bytes();
    rows.push(("a space before it".into(), [b" ", whole.as_slice()].concat()));
    rows.push(("a line feed after it".into(), [whole.as_slice(), b"\n"].concat()));
    rows.push(("half of it".into(), whole[..whole.len() / 2].to_vec()));
    rows.push(("nothing".into(), vec![]));
    rows.push(("another type".into(), outer(&bundle, |file| file["type"] = "countersign/bundle/v2".into())));
    rows.push(("another member".into(), outer(&bundle, |file| file["note"] = "trust me".into())));
    rows.push(("base64 without its padding".into(), {
        let padded = |text: &str| text.trim_end_matches('=').to_owned();
        let mut found = None;
        for name in PARTS {
            let mut file: Value = serde_json::from_slice(&whole).expect("JSON");
            let text = part(&mut file, name).as_str().expect("text").to_owned();
            if text.ends_with('=') {
                found = Some(outer(&bundle, |file| *part(file, name) = padded(&text).into()));
            }
        }
        found.expect("one part has padding")
    }));

    let rows = verdicts(&audit, &trust, rows);
    assert!(rows.len() > 400, "{}", rows.len());
    let accepted: Vec<_> = rows.iter().filter(|(_, verdict)| *verdict == "ok").collect();
    assert_eq!(accepted, Vec::<&(String, &str)>::new());
    // And the genuine ones hold.
    let genuine = vec![("export".to_owned(), whole), ("search".to_owned(), other.to_bytes())];
    let verdicts = verdicts(&audit, &trust, genuine);
    assert!(verdicts.iter().all(|(_, verdict)| *verdict == "ok"), "{verdicts:?}");
}
