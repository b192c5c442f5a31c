//! Captures over stdio, from programs that behave and from programs that don't.

use countersign::{
    clock::Timestamp,
    descriptor::Capture,
    env::{ManualClock, SystemClock},
    mcp::{self, Options, Protocol, Seen},
};

use crate::doubles::Program;

const NO_DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#;
const INITIALIZED: &str = r#"{"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"double","version":"1"}},"jsonrpc":"2.0","id":2}"#;
const DISCOVERED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"2"}}}}"#;

async fn captured(program: &Program) -> Capture {
    captured_with(program, Options::default(), &mut Vec::new()).await
}

async fn captured_with(program: &Program, options: Options, seen: &mut Vec<String>) -> Capture {
    mcp::capture(&program.target(), &options, &SystemClock, &mut |event: Seen<'_>| seen.push(format!("{event:?}")))
        .await
}

fn names(capture: &Capture) -> Vec<String> {
    capture.listed.iter().map(|listed| format!("{}/{}", listed.kind, listed.display_name())).collect()
}

#[tokio::test]
async fn every_page_of_every_list_is_walked_and_bytes_are_kept() {
    let spaced = r#"{ "name" : "b", "inputSchema" : {"type":"object"} , "x" : 1.0, "é":"\u00e9" }"#;
    let program = Program::new([
        NO_DISCOVER,
        r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{},"x":1},"serverInfo":{"name":"double"},"instructions":"Be \u006bind.","y":2}}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a"}],"nextCursor":"one"}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{"tools":[],"nextCursor":""}}"#,
        &format!(r#"{{"jsonrpc":"2.0","id":5,"result":{{"tools":[{spaced}]}}}}"#),
        r#"{"jsonrpc":"2.0","id":6,"result":{"prompts":[{"name":"p"}],"nextCursor":null}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"resources":[{"uri":"x:1"}]}}"#,
        r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"Method not found"}}"#,
    ]);
    let mut seen = Vec::new();
    let capture = captured_with(&program, Options::default(), &mut seen).await;
    assert_eq!(capture.why_incomplete, None);
    assert!(capture.complete);
    assert_eq!(names(&capture), ["tool/a", "tool/b", "prompt/p", "resource/x:1", "instructions/instructions"]);
    assert_eq!(&*capture.listed[1].raw, spaced.as_bytes());
    assert_eq!(&*capture.listed[4].raw, br#""Be \u006bind.""#);
    assert_eq!(capture.protocol_version.as_deref(), Some("2025-06-18"));
    assert_eq!(capture.server_info.as_deref(), Some(br#"{"name":"double"}"#.as_slice()));
    assert_eq!(
        seen,
        [
            "Opened(V2025_06_18)",
            "Page { kind: Tool, count: 1 }",
            "Page { kind: Tool, count: 0 }",
            "Page { kind: Tool, count: 1 }",
            "Page { kind: Prompt, count: 1 }",
            "Page { kind: Resource, count: 1 }",
        ]
    );
    let requests = program.requests();
    assert_eq!(
        requests[1..],
        [
            &format!(
                r#"{{"jsonrpc":"2.0","id":2,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"countersign","version":"{}"}}}}}}"#,
                env!("CARGO_PKG_VERSION")
            ),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"cursor":"one"}}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":""}}"#,
            r#"{"jsonrpc":"2.0","id":6,"method":"prompts/list"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"resources/list"}"#,
            r#"{"jsonrpc":"2.0","id":8,"method":"resources/templates/list"}"#,
            "closed",
        ]
    );
    let back = Capture::parse(&capture.to_json()).expect("a capture reads its own file");
    assert_eq!(back.to_json(), capture.to_json());
}

#[tokio::test]
async fn a_server_of_the_newer_era_is_asked_without_a_session() {
    let program = Program::new([
        DISCOVERED,
        r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","tools":[{"name":"a"}],"nextCursor":"c","ttlMs":5}}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","tools":[{"name":"b"}]}}"#,
    ]);
    let capture = captured(&program).await;
    assert_eq!(capture.why_incomplete, None);
    assert_eq!(names(&capture), ["tool/a", "tool/b"]);
    assert_eq!(capture.protocol_version.as_deref(), Some("2026-07-28"));
    assert_eq!(capture.server_info.as_deref(), Some(br#"{"name":"new","version":"2"}"#.as_slice()));
    let meta = format!(
        r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"countersign","version":"{}"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}"#,
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(
        program.requests(),
        [
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{meta}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{{meta}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{{"cursor":"c",{meta}}}}}"#),
            "closed".to_owned(),
        ]
    );
}

