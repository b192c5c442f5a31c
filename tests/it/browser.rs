//! A real Chromium for the tests of pages, driven over WebDriver.
//!
//! Each browser has a driver, a port and a profile of its own and ends with its value. What a page must never do
//! (break its content security policy, throw, fail to load a file of ours) Chromium writes to its console, and
//! [`Browser::console`] reads it; [`Browser::axe`] runs axe-core on the page as it stands. This file is also part of the
//! library's own tests, which draw every page from fixtures.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use axum::http::Method;
use fantoccini::{Client, ClientBuilder, wd::WebDriverCompatibleCommand};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use url::{ParseError, Url};

/// A browser with one window.
#[derive(Debug)]
pub(crate) struct Browser {
    /// The session: clicks, fields, navigation.
    pub(crate) client: Client,
    driver: Child,
    axe: Option<String>,
    _profile: TempDir,
}

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Width of the window in pixels.
    pub(crate) width: u32,
    /// Whether the person prefers dark.
    pub(crate) dark: bool,
    /// Whether scripts run.
    pub(crate) scripts: bool,
}

/// A command of Chromium's driver that the WebDriver standard doesn't know.
#[derive(Debug)]
struct Raw {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Raw {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

/// Where the programs are, unless the variable names another place.
#[expect(clippy::disallowed_methods, reason = "tests have no Env of their own")]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

impl Browser {
    /// Starts driver and browser; `None` where there is no driver and nobody asked for one.
    ///
    /// # Panics
    /// With `CI` or `COUNTERSIGN_AXE` set a missing driver fails the test: a page that nobody looked at is not clean.
    pub(crate) async fn start() -> Option<Self> {
        let axe = variable("COUNTERSIGN_AXE").map(|path| std::fs::read_to_string(path).expect("axe-core is readable"));
        let required = axe.is_some() || variable("CI").is_some();
        let profile = tempfile::tempdir().expect("a profile folder");
        // Output of the driver is read here, so that the port it chose is known without trying.
        let spawned = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut driver = match spawned {
            Ok(driver) => driver,
            Err(error) => {
                assert!(!required, "chromedriver doesn't start: {error}");
                return None;
            }
        };
        let port = port(&mut driver).expect("chromedriver says its port");
        let mut arguments: Vec<String> = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--force-device-scale-factor=1",
        ]
        .map(str::to_owned)
        .into();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        let capabilities = json!({
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let Value::Object(capabilities) = capabilities else { unreachable!("an object was written") };
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = ClientBuilder::new(connector)
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("a session");
        Some(Self { client, driver, axe, _profile: profile })
    }

    /// Sets width, colours and scripts for the pages opened from now on.
    pub(crate) async fn look(&self, look: Look) {
        let scheme = if look.dark { "dark" } else { "light" };
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        )
        .await;
        let metrics = json!({"width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
        self.devtools("Emulation.setScriptExecutionDisabled", json!({"value": !look.scripts})).await;
    }

    /// Opens an address.
    pub(crate) async fn open(&self, url: &str) {
        self.client.goto(url).await.expect("the page opens");
    }

    /// What Chromium complained about since the last look: broken policies, errors of scripts, files that didn't load.
    pub(crate) async fn console(&self) -> Vec<String> {
        let lines = self.raw("se/log", json!({"type": "browser"})).await;
        let text = |line: &Value| {
            format!("{} {}", line["level"].as_str().unwrap_or(""), line["message"].as_str().unwrap_or(""))
        };
        lines.as_array().map(|lines| lines.iter().map(text).collect()).unwrap_or_default()
    }

    /// What axe-core finds wrong with the page as it stands: rule, impact, and the first places.
    pub(crate) async fn axe(&self) -> Vec<String> {
        const RUN: &str = "const done = arguments[arguments.length - 1];
            axe.run(document, { resultTypes: ['violations'] }).then(
                (found) => done(found.violations.map((v) => `${v.id} (${v.impact}): ${v.nodes.length}, as `
                    + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(' | '))),
                (error) => done([String(error)]));";
        let Some(axe) = &self.axe else { return Vec::new() };
        self.client.execute(axe, Vec::new()).await.expect("axe-core loads");
        let found = self.client.execute_async(RUN, Vec::new()).await.expect("axe-core runs");
        serde_json::from_value(found).expect("a list of sentences")
    }

    /// How many pixels the page is wider than its window: it never is.
    pub(crate) async fn overflow(&self) -> i64 {
        let script = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        self.client.execute(script, Vec::new()).await.expect("a number").as_i64().expect("a number")
    }

    /// Ends session and driver; without it they end when the value is dropped.
    pub(crate) async fn close(self) {
        self.client.clone().close().await.expect("the session ends");
    }

    async fn devtools(&self, command: &'static str, parameters: Value) {
        self.raw("goog/cdp/execute", json!({"cmd": command, "params": parameters})).await;
    }

    async fn raw(&self, path: &'static str, body: Value) -> Value {
        self.client.issue_cmd(Raw { path, body }).await.expect("Chromium's driver knows the command")
    }
}

/// The driver outlives no test, whichever way it ends.
impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn port(driver: &mut Child) -> Option<u16> {
    let output = BufReader::new(driver.stdout.take()?);
    let line = output.lines().map_while(Result::ok).find(|line| line.contains("started successfully on port"))?;
    line.rsplit(' ').next()?.trim_end_matches('.').parse().ok()
}
