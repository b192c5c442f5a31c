//! The pages of the settings: each form does what it says, or comes back as it was sent.

use std::collections::BTreeSet;

use countersign::{
    clock::Timestamp,
    keys::SigningKey,
    review::{Policy, ReviewerId},
    service::govern::{self, Governor, SetPolicy},
    store::Role,
};

use crate::{
    databases::block_on,
    pages::{Browser, PASSWORD, Site},
    service::check_log,
};

/// Names and values of a form.
type Fields<'a> = &'a [(&'a str, &'a str)];

const OTHER: &str = "another horse battery";

async fn can_sign_in(site: &Site, name: &str, password: &str) -> bool {
    site.app.sign_in(name, password, None).await.is_ok()
}

fn roles(site: &Site, name: &str) -> Option<BTreeSet<Role>> {
    site.app.access().user(name).map(|user| user.roles.clone())
}

/// Sets the default pin set's policy as an operator does.
async fn policy(site: &Site, policy: Policy) {
    let (pinset, by) = ("default".parse().expect("legal"), ReviewerId::local_operator());
    let set = SetPolicy { pinset, policy, by: Governor { by, name: "test".into() }, alone: true };
    govern::set_policy(&site.app, set).await.expect("set");
}

async fn admin(site: &Site) -> Browser<'_> {
    site.signed_in("admin").await
}

fn public_key(seed: u8) -> String {
    SigningKey::from_seed(&[seed; 32]).verifying().to_pem().expect("encodes")
}

#[test]
fn a_user_is_added_with_a_chosen_password_or_one_that_is_shown_once() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = admin(&site).await;
        insta::assert_snapshot!("users", browser.get("/settings/users").await.page(200));
        let chosen = [("name", "Bob"), ("password", OTHER), ("reviewer", "yes"), ("auditor", "yes")];
        browser.post("/settings/users", &chosen).await.leads_to("/settings/users");
        assert_eq!(roles(&site, "bob"), Some([Role::Reviewer, Role::Auditor].into()));
        assert!(can_sign_in(&site, "bob", OTHER).await);

        let made = browser.post("/settings/users", &[("name", "cy"), ("auditor", "yes")]).await;
        let text = made.page(201);
        let (_, rest) = text.split_once("It is not shown again.").expect("is shown");
        let password = rest.lines().find(|line| line.len() == 43).expect("43 characters");
        assert!(can_sign_in(&site, "cy", password).await);
        assert!(!browser.get("/settings/users").await.body.contains(password), "once");
        check_log(&site.app).await;
    });
}

#[test]
fn a_refused_user_comes_back_as_sent_without_the_password() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = admin(&site).await;
        let table: [(Fields<'_>, &str); 4] = [
            (&[("name", "Auditor"), ("password", OTHER), ("admin", "yes")], "There is an account auditor already."),
            (&[("name", "a b"), ("password", OTHER), ("admin", "yes")], "An account's name has 1 to 64 letters"),
            (&[("name", "eve"), ("password", "short"), ("admin", "yes")], "A password has 12 to 1,024 characters."),
            (&[("name", "eve"), ("password", OTHER)], "Choose at least one role."),
        ];
        for (fields, expected) in table {
            let answer = browser.post("/settings/users", fields).await;
            let text = answer.page(422);
            assert!(text.contains(expected), "{expected}: {text}");
            assert!(answer.body.contains(&format!("value=\"{}\"", fields[0].1)), "the name is kept");
            assert_eq!(answer.body.contains("name=\"admin\" value=\"yes\" checked"), fields.len() == 3);
            assert!(answer.body.contains("aria-invalid=\"true\"") && !answer.body.contains(fields[1].1));
        }
        assert!(site.app.access().user("eve").is_none());
    });
}