#[tokio::test]
async fn which_protocol_is_spoken_follows_from_the_first_answers() {
    const TOOLS: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}"#;
    let initialized = |version: &str| INITIALIZED.replace("2025-11-25", version);
    let unsupported = |supported: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32022,"message":"no","data":{{"supported":{supported}}}}}}}"#
        )
    };
    let older = |answer: &str| vec![answer.to_owned(), initialized("2025-11-25"), TOOLS.to_owned()];
    let cases: Vec<(&str, Vec<String>, Result<&str, &str>)> = vec![
        (
            "any other error",
            older(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":""}}"#),
            Ok("2025-11-25"),
        ),
        (
            "an error with odd data",
            older(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"","data":[1]}}"#),
            Ok("2025-11-25"),
        ),
        ("2024-11-05", vec![NO_DISCOVER.to_owned(), initialized("2024-11-05"), TOOLS.to_owned()], Ok("2024-11-05")),
        ("2025-03-26", vec![NO_DISCOVER.to_owned(), initialized("2025-03-26"), TOOLS.to_owned()], Ok("2025-03-26")),
        ("discover, older only", older(&DISCOVERED.replace("2026-07-28", "2025-11-25")), Ok("2025-11-25")),
        ("an unsupported version, older only", older(&unsupported(r#"["2025-06-18"]"#)), Ok("2025-11-25")),
        (
            "a future version only",
            vec![unsupported(r#"["2031-01-01"]"#)],
            Err("the server speaks protocol version \"2031-01-01\", which was not asked for or is not known"),
        ),
        (
            "a newer-era error without a way out",
            vec![r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"needs sampling"}}"#.to_owned()],
            Err("the server answered server/discover with error -32021: \"needs sampling\""),
        ),
        (
            "a version nobody knows",
            vec![NO_DISCOVER.to_owned(), initialized("2031-01-01")],
            Err("the server speaks protocol version \"2031-01-01\", which was not asked for or is not known"),
        ),
        (
            "the newer version in the older handshake",
            vec![NO_DISCOVER.to_owned(), initialized("2026-07-28")],
            Err("the server speaks protocol version \"2026-07-28\", which was not asked for or is not known"),
        ),
    ];
    for (name, answers, expected) in cases {
        let capture = captured(&Program::new(answers)).await;
        let outcome = match &capture.why_incomplete {
            None => Ok(capture.protocol_version.as_deref().expect("opened")),
            Some(why) => Err(why.as_str()),
        };
        assert_eq!(outcome, expected, "{name}");
    }
}

#[tokio::test]
async fn a_version_that_is_asked_for_is_the_only_one_that_will_do() {
    let asked = |protocol| Options { protocol: Some(protocol), ..Options::default() };
    let initialized = INITIALIZED.replace("\"id\":2", "\"id\":1");
    let tools = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#;
    let program = Program::new([&initialized, tools]);
    let capture = captured_with(&program, asked(Protocol::V2025_11_25), &mut Vec::new()).await;
    assert_eq!(capture.why_incomplete, None);
    assert!(program.requests()[0].contains(r#""method":"initialize""#), "no probe: {:?}", program.requests());

    let capture = captured_with(&Program::new([&initialized]), asked(Protocol::V2025_06_18), &mut Vec::new()).await;
    let why = "the server speaks protocol version \"2025-11-25\", which was not asked for or is not known";
    assert_eq!(capture.why_incomplete.as_deref(), Some(why));

    let capture = captured_with(&Program::new([NO_DISCOVER]), asked(Protocol::V2026_07_28), &mut Vec::new()).await;
    let why = "the server answered server/discover with error -32601: \"Method not found\"";
    assert_eq!(capture.why_incomplete.as_deref(), Some(why));
}

#[tokio::test]
async fn a_server_that_ends_at_the_probe_gets_the_older_handshake_in_a_second_life() {
    // The double numbers answers within one life, and `requests` tells it which one it is.
    let program = Program::new([
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}}"#,
    ]);
    let path = program.command()[1].clone();
    let script = std::fs::read_to_string(&path).expect("there");
    let rude = "case $line in *server/discover*) echo 'expected initialize' >&2; exit 1 ;; esac\n  case $line in";
    std::fs::write(&path, script.replacen("case $line in", rude, 1)).expect("written");
    let mut seen = Vec::new();
    let capture = captured_with(&program, Options::default(), &mut seen).await;
    assert_eq!(capture.why_incomplete, None);
    assert_eq!(names(&capture), ["tool/a"]);
    assert_eq!(seen[0], r#"Stderr("expected initialize")"#);
}

#[tokio::test]
async fn what_is_not_a_whole_answer_makes_the_capture_incomplete_with_its_reason() {
    const LISTS: &[(&str, &[u8], &str)] = &[
        (
            "an error",
            br#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"db\u001b[31m down"}}"#,
            r#"the server answered tools/list with error -32603: "db\u{1b}[31m down""#,
        ),
        (
            "method not found for a declared list",
            br#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#,
            r#"the server answered tools/list with error -32601: "no""#,
        ),
        (
            "an error without an id",
            br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}"#,
            r#"the server answered tools/list with error -32700: "parse""#,
        ),
        (
            "no list",
            br#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
            "the answer to tools/list is malformed: it has no list",
        ),
        (
            "a null list",
            br#"{"jsonrpc":"2.0","id":3,"result":{"tools":null}}"#,
            "the answer to tools/list is malformed: it has no list",
        ),
        (
            "a list that is none",
            br#"{"jsonrpc":"2.0","id":3,"result":{"tools":{}}}"#,
            "the answer to tools/list is malformed: invalid type: map, expected a sequence at line 1 column 9",
        ),
        (
            "two lists",
            br#"{"jsonrpc":"2.0","id":3,"result":{"tools":[],"tools":[{"name":"x"}]}}"#,
            "the answer to tools/list is malformed: duplicate field `tools` at line 1 column 19",
        ),
        (
            "two cursors",
            br#"{"jsonrpc":"2.0","id":3,"result":{"tools":[],"nextCursor":"a","nextCursor":null}}"#,
            "the answer to tools/list is malformed: duplicate field `nextCursor` at line 1 column 41",
        ),
        (
            "a cursor that is none",
            br#"{"jsonrpc":"2.0","id":3,"result":{"tools":[],"nextCursor":7}}"#,
            "the answer to tools/list is malformed: invalid type: integer `7`, expected a string at line 1 column 26",
        ),
        (
            "an input request",
            br#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"input_required","tools":[]}}"#,
            r#"the server answered tools/list with "input_required" instead of a complete result"#,
        ),
        (
            "half a line",
            br#"{"jsonrpc":"2.0","id":3,"result":{"tools":["#,
            "the server sent something that is not a JSON-RPC message: EOF while parsing a list at line 1 column 43",
        ),
        (
            "a message over two lines",
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\n\"result\":{\"tools\":[]}}",
            "the server sent something that is not a JSON-RPC message: EOF while parsing a value at line 1 column 24",
        ),
        (
            "bytes that are no text",
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tools\":[{\"name\":\"\xff\"}]}}",
            "the server sent bytes that are not UTF-8",
        ),
        (
            "another version",
            br#"{"jsonrpc":"1.0","id":3,"result":{"tools":[]}}"#,
            "the server sent something that is not a JSON-RPC message: it is not of JSON-RPC version 2.0",
        ),
        (
            "result and error",
            br#"{"jsonrpc":"2.0","id":3,"result":{"tools":[]},"error":{"code":1,"message":"x"}}"#,
            "the server sent something that is not a JSON-RPC message: more than one of method, result and error",
        ),
        (
            "two results",
            br#"{"jsonrpc":"2.0","id":3,"result":{"tools":[]},"result":{"tools":[{"name":"x"}]}}"#,
            "the server sent something that is not a JSON-RPC message: duplicate field `result` at line 1 column 54",
        ),
        (
            "a null result",
            br#"{"jsonrpc":"2.0","id":3,"result":null}"#,
            "the server sent something that is not a JSON-RPC message: neither method nor result nor error",
        ),
        (
            "a batch",
            br#"[{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}]"#,
            "the server sent something that is not a JSON-RPC message: invalid type: map, expected a string at line 1 column 1",
        ),
        (
            "an answer to nothing",
            br#"{"jsonrpc":"2.0","id":9,"result":{"tools":[]}}"#,
            "the server answered a request that was not waiting for an answer (id 9)",
        ),
        (
            "an answer under a text",
            br#"{"jsonrpc":"2.0","id":"3","result":{"tools":[]}}"#,
            r#"the server answered a request that was not waiting for an answer (id "3")"#,
        ),
        (
            "a second answer to an earlier request",
            br#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#,
            "the server answered a request that was not waiting for an answer (id 2)",
        ),
    ];
    let mut wrong = Vec::new();
    for (name, answer, why) in LISTS {
        let capture = captured(&Program::new([NO_DISCOVER.as_bytes(), INITIALIZED.as_bytes(), answer])).await;
        if capture.complete || capture.why_incomplete.as_deref() != Some(*why) {
            wrong.push(format!("{name}: {:?}", capture.why_incomplete));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_list_that_breaks_off_is_incomplete_and_keeps_what_came_before() {
    let page = |id: u64, name: &str, cursor: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"{name}"}}],"nextCursor":"{cursor}"}}}}"#)
    };
    let opened = [NO_DISCOVER.to_owned(), INITIALIZED.to_owned()];
    let cases: [(&str, Vec<String>, &[&str], &str); 3] = [
        ("it ends", vec![page(3, "a", "x")], &["tool/a"], "the server ended before it answered tools/list"),
        (
            "a cursor comes twice",
            vec![page(3, "a", "x"), page(4, "b", "y"), page(5, "c", "x")],
            &["tool/a", "tool/b", "tool/c"],
            "the pages of tools repeat: a cursor came twice",
        ),
        (
            "the second page fails",
            vec![
                page(3, "a", "x"),
                r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"bad cursor"}}"#.to_owned(),
            ],
            &["tool/a"],
            r#"the server answered tools/list with error -32602: "bad cursor""#,
        ),
    ];
    for (name, pages, kept, why) in cases {
        let capture = captured(&Program::new(opened.iter().cloned().chain(pages))).await;
        assert_eq!(capture.why_incomplete.as_deref(), Some(why), "{name}");
        assert_eq!(names(&capture), kept, "{name}");
    }
}

