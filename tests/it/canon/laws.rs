//! Laws of the digest: what it must not notice, and what it must.

use countersign::canon::{Code, MAX_BYTES, MAX_DEPTH, Value, parse, parse_up_to};
use proptest::prelude::*;
use serde_json::{Map, Number, Value as Json};

/// Values as strangers send them; floats by their bits, integers up to the bound.
pub(crate) fn json() -> impl Strategy<Value = Json> {
    let text =
        prop_oneof!["[a-zA-Z0-9 ]{0,12}", "[\"\\\\/\u{0}-\u{1f}\u{7f}\u{80}é\u{2028}\u{e000}\u{fb33}\u{1f600}|]{0,6}"];
    let float = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |n| n.is_finite());
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Json::from),
        (-20_i64..20).prop_map(Json::from),
        float.prop_map(|n| Number::from_f64(n).map_or(Json::Null, Json::Number)),
        (-1000_i32..1000).prop_map(|n| Json::from(f64::from(n) / 8.0)),
        text.clone().prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::vec((text.clone(), inner), 0..6)
                .prop_map(|m| Json::Object(m.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Writes a value with its members in an order that `seed` picks, and space between tokens.
fn shuffled(value: &Json, seed: &mut u64, out: &mut String) {
    let mut next = |bound: usize| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*seed >> 33).expect("31 bits") % bound.max(1)
    };
    out.push_str([" ", "", "\n", "\t"][next(4)]);
    match value {
        Json::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { " ," } else { "" });
                shuffled(item, seed, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            for i in (1..members.len()).rev() {
                members.swap(i, next(i + 1));
            }
            out.push('{');
            for (i, (name, member)) in members.into_iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                out.push_str(&serde_json::to_string(name).expect("a string"));
                out.push_str(" :");
                shuffled(member, seed, out);
            }
            out.push('}');
        }
        leaf => out.push_str(&leaf.to_string()),
    }
    out.push(' ');
}

#[test]
fn a_thousand_shuffles_have_one_digest() {
    let text = br#"{"properties":{"berth":{"type":"string"},"crane":{"type":"integer"},"quay":{},"a":{"b":1,"c":[{"d":1,"e":2}]}}}"#;
    let json: Json = serde_json::from_slice(text).expect("JSON");
    let digest = parse(text).expect("strict JSON").digest();
    for mut seed in 0..1_000 {
        let mut other = String::new();
        shuffled(&json, &mut seed, &mut other);
        assert_eq!(parse(other.as_bytes()).expect("strict JSON").digest(), digest, "{other}");
    }
}

#[test]
fn separators_and_empty_strings_never_collide() {
    const TEXTS: &[&str] = &[
        r#"["a|b","c"]"#,
        r#"["a","b|c"]"#,
        r#"["a","b","c"]"#,
        r#"["a","b","c",""]"#,
        r#"["","a","b","c"]"#,
        r#"["abc"]"#,
        r#"["a,b","c"]"#,
        r#"["a\",\"b","c"]"#,
        r#"{"a":"b|c"}"#,
        r#"{"a|b":"c"}"#,
        r#"{"a":"","b":""}"#,
        r#"{"a":""}"#,
        r#"{"":"a"}"#,
        r#"{"":""}"#,
        "{}",
        "[]",
        r#"[""]"#,
        r#"["",""]"#,
        r#"[[]]"#,
        "null",
        "[null]",
        "0",
        "\"0\"",
        "false",
        "\"\"",
    ];
    let digests: std::collections::BTreeSet<String> =
        TEXTS.iter().map(|text| parse(text.as_bytes()).expect("strict JSON").digest().to_string()).collect();
    assert_eq!(digests.len(), TEXTS.len());
}

#[test]
fn absent_null_and_empty_are_five_different_things() {
    const FORMS: &[&str] = &[
        r#"{"name":"n"}"#,
        r#"{"name":"n","x":null}"#,
        r#"{"name":"n","x":""}"#,
        r#"{"name":"n","x":{}}"#,
        r#"{"name":"n","x":[]}"#,
        r#"{"name":"n","x":false}"#,
        r#"{"name":"n","x":0}"#,
    ];
    let digests: std::collections::BTreeSet<String> =
        FORMS.iter().map(|text| parse(text.as_bytes()).expect("strict JSON").digest().to_string()).collect();
    assert_eq!(digests.len(), FORMS.len());
}

