//! Every page in a real browser: no broken policy, no error, nothing that axe-core objects to, nothing that scrolls sideways.

#[path = "../../../tests/it/browser.rs"]
mod browser;

use std::sync::Arc;

use axum::{Router, extract::Path, http::header, response::IntoResponse, routing::get};
use fantoccini::Locator;

use self::browser::{Browser, Look};
use super::{super::statics, *};

/// All pages of the gallery, by name: whatever the other tests draw.
fn gallery() -> Vec<(&'static str, String)> {
    queue::the_queue_groups_by_release_and_says_what_is_new();
    queue::an_empty_queue_says_what_was_last_and_what_would_fill_it();
    candidate::a_candidate_shows_the_diff_the_findings_the_evidence_and_the_decision();
    candidate::a_stale_approval_keeps_the_reason_and_says_what_was_not_done();
    overview::the_dashboard_says_first_what_needs_someone();
    overview::a_server_shows_what_it_lists_and_where_it_stands();
    overview::a_pin_set_shows_its_head_its_pins_and_what_it_denies();
    around::the_check_page_says_what_a_gateway_would_do();
    around::the_log_says_in_words_what_each_entry_did();
    around::versions_say_what_they_changed();
    around::a_decision_is_shown_with_its_signatures_and_can_be_taken_back();
    settings::settings_say_what_each_thing_is_for();
    settings::health_is_told_part_by_part();
    settings::the_doors_and_the_problems_say_what_to_do_next();
    hostile::markup_links_escapes_and_hidden_characters_are_inert_on_a_candidate();
    hostile::a_description_of_a_mebibyte_is_a_page_that_opens_at_once();
    DRAWN.take()
}

/// Serves the pages as the product does: same policy, same static files.
async fn serve(pages: Vec<(&'static str, String)>) -> String {
    let pages = Arc::new(pages);
    let page = move |Path(name): Path<String>| {
        let html =
            pages.iter().find(|(page, _)| *page == name).map(|(_, html)| html.clone()).expect("a page of the gallery");
        async move {
            let headers = [
                (header::CONTENT_TYPE, "text/html; charset=utf-8"),
                (header::CONTENT_SECURITY_POLICY, crate::web::CONTENT_SECURITY_POLICY),
            ];
            (headers, html).into_response()
        }
    };
    let file = |Path(name): Path<String>| async move {
        let file = statics::file(&name).expect("a static file");
        ([(header::CONTENT_TYPE, file.media_type)], file.bytes).into_response()
    };
    let counts = || async { ([(header::CONTENT_TYPE, "application/json")], "{\"waiting\":61,\"size\":74002}") };
    let app = Router::new()
        .route("/pages/{name}", get(page))
        .route("/static/{name}", get(file))
        .route("/counts", get(counts));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_clean_in_a_browser() {
    let Some(browser) = Browser::start().await else { return };
    let pages = gallery();
    let names: Vec<&'static str> = pages.iter().map(|(name, _)| *name).collect();
    let base = serve(pages).await;
    let mut wrong = Vec::new();
    for (width, dark) in [(1280, false), (390, true)] {
        browser.look(Look { width, dark, scripts: true }).await;
        for name in &names {
            browser.open(&format!("{base}/pages/{name}")).await;
            let place = format!("{name} at {width}");
            wrong.extend(browser.axe().await.into_iter().map(|found| format!("{place}: {found}")));
            wrong.extend(browser.console().await.into_iter().map(|line| format!("{place}: {line}")));
            let overflow = browser.overflow().await;
            if overflow > 0 {
                wrong.push(format!("{place}: {overflow} pixels too wide"));
            }
        }
    }
    browser.close().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_box_opens_when_all_changes_were_on_screen_and_keys_move_the_focus() {
    let Some(browser) = Browser::start().await else { return };
    let base = serve(gallery()).await;
    browser.look(Look { width: 1280, dark: false, scripts: true }).await;
    browser.open(&format!("{base}/pages/candidate")).await;
    let run = async |script: &str| browser.client.execute(script, Vec::new()).await.expect("the script runs");
    run("document.querySelector('[data-read]').click()").await;
    assert_eq!(
        run("return document.querySelector('[data-read]').checked").await,
        false,
        "not all changes were on screen"
    );
    for key in 0..5 {
        run("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'n', bubbles: true}))").await;
        assert_eq!(run("return document.activeElement.id").await, format!("c{}", key + 1));
        // Observers report with the frame after the one that shows the change.
        let frames = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))";
        browser.client.execute_async(frames, Vec::new()).await.expect("two frames are drawn");
    }
    run("document.querySelector('[data-read]').click()").await;
    assert_eq!(run("return document.querySelector('[data-seen]').textContent").await, "5 of 5 were on screen");
    assert_eq!(run("return document.querySelector('[data-read]').checked").await, true);
    assert_eq!(browser.console().await, Vec::<String>::new());
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_a_ballot_can_be_cast_and_nothing_is_offered_that_would_need_them() {
    let Some(browser) = Browser::start().await else { return };
    let base = serve(gallery()).await;
    browser.look(Look { width: 1280, dark: false, scripts: false }).await;
    browser.open(&format!("{base}/pages/candidate")).await;
    let shown = async |selector: &str| {
        let script = "const e = document.querySelector(arguments[0]); return !!e && e.checkVisibility()";
        browser.client.execute(script, vec![selector.into()]).await.expect("the script runs")
    };
    for (selector, expected) in [
        ("[data-read]", true),
        ("button.sign", true),
        ("textarea", true),
        (".keys", false),
        ("button kbd", false),
        (".copy", false),
    ] {
        assert_eq!(shown(selector).await, expected, "{selector}");
    }
    let field = browser.client.find(Locator::Css("textarea[name=reason]")).await.expect("a reason");
    field.send_keys("Agreed with the publisher.").await.expect("written");
    browser.client.find(Locator::Css("[data-read]")).await.expect("a box").click().await.expect("ticked");
    let valid = "return document.querySelector('#decide').checkValidity()";
    assert_eq!(browser.client.execute(valid, Vec::new()).await.expect("the script runs"), true);
    browser.close().await;
}