#[tokio::test]
async fn a_banner_and_requests_of_the_server_do_not_disturb() {
    let program = Program::new([
        format!("Server v1 is up\n\n{NO_DISCOVER}"),
        format!(
            r#"{{"jsonrpc":"2.0","id":"p1","method":"ping"}}
{{"jsonrpc":"2.0","id":77,"method":"roots/list"}}
{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info"}}}}
{INITIALIZED}"#
        ),
        r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a"}]}}"#.to_owned(),
    ]);
    let mut seen = Vec::new();
    let capture = captured_with(&program, Options::default(), &mut seen).await;
    assert_eq!(capture.why_incomplete, None);
    assert_eq!(seen[0], r#"Noise("Server v1 is up")"#);
    let requests = program.requests();
    assert_eq!(requests[2], r#"{"jsonrpc":"2.0","id":"p1","result":{}}"#);
    assert_eq!(requests[3], r#"{"jsonrpc":"2.0","id":77,"error":{"code":-32601,"message":"Method not found"}}"#);
    assert_eq!(names(&capture), ["tool/a"]);
}

#[tokio::test]
async fn lists_that_change_while_they_are_read_are_read_again_and_not_for_ever() {
    const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let page =
        |id: u64, name: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"{name}"}}]}}}}"#);
    let opened = [NO_DISCOVER.to_owned(), INITIALIZED.to_owned()];
    let once = opened.iter().cloned().chain([format!("{CHANGED}\n{}", page(3, "a")), page(4, "b")]);
    let capture = captured(&Program::new(once)).await;
    assert_eq!((capture.complete, names(&capture)), (true, vec!["tool/b".to_owned()]));

    let always = opened.iter().cloned().chain((3..9).map(|id| format!("{CHANGED}\n{}", page(id, "a"))));
    let capture = captured(&Program::new(always)).await;
    assert_eq!(capture.why_incomplete.as_deref(), Some("the lists changed 3 times while they were read"));
}

