//! What stands before every page: set-up, signing in and out, where forms come from, who sees what, and what went wrong.

use axum::http::Method;
use countersign::{clock::Span, service::access::Principal, web::CONTENT_SECURITY_POLICY};

use crate::{
    databases::block_on,
    pages::{Browser, PASSWORD, Site, URL, words},
};

async fn link(site: &Site) -> String {
    let secret = site.app.setup_secret(None).await.expect("answers").expect("no administrator yet");
    format!("/setup/{}", secret.reveal())
}

fn who(site: &Site, browser: &Browser<'_>) -> Option<Principal> {
    let secret = browser.cookie.as_deref()?.split_once('=')?.1;
    site.app.access().session(secret, site.app.clock().now())
}

#[test]
fn the_set_up_link_makes_one_administrator_in_a_browser_and_dies() {
    block_on(async {
        let site = Site::new().await;
        let link = link(&site).await;
        let mut browser = site.nobody();
        let page = browser.get(&link).await;
        insta::assert_snapshot!("setup", page.page(200));
        assert!(!page.body.contains("checked"), "no outcome is preselected");

        let fields = [("name", "Ada L"), ("password", "short"), ("who", "")];
        let refused = browser.post(&link, &fields).await;
        let text = refused.page(422);
        assert!(text.contains("An account's name has 1 to 64 letters"), "{text}");
        assert!(text.contains("A password has 12 to 1,024 characters."), "{text}");
        assert!(text.contains("Say who reviews"), "{text}");
        assert!(
            refused.body.contains("value=\"Ada L\"") && !refused.body.contains("short"),
            "all but the secret is kept"
        );
        assert!(!site.app.access().has_admin());

        let made =
            browser.post(&link, &[("name", "Ada"), ("password", PASSWORD), ("again", PASSWORD), ("who", "solo")]).await;
        made.leads_to("/");
        browser.keep(&made);
        let principal = who(&site, &browser).expect("signed in");
        assert!(principal.may_administer() && principal.may_review() && principal.actor() == "ada");
        let moment = site.app.moment();
        assert!(moment.state.set(&"default".parse().expect("legal")).expect("is there").policy().solo);

        let over = browser.get(&link).await.page(410);
        assert!(over.contains("The set-up link is used up"), "{over}");
        browser
            .post(&link, &[("name", "eve"), ("password", PASSWORD), ("again", PASSWORD), ("who", "team")])
            .await
            .page(410);
        assert!(site.app.access().user("eve").is_none());
    });
}

#[test]
fn a_team_keeps_the_default_policy_and_a_guessed_link_makes_nobody() {
    block_on(async {
        let site = Site::new().await;
        let link = link(&site).await;
        let fields = [("name", "ada"), ("password", PASSWORD), ("again", PASSWORD), ("who", "team")];
        site.nobody().get("/setup/guessed").await.page(410);
        site.nobody().post("/setup/guessed", &fields).await.page(410);
        assert!(!site.app.access().has_admin());
        site.nobody().post(&link, &fields).await.leads_to("/");
        let moment = site.app.moment();
        assert!(!moment.state.set(&"default".parse().expect("legal")).expect("is there").policy().solo);
    });
}

#[test]
fn the_cookie_is_for_this_host_alone_and_for_no_script() {
    block_on(async {
        for (url, name, attributes) in [
            (URL, "__Host-session", "HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=604800"),
            ("http://127.0.0.1:8080", "session", "HttpOnly; SameSite=Lax; Path=/; Max-Age=604800"),
        ] {
            let site = Site::at(url).await;
            site.add("ada", &[]).await;
            let fields = [("name", "ada"), ("password", PASSWORD)];
            let answer = site.nobody().post_from("/sign-in", &fields, &[("origin", url)]).await;
            answer.leads_to("/");
            let (cookie, rest) = answer.header("set-cookie").split_once("; ").expect("has attributes");
            let (named, secret) = cookie.split_once('=').expect("has a value");
            assert_eq!((named, secret.len(), rest), (name, 43, attributes));
        }
    });
}

#[test]
fn signing_in_leads_back_and_nowhere_else() {
    block_on(async {
        let site = Site::staffed().await;
        insta::assert_snapshot!("sign_in", site.nobody().get("/sign-in?next=%2Fsettings").await.page(200));
        for (next, expected) in [
            ("/settings", "/settings"),
            ("/queue?reason=changed", "/queue?reason=changed"),
            ("", "/"),
            ("//evil.example", "/"),
            ("https://evil.example/", "/"),
            ("/\\evil.example", "/"),
        ] {
            let fields = [("name", "Admin"), ("password", PASSWORD), ("next", next)];
            site.nobody().post("/sign-in", &fields).await.leads_to(expected);
        }
        let browser = site.signed_in("admin").await;
        browser.get("/sign-in?next=%2Fsettings").await.leads_to("/settings");
        let shown = site.nobody().get("/sign-in?next=%22%3E%3Cb%3E").await;
        assert!(shown.body.contains("name=\"next\" value=\"/\""), "what is no path is not repeated");
    });
}

