//! Text of a hostile publisher on every page where it comes up: inert, readable, and bounded.

use crate::{
    databases::block_on,
    pages::{Browser, Site},
};

const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) \
    <a href=\"javascript:alert(1)\">go</a> <a href='data:text/html,x'>d</a> \u{1b}[31mred\u{1b}[0m \u{202e}desrever\u{202c} \
    zero\u{200b}width \u{e0041}\u{e0042}\u{e0043} p\u{430}ypal.com \u{0}end";

/// A page of a mebibyte of anything is smaller than this.
const LARGEST: usize = 6 << 20;

fn tool(name: &str, description: &str) -> String {
    let (name, description) = (json(name), json(description));
    format!(
        r#"{{"name":{name},"title":{description},"description":{description},"inputSchema":{{"type":"object","properties":{{{description}:{{"type":"string","description":{description}}}}}}},"icons":[{{"src":"javascript:alert(1)"}}]}}"#
    )
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

/// Loads a page, and sees that nothing of the publisher's is alive in it and that it has an end.
async fn inert(browser: &Browser<'_>, path: &str) -> String {
    let page = browser.get(path).await;
    dead(&page.body, path);
    assert_eq!(page.status, 200, "{path}");
    page.body
}

/// A page whose search field gives back what was typed: in its value alone, escaped.
async fn inert_but_fields(browser: &Browser<'_>, path: &str) -> String {
    let page = browser.get(path).await;
    assert_eq!(page.status, 200, "{path}");
    let (before, rest) = page.body.split_once("type=\"search\"").expect("a field");
    let (field, after) = rest.split_once('>').expect("ends");
    assert!(!field.contains('<') && !field.contains("onerror=alert(1)\""), "{field}");
    let without = format!("{before}>{after}");
    dead(&without, path);
    without
}

fn dead(html: &str, path: &str) {
    let lower = html.to_lowercase();
    for bad in ["<img", "href=\"javascript", "href=\"data:", "src=\"javascript", "<a href='"] {
        assert!(!lower.contains(bad), "{path}: {bad}");
    }
    assert_eq!(lower.matches("<script").count(), 1, "{path}: only our own script");
    for hidden in ['\u{1b}', '\u{202e}', '\u{202c}', '\u{200b}', '\u{e0041}', '\u{0}'] {
        assert!(!html.contains(hidden), "{path}: {hidden:?} is there unmarked");
    }
    assert!(html.len() < LARGEST, "{path}: {} bytes", html.len());
}

/// The answer without the field, which gives back what was pasted as it was.
fn answered(html: &str) -> String {
    let (before, rest) = html.split_once("<textarea").expect("a field");
    format!("{before}{}", rest.split_once("</textarea>").expect("ends").1)
}

fn candidates(html: &str) -> Vec<String> {
    let hrefs = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    hrefs.filter(|href| href.starts_with("/candidates/")).map(str::to_owned).collect()
}

#[test]
fn hostile_text_is_inert_and_marked_on_every_page() {
    block_on(async {
        let site = Site::reviewing().await;
        let reviewer = site.signed_in("reviewer").await;
        let tools = [tool("evil", HOSTILE), tool(HOSTILE, HOSTILE), tool("", HOSTILE)];
        let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        let ids = site.publish("com.example/evil", "1<b>", &tools[..0]).await;
        assert!(ids.is_empty());
        let ids = site.publish("com.example/evil", "2", &tools).await;
        reviewer.bind("com.example/evil", "evil").await;
        let queue = inert(&reviewer, "/queue").await;
        assert!(queue.contains(">ESC</span>") && queue.contains(">RLO</span>"), "marks stand in the queue");
        for id in &ids {
            for view in ["", "?view=whole", "?view=raw", "?step=decide"] {
                let page = inert(&reviewer, &format!("/candidates/{id}{view}")).await;
                for mark in ["ESC", "RLO", "ZWSP", "TAG×3"] {
                    // Raw bytes have escapes where the publisher wrote escapes.
                    if view != "?view=raw" {
                        assert!(page.contains(&format!(">{mark}</span>")), "{mark} on {id}{view}");
                    }
                }
            }
        }
        assert_eq!(reviewer.vote(&ids[0], "reject").await.status, 303);
        for path in ["/", "/servers", "/servers/com.example/evil", "/log", "/pinsets/default", "/queue?state=rejected"]
        {
            inert(&reviewer, path).await;
        }
        for index in 0..site.app.moment().checkpoint.size {
            inert(&reviewer, &format!("/log/entries/{index}")).await;
        }
        let versions = inert(&reviewer, "/pinsets/default/versions").await;
        let version =
            versions.split("href=\"/pinsets/default/versions/").nth(1).and_then(|rest| rest.split('"').next());
        let version = format!("/pinsets/default/versions/{}", version.expect("a version"));
        let hostile: String = form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect();
        for path in [&version, &format!("{version}?against={hostile}"), &format!("/log?find={hostile}")] {
            let page = inert_but_fields(&reviewer, path).await;
            assert!(!page.contains("<a href=\"javascript"), "{path}");
        }
        let release = reviewer.get("/servers/com.example/evil").await.body;
        let release =
            release.split("href=\"/releases/").nth(1).and_then(|rest| rest.split('"').next()).expect("a link");
        inert(&reviewer, &format!("/releases/{release}")).await;
        let list = format!("[{}]", tools.join(","));
        let fields = [("list", list.as_str()), ("set", "default"), ("alias", "evil"), ("complete", "yes")];
        let checked = reviewer.post("/check", &fields).await;
        assert_eq!(checked.status, 200);
        dead(&answered(&checked.body), "/check");
    });
}

#[test]
fn a_mebibyte_of_description_and_two_thousand_tools_are_pages_all_the_same() {
    block_on(async {
        let site = Site::reviewing().await;
        let reviewer = site.signed_in("reviewer").await;
        let around = r#"{"name":"long","description":"","inputSchema":{"type":"object"}}"#.len();
        let long = "a\u{200b}".repeat(((1 << 20) - around) / 4);
        let long = format!(r#"{{"name":"long","description":"{long}","inputSchema":{{"type":"object"}}}}"#);
        let ids = site.publish("com.example/long", "1", &[&long]).await;
        for view in ["", "?view=whole", "?view=raw", "?view=raw&at=500000", "?view=raw&at=99999999", "?step=decide"] {
            inert(&reviewer, &format!("/candidates/{}{view}", ids[0])).await;
        }
        let many: Vec<String> = (0..2_000).map(|i| tool(&format!("t{i}"), "Does <b>it</b>.")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        site.publish("com.example/many", "1", &many).await;
        let queue = inert(&reviewer, "/queue").await;
        assert_eq!(candidates(&queue).len(), 30);
        assert!(queue.contains("2,001"));
        let server = inert(&reviewer, "/servers/com.example/many").await;
        assert!(server.contains("More entries"));
        inert(&reviewer, "/servers/com.example/many?set=default&from=1900").await;
        let list = format!("[{}]", many.join(","));
        let fields = [("list", list.as_str()), ("set", "default"), ("complete", "yes")];
        let checked = reviewer.post("/check", &fields).await;
        assert_eq!(checked.status, 200);
        dead(&answered(&checked.body), "/check");
        assert!(checked.body.contains("2,000 descriptors"));
    });
}
