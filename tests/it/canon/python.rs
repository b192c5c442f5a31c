//! Recipe two against CPython itself, where there is one.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use countersign::canon::parse;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use super::laws::json;

const SCRIPT: &str = r"
import hashlib, json, sys
for line in sys.stdin:
    text = json.dumps(json.loads(line), sort_keys=True, separators=(',', ':'))
    print(hashlib.sha256(text.encode()).hexdigest(), text)
";

#[test]
fn recipe_two_is_what_cpython_writes() {
    let child = Command::new("python3").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return };

    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let values = json();
    let mut lines: Vec<String> =
        (0..3_000).map(|_| values.new_tree(&mut runner).expect("no filter fails").current().to_string()).collect();
    // Ties between two shortest forms, subnormals, and every power of ten.
    lines.extend((-330..309).map(|exponent| format!("[1e{exponent}]")));
    lines.extend(
        [0x4314_3ff3_c1cb_0959_u64, 1, 0x000f_ffff_ffff_ffff, 0x4340_0000_0000_0001]
            .map(|bits| format!("[{:?}]", f64::from_bits(bits))),
    );

    let mut stdin = child.stdin.take().expect("piped");
    let input = lines.join("\n");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("python3 ran");
    writer.join().expect("no panic").expect("python3 read all");
    assert!(output.status.success());

    let answers = String::from_utf8(output.stdout).expect("ASCII");
    assert_eq!(answers.lines().count(), lines.len());
    for (line, answer) in lines.iter().zip(answers.lines()) {
        let value = parse(line.as_bytes()).expect("strict JSON");
        let (sha256, text) = answer.split_once(' ').expect("digest and text");
        assert_eq!(String::from_utf8_lossy(&value.to_python_sorted()), text);
        assert_eq!(value.python_digest().sha256.to_string(), sha256);
        assert_eq!(value.python_digest().to_string(), format!("python-sorted-sha256:{sha256}"));
    }
}