#[test]
fn wrong_passwords_are_told_alike_and_slowed_down() {
    block_on(async {
        let site = Site::staffed().await;
        let guess = async |name: &str, password: &str| {
            site.nobody().post("/sign-in", &[("name", name), ("password", password), ("next", "/settings")]).await
        };
        let wrong = guess("admin", "not the password").await;
        let text = wrong.page(422);
        assert!(text.contains("Name or password is wrong."), "{text}");
        assert!(wrong.body.contains("value=\"admin\"") && wrong.body.contains("aria-invalid=\"true\""));
        assert!(!wrong.body.contains("not the password"));
        assert_eq!(text, guess("nobody", PASSWORD).await.page(422), "whether there is such an account isn't told");
        for _ in 1..10 {
            guess("admin", "not the password").await.page(422);
        }
        let slowed = guess("admin", PASSWORD).await.page(429);
        assert!(slowed.contains("Too many attempts: nothing was looked at. Try again after 08:00:01 UTC."), "{slowed}");
        site.pass(Span::seconds(2));
        guess("admin", PASSWORD).await.leads_to("/settings");
    });
}

#[test]
fn signing_out_ends_the_session_itself() {
    block_on(async {
        let site = Site::staffed().await;
        let (one, other) = (site.signed_in("admin").await, site.signed_in("admin").await);
        let out = one.post("/sign-out", &[]).await;
        out.leads_to("/sign-in");
        assert_eq!(out.header("set-cookie"), "__Host-session=; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=0");
        assert!(who(&site, &one).is_none() && who(&site, &other).is_some());
        one.get("/settings").await.leads_to("/sign-in?next=%2Fsettings");
        let stranger = site.signed_in("auditor").await;
        let secret = other.cookie.as_deref().and_then(|cookie| cookie.split_once('=')).expect("signed in").1;
        let session = countersign::canon::Sha256::of(secret.as_bytes()).to_string();
        stranger.post("/sign-out", &[("session", &session)]).await.page(404);
        assert!(who(&site, &other).is_some(), "nobody ends another's session");
        let third = site.signed_in("admin").await;
        third.post("/sign-out", &[("session", &session)]).await.leads_to("/settings");
        assert!(who(&site, &other).is_none() && who(&site, &third).is_some());
        let again = third.post("/sign-in", &[("name", "admin"), ("password", PASSWORD)]).await;
        again.leads_to("/");
        assert!(who(&site, &third).is_none(), "a new session takes the place of the one before");
    });
}

/// Every form, with fields that would do something.
const FORMS: [(&str, &[(&str, &str)]); 11] = [
    ("/sign-in", &[("name", "admin"), ("password", PASSWORD)]),
    ("/sign-out", &[]),
    ("/settings/password", &[("old", PASSWORD), ("new", "another horse battery")]),
    ("/settings/users", &[("name", "eve"), ("password", PASSWORD), ("admin", "yes")]),
    ("/settings/users/auditor/roles", &[("admin", "yes")]),
    ("/settings/users/auditor/password", &[("password", "another horse battery")]),
    ("/settings/users/auditor/access", &[("closed", "yes")]),
    ("/settings/tokens", &[("scope", "pull:default"), ("user", "admin"), ("days", "9")]),
    ("/settings/tokens/revoke", &[("token", "0")]),
    ("/settings/authorities", &[("scope", "com.example"), ("role", "publisher")]),
    ("/settings/policy", &[("set", "default"), ("policy", "solo = true\nquorum_risky = 1")]),
];

#[test]
fn a_form_that_no_page_of_ours_sent_does_nothing() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = site.signed_in("admin").await;
        let origins: [(&str, &[(&str, &str)]); 8] = [
            ("no header", &[]),
            ("another site", &[("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")]),
            ("a sibling host", &[("origin", "https://other.pins.example"), ("sec-fetch-site", "same-site")]),
            ("a sibling that hides its origin", &[("sec-fetch-site", "same-site")]),
            ("the plain-text host", &[("origin", "http://pins.example")]),
            ("another port", &[("origin", "https://pins.example:8443")]),
            ("an opaque origin", &[("origin", "null")]),
            ("the address bar", &[("sec-fetch-site", "none")]),
        ];
        let size = site.app.moment().checkpoint.size;
        for (path, fields) in FORMS {
            for (from, headers) in origins {
                let text = browser.post_from(path, fields, headers).await.page(403);
                assert!(
                    text.contains("The request doesn't come from this registry's own pages"),
                    "{path} {from}: {text}"
                );
            }
            site.pass(Span::minutes(1));
        }
        assert!(who(&site, &browser).is_some(), "still signed in");
        assert_eq!(site.app.moment().checkpoint.size, size);
        assert!(site.app.access().user("eve").is_none());
        assert_eq!(site.app.access().user("auditor").map(|user| user.roles.len()), Some(1));
        let tokens = site.app.reader().conn().await.expect("a connection").tokens().await.expect("reads");
        assert_eq!(tokens, []);
    });
}