#[test]
fn an_account_gets_roles_a_password_and_is_closed_and_opened() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = admin(&site).await;
        let page = "/settings/users/auditor";
        insta::assert_snapshot!("user", browser.get(page).await.page(200));
        let to = |part: &str| format!("{page}/{part}");
        browser.post(&to("roles"), &[("reviewer", "yes")]).await.leads_to(page);
        assert_eq!(roles(&site, "auditor"), Some([Role::Reviewer].into()));
        assert!(browser.post(&to("roles"), &[]).await.page(422).contains("Choose at least one role."));

        let theirs = site.signed_in("auditor").await;
        browser.post(&to("password"), &[("password", OTHER)]).await.leads_to(page);
        assert!(can_sign_in(&site, "auditor", OTHER).await && !can_sign_in(&site, "auditor", PASSWORD).await);
        theirs.get("/settings").await.leads_to("/sign-in?next=%2Fsettings");
        let text = browser.post(&to("password"), &[]).await.page(200);
        let password = text.lines().find(|line| line.len() == 43).expect("is shown").to_owned();
        assert!(can_sign_in(&site, "auditor", &password).await);
        assert!(browser.post(&to("password"), &[("password", "short")]).await.page(422).contains("12 to 1,024"));

        browser.post(&to("access"), &[("closed", "yes")]).await.leads_to(page);
        assert!(!can_sign_in(&site, "auditor", &password).await);
        browser.post(&to("access"), &[("closed", "no")]).await.leads_to(page);
        assert!(can_sign_in(&site, "auditor", &password).await);
        browser.post(&to("access"), &[("closed", "perhaps")]).await.page(400);

        let last = browser.post("/settings/users/admin/roles", &[("reviewer", "yes")]).await.page(422);
        assert!(last.contains("This is the last administrator."), "{last}");
        assert!(browser.post("/settings/users/admin/access", &[("closed", "yes")]).await.page(422).contains("last"));
        check_log(&site.app).await;
    });
}

#[test]
fn one_changes_the_own_password_and_ends_all_other_sessions() {
    block_on(async {
        let site = Site::staffed().await;
        let (mut browser, other) = (site.signed_in("reviewer").await, site.signed_in("reviewer").await);
        insta::assert_snapshot!("you", browser.get("/settings").await.page(200));
        let change = async |browser: &Browser<'_>, old: &str, new: &str| {
            let fields = [("username", "reviewer"), ("old", old), ("new", new)];
            browser.post("/settings/password", &fields).await
        };
        let wrong = change(&browser, OTHER, OTHER).await.page(422);
        assert!(wrong.contains("This is not your password."), "{wrong}");
        assert!(change(&browser, PASSWORD, "short").await.page(422).contains("12 to 1,024"));
        other.get("/settings").await.page(200);

        let changed = change(&browser, PASSWORD, OTHER).await;
        changed.leads_to("/settings");
        browser.get("/settings").await.leads_to("/sign-in?next=%2Fsettings");
        browser.keep(&changed);
        browser.get("/settings").await.page(200);
        other.get("/settings").await.leads_to("/sign-in?next=%2Fsettings");
        assert!(can_sign_in(&site, "reviewer", OTHER).await && !can_sign_in(&site, "reviewer", PASSWORD).await);
    });
}

#[test]
fn a_token_is_shown_once_and_revoked_for_good() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = admin(&site).await;
        let fields = [("scope", "pull:default"), ("user", "auditor"), ("days", "9")];
        let made = browser.post("/settings/tokens", &fields).await.page(201);
        let token = made.lines().find(|line| line.starts_with("cs_")).expect("is shown").to_owned();
        let works = || site.app.access().token(&token, site.app.clock().now());
        assert_eq!(works().expect("works").actor(), "auditor");
        let page = browser.get("/settings/tokens").await;
        assert!(!page.body.contains(&token), "once");
        insta::assert_snapshot!("tokens", page.page(200));
        let rows = site.app.reader().conn().await.expect("a connection").tokens().await.expect("reads");
        assert_eq!(rows.len(), 1);
        browser.post("/settings/tokens/revoke", &[("token", &rows[0].id)]).await.leads_to("/settings/tokens");
        assert!(works().is_none());
        browser.post("/settings/tokens/revoke", &[("token", &rows[0].id)]).await.page(404);
    });
}

