//! What is served as it was kept: documents, tiles, heads; and what the API says about itself.

use axum::{body::Body, http::Request};
use countersign::{
    api::calls,
    canon::Sha256,
    log::{Bundle, Tile, leaf_hash},
};
use serde_json::{Value, json};

use super::{EXPORT, Reply, SEARCH, Site, assert_fold_equals_store, publisher, release, signed};
use crate::databases::{block_on, on_both};

async fn asked_with(site: &Site, path: &str, tag: &str) -> Reply {
    site.send(Request::get(path).header("if-none-match", tag).body(Body::empty()).expect("a request")).await
}

#[test]
fn documents_are_served_byte_for_byte_and_what_is_for_reviewers_looks_absent_to_others() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        // Spaces, an escape and an exponent: canonical bytes differ from those received.
        let odd = r#"{ "name" : "odd\u0041", "inputSchema" : {"type":"object"}, "x" : 1e2 }"#;
        let body = signed(
            &release("com.example/notes", "1.0.0", &[EXPORT, odd]),
            &publisher(),
            countersign::attest::Role::Publisher,
        );
        let attestation: Value = serde_json::from_str(&body).expect("JSON");
        let published = site.post(&site.publish, "/v1/releases", body.clone()).await.json();
        site.bound().await;
        let release = site.get(&format!("/v1/releases/{}", published["release"].as_str().expect("an id"))).await.json();
        let attested = release["attestations"][0]["sha256"].as_str().expect("hex");
        let served = site.get(&format!("/v1/content/{attested}")).await;
        assert!(body.contains(std::str::from_utf8(&served.body).expect("text")), "as it came in");
        assert_eq!(serde_json::from_slice::<Value>(&served.body).expect("JSON"), attestation["attestation"]);
        let raw = release["descriptors"][1]["raw"].as_str().expect("hex");
        let served = site.get(&format!("/v1/content/{raw}")).await;
        assert_eq!(served.body, odd.as_bytes());
        assert_eq!(served.header("content-disposition"), format!("attachment; filename=\"{raw}\""));
        assert_eq!(served.header("x-content-type-options"), "nosniff");
        assert!(served.header("content-security-policy").contains("sandbox"));
        assert!(served.header("cache-control").contains("immutable"));
        let digest = release["descriptors"][1]["digest"].as_str().expect("a digest").replace("jcs-sha256:", "");
        let canonical = site.get(&format!("/v1/content/{digest}")).await.body;
        assert_eq!(canonical, br#"{"inputSchema":{"type":"object"},"name":"oddA","x":100}"#);

        // The decision's leaf and the scanner's rules, which are no rows of their own.
        let id = published["candidates"][0]["id"].as_str().expect("an id");
        let findings = site.candidate(id).await["shown"]["findings"].as_str().expect("hex").to_owned();
        let decided = site.vote(&site.ada, id, "approve").await.json();
        let decision = decided["decision"].as_str().expect("hex");
        assert_eq!(Sha256::of(&site.get(&format!("/v1/content/{decision}")).await.body).to_string(), decision);
        let rules = site.app.rules().sha256().to_string();
        let document = site.get(&format!("/v1/content/{rules}")).await;
        assert_eq!(Sha256::of(&document.body).to_string(), rules);
        let pack = document.json()["packs"][0]["sha256"].as_str().expect("hex").to_owned();
        assert_eq!(Sha256::of(&site.get(&format!("/v1/content/{pack}")).await.body).to_string(), pack);

        // A scan report quotes what a publisher wrote: reviewers read it.
        let path = format!("/v1/content/{findings}");
        let absent = site.get(&format!("/v1/content/{}", "0".repeat(64))).await;
        let (hidden, shown) = (site.get(&path).await, site.get_as(&site.ada, &path).await);
        assert_eq!((hidden.status, &hidden.body), (404, &absent.body));
        assert_eq!((shown.status, shown.header("cache-control")), (200, "no-store"));
        assert_eq!(site.get("/v1/content/xyz").await.body, absent.body);
        assert_fold_equals_store(&site).await;
    }));
}

