//! What the README shows as code is run as it stands there.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use countersign::descriptor::{Descriptor, Kind};

/// The README's block of this language.
fn block(language: &str) -> String {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once(&format!("```{language}\n")).expect("the README has such a block");
    rest.split_once("\n```").expect("the block ends").0.to_owned()
}

fn python(script: &str) -> Option<String> {
    let mut child = Command::new("python3").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{script}");
    Some(String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn the_readmes_python_gives_the_other_digest_and_refuses_what_must_be_refused() {
    let raw = r#"{"name":"export","n":[1.0,1e16,-0.0,0.1,"\u00fcn\u00ef"],"inputSchema":{"type":"object"}}"#;
    let ours = Descriptor::parse(Kind::Tool, raw.as_bytes()).expect("strict JSON").python_digest();
    let snippet = block("python");
    let script = format!(
        "{snippet}\nprint(python_sorted_sha256(r'''{raw}'''))\n\
         for bad in ['{{\"a\":1,\"a\":2}}', '{{\"a\":NaN}}', '{{\"a\":1e999}}']:\n    \
         try:\n        print(python_sorted_sha256(bad))\n    except ValueError:\n        print(\"refused\")\n"
    );
    match python(&script) {
        Some(said) => assert_eq!(said, format!("{ours}\nrefused\nrefused\nrefused\n")),
        // Where the other tests of digests in Python run, this one does.
        None => assert!(crate::shared::shared("vectors").is_none(), "python3 is missing"),
    }
}