#[test]
fn a_refused_token_comes_back_as_sent() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = admin(&site).await;
        let table = [
            (["everything", "auditor", "9"], "e-scope", "Not a scope: publish:NAMESPACE"),
            (["review", "reviewer", "9"], "e-scope", "A token that reviews is made by the reviewer it acts for"),
            (["pull:default", "eve", "9"], "e-user", "There is no account eve that could use a token."),
            (["pull:default", "auditor", "0"], "e-days", "A token lives 1 to 3650 days."),
            (["pull:default", "auditor", "3651"], "e-days", "A token lives 1 to 3650 days."),
            (["pull:default", "auditor", "ever"], "e-days", "A token lives 1 to 3650 days."),
        ];
        for ([scope, user, days], beside, expected) in table {
            let answer = browser.post("/settings/tokens", &[("scope", scope), ("user", user), ("days", days)]).await;
            let text = answer.page(422);
            assert!(text.contains(expected), "{scope} {user} {days}: {text}");
            assert!(answer.body.contains(&format!("id=\"{beside}\"")), "{scope} {user} {days}");
            assert!(
                answer.body.contains(&format!("value=\"{scope}\""))
                    && answer.body.contains(&format!("value=\"{days}\""))
            );
            assert!(user == "eve" || answer.body.contains(&format!("<option selected>{user}</option>")));
        }
        let own = [("scope", "review"), ("user", "admin"), ("days", "3650")];
        browser.post("/settings/tokens", &own).await.page(201);
    });
}

#[test]
fn an_authority_is_granted_by_a_pasted_key_and_revoked_with_a_reason() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = admin(&site).await;
        let key = public_key(7).replace('\n', "\r\n");
        let fields = [("scope", "com.example"), ("key", &key), ("role", "publisher"), ("holder", "reviewer")];
        browser.post("/settings/authorities", &fields).await.leads_to("/settings/authorities");
        let capture = [("scope", "*"), ("key", &public_key(8)[..]), ("role", "capture"), ("holder", "")];
        browser.post("/settings/authorities", &capture).await.leads_to("/settings/authorities");
        let moment = site.app.moment();
        let granted: Vec<_> = moment.state.authorities().map(|known| &known.facts).collect();
        assert_eq!(granted.len(), 2);
        let publisher = granted.iter().find(|facts| facts.scope.to_string() == "com.example").expect("granted");
        assert_eq!(publisher.key, SigningKey::from_seed(&[7; 32]).verifying());
        assert_eq!(publisher.holder, site.app.access().user("reviewer").map(|user| user.reviewer.clone()));
        assert_eq!(publisher.by, site.app.access().user("admin").expect("is there").reviewer);
        insta::assert_snapshot!("authorities", browser.get("/settings/authorities").await.page(200));
        insta::assert_snapshot!("publishers", browser.get("/publishers").await.page(200));

        let page = format!("/settings/authorities/{}", publisher.authority);
        insta::assert_snapshot!("withdrawal", browser.get(&page).await.page(200));
        let refused = browser.post(&page, &[("since", "yesterday"), ("reason", " ")]).await;
        let text = refused.page(422);
        assert!(text.contains("Write it as 2026-11-30 09:20, in UTC."), "{text}");
        assert!(refused.body.contains("value=\"yesterday\"") && refused.body.contains("id=\"e-reason\""), "{text}");
        browser.post(&page, &[("since", "2026-11-29 09:20"), ("reason", "its disk was stolen")]).await.leads_to(&page);
        let moment = site.app.moment();
        let since: Timestamp = "2026-11-29T09:20:00.000000Z".parse().expect("a time");
        assert_eq!(moment.state.authority(&publisher.authority).expect("is there").revoked, Some(since));
        let twice = browser.post(&page, &[("reason", "again")]).await.page(422);
        assert!(twice.contains("The authority is revoked already."), "{twice}");
        check_log(&site.app).await;
    });
}

#[test]
fn a_refused_authority_comes_back_as_sent() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = admin(&site).await;
        let key = public_key(7);
        let secret = SigningKey::from_seed(&[7; 32]).to_pem().expect("encodes");
        let table = [
            (["com example", &key, "publisher", ""], "e-scope"),
            (["com.example", "ssh-ed25519 AAAA", "publisher", ""], "e-key"),
            (["com.example", &secret, "publisher", ""], "e-key"),
            (["com.example", &key, "", ""], "e-role"),
            (["*", &key, "publisher", ""], "e-role"),
            (["com.example", &key, "publisher", "eve"], "e-holder"),
        ];
        for ([scope, key, role, holder], beside) in table {
            let fields = [("scope", scope), ("key", key), ("role", role), ("holder", holder)];
            let answer = browser.post("/settings/authorities", &fields).await;
            answer.page(422);
            assert!(answer.body.contains(&format!("id=\"{beside}\"")), "{beside}: {}", answer.body);
            assert!(answer.body.contains(&format!("value=\"{scope}\"")), "{beside}");
            assert!(role.is_empty() || answer.body.contains(&format!("value=\"{role}\" required checked")));
        }
        assert_eq!(site.app.moment().state.authorities().count(), 0);
        let fields = [("scope", "com.example"), ("key", &key[..]), ("role", "publisher"), ("holder", "")];
        browser.post("/settings/authorities", &fields).await.leads_to("/settings/authorities");
        let twice = browser.post("/settings/authorities", &fields).await.page(422);
        assert!(twice.contains("The key has this authority already."), "{twice}");
    });
}