#[test]
fn a_head_is_fetched_again_only_when_it_changed() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let path = "/v1/pinsets/default/head";
        let first = site.get(path).await;
        assert_eq!((first.status, first.header("cache-control")), (200, "no-cache"));
        let tag = first.header("etag").to_owned();
        let again = asked_with(&site, path, &tag).await;
        assert_eq!((again.status, again.header("etag"), again.body.len()), (304, tag.as_str(), 0));
        assert_eq!(asked_with(&site, path, &format!("\"x\", W/{tag}")).await.status, 304);
        // Another proof is another answer, though the head is the same.
        let from = asked_with(&site, &format!("{path}?tree_size=2"), &tag).await;
        assert_eq!(from.status, 200);
        assert_ne!(from.json()["consistency"], first.json()["consistency"]);
        site.published("1.0.0", &[EXPORT]).await;
        site.bound().await;
        let newer = asked_with(&site, path, &tag).await;
        assert_eq!(newer.status, 200);
        assert_ne!(newer.json()["head"], first.json()["head"]);
        for (path, status, slug) in [
            ("/v1/pinsets/none/head", 404, "pinset-not-found"),
            ("/v1/pinsets/default/head?tree_size=1000", 409, "head-behind"),
            ("/v1/pinsets/default/head?tree_size=-1", 400, "query-malformed"),
            ("/v1/pinsets/default/head?size=1", 400, "query-malformed"),
            ("/v1/pinsets/default/pins", 400, "query-malformed"),
            ("/v1/pinsets/default/pins?name=a.b&kind=x", 400, "query-malformed"),
            ("/v1/pinsets/none/pins?name=a.b", 404, "pinset-not-found"),
            ("/v1/candidates?cursor=x", 401, "unauthenticated"),
            ("/v1/servers?cursor=x", 400, "cursor-malformed"),
        ] {
            assert_eq!(site.get(path).await.problem(), (status, slug.to_owned()), "{path}");
        }
        site.clock.advance(countersign::clock::Span::minutes(20));
        assert_eq!(site.app.resign().await.expect("answers"), 1);
        let tag = newer.header("etag").to_owned();
        assert_eq!(asked_with(&site, path, &tag).await.status, 200);
    }));
}

#[test]
fn a_sets_documents_are_served_under_their_own_set_only() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        site.app.write(crate::service::AddSet("prod".to_owned())).await.expect("made");
        let sha256 = |set: &str| {
            let moment = site.app.moment();
            let document = moment.state.set_document(&set.parse().expect("legal")).expect("published").to_bytes();
            Sha256::of(&document)
        };
        let first = sha256("default");
        site.published("1.0.0", &[EXPORT]).await;
        site.bound().await;
        for (set, sha256, status) in [
            ("default", first, 200),
            ("default", sha256("default"), 200),
            ("prod", sha256("prod"), 200),
            ("prod", first, 404),
            ("prod", sha256("default"), 404),
            ("default", Sha256::of(EXPORT.as_bytes()), 404),
        ] {
            let reply = site.get(&format!("/v1/pinsets/{set}/sets/{sha256}")).await;
            assert_eq!(reply.status, status, "{set}: {reply}");
            if status == 200 {
                assert_eq!(Sha256::of(&reply.body), sha256);
                assert!(reply.header("cache-control").contains("immutable"));
            }
        }
    }));
}