#[tokio::test]
async fn a_request_in_the_newer_era_is_a_fault() {
    let asks = r#"{"jsonrpc":"2.0","id":"x","method":"roots/list"}"#;
    let capture = captured(&Program::new([DISCOVERED, asks])).await;
    let why = r#"the server sent a request ("roots/list"), which protocol version 2026-07-28 forbids"#;
    assert_eq!(capture.why_incomplete.as_deref(), Some(why));
}

#[tokio::test]
async fn two_thousand_descriptors_are_a_capture_and_one_more_is_none() {
    for (count, why) in [(2_000, None), (2_001, Some("the server lists more than 2000 descriptors"))] {
        let tools: Vec<String> = (0..count).map(|i| format!(r#"{{"name":"t{i}"}}"#)).collect();
        let page = format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{}]}}}}"#, tools.join(","));
        let capture = captured(&Program::new([NO_DISCOVER, INITIALIZED, &page])).await;
        assert_eq!(capture.why_incomplete.as_deref(), why);
        assert_eq!(capture.listed.len(), 2_000);
    }
}

#[tokio::test]
async fn eight_mebibytes_are_a_capture_and_one_byte_more_is_none() {
    // 64 KiB are kept for what a release says besides; a comma goes with each of the eight items.
    const ROOM: usize = (8 << 20) - (64 << 10) - 8;
    for (more, why) in [(0, None), (1, Some("the server lists more than 8323072 bytes of descriptors"))] {
        let tool = |bytes: usize| format!(r#"{{"name":"{}"}}"#, "x".repeat(bytes - r#"{"name":""}"#.len()));
        let mut tools = vec![tool(ROOM / 8); 7];
        tools.push(tool(ROOM - 7 * (ROOM / 8) + more));
        let page = format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{}]}}}}"#, tools.join(","));
        let capture = captured(&Program::new([NO_DISCOVER, INITIALIZED, &page])).await;
        assert_eq!(capture.why_incomplete.as_deref(), why);
        if why.is_none() {
            assert!(capture.to_json().len() <= 8 << 20);
            assert!(Capture::parse(&capture.to_json()).is_ok());
        }
    }
}

