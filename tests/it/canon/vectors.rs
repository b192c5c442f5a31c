//! Vectors that Node, the PyPI package rfc8785 and CPython agree on, and the examples of RFC 8785 itself.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use countersign::canon::{Sha256, parse};
use serde::Deserialize;

use crate::shared::shared;

#[derive(Deserialize)]
struct Vector {
    name: String,
    input_base64: String,
    jcs: Option<String>,
    jcs_sha256: Option<String>,
    python_sorted: Option<String>,
    python_sha256: Option<String>,
    refuse_reason: Option<String>,
}

#[test]
fn every_vector_comes_out_by_both_recipes_or_is_refused_with_its_code() {
    let Some(path) = shared("vectors/canon.json") else { return };
    let text = std::fs::read(path).expect("readable");
    let vectors: Vec<Vector> = serde_json::from_slice(&text).expect("a list of vectors");
    assert!(vectors.len() >= 137);
    for vector in vectors {
        let bytes = |base64: &Option<String>| base64.as_ref().map(|text| STANDARD.decode(text).expect("base64"));
        let input = STANDARD.decode(&vector.input_base64).expect("base64");
        let name = &vector.name;
        match parse(&input) {
            Err(refused) => {
                assert_eq!(Some(refused.code.as_str()), vector.refuse_reason.as_deref(), "{name}: {refused}");
            }
            Ok(value) => {
                assert_eq!(None, vector.refuse_reason, "{name}");
                let canonical = value.canonical();
                assert_eq!(Some(&canonical.bytes), bytes(&vector.jcs).as_ref(), "{name}");
                assert_eq!(Some(canonical.digest.sha256.to_string()), vector.jcs_sha256, "{name}");
                assert_eq!(Some(value.to_python_sorted()), bytes(&vector.python_sorted), "{name}");
                let shortcut = canonical.python_digest().unwrap_or_else(|| value.python_digest());
                assert_eq!(Some(shortcut.sha256.to_string()), vector.python_sha256, "{name}");
            }
        }
    }
}

/// RFC 8785, appendix B, and the exponent thresholds of ECMAScript's number text.
#[test]
fn numbers_are_written_as_ecmascript_writes_them() {
    const CASES: &[(&str, &str, &str)] = &[
        ("0.000001", "0.000001", "1e-06"),
        ("0.0000001", "1e-7", "1e-07"),
        ("295147905179352825856.0", "295147905179352830000", "2.9514790517935283e+20"),
        ("1e21", "1e+21", "1e+21"),
        ("999999999999999900000.0", "999999999999999900000", "9.999999999999999e+20"),
        ("333333333.33333329", "333333333.3333333", "333333333.3333333"),
        ("1424953923781206.25", "1424953923781206.2", "1424953923781206.2"),
        ("5e-324", "5e-324", "5e-324"),
        ("-0.0", "0", "-0.0"),
        ("-0", "0", "0"),
        ("1e400", "number-overflow", ""),
        ("1e16", "10000000000000000", "1e+16"),
        ("1E2", "100", "100.0"),
        ("0.0001", "0.0001", "0.0001"),
        ("9007199254740991", "9007199254740991", "9007199254740991"),
        ("-9007199254740991", "-9007199254740991", "-9007199254740991"),
        ("9007199254740992", "integer-unsafe", ""),
        ("-9007199254740992", "integer-unsafe", ""),
        ("9007199254740993", "integer-unsafe", ""),
        ("123456789012345678901234567890", "integer-unsafe", ""),
        ("9007199254740993.0", "9007199254740992", "9007199254740992.0"),
    ];
    for (text, jcs, python) in CASES {
        match parse(text.as_bytes()) {
            Ok(value) => {
                assert_eq!(String::from_utf8_lossy(&value.to_jcs()), *jcs, "{text}");
                assert_eq!(String::from_utf8_lossy(&value.to_python_sorted()), *python, "{text}");
            }
            Err(refused) => assert_eq!(refused.code.as_str(), *jcs, "{text}"),
        }
    }
}

/// Names in UTF-16 order, where code points and UTF-8 would put them the other way round. The expected bytes are Node's.
#[test]
fn names_beyond_the_basic_plane_sort_before_presentation_forms() {
    const CASES: &[(&str, &str, &str)] = &[
        ("{\"\u{fb33}\":2,\"\u{1f600}\":1}", "{\"\u{1f600}\":1,\"\u{fb33}\":2}", r#"{"\ufb33":2,"\ud83d\ude00":1}"#),
        ("{\"\u{ff20}\":1,\"\u{1f600}\":1}", "{\"\u{1f600}\":1,\"\u{ff20}\":1}", r#"{"\uff20":1,"\ud83d\ude00":1}"#),
        (
            "{\"zk\u{fffd}\":2,\"zk\u{1f600}\":1}",
            "{\"zk\u{1f600}\":1,\"zk\u{fffd}\":2}",
            r#"{"zk\ufffd":2,"zk\ud83d\ude00":1}"#,
        ),
    ];
    for (text, jcs, python) in CASES {
        let value = parse(text.as_bytes()).expect("strict JSON");
        assert_eq!(String::from_utf8_lossy(&value.to_jcs()), *jcs);
        assert_eq!(String::from_utf8_lossy(&value.to_python_sorted()), *python);
        assert_ne!(value.digest().sha256, Sha256::of(&value.to_python_sorted()));
    }
}
