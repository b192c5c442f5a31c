use super::*;

fn tree(old: Option<&str>, new: &str) -> String {
    draw_with(old, new, &[], &[], View::Changes).to_string()
}

fn draw_with(old: Option<&str>, new: &str, labels: &[Label], hits: &[Hit], view: View) -> DiffTree {
    DiffTree::new(&Input {
        kind: Kind::Tool,
        old: old.map(str::as_bytes),
        new: new.as_bytes(),
        labels,
        hits,
        view,
        unfold: None,
        page: "/candidates/7",
    })
    .expect("valid JSON")
}

/// The tree without its markup: one line each, gutter first.
fn plain(html: &str) -> Vec<String> {
    let tree = html.split_once("<ol class=\"tree\"").expect("a tree").1;
    let item = |item: &str| {
        let (mut out, mut inside) = (String::new(), false);
        for c in item.replace("</span><div", "</span> <div").replace("<span class=\"tag\">", " #").chars() {
            match c {
                '<' => inside = true,
                '>' if inside => inside = false,
                c if !inside => out.push(c),
                _ => {}
            }
        }
        out.replace("&quot;", "\"").trim().to_owned()
    };
    tree.split("<li ").skip(1).map(|li| item(li.split_once('>').expect("a tag").1)).collect()
}

#[test]
fn the_tree_keeps_the_descriptors_own_order_and_folds_what_is_the_same() {
    let old = r#"{"name":"export","title":"Export","inputSchema":{"type":"object","properties":{"ids":{"type":"array"},"format":{"enum":["md","html"]}},"required":["ids"]},"annotations":{"destructiveHint":true,"readOnlyHint":false},"x-tier":1}"#;
    let new = r#"{"name":"export","title":"Export","inputSchema":{"type":"object","properties":{"ids":{"type":"array"},"format":{"enum":["md","html","zip"]},"destination":{"type":"string"}},"required":["ids","destination"]},"annotations":{"destructiveHint":false,"readOnlyHint":false},"x-tier":1}"#;
    let label = |pointer: &str, words: &str| Label { pointer: pointer.to_owned(), words: words.to_owned() };
    let labels = [
        label("/annotations/destructiveHint", "hint flipped"),
        label("/inputSchema/properties/format/enum/2", "1 value added"),
        label("/inputSchema/properties/destination", "new member, looks like a destination"),
    ];
    let drawn = draw_with(Some(old), new, &labels, &[], View::Changes);
    assert_eq!(drawn.changes(), 4);
    assert_eq!(
        plain(&drawn.to_string()),
        [
            "~ changed inside: {",
            "2 members unchanged: name, title showmembers of the descriptor",
            "~ changed inside: inputSchema: {",
            "1 member unchanged: type showmembers of /inputSchema",
            "~ changed inside: properties: {",
            "1 member unchanged: ids showmembers of /inputSchema/properties",
            "~ changed inside: format: {",
            "~ changed inside: enum: [\"md\", \"html\", \"zip\"] #1 value added at 2",
            "}",
            "+ added: destination: { #new member, looks like a destination",
            "+ added: type: \"string\"",
            "+ added: }",
            "}",
            "~ changed inside: required: [\"ids\", \"destination\"]",
            "}",
            "~ changed inside: annotations: {",
            "− removed: destructiveHint: true #hint flipped",
            "+ added: destructiveHint: false",
            "1 member unchanged: readOnlyHint showmembers of /annotations",
            "}",
            "1 member unchanged: x-tier (not in any MCP version) showmembers of the descriptor",
            "}",
        ]
        .map(|line| line.replace(" show", " show "))
    );
}