#[test]
fn a_policy_is_set_as_toml_and_nothing_of_a_refused_one_is_lost() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = admin(&site).await;
        insta::assert_snapshot!("policy", browser.get("/settings/policy").await.page(200));
        let set = async |text: &str| browser.post("/settings/policy", &[("set", "default"), ("policy", text)]).await;
        let now = || {
            let moment = site.app.moment();
            moment.state.set(&"default".parse().expect("legal")).expect("is there").policy().clone()
        };
        for (text, expected) in [
            ("qourum = 2 # <mine>", "unknown field `qourum`"),
            ("quorum = 3", "quorum_risky = 2: must be from 3 to 20"),
            ("quorum =", "TOML parse error"),
        ] {
            let answer = set(text).await;
            let words = answer.page(422);
            assert!(words.contains(expected), "{text}: {words}");
            assert!(words.contains(text), "{text}: {words}");
            assert!(answer.body.contains("aria-invalid=\"true\" aria-describedby=\"e-pol\""));
        }
        assert_eq!(now(), Policy::default());
        set("lifetime_days = 30\r\nquorum = 1\r\n").await.leads_to("/settings/policy?set=default");
        assert_eq!(now(), Policy { lifetime_days: 30, ..Policy::default() });
        browser.get("/settings/policy?set=default").await.page(200);
        check_log(&site.app).await;
    });
}

#[test]
fn where_several_must_agree_pages_say_who_can_and_change_nothing() {
    block_on(async {
        let site = Site::staffed().await;
        let browser = admin(&site).await;
        policy(&site, Policy { quorum: 2, ..Policy::default() }).await;
        let size = site.app.moment().checkpoint.size;
        let key = public_key(7);
        let forms: [(&str, Fields<'_>, &str); 5] = [
            (
                "/settings/policy",
                &[("set", "default"), ("policy", "quorum = 1")],
                "countersign admin policy set default",
            ),
            (
                "/settings/authorities",
                &[("scope", "com.example"), ("key", &key), ("role", "publisher")],
                "countersign admin authority add",
            ),
            (
                "/settings/users",
                &[("name", "eve"), ("password", OTHER), ("reviewer", "yes")],
                "countersign admin user add",
            ),
            ("/settings/users/auditor/roles", &[("reviewer", "yes")], "countersign admin user"),
            ("/settings/users/reviewer/password", &[("password", OTHER)], "countersign admin user"),
        ];
        for (path, fields, expected) in forms {
            let answer = browser.post(path, fields).await;
            let text = answer.page(422);
            assert!(text.contains("2 people must agree on this. Nothing was changed."), "{path}: {text}");
            assert!(text.contains(expected), "{path}: {text}");
        }
        let kept = browser.post("/settings/policy", &[("set", "default"), ("policy", "quorum = 1 # mine")]).await;
        assert!(kept.page(422).contains("quorum = 1 # mine"));
        assert_eq!(site.app.moment().checkpoint.size, size);
        assert!(can_sign_in(&site, "reviewer", PASSWORD).await);
    });
}

#[test]
fn keys_and_reference_are_shown() {
    block_on(async {
        let site = Site::staffed().await;
        let text = admin(&site).await.get("/settings/keys").await.page(200);
        let moment = site.app.moment();
        let keys = &moment.state.registry().expect("is there").keys;
        for id in keys.all() {
            assert!(text.contains(&id.to_string()), "{id}");
        }
        let command = "countersign trust https://pins.example -o trust.txt --fingerprint";
        assert!(text.contains(&format!("{command} {}", site.app.fingerprint())), "{text}");
        let docs = site.nobody().get("/docs").await.page(200);
        assert!(docs.contains("POST /v1/releases"), "{docs}");
    });
}
