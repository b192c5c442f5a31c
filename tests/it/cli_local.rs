//! Commands that need no registry: keygen, digest, diff, capture, attest.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use insta::assert_snapshot;
use tempfile::TempDir;

use crate::{doubles::Program, shared::shared, terminal::Desk};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn file(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("written");
    path.to_str().expect("text").to_owned()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[tokio::test]
async fn help_teaches() {
    assert_snapshot!("help", Desk::new().run(["--help"]).await);
    assert_snapshot!("help_capture", Desk::new().run(["capture", "--help"]).await);
}

#[tokio::test]
async fn wrong_calls_end_with_2() {
    for args in
        [&["nonsense"][..], &[], &["digest"], &["capture", "--server", "x", "--version", "1", "-o", "f"], &["keygen"]]
    {
        let ran = Desk::new().run(args).await;
        assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{args:?}: {}", ran.stderr);
        assert!(!ran.stderr.is_empty());
    }
}

#[tokio::test]
async fn keygen_writes_a_pair_and_never_over_another() {
    let folder = folder();
    let key = folder.path().join("acme.key");
    let key = key.to_str().expect("text");
    let ran = Desk::new().run(["keygen", "-o", key]).await;
    assert_snapshot!("keygen", ran.in_folder(folder.path()));
    assert_eq!(mode(Path::new(key)), 0o600);
    let before = fs::read(key).expect("there");
    let again = Desk { seed: 8, ..Desk::new() }.run(["keygen", "-o", key]).await;
    assert_snapshot!("keygen_again", again.in_folder(folder.path()));
    fs::remove_file(key).expect("there");
    let half = Desk { seed: 8, ..Desk::new() }.run(["keygen", "-o", key]).await;
    assert_eq!(half.exit, 1);
    assert!(!Path::new(key).exists(), "no half of a pair is left behind");
    fs::write(key, &before).expect("written");
    fs::remove_file(format!("{key}.pub")).expect("there");
    assert_eq!(Desk { seed: 8, ..Desk::new() }.run(["keygen", "-o", key]).await.exit, 1);
    assert_eq!(fs::read(key).expect("there"), before);
}

#[tokio::test]
async fn digest_prints_both_recipes_or_the_code_of_the_refusal() {
    let ran = Desk::new().run_with(["digest", "-"], br#"{"b":1.0,"a":"\u00e9"}"#).await;
    assert_snapshot!("digest", ran);
    let ran = Desk::new().run_with(["digest", "-"], br#"{"a":{"b":1,"b":2}}"#).await;
    assert_snapshot!("digest_refused", ran);
    let ran = Desk::new().run(["digest", "/nonexistent"]).await;
    assert_snapshot!("digest_missing", ran);
    for (bytes, exit, first) in [((1 << 20) - 2, 0, "jcs-sha256:"), ((1 << 20) - 1, 1, "too-large\n")] {
        let ran = Desk::new().run_with(["digest", "-"], format!("\"{}\"", "x".repeat(bytes)).as_bytes()).await;
        assert_eq!(ran.exit, exit);
        assert!(ran.stdout.starts_with(first), "{}", ran.stdout);
    }
}

#[tokio::test]
async fn digest_agrees_with_every_vector() {
    let Some(path) = shared("vectors/canon.json") else { return };
    let vectors: serde_json::Value = serde_json::from_slice(&fs::read(path).expect("there")).expect("JSON");
    let vectors = vectors.as_array().or_else(|| vectors["vectors"].as_array()).expect("a list");
    assert!(vectors.len() > 100);
    for vector in vectors {
        let input = STANDARD.decode(vector["input_base64"].as_str().expect("text")).expect("base64");
        let ran = Desk::new().run_with(["digest", "-"], &input).await;
        let name = &vector["name"];
        match vector["refuse_reason"].as_str() {
            Some(code) => assert_eq!((ran.exit, ran.stdout), (1, format!("{code}\n")), "{name}"),
            None => {
                let [jcs, python] = ["jcs_sha256", "python_sha256"].map(|m| vector[m].as_str().expect("hex"));
                assert_eq!(ran.stdout, format!("jcs-sha256:{jcs}\npython-sorted-sha256:{python}\n"), "{name}");
                assert_eq!(ran.exit, 0, "{name}");
            }
        }
    }
}

#[tokio::test]
async fn diff_names_what_moved_and_what_grew() {
    let folder = folder();
    let old = file(
        &folder,
        "old.json",
        r#"{"tools":[
        {"name":"export","description":"Export notes.","inputSchema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"annotations":{"destructiveHint":false}},
        {"name":"list","inputSchema":{"type":"object"}},
        {"name":"gone","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]}"#,
    );
    let new = file(
        &folder,
        "new.json",
        r#"{"tools":[
        {"name":"export","description":"Export notes.","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"callback_url":{"type":"string"}},"required":["id"]},"annotations":{"destructiveHint":true}},
        {"inputSchema":{"type":"object"},"name":"list"},
        {"name":"add","description":"Something \u001b[31mnew\u202e.","inputSchema":{"type":"object"}}]}"#,
    );
    let ran = Desk::new().run(["diff", &old, &new]).await;
    assert_snapshot!("diff", ran);
    let json = Desk::new().run(["diff", "--json", &old, &new]).await;
    assert_eq!(json.exit, 1);
    let report: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(report["differs"], true);
    let same = Desk::new().run(["diff", &old, &old]).await;
    assert_snapshot!("diff_same", same);
}

#[tokio::test]
async fn diff_takes_two_descriptors_and_does_not_trust_half_a_list() {
    let folder = folder();
    let one = file(&folder, "one.json", r#"{"name":"wipe","annotations":{"destructiveHint":true}}"#);
    let two = file(&folder, "two.json", r#"{"name":"wipe","annotations":{"destructiveHint":false}}"#);
    assert_snapshot!("diff_two", Desk::new().run(["diff", &one, &two]).await);
    let half = file(&folder, "half.json", r#"{"tools":[],"nextCursor":"x"}"#);
    let whole = file(&folder, "whole.json", r#"[{"name":"wipe"}]"#);
    assert_snapshot!("diff_half", Desk::new().run(["diff", &whole, &half]).await.in_folder(folder.path()));
}

const SCRIPT: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"double","version":"1"},"instructions":"Ask first."}}"#,
    r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"export","inputSchema":{"type":"object"},"x-y":1.50},{"name":"bad name","inputSchema":{"type":"object"}}]}}"#,
];

