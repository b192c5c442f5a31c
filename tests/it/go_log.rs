//! Go's reference verifier of transparency logs reads a log that we serve, through a proxy that changes one byte.

use std::{
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::{OriginalUri, State},
    http::StatusCode,
};
use countersign::{log::note::Verifier, pinset::trust::Trust, service::App};

use crate::{
    api::Site,
    databases::{Engine, Fresh},
    filled::{With, fill},
    verifiers,
};

/// More than one tile of the second level: 256 × 256 leaves are 65,536.
const LEAVES: u64 = 70_000;

/// Which byte of an answer.
type Place = fn(&[u8]) -> usize;

/// What the proxy does to one answer.
#[derive(Clone)]
struct Tamper {
    path: String,
    byte: Place,
}

/// Stands between a log and its reader, on loopback.
#[derive(Clone)]
struct Proxy {
    upstream: String,
    client: reqwest::Client,
    tamper: Arc<Mutex<Option<Tamper>>>,
    /// Paths that were asked for, the tampered one among them or not.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn before(upstream: &str) -> (Self, String) {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let proxy = Self { upstream: upstream.to_owned(), client, tamper: Arc::default(), asked: Arc::default() };
        let router = Router::new().fallback(pass).with_state(proxy.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        (proxy, url)
    }
}

async fn pass(State(proxy): State<Proxy>, OriginalUri(uri): OriginalUri) -> Result<Vec<u8>, StatusCode> {
    let answer = proxy.client.get(format!("{}{uri}", proxy.upstream)).send().await;
    let answer = answer.and_then(reqwest::Response::error_for_status).map_err(|_| StatusCode::BAD_GATEWAY)?;
    let bytes: Bytes = answer.bytes().await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    let mut bytes = bytes.to_vec();
    proxy.asked.lock().expect("whole").push(uri.path().to_owned());
    if let Some(tamper) = proxy.tamper.lock().expect("whole").as_ref().filter(|tamper| tamper.path == uri.path()) {
        let place = (tamper.byte)(&bytes);
        bytes[place] ^= 1;
    }
    Ok(bytes)
}

/// What the Go program says about the log at this address.
async fn go(program: &Path, keys: &[&Verifier], url: &str, old: Option<&Path>) -> (bool, String) {
    let mut command = Command::new(program);
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    command.arg(keys.join(",")).arg(format!("{url}/log")).args(old).env_clear();
    let ran = tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("it runs");
    let said = String::from_utf8(ran.stdout).expect("text");
    (ran.status.success(), said.trim_end().to_owned())
}

