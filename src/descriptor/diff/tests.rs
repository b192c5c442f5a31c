use proptest::prelude::*;

use super::*;
use crate::canon::parse;

fn between(old: &str, new: &str) -> Diff {
    let value = |text: &str| parse(text.as_bytes()).expect("strict JSON").into_owned();
    let (old, new) = (value(old), value(new));
    let diff = diff(&old, &new);
    assert_eq!(diff.apply(&old), Ok(new), "the changes are the whole difference");
    diff
}

/// `pointer class growth`, one a change.
fn told(diff: &Diff) -> Vec<String> {
    let growth = |change: &Change| change.growth.map_or("-", Growth::as_str);
    diff.changes.iter().map(|c| format!("{} {} {}", c.pointer, c.class, growth(c))).collect()
}

/// A tool whose only parameter, `p`, has this schema.
fn with(schema: &str) -> String {
    format!(r#"{{"name":"t","inputSchema":{{"type":"object","properties":{{"p":{schema}}}}}}}"#)
}

#[test]
fn each_member_of_a_descriptor_has_its_class() {
    const CASES: &[(&str, &str, &[&str])] = &[
        (r#"{"name":"a"}"#, r#"{"name":"a"}"#, &[]),
        (r#"{"x":1,"y":[1,2]}"#, r#"{"y":[1.0,2],"x":1e0}"#, &[]),
        (r#"{"name":"a"}"#, r#"{"name":"b"}"#, &["/name identity -"]),
        (r#"{"description":"a"}"#, r#"{"description":"b"}"#, &["/description wording -"]),
        (r#"{"title":"a"}"#, r#"{"title":"b"}"#, &["/title title -"]),
        (r#"{"annotations":{"title":"a"}}"#, r#"{"annotations":{"title":"b"}}"#, &["/annotations/title title -"]),
        (r#"{"icons":[{"src":"a"}]}"#, r#"{"icons":[{"src":"b"}]}"#, &["/icons/0/src icons -"]),
        (r#"{"icons":[{"src":"a"}]}"#, r#"{"icons":[]}"#, &["/icons icons -"]),
        (r#"{"_meta":{"a":1}}"#, r#"{"_meta":{"a":2,"b":3}}"#, &["/_meta/a meta -", "/_meta/b meta -"]),
        ("{}", r#"{"_meta":{"ui":{"resourceUri":"ui://x"}}}"#, &["/_meta meta interface"]),
        (r#"{"_meta":{"ui":{"a":1}}}"#, r#"{"_meta":{"ui":{"a":2}}}"#, &["/_meta/ui/a meta interface"]),
        (r#"{"_meta":{"ui":{"a":1}}}"#, r#"{"_meta":{}}"#, &["/_meta/ui meta -"]),
        (
            r#"{"execution":{"taskSupport":"forbidden"}}"#,
            r#"{"execution":{"taskSupport":"required"}}"#,
            &["/execution/taskSupport other -"],
        ),
        (r#"{"x-new":1}"#, "{}", &["/x-new other -"]),
        (r#""Use it.""#, r#""Use it always.""#, &[" wording -"]),
        ("{}", "[]", &[" other too-much"]),
    ];
    for (old, new, expected) in CASES {
        assert_eq!(told(&between(old, new)), *expected, "{old} to {new}");
    }
}

#[test]
fn a_flipped_hint_is_growth_whichever_way_it_flips() {
    const CASES: &[(&str, &str, &str, &str)] = &[
        (
            r#"{"destructiveHint":true}"#,
            r#"{"destructiveHint":false}"#,
            "/annotations/destructiveHint hint hint-flipped",
            "hint flipped: destructiveHint true → false",
        ),
        (
            r#"{"readOnlyHint":true}"#,
            r#"{"readOnlyHint":false}"#,
            "/annotations/readOnlyHint hint hint-flipped",
            "hint flipped: readOnlyHint true → false",
        ),
        (
            r#"{"x":1,"readOnlyHint":true}"#,
            r#"{"x":1}"#,
            "/annotations/readOnlyHint hint hint-flipped",
            "hint flipped: readOnlyHint true → absent",
        ),
        // Saying what was taken for granted is no flip.
        (
            r#"{"x":1}"#,
            r#"{"x":1,"destructiveHint":true}"#,
            "/annotations/destructiveHint hint -",
            "annotation changed: destructiveHint absent → true",
        ),
        (
            r#"{"x":1}"#,
            r#"{"x":1,"destructiveHint":false}"#,
            "/annotations/destructiveHint hint hint-flipped",
            "hint flipped: destructiveHint absent → false",
        ),
        (
            r#"{"openWorldHint":true}"#,
            r#"{"openWorldHint":"true"}"#,
            "/annotations/openWorldHint hint hint-flipped",
            r#"hint flipped: openWorldHint true → "true""#,
        ),
        (r#"{"x":1}"#, r#"{"x":2}"#, "/annotations/x hint -", "annotation changed: x 1 → 2"),
        (
            r#"{"readOnlyHint":true}"#,
            "7",
            "/annotations hint hint-flipped",
            "hints flipped: readOnlyHint true → absent",
        ),
    ];
    for (old, new, told_as, sentence) in CASES {
        let whole = |annotations: &str| format!(r#"{{"name":"wipe_bin","annotations":{annotations}}}"#);
        let diff = between(&whole(old), &whole(new));
        assert_eq!(told(&diff), [*told_as], "{old} to {new}");
        assert_eq!(diff.changes[0].sentence, *sentence);
    }
    let came =
        between(r#"{"name":"a"}"#, r#"{"name":"a","annotations":{"readOnlyHint":true,"destructiveHint":false}}"#);
    assert_eq!(told(&came), ["/annotations hint hint-flipped"]);
    assert_eq!(came.changes[0].sentence, "hints flipped: destructiveHint absent → false, readOnlyHint absent → true");
}

#[test]
fn each_keyword_of_an_input_schema_has_its_class_and_growth() {
    const P: &str = "/inputSchema/properties/p";
    const CASES: &[(&str, &str, &[&str])] = &[
        (r#"{"type":"integer"}"#, r#"{"type":"number"}"#, &["/type type type"]),
        (r#"{"type":"number"}"#, r#"{"type":"integer"}"#, &["/type type -"]),
        (r#"{"type":"string"}"#, r#"{"type":["string","null"]}"#, &["/type type type"]),
        (r#"{"type":["string","null"]}"#, r#"{"type":"string"}"#, &["/type type -"]),
        (r#"{"type":["string","null"]}"#, r#"{"type":["null","string"]}"#, &["/type order -"]),
        (r#"{"type":"string"}"#, "{}", &["/type type type"]),
        (r#"{"enum":["low","high"]}"#, r#"{"enum":["high","low"]}"#, &["/enum enum -"]),
        (r#"{"enum":["low"]}"#, r#"{"enum":["low","high"]}"#, &["/enum enum values"]),
        (r#"{"enum":["low","high"]}"#, r#"{"enum":["low"]}"#, &["/enum enum -"]),
        (r#"{"enum":["low"]}"#, r#"{"enum":["high"]}"#, &["/enum enum values"]),
        (r#"{"enum":["low"]}"#, r#"{"enum":["low","https://a.example"]}"#, &["/enum enum destination"]),
        (r#"{"enum":[]}"#, "{}", &["/enum enum values"]),
        (r#"{"const":1}"#, r#"{"const":2}"#, &["/const enum values"]),
        (r#"{"default":1}"#, r#"{"default":2}"#, &["/default default -"]),
        (r#"{"default":""}"#, r#"{"default":"https://a.example"}"#, &["/default default destination"]),
        (r#"{"maximum":10}"#, r#"{"maximum":11}"#, &["/maximum bounds bounds"]),
        (r#"{"maximum":10}"#, r#"{"maximum":9.5}"#, &["/maximum bounds -"]),
        (r#"{"maxLength":10}"#, "{}", &["/maxLength bounds bounds"]),
        ("{}", r#"{"maxLength":10}"#, &["/maxLength bounds -"]),
        (r#"{"minimum":10}"#, r#"{"minimum":9}"#, &["/minimum bounds bounds"]),
        (r#"{"minimum":9}"#, r#"{"minimum":10}"#, &["/minimum bounds -"]),
        (r#"{"pattern":"^a$"}"#, r#"{"pattern":"^b$"}"#, &["/pattern bounds bounds"]),
        ("{}", r#"{"pattern":"^b$"}"#, &["/pattern bounds -"]),
        ("{}", r#"{"format":"uri"}"#, &["/format destination destination"]),
        (r#"{"format":"date"}"#, "{}", &["/format bounds bounds"]),
        (
            r#"{"additionalProperties":false}"#,
            "{}",
            &["/additionalProperties additional-properties additional-properties"],
        ),
        (
            r#"{"additionalProperties":false}"#,
            r#"{"additionalProperties":{"type":"string"}}"#,
            &["/additionalProperties additional-properties additional-properties"],
        ),
        (r#"{"additionalProperties":true}"#, "{}", &["/additionalProperties additional-properties -"]),
        (r#"{"additionalProperties":{}}"#, "{}", &["/additionalProperties additional-properties -"]),
        (
            r#"{"additionalProperties":{"type":"string"}}"#,
            r#"{"additionalProperties":{}}"#,
            &["/additionalProperties/type type type"],
        ),
        ("{}", r#"{"additionalProperties":false}"#, &["/additionalProperties additional-properties -"]),
        (r#"{"items":{"type":"string"}}"#, "{}", &["/items schema schema"]),
        (r#"{"items":{"type":"string"}}"#, r#"{"items":{"type":"string","title":"x"}}"#, &["/items/title title -"]),
        (
            r#"{"anyOf":[{"type":"string"}]}"#,
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            &["/anyOf schema type"],
        ),
        (r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, r#"{"anyOf":[{"type":"null"}]}"#, &["/anyOf schema -"]),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            r#"{"anyOf":[{"type":"null"},{"type":"string"}]}"#,
            &["/anyOf schema -"],
        ),
        (r#"{"anyOf":[{"type":"string"}]}"#, r#"{"anyOf":[{"type":"number"}]}"#, &["/anyOf/0/type type type"]),
        (r#"{"items":[{"maxLength":1}]}"#, r#"{"items":[{"maxLength":5}]}"#, &["/items/0/maxLength bounds bounds"]),
        (r#"{"anyOf":[{}]}"#, "{}", &["/anyOf schema type"]),
        (r#"{"allOf":[{"maxLength":1}]}"#, "{}", &["/allOf schema schema"]),
        ("{}", r#"{"allOf":[{"maxLength":1}]}"#, &["/allOf schema -"]),
        (r#"{"not":{"enum":["a"]}}"#, r#"{"not":{"enum":[]}}"#, &["/not/enum enum schema"]),
        (r##"{"$ref":"#/a"}"##, r##"{"$ref":"#/b"}"##, &["/$ref schema schema"]),
        ("{}", r#"{"x-mcp-header":"Token"}"#, &["/x-mcp-header destination destination"]),
        (r#"{"description":"a"}"#, r#"{"description":"b"}"#, &["/description wording -"]),
        (r#"{"examples":[1]}"#, r#"{"examples":[2]}"#, &["/examples schema -"]),
        ("{}", r#"{"x-unheard-of":1}"#, &["/x-unheard-of schema -"]),
        ("{}", "true", &[" schema -"]),
        ("false", "true", &[" schema type"]),
    ];
    for (old, new, expected) in CASES {
        let expected: Vec<String> = expected.iter().map(|line| format!("{P}{line}")).collect();
        assert_eq!(told(&between(&with(old), &with(new))), expected, "{old} to {new}");
    }
}

#[test]
fn members_of_a_schema_come_and_go_by_name() {
    type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)]);
    const CASES: &[Case] = &[
        (
            r#"{"properties":{"a":{}}}"#,
            r#"{"properties":{"a":{},"note":{"type":"string"}}}"#,
            &[("/inputSchema/properties/note member-added parameter", "input added: note")],
        ),
        (
            r#"{"properties":{"a":{}}}"#,
            r#"{"properties":{"a":{},"webhook":{"type":"string"}}}"#,
            &[(
                "/inputSchema/properties/webhook destination destination",
                "new input that can name a destination: webhook",
            )],
        ),
        (
            r#"{"properties":{"a":{}}}"#,
            r#"{"properties":{"a":{},"opts":{"properties":{"replyTo":{}}}}}"#,
            &[("/inputSchema/properties/opts destination destination", "new input that can name a destination: opts")],
        ),
        (
            r#"{"properties":{"a":{},"b":{}}}"#,
            r#"{"properties":{"a":{}}}"#,
            &[("/inputSchema/properties/b member-removed -", "member removed: b")],
        ),
        (
            "{}",
            r#"{"properties":{"a":{},"b":{}}}"#,
            &[("/inputSchema/properties member-added parameter", "members added: a, b")],
        ),
        (
            "{}",
            r#"{"properties":{"url":{}}}"#,
            &[("/inputSchema/properties destination destination", "members added: url")],
        ),
        (
            r#"{"required":["b","a"]}"#,
            r#"{"required":["a","b"]}"#,
            &[("/inputSchema/required order -", "required of the input: order only")],
        ),
        (
            r#"{"required":["a"]}"#,
            r#"{"required":["b"]}"#,
            &[(
                "/inputSchema/required required required",
                "required of the input changed: must now be given: b; no longer needed: a",
            )],
        ),
        (
            r#"{"required":["a","b"]}"#,
            r#"{"required":["a"]}"#,
            &[("/inputSchema/required required -", "required of the input changed: no longer needed: b")],
        ),
        (
            r#"{"required":[]}"#,
            "{}",
            &[("/inputSchema/required absence-form -", "only the form of nothing changed: required [] → absent")],
        ),
        // `{}` among members admits anything: not the same as no member.
        (
            r#"{"properties":{"a":{}}}"#,
            r#"{"properties":{}}"#,
            &[("/inputSchema/properties/a member-removed -", "member removed: a")],
        ),
    ];
    for (old, new, expected) in CASES {
        let whole = |schema: &str| format!(r#"{{"name":"a","inputSchema":{schema}}}"#);
        let diff = between(&whole(old), &whole(new));
        let sentences: Vec<&str> = diff.changes.iter().map(|c| c.sentence.as_str()).collect();
        assert_eq!(told(&diff), expected.iter().map(|(line, _)| *line).collect::<Vec<_>>(), "{old} to {new}");
        assert_eq!(sentences, expected.iter().map(|(_, sentence)| *sentence).collect::<Vec<_>>());
        let output = |schema: &str| format!(r#"{{"name":"a","outputSchema":{schema}}}"#);
        assert_eq!(between(&output(old), &output(new)).growth().count(), 0, "an output is no capability");
    }
}

#[test]
fn arguments_of_a_prompt_are_inputs_too() {
    const CASES: &[(&str, &str, &str)] = &[
        (r#"[{"name":"a"}]"#, r#"[{"name":"a"},{"name":"b"}]"#, "/arguments member-added parameter"),
        (r#"[{"name":"a"}]"#, r#"[{"name":"a"},{"name":"email"}]"#, "/arguments destination destination"),
        (r#"[{"name":"a"},{"name":"b"}]"#, r#"[{"name":"a"}]"#, "/arguments member-removed -"),
        (r#"[{"name":"a"}]"#, r#"[{"name":"a","required":true}]"#, "/arguments/0/required required required"),
        (r#"[{"name":"a","required":true}]"#, r#"[{"name":"a"}]"#, "/arguments/0/required required -"),
        (
            r#"[{"name":"a","description":"x"}]"#,
            r#"[{"name":"a","description":"y"}]"#,
            "/arguments/0/description wording -",
        ),
    ];
    for (old, new, expected) in CASES {
        let whole = |arguments: &str| format!(r#"{{"name":"report","arguments":{arguments}}}"#);
        assert_eq!(told(&between(&whole(old), &whole(new))), [*expected], "{old} to {new}");
    }
}

#[test]
fn the_forms_of_nothing_are_told_apart_from_real_changes() {
    const FORMS: [&str; 5] = [
        "{\"name\":\"n\"}",
        "{\"name\":\"n\",\"x\":\"\"}",
        "{\"name\":\"n\",\"x\":null}",
        "{\"name\":\"n\",\"x\":{}}",
        "{\"name\":\"n\",\"x\":[]}",
    ];
    for old in FORMS {
        for new in FORMS {
            for member in ["description", "inputSchema", "annotations", "_meta", "x-new"] {
                let diff = between(&old.replace('x', member), &new.replace('x', member));
                let expected = if old == new { vec![] } else { vec![format!("/{member} absence-form -")] };
                assert_eq!(told(&diff), expected);
            }
        }
    }
    assert_eq!(told(&between(FORMS[0], r#"{"name":"n","description":"x"}"#)), ["/description wording -"]);
    assert_eq!(told(&between(r#"{"x":false}"#, "{}")), ["/x other -"]);
}

#[test]
fn a_changed_schema_and_hint_with_the_same_description_are_both_named() {
    let old = r#"{"name":"export","description":"Exports notes.","annotations":{"destructiveHint":true},
        "inputSchema":{"type":"object","properties":{"folder":{"type":"string"}},"additionalProperties":false}}"#;
    let new = r#"{"name":"export","description":"Exports notes.","annotations":{"destructiveHint":false},
        "inputSchema":{"type":"object","properties":{"folder":{"type":"string"},"callback_url":{"type":"string"}}}}"#;
    let diff = between(old, new);
    assert_eq!(
        told(&diff),
        [
            "/annotations/destructiveHint hint hint-flipped",
            "/inputSchema/additionalProperties additional-properties additional-properties",
            "/inputSchema/properties/callback_url destination destination",
        ]
    );
    let tree = diff.tree();
    assert_eq!(tree.children.len(), 2);
    assert_eq!((tree.children[1].token.as_str(), tree.children[1].children.len()), ("inputSchema", 2));
    assert_eq!(tree.children[1].children[1].children[0].change, Some(2));
}

#[test]
fn a_change_without_end_is_cut_short_and_called_growth() {
    let many = |value: usize| {
        let members: Vec<String> = (0..2_000).map(|i| format!("\"k{i}\":{value}")).collect();
        format!("{{\"x\":{{{}}},\"title\":\"{value}\"}}", members.join(","))
    };
    assert_eq!(told(&between(&many(1), &many(2))), ["/title title -", "/x other too-much"]);

    // A long name isn't repeated in the pointer of everything below it.
    let name = "n".repeat(600);
    let below = |value: usize| format!("{{\"{name}\":{{\"a\":{value},\"b\":{value}}}}}");
    assert_eq!(told(&between(&below(1), &below(2))), [format!("/{name} other too-much")]);
}

#[test]
fn a_diff_fits_only_the_value_it_was_made_from() {
    let diff = between(r#"{"a":1,"b":[1]}"#, r#"{"a":2,"b":[1],"c":{}}"#);
    for other in [r#"{"a":3,"b":[1]}"#, r#"{"b":[1]}"#, "[]", r#"{"a":1,"c":1}"#] {
        assert!(diff.apply(&parse(other.as_bytes()).expect("strict JSON")).is_err(), "{other}");
    }
}

/// Values full of the names that the diff knows, so that two of them meet in many places.
fn descriptor() -> impl Strategy<Value = String> {
    const NAMES: &[&str] = &[
        "name",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
        "_meta",
        "icons",
        "arguments",
        "properties",
        "type",
        "enum",
        "required",
        "anyOf",
        "allOf",
        "items",
        "additionalProperties",
        "default",
        "maximum",
        "not",
        "ui",
        "format",
        "$defs",
        "destructiveHint",
        "a/b",
        "~",
        "",
        "url",
        "x-mcp-header",
        "const",
        "title",
    ];
    const LEAVES: &[&str] =
        &["null", "true", "false", "0", "1", "1.5", "\"\"", "\"a\"", "\"string\"", "\"uri\"", "{}", "[]"];
    prop::sample::select(LEAVES).prop_map(str::to_owned).prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            4 => prop::collection::btree_map(prop::sample::select(NAMES), inner, 0..6).prop_map(|members| {
                let members: Vec<String> = members.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_changes_applied_to_the_old_value_give_exactly_the_new_one(old in descriptor(), new in descriptor()) {
        let diff = between(&old, &new);
        let same = parse(old.as_bytes()).expect("strict").to_jcs() == parse(new.as_bytes()).expect("strict").to_jcs();
        prop_assert_eq!(diff.is_empty(), same);
        let pointers: std::collections::BTreeSet<&str> = diff.changes.iter().map(|c| c.pointer.as_str()).collect();
        prop_assert_eq!(pointers.len(), diff.changes.len());
        for change in &diff.changes {
            prop_assert!(change.old != change.new);
            prop_assert!(!change.sentence.is_empty() && !change.sentence.contains('\n'));
        }
    }

    #[test]
    fn one_member_changed_is_one_change(old in descriptor(), value in 2..9) {
        let whole = |n: i32| format!("{{\"x-probe\":{n},\"inputSchema\":{old}}}");
        prop_assert_eq!(told(&between(&whole(1), &whole(value))), ["/x-probe other -"]);
    }
}