#[tokio::test]
async fn a_program_that_does_not_start_says_so() {
    let target = mcp::Target::Stdio {
        command: "/nonexistent/server".to_owned(),
        args: Vec::new(),
        vars: Default::default(),
        directory: None,
    };
    let clock = ManualClock::at(Timestamp::EPOCH);
    let capture = mcp::capture(&target, &Options::default(), &clock, &mut |_: Seen<'_>| {}).await;
    let why = "the program does not start: /nonexistent/server: No such file or directory (os error 2)";
    assert_eq!(capture.why_incomplete.as_deref(), Some(why));
}

#[tokio::test]
async fn a_program_gets_no_secret_of_ours_and_leaves_no_process_behind() {
    let ours =
        [("PATH", "/usr/bin:/bin"), ("COUNTERSIGN_TOKEN", "cs_secret"), ("AWS_SECRET_ACCESS_KEY", "s"), ("HOME", "/h")];
    let ours = ours.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let vars = mcp::child_vars(&ours, [("EXTRA".to_owned(), "1".to_owned())].into());
    assert_eq!(vars.keys().collect::<Vec<_>>(), ["EXTRA", "HOME", "PATH"]);

    // A grandchild that holds no stream and ignores its input's end, as a server behind npx might.
    let directory = tempfile::tempdir().expect("a directory");
    let script = format!(
        "env > {0}/env; sleep 300 </dev/null >/dev/null 2>&1 & echo $! > {0}/pid; exit 0",
        directory.path().display()
    );
    let target =
        mcp::Target::Stdio { command: "sh".to_owned(), args: vec!["-c".to_owned(), script], vars, directory: None };
    let options = Options { protocol: Some(Protocol::V2025_11_25), ..Options::default() };
    let capture = mcp::capture(&target, &options, &SystemClock, &mut |_: Seen<'_>| {}).await;
    assert_eq!(capture.why_incomplete.as_deref(), Some("the server ended before it answered initialize"));
    let env = std::fs::read_to_string(directory.path().join("env")).expect("written");
    assert!(!env.contains("secret") && !env.contains("AWS") && env.contains("EXTRA=1"), "{env}");
    let pid = std::fs::read_to_string(directory.path().join("pid")).expect("written");
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // A busy machine takes a moment to end what was killed, and whoever inherits it to reap it.
    let gone = || state().is_empty() || state().contains(") Z ");
    assert!((0..1_000_000).any(|_| gone()), "{}", state());
}
