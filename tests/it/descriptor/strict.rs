//! Our own JSON forms: what they hold, what they refuse, and that raw bytes survive them.

use countersign::{
    canon::Code,
    descriptor::{
        Capture, CaptureError, Kind, Listed, MAX_CAPTURE_BYTES, MAX_DESCRIPTORS, Method, Release, Subject, Taken,
    },
};
use proptest::prelude::*;

/// Odd spacing, escapes and member order on purpose: none of it may change on the way.
const TOOL: &str = r#"{ "name":"export" , "inputSchema":{"type":"object"}, "b":1.50,"a":"\u0061\/" }"#;

fn capture(lists: &str) -> String {
    format!(r#"{{"complete":true,{lists}}}"#)
}

#[test]
fn all_five_kinds_go_in_and_out_byte_for_byte() {
    let text = format!(
        r#"{{"complete":false,"incomplete":"the second page failed","protocolVersion":"2026-07-28",
        "serverInfo":{{"name": "notes"}},"method":"stdio","command":["npx","-y","notes"],
        "clientCapabilities":{{"roots": {{}}}},"capturedAt":"2026-11-30T08:00:00.000001Z",
        "instructions": "Use\u0020it.","resourceTemplates":[{{"uriTemplate":"file:///{{p}}"}}],
        "resources":[{{"uri":"file:///a"}}],"prompts":[{{"name":"ask"}}],"tools":[{TOOL},{{"name":"b"}}]}}"#
    );
    let capture = Capture::parse(text.as_bytes()).expect("a capture");
    let raw: Vec<(Kind, &str)> =
        capture.listed.iter().map(|l| (l.kind, std::str::from_utf8(&l.raw).expect("UTF-8"))).collect();
    assert_eq!(
        raw,
        [
            (Kind::Tool, TOOL),
            (Kind::Tool, r#"{"name":"b"}"#),
            (Kind::Prompt, r#"{"name":"ask"}"#),
            (Kind::Resource, r#"{"uri":"file:///a"}"#),
            (Kind::ResourceTemplate, r#"{"uriTemplate":"file:///{p}"}"#),
            (Kind::Instructions, r#""Use\u0020it.""#),
        ]
    );
    assert_eq!(
        capture.taken,
        Some(Taken {
            method: Method::Stdio,
            command: Some(vec!["npx".to_owned(), "-y".to_owned(), "notes".to_owned()]),
            endpoint: None,
            client_capabilities: Some(br#"{"roots": {}}"#.to_vec()),
            at: Some("2026-11-30T08:00:00.000001Z".parse().expect("a time")),
        })
    );
    assert_eq!(Capture::parse(&capture.to_json()), Ok(capture.clone()));
    let json = String::from_utf8(capture.to_json()).expect("UTF-8");
    assert!(
        json.starts_with(r#"{"complete":false,"incomplete":"the second page failed","protocolVersion":"2026-07-28","#)
    );
    assert!(json.contains(TOOL));
    assert_eq!(capture.listed[5].parsed.as_ref().map(|d| d.canonical().to_vec()), Ok(br#""Use it.""#.to_vec()));
}

#[test]
fn a_refused_item_does_not_sink_its_neighbours_but_its_release() {
    let text = capture(r#""tools":[{"name":"a"},{"name":"b","x":1,"x":2},{"name":"c"},{"name":"d","max":1e999}]"#);
    let capture = Capture::parse(text.as_bytes()).expect("a capture");
    let codes: Vec<Option<Code>> =
        capture.listed.iter().map(|l| l.parsed.as_ref().err().map(|refused| refused.code)).collect();
    assert_eq!(codes, [None, Some(Code::DuplicateKey), None, Some(Code::NumberOverflow)]);
    assert_eq!(capture.listed[1].display_name(), "b");

    let release = release(capture);
    let (at, refused) = release.descriptors().expect_err("one is refused");
    assert_eq!((at, refused.code, refused.pointer.as_str(), refused.offset), (1, Code::DuplicateKey, "/x", 18));
    assert_eq!(release.subjects().len(), 2);
}

#[test]
fn what_a_capture_does_not_know_is_fatal() {
    const CASES: &[(&str, &str)] = &[
        (r#"{"complete":true,"tools":[],"Tools":[]}"#, "unknown field `Tools`"),
        (r#"{"Complete":true,"tools":[]}"#, "unknown field `Complete`"),
        (r#"{"complete":true,"tools":[],"tool\u0073":[]}"#, "duplicate field `tools`"),
        (r#"{"tools":[]}"#, "missing field `complete`"),
        (r#"{"complete":"true","tools":[]}"#, "expected a boolean"),
        (r#"{"complete":true,"tools":{}}"#, "expected an array of descriptors"),
        (r#"{"complete":true,"tools":null}"#, "expected an array of descriptors"),
        (r#"{"complete":true,"incomplete":"why"}"#, "a complete capture says why it is incomplete"),
        (r#"{"complete":true,"protocolVersion":"2026-07-29"}"#, r#"unknown protocol version "2026-07-29""#),
        (r#"{"complete":true,"protocolVersion":"2024-11-04"}"#, r#"unknown protocol version "2024-11-04""#),
        (r#"{"complete":true,"serverInfo":{"a":1,"a":2}}"#, r#"serverInfo: duplicate-key at "/a", byte 7"#),
        (r#"{"complete":true,"endpoint":"https://a.example"}"#, "need a method"),
        (r#"{"complete":true,"method":"telepathy"}"#, "unknown variant `telepathy`"),
        (r#"{"complete":true,"method":"http","capturedAt":"yesterday"}"#, "not a UTC time"),
        (r#"{"complete":true} x"#, "something stands after the end of the JSON value"),
        (r#"{"complete":true,"tools":["#, "the text breaks off"),
        ("\u{feff}{}", "the file: bom"),
        ("7", "invalid type: integer `7`"),
    ];
    for (text, expected) in CASES {
        let error = Capture::parse(text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let error = Capture::parse(b"{\"complete\":true,\"tools\":[\"\xff\"]}").expect_err("not UTF-8");
    assert!(error.to_string().contains("invalid-utf8"), "{error}");
}

#[test]
fn instructions_that_are_null_are_listed_and_unpinnable() {
    for read in [Capture::parse, Capture::read_any] {
        let capture = read(capture(r#""tools":[],"instructions":null"#).as_bytes()).expect("a capture");
        let codes: Vec<Option<&str>> = capture
            .of_kind(Kind::Instructions)
            .map(|l| l.parsed.as_ref().ok().and_then(|d| d.unpinnable()).map(|u| u.code.as_str()))
            .collect();
        assert_eq!(codes, [Some("not-a-string")]);
    }
}

#[test]
fn every_protocol_era_is_accepted() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let text = capture(&format!(r#""protocolVersion":"{version}""#));
        assert_eq!(Capture::parse(text.as_bytes()).expect("known").protocol_version.as_deref(), Some(version));
    }
}

#[test]
fn limits_hold_at_the_limit_and_one_past_it() {
    let listing = |count: usize| capture(&format!(r#""tools":[{}]"#, vec!["{}"; count].join(",")));
    assert_eq!(Capture::parse(listing(MAX_DESCRIPTORS).as_bytes()).map(|c| c.listed.len()), Ok(MAX_DESCRIPTORS));
    assert_eq!(Capture::parse(listing(MAX_DESCRIPTORS + 1).as_bytes()), Err(CaptureError::TooMany));
    assert_eq!(Capture::parse(listing(1_000_000).as_bytes()), Err(CaptureError::TooMany));
    let split = capture(&format!(r#""tools":[{}],"instructions":"one more""#, vec!["{}"; MAX_DESCRIPTORS].join(",")));
    assert_eq!(Capture::parse(split.as_bytes()), Err(CaptureError::TooMany));

    let padded = |length: usize| format!("{}{}", capture(r#""tools":[]"#), " ".repeat(length - 28)).into_bytes();
    assert_eq!(padded(MAX_CAPTURE_BYTES).len(), MAX_CAPTURE_BYTES);
    assert!(Capture::parse(&padded(MAX_CAPTURE_BYTES)).is_ok());
    for read in [Capture::parse, Capture::read_any] {
        let error = read(&padded(MAX_CAPTURE_BYTES + 1)).expect_err("too large");
        assert!(error.to_string().contains("too-large"), "{error}");
    }

    let tool = |length: usize| format!(r#"{{"name":"a","d":"{}"}}"#, "x".repeat(length - 19));
    let whole = capture(&format!(r#""tools":[{},{},{{"name":"b"}}]"#, tool(1 << 20), tool((1 << 20) + 1)));
    let listed = Capture::parse(whole.as_bytes()).expect("a capture").listed;
    assert_eq!(listed[0].raw.len(), 1 << 20);
    let outcomes: Vec<Option<Code>> = listed.iter().map(|l| l.parsed.as_ref().err().map(|r| r.code)).collect();
    assert_eq!(outcomes, [None, Some(Code::TooLarge), None]);

    let deep = |depth: usize| format!(r#"{{"name":"a","d":{}{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1));
    let listed = Capture::parse(capture(&format!(r#""tools":[{},{}]"#, deep(100), deep(101))).as_bytes());
    let outcomes: Vec<Option<Code>> =
        listed.expect("a capture").listed.iter().map(|l| l.parsed.as_ref().err().map(|r| r.code)).collect();
    assert_eq!(outcomes, [None, Some(Code::TooDeep)]);
}

fn release(capture: Capture) -> Release {
    let (name, version) = ("com.example/notes".parse().expect("legal"), "1.4.0".parse().expect("legal"));
    Release::new(name, version, Default::default(), capture)
}

#[test]
fn a_release_names_its_subjects_sorted_by_kind_and_name() {
    let text = format!(
        r#"{{"server":{{"name":"com.example/notes","version":"1.4.0","variant":"de"}},"capture":{{"complete":true,
        "tools":[{TOOL}],"prompts":[{{"name":"export"}}],"instructions":"x"}}}}"#
    );
    let release = Release::parse(text.as_bytes()).expect("a release");
    assert_eq!(
        (release.server.as_str(), release.version.as_str(), release.variant.as_str()),
        ("com.example/notes", "1.4.0", "de")
    );
    let names: Vec<String> = release.subjects().into_iter().map(|s| s.name).collect();
    assert_eq!(names, ["instructions/instructions", "prompt/export", "tool/export"]);
    assert_eq!(Release::parse(&release.to_json()), Ok(release.clone()));
    assert_eq!(
        serde_json::to_string(&release.subjects()[0]).expect("JSON"),
        r#"{"name":"instructions/instructions","digest":{"sha256":"d7b868dd1e335a4ed84c2ab16a3b1a5a3fb0f3c3c92b19d6a6d9da2a7b2ad5c0"}}"#
            .replace("d7b868dd1e335a4ed84c2ab16a3b1a5a3fb0f3c3c92b19d6a6d9da2a7b2ad5c0",
                     &countersign::canon::Sha256::of(br#""x""#).to_string())
    );
    for extra in [r#"{"name":"a","digest":{"sha256":"00"}}"#, r#"{"name":"a","digest":{"sha512":"00"}}"#] {
        assert!(serde_json::from_str::<Subject>(extra).is_err());
    }
    for (from, to) in [
        (r#""server":{"#, r#""server":{"os":"x","#),
        (r#""server":{"#, r#""extra":1,"server":{"#),
        (r#""version":"1.4.0""#, r#""version":"^1.4.0""#),
        ("com.example/notes", "notes"),
        (r#""capture":{"#, r#""capture":{"extra":1,"#),
    ] {
        assert!(Release::parse(text.replace(from, to).as_bytes()).is_err(), "{to}");
    }
}

#[test]
fn a_name_listed_twice_makes_both_unpinnable() {
    let tool =
        |name: &str, title: &str| format!(r#"{{"name":"{name}","title":"{title}","inputSchema":{{"type":"object"}}}}"#);
    let text = capture(&format!(
        r#""tools":[{},{},{},{}],"prompts":[{{"name":"a"}}]"#,
        tool("a", "1"),
        tool("b", "1"),
        tool("a", "2"),
        tool("A", "1")
    ));
    let release = release(Capture::parse(text.as_bytes()).expect("a capture"));
    let codes: Vec<Option<&str>> = release
        .descriptors()
        .expect("none is refused")
        .into_iter()
        .map(|d| d.unpinnable().map(|u| u.code.as_str()))
        .collect();
    assert_eq!(codes, [Some("duplicate-name"), None, Some("duplicate-name"), None, None]);
    assert_eq!(Release::parse(&release.to_json()), Ok(release));
}

proptest! {
    /// Fuzz target: strangers' bytes in every form that is read.
    #[test]
    fn arbitrary_bytes_are_a_capture_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_or_refuse(&bytes);
    }

    #[test]
    fn broken_captures_are_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut: bool) {
        let server = r#"{"server":{"name":"com.example/notes","version":"1.4.0"},"capture":{"complete":true}}"#;
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],"nextCursor":"2"}}"#;
        for whole in [capture(&format!(r#""tools":[{TOOL}],"instructions":"x""#)), server.to_owned(), format!("{result}\n{result}")] {
            let mut bytes = whole.into_bytes();
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            read_or_refuse(&bytes);
        }
    }

    #[test]
    fn any_item_keeps_its_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        for kind in Kind::ALL {
            let listed = Listed::new(kind, &bytes);
            prop_assert_eq!(&*listed.raw, &bytes[..]);
            let _ = listed.display_name();
        }
    }
}

fn read_or_refuse(bytes: &[u8]) {
    let _ = Release::parse(bytes);
    for read in [Capture::parse, Capture::read_any] {
        if let Ok(capture) = read(bytes) {
            assert_eq!(Capture::parse(&capture.to_json()), Ok(capture.clone()));
            let _ = release(capture).subjects();
        }
    }
}