async fn capture(program: &Program, release: &str) -> crate::terminal::Ran {
    let start = ["capture", "--server", "com.example/notes", "--version", "1.4.0", "-o", release, "--"];
    let command = program.command();
    Desk::new().in_real_time().run(start.into_iter().chain(command.iter().map(String::as_str))).await
}

#[tokio::test]
async fn a_captured_server_is_attested() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let (release, key, attestation) = (path("release.json"), path("key"), path("attestation.json"));
    let program = Program::new(SCRIPT);
    assert_snapshot!("capture", capture(&program, &release).await.in_folder(folder.path()));
    let text = fs::read_to_string(&release).expect("written");
    assert!(text.contains(r#""tools":[{"name":"export","inputSchema":{"type":"object"},"x-y":1.50},"#), "{text}");
    Desk::new().run(["keygen", "-o", &key]).await;
    let ran = Desk::new().run(["attest", &release, "--key", &key, "-o", &attestation]).await;
    assert_snapshot!("attest", ran.in_folder(folder.path()));
    let envelope: serde_json::Value = serde_json::from_slice(&fs::read(&attestation).expect("written")).expect("JSON");
    let payload = STANDARD.decode(envelope["payload"].as_str().expect("text")).expect("base64");
    assert_snapshot!("attest_payload", String::from_utf8(payload).expect("text"));
    let public = Desk::new().run(["attest", &release, "--key", &format!("{key}.pub"), "-o", &attestation]).await;
    assert_snapshot!("attest_wrong_key", public.in_folder(folder.path()));
}

#[tokio::test]
async fn an_incomplete_capture_is_kept_and_can_not_be_attested() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let (release, key, attestation) = (path("release.json"), path("key"), path("attestation.json"));
    // Page one of two, then the server ends.
    let cut = SCRIPT[2].replace("]}}", r#"],"nextCursor":"two"}}"#);
    let program = Program::new([SCRIPT[0], SCRIPT[1], &cut]);
    assert_snapshot!("capture_incomplete", capture(&program, &release).await.in_folder(folder.path()));
    Desk::new().run(["keygen", "-o", &key]).await;
    let ran = Desk::new().run(["attest", &release, "--key", &key, "-o", &attestation]).await;
    assert_snapshot!("attest_incomplete", ran.in_folder(folder.path()));
    assert!(!Path::new(&attestation).exists());
}

#[tokio::test]
async fn a_list_from_a_file_is_complete_only_if_it_says_nothing_else() {
    let folder = folder();
    let release = folder.path().join("release.json");
    let release = release.to_str().expect("text");
    for (text, exit) in [
        (r#"[{"name":"a"}]"#, 0),
        (r#"{"tools":[{"name":"a"}]}"#, 0),
        (r#"{"tools":[{"name":"a"}],"nextCursor":"x"}"#, 3),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#, 3),
        (r#"{"complete":false,"tools":[{"name":"a"}]}"#, 3),
        (r#"{"tools":[{"name":"a"}"#, 3),
        ("7", 1),
    ] {
        let args = ["capture", "--server", "com.example/notes", "--version", "1", "-o", release, "--from", "-"];
        let ran = Desk::new().run_with(args, text.as_bytes()).await;
        assert_eq!(ran.exit, exit, "{text}: {}", ran.stderr);
    }
}

#[tokio::test]
async fn what_nobody_can_read_one_way_is_not_attested() {
    let folder = folder();
    let release = file(
        &folder,
        "release.json",
        r#"{"server":{"name":"com.example/notes","version":"1"},"capture":{"complete":true,"tools":[{"name":"a","x":1,"x":2}]}}"#,
    );
    let key = folder.path().join("key");
    let key = key.to_str().expect("text");
    Desk::new().run(["keygen", "-o", key]).await;
    let ran = Desk::new().run(["attest", &release, "--key", key, "-o", "/nonexistent/a"]).await;
    assert_snapshot!("attest_refused", ran.in_folder(folder.path()));
}

#[tokio::test]
async fn a_servers_own_words_do_not_steer_the_terminal() {
    let folder = folder();
    let release = folder.path().join("release.json");
    let program = Program::new(SCRIPT);
    let script = fs::read_to_string(&program.command()[1]).expect("there");
    let loud = format!("printf 'hi \\033]0;owned\\007\\n' >&2\n{script}");
    fs::write(&program.command()[1], loud).expect("written");
    let ran = capture(&program, release.to_str().expect("text")).await;
    assert!(ran.stderr.contains("  server: hi ⟦ESC⟧]0;owned⟦BEL⟧\n"), "{}", ran.stderr);
    assert!(!ran.stderr.contains('\u{1b}'));
}

#[tokio::test]
async fn a_capture_that_broke_off_takes_no_whole_ones_place_unless_told_to() {
    let folder = folder();
    let (whole, cut) = (
        file(&folder, "whole.json", r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}"#),
        file(&folder, "cut.json", r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"2"}"#),
    );
    let release = folder.path().join("release.json");
    let output = release.to_str().expect("text");
    let capture = async |from: &str, more: &[&str]| {
        let start = ["capture", "--server", "com.example/notes", "--version", "1", "-o", output, "--from", from];
        Desk::new().run(start.iter().chain(more)).await
    };
    let kept = || fs::read(&release).expect("there");
    assert_eq!(capture(&cut, &[]).await.exit, 3);
    let broken = kept();
    assert_eq!(capture(&cut, &[]).await.exit, 3, "one broken capture replaces another");
    assert_eq!(capture(&whole, &[]).await.exit, 0);
    let before = kept();
    assert_ne!(before, broken);
    let refused = capture(&cut, &[]).await;
    assert_eq!(refused.exit, 3, "{refused}");
    assert!(refused.stderr.contains("holds a complete one and is left as it is"), "{refused}");
    assert_eq!(kept(), before);
    assert_eq!(capture(&whole, &[]).await.exit, 0);
    assert_eq!(capture(&cut, &["--force"]).await.exit, 3);
    assert_eq!(kept(), broken);
    // What can't be attested leaves an older attestation alone.
    let (key, attestation) = (folder.path().join("key"), file(&folder, "attestation.json", "older"));
    let key = key.to_str().expect("text");
    assert_eq!(Desk::new().run(["keygen", "-o", key]).await.exit, 0);
    let attest = Desk::new().run(["attest", output, "--key", key, "-o", &attestation]).await;
    assert_eq!(attest.exit, 3, "{attest}");
    assert_eq!(fs::read(&attestation).expect("there"), b"older");
    assert!(fs::read_dir(folder.path()).expect("there").all(|e| !e.expect("an entry").path().ends_with(".new")));
}

#[tokio::test]
async fn a_file_that_is_no_list_is_told_with_its_place_and_what_was_expected() {
    let folder = folder();
    let yaml = file(&folder, "tools.yaml", "tools:\n- export\n");
    let output = folder.path().join("r.json");
    let args = ["capture", "--server", "com.example/notes", "--version", "1", "-o", output.to_str().expect("text")];
    let ran = Desk::new().run(args.iter().chain(&["--from", &yaml])).await;
    assert_eq!(ran.exit, 1, "{ran}");
    assert!(ran.stderr.contains("tools.yaml is no list: line 1, column 2: "), "{ran}");
    assert!(
        ran.stderr.contains("; expected a capture, a release, an array of tools, {\"tools\": […]}, or JSON-RPC"),
        "{ran}"
    );
}