fn key(app: &App) -> Verifier {
    Trust::first(&app.moment().trust.note).expect("a trust file").logs().expect("names the log").remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn gos_verifier_accepts_a_long_log_and_rejects_one_flipped_byte_anywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = verifiers::go(folder.path()) else { return };
    let fresh = Fresh::new(Engine::Sqlite).await;
    let site = Site::new(&fresh).await;
    fill(&site.app, LEAVES / 3, With::Reviewers).await;
    let old = folder.path().join("old-checkpoint");
    std::fs::write(&old, site.get("/log/checkpoint").await.body).expect("written");
    fill(&site.app, LEAVES, With::Reviewers).await;
    let (key, (proxy, url)) = (key(&site.app), Proxy::before(&site.serve().await).await);

    assert_eq!(go(&program, &[&key], &url, Some(&old)).await, (true, format!("ok {LEAVES}")));
    let asked = std::mem::take(&mut *proxy.asked.lock().expect("whole"));
    let bundles = asked.iter().filter(|path| path.contains("/entries/")).count();
    assert_eq!(bundles as u64, LEAVES.div_ceil(256), "every bundle is read");

    let middle = |bytes: &[u8]| bytes.len() / 2;
    let (first, last): (Place, Place) = (|_| 0, |bytes| bytes.len() - 1);
    // The second line of a checkpoint is its size, the third its root; the last line ends with the signature.
    let root = |bytes: &[u8]| bytes.iter().position(|b| *b == b'\n').map_or(0, |end| end + 10);
    let signature = |bytes: &[u8]| bytes.len() - 8;
    let rows: [(&str, &str, Place); 13] = [
        ("the first tile", "/log/tile/0/000", first),
        ("a tile in the middle", "/log/tile/0/123", middle),
        ("the last byte of a tile", "/log/tile/0/200", last),
        ("the newest, partial tile", "/log/tile/0/273.p/112", middle),
        ("a tile of the second level", "/log/tile/1/000", middle),
        ("the partial tile of the second level", "/log/tile/1/001.p/17", last),
        ("the tile at the top", "/log/tile/2/000.p/1", first),
        ("the first bundle", "/log/tile/entries/000", middle),
        ("a length in a bundle", "/log/tile/entries/100", first),
        ("the newest, partial bundle", "/log/tile/entries/273.p/112", last),
        ("the checkpoint's root", "/log/checkpoint", root),
        ("the checkpoint's signature", "/log/checkpoint", signature),
        ("the checkpoint's first byte", "/log/checkpoint", first),
    ];
    for (what, path, byte) in rows {
        *proxy.tamper.lock().expect("whole") = Some(Tamper { path: path.to_owned(), byte });
        let (accepted, said) = go(&program, &[&key], &url, None).await;
        assert!(!accepted && said.starts_with("refused: "), "{what}: {said}");
        let asked = std::mem::take(&mut *proxy.asked.lock().expect("whole"));
        assert!(asked.iter().any(|asked| asked == path), "{what}: {path} was never read");
    }
    // Another log's key, and an older checkpoint that this log doesn't continue.
    *proxy.tamper.lock().expect("whole") = None;
    let stranger = countersign::keys::SigningKey::from_seed(&[77; 32]);
    let other = Verifier::new("pins.example", stranger.verifying()).expect("a name");
    assert!(!go(&program, &[&other], &url, None).await.0);
    // While one key takes another's place, one of them has to have signed.
    assert_eq!(go(&program, &[&other, &key], &url, None).await, (true, format!("ok {LEAVES}")));
    let elsewhere = Verifier::new("other.example", stranger.verifying()).expect("a name");
    let (accepted, said) = go(&program, &[&key, &elsewhere], &url, None).await;
    assert!(!accepted && said.ends_with("keys of several logs"), "{said}");
    let forged = countersign::log::Checkpoint {
        origin: "pins.example".to_owned(),
        size: 1_000,
        root: countersign::canon::Sha256::of(b"another history"),
    };
    let pem = std::fs::read_to_string(fresh.dir.path().join("data/keys/log.pem")).expect("a key file");
    let log = countersign::keys::SigningKey::from_pem(&pem).expect("a key");
    let log = countersign::log::note::Signer::new("pins.example", log).expect("a name");
    std::fs::write(&old, countersign::log::sign_checkpoint(&forged, &log).expect("signs")).expect("written");
    let (accepted, said) = go(&program, &[&key], &url, Some(&old)).await;
    assert!(!accepted && said.starts_with("refused: consistency"), "{said}");
}

/// Leaves of both kinds fold, and a registry that has them opens again.
#[tokio::test(flavor = "multi_thread")]
async fn a_filled_log_is_a_log() {
    let fresh = Fresh::new(Engine::Sqlite).await;
    let bench = crate::service::Bench::new(&fresh);
    let app = bench.open().await;
    fill(&app, 300, With::Reviewers).await;
    fill(&app, 700, With::Releases).await;
    assert_eq!(crate::service::check_log(&app).await, 700);
    app.close().await;
    let again = bench.open_with(&bench.settings(), false).await.expect("opens");
    assert_eq!((again.moment().checkpoint.size, again.read_only()), (700, None));
}