#[test]
fn the_log_is_served_as_tiles_that_hash_to_its_checkpoint() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        site.published("1.0.0", &[EXPORT, SEARCH]).await;
        let size = site.size();
        let note = site.get("/log/checkpoint").await;
        assert_eq!(note.header("content-type"), "text/plain; charset=utf-8");
        assert_eq!(note.header("cache-control"), "no-cache");
        assert_eq!(note.body, site.app.moment().note.as_bytes());
        let width = u16::try_from(size).expect("few");
        let (tile, bundle) = (Tile::new(0, 0, width).expect("a place"), Bundle::new(0, width).expect("a place"));
        let hashes = site.get(&format!("/log/{tile}")).await;
        let leaves = site.get(&format!("/log/{bundle}")).await;
        assert_eq!(leaves.header("content-type"), "application/octet-stream");
        assert_eq!(leaves.header("cache-control"), "public, max-age=300", "a partial one may be dropped");
        let leaves = bundle.decode(&leaves.body).expect("a bundle");
        let expected: Vec<u8> = leaves.iter().flat_map(|leaf| leaf_hash(leaf).0).collect();
        assert_eq!(hashes.body, expected);
        for path in [
            "/log/tile/0/000",
            "/log/tile/0/001",
            "/log/tile/entries/000",
            "/log/tile/9/000",
            "/log/tile/0/0",
            "/log/tile/x",
        ] {
            assert_eq!(site.get(path).await.problem(), (404, "not-in-log".to_owned()), "{path}");
        }
        // Its own checkpoint says nothing against it; one that it never signed says nothing at all.
        let show = async |note: Vec<u8>| {
            site.send(Request::post("/log/checkpoint").body(Body::from(note)).expect("a request")).await
        };
        let known = show(note.body.clone()).await;
        assert_eq!((known.status, known.json()), (200, json!({"read_only": null})));
        let text = String::from_utf8(note.body).expect("text");
        let longer = text.replacen(&format!("\n{size}\n"), &format!("\n{}\n", size + 1), 1);
        assert_eq!(show(longer.into_bytes()).await.problem(), (422, "checkpoint-foreign".to_owned()));
        assert_eq!(site.get("/readyz").await.status, 200);
    }));
}

#[test]
fn full_tiles_may_be_kept_for_good() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let mut n = 0;
        while site.size() < 256 {
            site.app.write(crate::service::AddSet(format!("set-{n}"))).await.expect("made");
            n += 1;
        }
        for path in ["/log/tile/0/000", "/log/tile/entries/000"] {
            let reply = site.get(path).await;
            assert_eq!(reply.status, 200, "{path}");
            assert_eq!(reply.header("cache-control"), "public, max-age=31536000, immutable", "{path}");
        }
        assert_eq!(site.get("/log/tile/1/000.p/1").await.status, 200);
        // Leaves are squeezed for those who can unpack them; hashes are for nobody.
        let packed = async |path: &str| {
            site.send(Request::get(path).header("accept-encoding", "gzip").body(Body::empty()).expect("a request"))
                .await
        };
        let (plain, bundle) = (site.get("/log/tile/entries/000").await, packed("/log/tile/entries/000").await);
        assert_eq!((plain.header("content-encoding"), bundle.header("content-encoding")), ("", "gzip"));
        assert!(bundle.body.len() * 2 < plain.body.len() && bundle.header("vary").contains("accept-encoding"));
        assert_eq!(packed("/log/tile/0/000").await.header("content-encoding"), "");
    }));
}

#[test]
fn a_full_file_of_the_log_asks_the_database_once() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        let mut n = 0;
        while site.size() < 257 {
            site.app.write(crate::service::AddSet(format!("set-{n}"))).await.expect("made");
            n += 1;
        }
        let full = ["/log/tile/0/000", "/log/tile/entries/000"];
        let mut first = Vec::new();
        for path in full {
            first.push(site.get(path).await.body);
        }
        let used = site.app.cache_use();
        // A database that is gone answers nobody.
        site.app.close().await;
        for (path, first) in full.iter().zip(first) {
            let again = site.get(path).await;
            assert_eq!((again.status, again.body), (200, first), "{path}");
        }
        assert_eq!(site.app.cache_use().hits, used.hits + 2);
        assert_eq!(site.get("/log/tile/0/001.p/1").await.status, 503, "a partial one is read each time");
        let measured = String::from_utf8(site.get("/metrics").await.body).expect("text");
        for line in [
            format!("countersign_log_cache_hits_total {}", used.hits + 2),
            format!("countersign_log_cache_misses_total {}", used.misses),
            format!("countersign_log_cache_bytes {}", used.bytes),
        ] {
            assert!(measured.lines().any(|found| found == line), "{line}: {measured}");
        }
    }));
}