#[test]
fn each_page_is_for_whom_its_row_says() {
    block_on(async {
        let site = Site::staffed().await;
        // nobody, auditor, reviewer, administrator: 200 shown, 303 to sign in, 403 refused
        let table = [
            ("/docs", [200, 200, 200, 200]),
            ("/publishers", [303, 200, 200, 200]),
            ("/settings", [303, 200, 200, 200]),
            ("/settings/users", [303, 403, 403, 200]),
            ("/settings/users/auditor", [303, 403, 403, 200]),
            ("/settings/tokens", [303, 403, 403, 200]),
            ("/settings/authorities", [303, 403, 403, 200]),
            ("/settings/policy", [303, 403, 403, 200]),
            ("/settings/keys", [303, 403, 403, 200]),
        ];
        let browsers = [
            site.nobody(),
            site.signed_in("auditor").await,
            site.signed_in("reviewer").await,
            site.signed_in("admin").await,
        ];
        for (path, expected) in table {
            for (browser, status) in browsers.iter().zip(expected) {
                let answer = browser.get(path).await;
                if status == 303 {
                    answer.leads_to(&format!("/sign-in?next={}", path.replace('/', "%2F")));
                } else {
                    answer.page(status);
                }
                assert_eq!(answer.header("content-security-policy"), CONTENT_SECURITY_POLICY);
                assert_eq!(answer.header("referrer-policy"), "same-origin");
                assert_eq!(answer.header("x-content-type-options"), "nosniff");
            }
        }
        for (path, fields) in FORMS.iter().skip(3) {
            site.nobody().post(path, fields).await.leads_to("/sign-in");
            for browser in &browsers[1..3] {
                browser.post(path, fields).await.page(403);
            }
            site.pass(Span::seconds(30));
        }
        let size = site.app.moment().checkpoint.size;
        assert_eq!(size, Site::staffed().await.app.moment().checkpoint.size, "nothing was logged");
        assert_eq!(
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
             form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        );
    });
}

#[test]
fn what_went_wrong_is_a_page_for_people_and_a_problem_for_programs() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = site.signed_in("admin").await;
        insta::assert_snapshot!("not_found", site.nobody().get("/nothing/here").await.page(404));
        browser.get("/settings/users/nobody").await.page(404);
        browser.get("/settings/policy?set=nothing").await.page(404);
        browser.get("/settings/authorities/00").await.page(404);
        browser.get("/static/nothing.css").await.page(404);
        browser.get("/sign-out").await.page(405);
        browser.post("/settings/users", &[("name", "eve"), ("rolle", "admin")]).await.page(400);
        let fits = "#".repeat(80 << 10);
        let text = browser.post("/settings/policy", &[("set", "default"), ("policy", &fits)]).await.page(422);
        assert!(text.contains("A policy has at most 65536 bytes; this has 81920."), "{text}");
        let large = "a".repeat(256 << 10);
        browser.post("/settings/policy", &[("set", "default"), ("policy", &large)]).await.page(413);
        let both = site.send(
            axum::http::Request::builder()
                .method(Method::GET)
                .uri("/settings")
                .header("authorization", "Bearer x")
                .header("cookie", browser.cookie.as_deref().expect("signed in"))
                .body(axum::body::Body::empty())
                .expect("a request"),
        );
        both.await.page(400);
        let program = site.nobody().get("/v1/nothing").await;
        assert_eq!((program.status.as_u16(), program.header("content-type")), (404, "application/problem+json"));
        let hostile = site.nobody().get("/%3Cscript%3Ealert(1)%3C/script%3E").await;
        hostile.page(404);
        assert!(!words(&hostile.body).contains("alert"));
    });
}

#[test]
fn a_fault_of_ours_shows_its_request_and_no_cause() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = site.signed_in("admin").await;
        site.app.close().await;
        let answer = browser.get("/settings/users").await;
        let text = answer.page(503);
        assert!(text.contains("The database doesn't answer"), "{text}");
        assert!(text.contains(answer.header("x-request-id")) && answer.header("x-request-id").len() == 16, "{text}");
        assert!(!text.to_lowercase().contains("pool") && !text.to_lowercase().contains("sqlx"), "{text}");
    });
}

