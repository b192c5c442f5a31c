//! What people have at hand: arrays, list results and recorded traffic become captures, complete or not.

use countersign::descriptor::{Capture, CaptureError, Kind};

const A: &str = r#"{"name":"a"}"#;
const B: &str = r#"{"name":"b"}"#;

#[test]
fn each_form_of_a_file_says_whether_it_is_all() {
    let cases: &[(String, &[&str], Option<&str>)] = &[
        (format!("[{A},{B}]"), &["tool a", "tool b"], None),
        ("[]".to_owned(), &[], None),
        (format!("\n [{A}]\n"), &["tool a"], None),
        (format!(r#"{{"tools":[{A}]}}"#), &["tool a"], None),
        (format!(r#"{{"tools":[{A}],"nextCursor":null,"_meta":{{}},"ttlMs":5}}"#), &["tool a"], None),
        (
            format!(r#"{{"tools":[{A}],"nextCursor":"2"}}"#),
            &["tool a"],
            Some("the last page of tools has a nextCursor"),
        ),
        (format!(r#"{{"tools":[{A}],"nextCursor":""}}"#), &["tool a"], Some("the last page of tools has a nextCursor")),
        (
            format!(r#"{{"tools":[{A}],"resultType":"input_required"}}"#),
            &["tool a"],
            Some(r#"a result is "input_required", not complete"#),
        ),
        (format!(r#"{{"prompts":[{A}],"tools":[{B}]}}"#), &["tool b", "prompt a"], None),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{A}],"nextCursor":"2"}}}}
                    {{"result":{{"tools":[{B}]}},"jsonrpc":"2.0","id":2}}"#
            ),
            &["tool a", "tool b"],
            None,
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{A}]}}}}
                    {{"jsonrpc":"2.0","id":2,"result":{{"prompts":[{B}],"nextCursor":"3"}}}}"#
            ),
            &["tool a", "prompt b"],
            Some("the last page of prompts has a nextCursor"),
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{A}]}}}}
                    {{"jsonrpc":"2.0","id":2,"error":{{"code":-32000,"message":"no"}}}}"#
            ),
            &["tool a"],
            Some(r#"a response is an error: {"code":-32000,"message":"no"}"#),
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{}}}}
                    {{"jsonrpc":"2.0","id":7,"method":"roots/list"}}
                    {{"jsonrpc":"2.0","id":1,"error":null,"result":{{"tools":[{A}]}}}}"#
            ),
            &["tool a"],
            None,
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{A}]}}}}
                    {{"jsonrpc":"2.0","id":2,"resu"#
            ),
            &["tool a"],
            Some("the last line breaks off"),
        ),
        (r#"{"jsonrpc":"2.0","id":1}"#.to_owned(), &[], Some("a response has no result")),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(), &[], Some("there is no list in it")),
        ("{}".to_owned(), &[], Some("there is no list in it")),
        (r#"{"complete":false,"tools":[]}"#.to_owned(), &[], None),
    ];
    for (text, expected, why) in cases {
        let capture = Capture::read_any(text.as_bytes()).expect(text);
        let listed: Vec<String> = capture.listed.iter().map(|l| format!("{} {}", l.kind, l.display_name())).collect();
        assert_eq!(listed, *expected, "{text}");
        assert_eq!(capture.why_incomplete.as_deref(), *why, "{text}");
        assert_eq!(capture.complete, why.is_none() && !text.contains(r#""complete":false"#), "{text}");
    }
}

#[test]
fn a_greeting_brings_version_and_instructions() {
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x"},"instructions":"Be kind."}}
        {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#;
    let capture = Capture::read_any(text.as_bytes()).expect("messages");
    assert!(capture.complete);
    assert_eq!(capture.protocol_version.as_deref(), Some("2025-11-25"));
    assert_eq!(capture.server_info.as_deref(), Some(&br#"{"name":"x"}"#[..]));
    assert_eq!(
        capture.of_kind(Kind::Instructions).map(|l| l.raw.to_vec()).collect::<Vec<_>>(),
        [br#""Be kind.""#.to_vec()]
    );
    // The same greeting twice is one text, another greeting is a second one.
    let twice = format!("{text}\n{text}");
    let count = |text: &str| Capture::read_any(text.as_bytes()).expect("messages").of_kind(Kind::Instructions).count();
    assert_eq!((count(&twice), count(&twice.replacen("kind", "quick", 1))), (1, 2));
}

#[test]
fn a_release_and_a_capture_are_read_as_such_and_strictly() {
    let capture = format!(r#"{{"complete":true,"tools":[{A}]}}"#);
    let release = format!(r#"{{"server":{{"name":"com.example/a","version":"1"}},"capture":{capture}}}"#);
    let read = |text: &str| Capture::read_any(text.as_bytes());
    assert_eq!(read(&capture), read(&release));
    assert!(read(&release).expect("a release").complete);
    for bad in [
        format!("{capture}{capture}"),
        format!("{release}\n{{}}"),
        capture.replace("tools", "tool"),
        format!("[{A}][{B}]"),
    ] {
        assert!(matches!(read(&bad), Err(CaptureError::Shape(_))), "{bad}");
    }
}

#[test]
fn what_is_cut_off_is_told_from_what_is_wrong() {
    const CASES: &[(&str, bool)] = &[
        ("", true),
        (" \n", true),
        ("[", true),
        ("[{\"name\":\"a\"}", true),
        ("{\"tools\":[{}", true),
        ("{\"complete\":true", true),
        ("x", false),
        ("7", false),
        ("\"tools\"", false),
        ("{\"tools\":{}}", false),
        ("[}", false),
        ("{\"tools\":[],\"tools\":[]}", false),
        ("{\"result\":7,\"jsonrpc\":\"2.0\"}", false),
        ("{\"jsonrpc\":\"2.0\",\"result\":{\"protocolVersion\":\"1999-01-01\"}}", false),
    ];
    for (text, truncated) in CASES {
        let error = Capture::read_any(text.as_bytes()).expect_err(text);
        assert_eq!(matches!(error, CaptureError::Truncated(_)), *truncated, "{text}: {error}");
    }
}