#[test]
fn every_published_size_has_its_checkpoint_and_its_partial_files() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        site.published("1.0.0", &[EXPORT]).await;
        site.bound().await;
        let (mut listed, mut cursor, mut pieces) = (vec![], String::new(), 0);
        loop {
            let piece = site.get(&format!("/v1/log/checkpoints?limit=2{cursor}")).await;
            assert_eq!(piece.status, 200, "{piece}");
            let piece = piece.json();
            for item in piece["items"].as_array().expect("a list") {
                let note = item["note"].as_str().expect("a note").to_owned();
                listed.push((item["size"].as_u64().expect("a size"), note));
            }
            pieces += 1;
            match piece["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert!(pieces > 1 && listed.is_sorted() && listed.len() > 3, "{listed:?}");
        assert_eq!(listed.last().map(|(_, note)| note.as_str()), Some(&*site.app.moment().note));
        let trust = countersign::pinset::trust::Trust::first(&site.app.moment().trust.note).expect("reads");
        for (size, note) in listed {
            let signed = countersign::log::open_checkpoint(&note, &trust.logs().expect("a key")[0]).expect("signed");
            assert_eq!(signed.size, size);
            let mut tree = countersign::log::Frontier::new();
            let bundle = Bundle::holding(size - 1, size).expect("in the log");
            let served = site.get(&format!("/log/{bundle}")).await;
            for leaf in bundle.decode(&served.body).expect("a bundle") {
                tree.append(leaf_hash(leaf));
            }
            assert_eq!(tree.root(), signed.root);
        }
        for (query, slug) in [
            ("cursor=x", "cursor-malformed"),
            ("limit=0", "query-malformed"),
            ("limit=201", "query-malformed"),
            ("size=1", "query-malformed"),
        ] {
            let reply = site.get(&format!("/v1/log/checkpoints?{query}")).await;
            assert_eq!(reply.problem(), (400, slug.to_owned()), "{query}");
        }
    }));
}

#[test]
fn the_description_is_made_of_the_routes_and_lists_every_call() {
    let listed: Vec<String> = calls().into_iter().map(|call| format!("{} {}", call.method, call.path)).collect();
    assert_eq!(
        listed,
        [
            "GET /healthz",
            "GET /log/checkpoint",
            "POST /log/checkpoint",
            "GET /log/tile/{level}/{index}",
            "GET /openapi.json",
            "GET /v1/candidates",
            "GET /v1/candidates/{id}",
            "POST /v1/candidates/{id}/decisions",
            "GET /v1/content/{sha256}",
            "GET /v1/log/checkpoints",
            "POST /v1/pinsets/{set}/aliases",
            "POST /v1/pinsets/{set}/check",
            "GET /v1/pinsets/{set}/head",
            "GET /v1/pinsets/{set}/pins",
            "GET /v1/pinsets/{set}/pins/{name}",
            "POST /v1/pinsets/{set}/revocations",
            "GET /v1/pinsets/{set}/sets/{sha256}",
            "POST /v1/releases",
            "GET /v1/releases/{release}",
            "GET /v1/servers",
            "GET /v1/servers/{namespace}/{name}",
            "GET /v1/trust",
            "GET /v1/trust/{version}",
        ]
    );
    assert!(calls().iter().all(|call| !call.who.is_empty() && !call.what.is_empty()));
}

#[test]
fn what_is_measured_names_patterns_and_never_paths() {
    block_on(on_both(async |fresh| {
        let site = Site::new(fresh).await;
        site.get("/v1/pinsets/default/pins/secret.name").await;
        site.get("/a/secret/path").await;
        let text = String::from_utf8(site.get("/metrics").await.body).expect("text");
        assert!(text.contains(r#"path="/v1/pinsets/{set}/pins/{name}""#), "{text}");
        assert!(text.contains("countersign_log_size") && text.contains("countersign_head_expires_timestamp_seconds"));
        assert!(!text.contains("secret"), "{text}");
    }));
}