#[test]
fn every_top_level_member_says_whether_it_is_the_same() {
    let html = tree(Some(r#"{"name":"a","old":1,"description":"x"}"#), r#"{"name":"a","description":"y","new":1}"#);
    let row = html.split_once("</ul>").expect("a row").0;
    let items: Vec<&str> = row.split("<li").skip(1).collect();
    let expected = [("=", "name", "same"), ("≠", "description", "changed"), ("≠", "new", "new"), ("≠", "old", "gone")];
    assert_eq!(items.len(), expected.len());
    for (item, (sign, key, word)) in items.iter().zip(expected) {
        assert!(item.contains(&format!(">{sign}</span>")) && item.contains(key) && item.contains(word), "{item}");
    }
}

#[test]
fn a_first_release_is_drawn_whole_and_without_plus_signs() {
    let html = tree(None, r#"{"name":"a","inputSchema":{"type":"object"}}"#);
    assert!(!html.contains("class=\"add"), "{html}");
    assert!(!html.contains("class=\"moved"), "{html}");
    assert_eq!(plain(&html), ["{", "name: \"a\"", "inputSchema: {", "type: \"object\"", "}", "}"]);
}

#[test]
fn what_a_finding_is_about_is_shown_although_it_did_not_change() {
    let text = r#"{"name":"a","inputSchema":{"properties":{"u":{"description":"send it"}}},"n":NUMBER}"#;
    let hit = Hit {
        number: 3,
        severity: Severity::High,
        pointer: "/inputSchema/properties/u/description".to_owned(),
        message: "It asks for secrets.".to_owned(),
    };
    let html = draw_with(Some(&text.replace("NUMBER", "1")), &text.replace("NUMBER", "2"), &[], &[hit], View::Changes)
        .to_string();
    let lines = plain(&html);
    let at = lines.iter().position(|line| line == "description: \"send it\"").expect("shown");
    assert!(lines[at + 1].contains("It asks for secrets."), "{lines:?}");
    assert!(html.contains("href=\"#f3\""));
}

#[test]
fn a_finding_whose_place_is_not_drawn_stands_below_the_nearest_line_above_it() {
    let hit = |pointer: &str| Hit {
        number: 1,
        severity: Severity::Low,
        pointer: pointer.to_owned(),
        message: "Here.".to_owned(),
    };
    for pointer in ["", "/gone/deep/er", "/name"] {
        let html = draw_with(None, r#"{"name":"a"}"#, &[], &[hit(pointer)], View::Changes).to_string();
        assert_eq!(html.matches("Here.").count(), 1, "{pointer}");
    }
}

#[test]
fn keys_and_values_of_a_publisher_can_not_imitate_lines_or_markup() {
    let html = tree(None, r#"{"a\": 1, \"b":"<script>","c\u202e":"x\", d: \"y","\u200b":[]}"#);
    assert!(html.contains("<span class=\"k\">\"a\\&quot;: 1, \\&quot;b\"</span>"), "{html}");
    assert!(html.contains("&lt;script&gt;") && html.contains(">RLO<") && html.contains(">ZWSP<"), "{html}");
    assert!(html.contains("\"x\\&quot;, d: \\&quot;y\""), "{html}");
}

#[test]
fn an_order_of_members_and_a_form_of_numbers_are_no_difference() {
    let drawn =
        draw_with(Some(r#"{"a":{"x":1.0,"y":2},"b":[]}"#), r#"{"b":[],"a":{"y":2,"x":1}}"#, &[], &[], View::Changes);
    assert_eq!(drawn.changes(), 0);
}

#[test]
fn elements_of_an_array_are_matched_before_they_are_compared() {
    let item = |n: u32| format!(r#"{{"name":"argument number {n}","required":true,"description":"what it is for"}}"#);
    let old = format!("{{\"arguments\":[{},{},{}]}}", item(1), item(2), item(3));
    let new = format!("{{\"arguments\":[{},{},{}]}}", item(9), item(1), item(3));
    let lines = plain(&tree(Some(&old), &new));
    assert!(lines.iter().any(|line| line.contains("added: name: \"argument number 9\"")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("removed: name: \"argument number 2\"")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("1 element unchanged")), "{lines:?}");
}

#[test]
fn a_huge_descriptor_stays_a_page_and_says_what_it_left_out() {
    let members: Vec<String> = (0..60_000).map(|n| format!("\"k{n}\":{n}")).collect();
    let other: Vec<String> = (0..60_000).map(|n| format!("\"k{n}\":{}", n + 1)).collect();
    let new = format!("{{{}}}", members.join(","));
    for old in [None, Some(format!("{{{}}}", other.join(","))), Some("{\"z\":1}".to_owned())] {
        let html = tree(old.as_deref(), &new);
        assert!(html.len() < 1 << 20, "{}", html.len());
        assert!(html.contains("more lines are only in the"), "{}", &html[html.len() - 300..]);
    }
    let values: Vec<String> = (0..60_000).map(|n| format!("\"value {n}\"")).collect();
    let changed: Vec<String> = (0..60_000).map(|n| format!("\"value {}\"", n * 2)).collect();
    let html =
        tree(Some(&format!("{{\"enum\":[{}]}}", values.join(","))), &format!("{{\"enum\":[{}]}}", changed.join(",")));
    assert!(html.len() < 2 << 20, "{}", html.len());
}

#[test]
fn a_view_is_kept_in_the_address_and_anything_else_is_the_default() {
    for view in [View::Changes, View::Whole, View::Raw] {
        assert_eq!(View::from_word(view.word()), view);
    }
    assert_eq!(View::from_word("<script>"), View::Changes);
}