#[test]
fn the_bar_says_who_one_is_what_waits_and_how_long_the_head_is_good() {
    block_on(async {
        let site = Site::staffed().await;
        let bar = async |browser: Browser<'_>| {
            let page = browser.get("/docs").await.body;
            let bar =
                page.split_once("<header").and_then(|(_, rest)| rest.split_once("</header>")).expect("has a bar").0;
            words(&format!("<header{bar}")).replace('\n', " ")
        };
        let pages = "Dashboard Pin sets Servers Check Log";
        assert_eq!(bar(site.nobody()).await, format!("Countersign {pages} Head of default v1, good for 1 h Sign in"));
        let head = "Head of default v1, good for 1 h";
        assert_eq!(
            bar(site.signed_in("auditor").await).await,
            format!("Countersign Queue 0 {pages} {head} auditor Sign out")
        );
        site.pass(Span::hours(1));
        assert_eq!(bar(site.nobody()).await, format!("Countersign {pages} Head of default v1 ran out Sign in"));
    });
}

#[test]
fn a_read_only_registry_says_so_on_each_page_and_why_to_administrators() {
    block_on(async {
        let site = Site::staffed().await.without_anchor().await;
        let text = site.nobody().get("/docs").await.page(200);
        assert!(
            text.contains("This registry is read-only. Nothing is recorded until an operator has looked."),
            "{text}"
        );
        assert!(!text.contains("anchor adopt"), "{text}");
        let browser = site.signed_in("admin").await;
        let text = browser.get("/settings/users").await.page(200);
        assert!(text.contains("countersign admin anchor adopt"), "{text}");
        let fields = [("name", "eve"), ("password", PASSWORD), ("auditor", "yes")];
        let text = browser.post("/settings/users", &fields).await.page(503);
        assert!(text.contains("Nothing can be written here until an operator has looked"), "{text}");
        assert!(site.app.access().user("eve").is_none());
    });
}

#[test]
fn static_files_are_kept_under_their_version_and_asked_for_under_none() {
    block_on(async {
        let site = Site::new().await;
        let page = site.nobody().get("/sign-in").await.body;
        for file in ["style.css", "countersign.js", "favicon.svg"] {
            let start = page.find(&format!("/static/{file}?v=")).expect("is linked");
            let address = page[start..].split('"').next().expect("ends");
            let answer = site.nobody().get(address).await;
            assert_eq!(answer.status.as_u16(), 200);
            assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable", "{file}");
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
            let plain = site.nobody().get(&format!("/static/{file}")).await;
            assert_eq!(plain.header("cache-control"), "no-cache");
            assert_eq!(plain.body, answer.body);
            let known = axum::http::Request::builder()
                .uri(address)
                .header("if-none-match", answer.header("etag"))
                .body(axum::body::Body::empty());
            let known = site.send(known.expect("a request")).await;
            assert_eq!((known.status.as_u16(), known.body.as_str()), (304, ""));
        }
    });
}

#[test]
fn the_first_password_is_typed_twice_and_a_slip_is_told() {
    block_on(async {
        let site = Site::new().await;
        let link = link(&site).await;
        for again in ["", "correct horse batterz"] {
            let fields = [("name", "ada"), ("password", PASSWORD), ("again", again), ("who", "team")];
            let refused = site.nobody().post(&link, &fields).await;
            let text = refused.page(422);
            assert!(text.contains("This is not the password above. Type both again."), "{text}");
            assert!(!refused.body.contains("correct horse"));
            assert!(!site.app.access().has_admin());
        }
    });
}

#[test]
fn every_page_has_the_way_out_in_its_bar() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = site.signed_in("auditor").await;
        for path in ["/", "/queue", "/docs", "/settings", "/nothing"] {
            let page = browser.get(path).await.body;
            assert!(
                page.contains(
                    "<form method=\"post\" action=\"/sign-out\"><button class=\"quiet\">Sign out</button></form>"
                ),
                "{path}"
            );
        }
        assert!(!site.nobody().get("/sign-in").await.body.contains("/sign-out"));
        browser.post("/sign-out", &[]).await.leads_to("/sign-in");
        assert!(who(&site, &browser).is_none());
    });
}

#[test]
fn nobody_is_signed_in_or_made_administrator_from_another_site() {
    block_on(async {
        let site = Site::new().await;
        let link = link(&site).await;
        let foreign = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
        let fields = [("name", "eve"), ("password", PASSWORD), ("again", PASSWORD), ("who", "solo")];
        site.nobody().post_from(&link, &fields, &foreign).await.page(403);
        assert!(!site.app.access().has_admin());
        site.add("ada", &[]).await;
        let answer = site.nobody().post_from("/sign-in", &[("name", "ada"), ("password", PASSWORD)], &foreign).await;
        answer.page(403);
        assert_eq!(answer.header("set-cookie"), "");
    });
}