#[test]
fn a_refusal_names_code_place_and_byte() {
    const CASES: &[(&[u8], &str, &str, usize)] = &[
        (b"\xef\xbb\xbf{}", "bom", "", 0),
        (b"", "syntax", "", 0),
        (b"  ", "syntax", "", 2),
        (b"{}x", "syntax", "", 2),
        (b"{\"a\":1,}", "syntax", "", 7),
        (b"{\"a\":[1,2 3]}", "syntax", "/a", 10),
        (b"{\"a\":[1,tru]}", "syntax", "/a/1", 8),
        (b"{\"a\" 1}", "syntax", "", 5),
        (b"{a:1}", "syntax", "", 1),
        (b"[01]", "syntax", "/0", 2),
        (b"[-]", "syntax", "/0", 2),
        (b"[1.]", "syntax", "/0", 3),
        (b"[1e+]", "syntax", "/0", 4),
        (b"[\"a\tb\"]", "syntax", "/0", 3),
        (b"[\"\\x41\"]", "syntax", "/0", 2),
        (b"[\"\\u00g0\"]", "syntax", "/0", 2),
        (b"[\"abc", "syntax", "/0", 5),
        (b"{\"seq\":5,\"seq\":1}", "duplicate-key", "/seq", 9),
        (b"{\"run\":[\"x\"],\"ru\\u006e\":[\"y\"]}", "duplicate-key", "/run", 13),
        (b"{\"t\":[{\"a/b\":{\"~\":1,\"~\":1}}]}", "duplicate-key", "/t/0/a~1b/~0", 20),
        (b"{\"a\":1,\"b\":1,\"b\":1,\"a\":1}", "duplicate-key", "/b", 13),
        (b"[\"\\ud800\"]", "lone-surrogate", "/0", 2),
        (b"[\"ok\\udc00\"]", "lone-surrogate", "/0", 4),
        (b"[\"\\ud83d\\u0041\"]", "lone-surrogate", "/0", 2),
        (b"[\"\\ud83dx\"]", "lone-surrogate", "/0", 2),
        (b"{\"k\":{\"\\ud800\":1}}", "lone-surrogate", "/k", 7),
        (b"{\"maximum\":9007199254740993}", "integer-unsafe", "/maximum", 11),
        (b"{\"maximum\":18446744073709551616}", "integer-unsafe", "/maximum", 11),
        (b"[0,-9007199254740992]", "integer-unsafe", "/1", 3),
        (b"[1,2,1e400]", "number-overflow", "/2", 5),
        (b"{\"d\":\"caf\xe9\"}", "invalid-utf8", "/d", 9),
        (b"[1,{\"a\":[\"\xff\"]}]", "invalid-utf8", "/1/a/0", 10),
        (b"\xff", "invalid-utf8", "", 0),
    ];
    for (bytes, code, pointer, offset) in CASES {
        let refused = parse(bytes).expect_err(&bytes.escape_ascii().to_string());
        let found = (refused.code.as_str(), refused.pointer.as_str(), refused.offset);
        assert_eq!(found, (*code, *pointer, *offset), "{}", bytes.escape_ascii());
    }
}

/// RFC 8785 writes a large float without point or exponent, and as an integer token it would be ambiguous. So canonical
/// bytes are for hashing and sending; whoever needs the value again keeps the bytes received.
#[test]
fn canonical_bytes_of_a_large_float_are_not_read_again() {
    let canonical = parse(b"[9007199254740992.0]").expect("a float is exact about being inexact").to_jcs();
    assert_eq!(canonical, b"[9007199254740992]");
    assert_eq!(parse(&canonical).expect_err("an unsafe integer").code, Code::IntegerUnsafe);
}

