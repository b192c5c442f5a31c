//! What the digest must notice, and what explains it: cases in which systems of this kind failed.

use std::collections::BTreeSet;

use countersign::{
    canon::{Digest, Recipe},
    descriptor::{Capture, Descriptor, Kind, Release, diff::diff},
};

fn tool(text: &str) -> Descriptor {
    Descriptor::parse(Kind::Tool, text.as_bytes()).expect("strict JSON")
}

#[test]
fn members_that_a_typed_reader_would_drop_are_hashed() {
    const BASE: &str = r#"{"name":"wipe_bin","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}"#;
    const OTHERS: &[&str] = &[
        r#"{"name":"wipe_bin","inputSchema":{"type":"object"},"annotations":{"destructiveHint":false}}"#,
        r#"{"name":"wipe_bin","inputSchema":{"type":"object"}}"#,
        r#"{"name":"wipe_bin","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true},"outputSchema":{}}"#,
        r#"{"name":"wipe_bin","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true},"title":"x"}"#,
        r#"{"name":"wipe_bin","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true},"_meta":{}}"#,
        r#"{"name":"wipe_bin","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true},"icons":[]}"#,
        r#"{"name":"wipe_bin","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true},"execution":{}}"#,
        r#"{"name":"wipe_bin","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true},"unheardOf":0}"#,
        r#"{"name":"wipe_bin ","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}"#,
    ];
    let base = tool(BASE);
    for other in OTHERS {
        let other = tool(other);
        assert_ne!(other.digest(), base.digest());
        assert_ne!(other.python_digest(), base.python_digest());
        assert!(!diff(&base.value(), &other.value()).is_empty());
    }
}

#[test]
fn composed_and_decomposed_letters_are_two_names() {
    let (composed, decomposed) = (tool("{\"name\":\"caf\u{e9}\"}"), tool("{\"name\":\"cafe\u{301}\"}"));
    assert_ne!(composed.digest(), decomposed.digest());
}

#[test]
fn a_digest_says_its_recipe_and_is_compared_under_it() {
    let descriptor = tool(r#"{"name":"a","inputSchema":{"type":"object"}}"#);
    let (deciding, second) = (descriptor.digest(), descriptor.python_digest());
    assert_eq!(deciding.sha256, second.sha256, "plain ASCII: both recipes write the same bytes");
    assert_ne!(deciding, second, "and still the two digests are not equal");
    assert_eq!((deciding.recipe, second.recipe), (Recipe::JcsSha256, Recipe::PythonSortedSha256));
    assert_eq!(deciding.to_string().parse::<Digest>(), Ok(deciding));
    assert!("jcs2-sha256:".to_owned().parse::<Digest>().is_err(), "an unknown recipe is no digest");
}

#[test]
fn member_digests_say_which_part_moved() {
    let old = tool(r#"{"name":"a","description":"x","inputSchema":{"type":"object"},"z":1}"#);
    let new = tool(r#"{"z":1.0,"inputSchema":{"type":"object","a":[]},"name":"a","title":"new"}"#);
    let names = |d: &Descriptor| d.members().iter().map(|m| m.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&old), ["description", "inputSchema", "name", "z"]);
    let moved: Vec<&str> =
        new.members().iter().filter(|m| !old.members().contains(m)).map(|m| m.name.as_str()).collect();
    assert_eq!(moved, ["inputSchema", "title"]);
    assert_eq!(old.members()[2].sha256.to_string(), "ac8d8342bbb2362d13f0a559a3621bb407011368895164b628a54f7fc33fc43c");
    let instructions = Descriptor::parse(Kind::Instructions, b"\"x\"").expect("strict JSON");
    assert!(instructions.members().is_empty());
}

#[test]
fn arrays_are_never_reordered_in_the_digest() {
    const CASES: &[(&str, &str, &str)] = &[
        (r#""required":["b","a"]"#, r#""required":["a","b"]"#, "order"),
        (
            r#""properties":{"level":{"enum":["low","high"]}}"#,
            r#""properties":{"level":{"enum":["high","low"]}}"#,
            "enum",
        ),
    ];
    for (old, new, class) in CASES {
        let whole = |schema: &str| tool(&format!(r#"{{"name":"a","inputSchema":{{"type":"object",{schema}}}}}"#));
        let (old, new) = (whole(old), whole(new));
        assert_ne!(old.digest(), new.digest());
        let changes = diff(&old.value(), &new.value()).changes;
        assert_eq!(changes.iter().map(|c| c.class.as_str()).collect::<Vec<_>>(), [*class]);
    }
}

#[test]
fn kinds_have_names_of_their_own_and_every_kind_is_hashed() {
    let release = |prompt: &str, instructions: &str| {
        let text = format!(
            r#"{{"complete":true,"tools":[{{"name":"report","inputSchema":{{"type":"object"}}}}],
            "prompts":[{{"name":"report","description":"{prompt}"}}],"instructions":"{instructions}"}}"#
        );
        let capture = Capture::parse(text.as_bytes()).expect("a capture");
        Release::new(
            "com.example/quay".parse().expect("legal"),
            "1".parse().expect("legal"),
            Default::default(),
            capture,
        )
    };
    let subjects =
        |release: &Release| release.subjects().into_iter().map(|s| (s.name, s.sha256)).collect::<BTreeSet<_>>();
    let base = subjects(&release("Lists ships.", "x"));
    let moved = |other: &Release| subjects(other).difference(&base).map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(base.len(), 3);
    assert_eq!(moved(&release("Lists ships. Then mail them.", "x")), ["prompt/report"]);
    assert_eq!(moved(&release("Lists ships.", "y")), ["instructions/instructions"]);
    let all = release("Lists ships.", "x");
    assert!(
        all.descriptors().expect("strict").iter().all(|d| d.unpinnable().is_none()),
        "a tool and a prompt may share a name"
    );
}

#[test]
fn null_members_and_schemas_that_are_no_objects_are_named_with_their_place() {
    const CASES: &[(&str, &str, &str)] = &[
        (r#"{"name":"n","inputSchema":{"type":"object"},"description":null}"#, "null-member", "/description"),
        (r#"{"name":"n","inputSchema":[]}"#, "schema-not-object", "/inputSchema"),
        (r#"{"name":"n","inputSchema":{}}"#, "schema-root-not-object", "/inputSchema/type"),
    ];
    for (text, code, pointer) in CASES {
        let unpinnable = tool(text).unpinnable().cloned().expect("unpinnable");
        assert_eq!((unpinnable.code.as_str(), unpinnable.pointer.as_str()), (*code, *pointer));
    }
}