#[test]
fn member_names_differ_by_case() {
    let value = parse(br#"{"run":["x"],"Run":["x"]}"#).expect("two members");
    assert_eq!(value.to_jcs(), br#"{"Run":["x"],"run":["x"]}"#);
}

#[test]
fn depth_and_length_are_read_to_the_limit_and_refused_one_past_it() {
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    assert!(parse(&nested(MAX_DEPTH)).is_ok());
    let refused = parse(&nested(MAX_DEPTH + 1)).expect_err("too deep");
    assert_eq!((refused.code.as_str(), refused.offset, refused.pointer.len()), ("too-deep", MAX_DEPTH, 2 * MAX_DEPTH));
    let endless = parse_up_to(&vec![b'['; 4 << 20], usize::MAX).expect_err("too deep");
    assert_eq!(endless.code.as_str(), "too-deep");

    let text = |length: usize| format!("\"{}\"", "x".repeat(length - 2)).into_bytes();
    assert!(parse(&text(MAX_BYTES)).is_ok());
    let refused = parse(&text(MAX_BYTES + 1)).expect_err("too large");
    assert_eq!((refused.code.as_str(), refused.offset), ("too-large", MAX_BYTES));
    assert!(parse_up_to(&text(MAX_BYTES + 1), MAX_BYTES + 1).is_ok());
}

/// A quadratic reader would need minutes for these.
#[test]
fn a_hundred_thousand_members_are_read_in_one_go() {
    let members = |n: usize, last: &str| {
        let all: Vec<String> = (0..n).map(|i| format!("\"k{}\":0", i * 7_919 % n)).collect();
        format!("{{{}{last}}}", all.join(","))
    };
    let value = members(80_000, "");
    assert_eq!(
        parse(value.as_bytes()).expect("distinct").as_object().map(countersign::canon::Object::len),
        Some(80_000)
    );
    let twice = members(80_000, ",\"k0\":1");
    assert_eq!(parse(twice.as_bytes()).expect_err("twice").pointer, "/k0");
}

proptest! {
    #[test]
    fn shuffled_members_and_space_keep_both_digests(json in json(), mut seed in any::<u64>()) {
        let text = json.to_string();
        let mut other = String::new();
        shuffled(&json, &mut seed, &mut other);
        let (a, b) = (parse(text.as_bytes()).expect("strict"), parse(other.as_bytes()).expect("strict"));
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(a.digest(), b.digest());
        prop_assert_eq!(a.python_digest(), b.python_digest());
    }

    #[test]
    fn canonical_bytes_read_back_as_themselves(json in json()) {
        let text = json.to_string();
        let value = parse(text.as_bytes()).expect("strict");
        let canonical = value.canonical();
        match parse(&canonical.bytes) {
            Ok(again) => {
                prop_assert_eq!(again.to_jcs(), canonical.bytes.clone());
                prop_assert_eq!(&again, &value);
            }
            Err(refused) => prop_assert_eq!(refused.code, Code::IntegerUnsafe),
        }
        if let Some(shortcut) = canonical.python_digest() {
            prop_assert_eq!(shortcut, value.python_digest());
        }
    }

    #[test]
    fn values_are_equal_exactly_when_their_bytes_are(a in json(), b in json()) {
        let (a, b) = (a.to_string(), b.to_string());
        let (a, b) = (parse(a.as_bytes()).expect("strict"), parse(b.as_bytes()).expect("strict"));
        prop_assert_eq!(a == b, a.to_jcs() == b.to_jcs());
    }

    #[test]
    fn one_changed_byte_of_a_string_or_name_moves_the_digest(text in "[ -~é]{1,20}", at in any::<prop::sample::Index>(),
                                                             to in b'a'..=b'z', in_name: bool) {
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        prop_assume!(chars[at] != char::from(to));
        let changed: String = chars.iter().enumerate().map(|(i, c)| if i == at { char::from(to) } else { *c }).collect();
        let whole = |text: &str| {
            let text = serde_json::to_string(text).expect("a string");
            let whole = if in_name { format!("{{{text}:[1]}}") } else { format!("{{\"d\":[1,{text}]}}") };
            let value = parse(whole.as_bytes()).expect("strict");
            (value.digest(), value.python_digest())
        };
        let (before, after) = (whole(&text), whole(&changed));
        prop_assert!(before.0 != after.0 && before.1 != after.1);
    }

    #[test]
    fn one_more_to_an_integer_moves_the_digest(n in -9_007_199_254_740_991_i64..9_007_199_254_740_991) {
        let digest = |n: i64| parse(n.to_string().as_bytes()).expect("safe").digest();
        prop_assert_ne!(digest(n), digest(n + 1));
    }

    #[test]
    fn what_is_accepted_is_what_serde_json_reads(bytes in prop::collection::vec(
        prop::sample::select(br#"{}[]:,"\u0aeE+-.1 tfn"#.to_vec()), 0..24)) {
        if parse(&bytes).is_ok() {
            prop_assert!(serde_json::from_slice::<Json>(&bytes).is_ok());
        } else if serde_json::from_slice::<Json>(&bytes).is_ok() {
            let code = parse(&bytes).expect_err("refused").code.as_str();
            prop_assert!(matches!(code, "duplicate-key" | "integer-unsafe"), "{code}");
        }
    }

    /// Fuzz target: never a panic, and a refusal points into the input.
    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        canonicalise_or_refuse(&bytes);
    }

    #[test]
    fn broken_json_is_read_or_refused(json in json(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = json.to_string().into_bytes();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        canonicalise_or_refuse(&bytes);
    }
}

fn canonicalise_or_refuse(bytes: &[u8]) {
    match parse(bytes) {
        Ok(value) => {
            let canonical = value.to_jcs();
            match parse(&canonical) {
                Ok(again) => assert_eq!(again.to_jcs(), canonical),
                Err(refused) => assert_eq!(refused.code, Code::IntegerUnsafe),
            }
            assert!(value.to_python_sorted().is_ascii());
        }
        Err(refused) => {
            assert!(refused.offset <= bytes.len());
            assert!(countersign::canon::pointer::tokens(&refused.pointer).is_some());
            let _: Option<&Value<'_>> = Value::Null.pointer(&refused.pointer);
        }
    }
}
