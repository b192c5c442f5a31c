//! What API and pages share: who is asking, what a refusal looks like, and the layers around every request.
//!
//! No rule of the domain is here and nothing is stored: a request comes in, its limits, origin and credentials are looked
//! at, and what a service function refused goes out as a [`Problem`]. Nothing that a client sends is trusted: not its
//! address (unless a proxy that the operator named says so), not its request id, not its content type.

mod address;
mod admission;
mod extract;
mod layers;
mod metrics;
mod origin;
mod problem;
mod refusals;
mod watch;
mod who;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use ipnet::IpNet;

pub use self::{
    address::Client,
    extract::{Body, Form, MAX_BODY, Path, Query, json},
    layers::{Asked, CONTENT_SECURITY_POLICY, Compressible, Pages, Shown, layers},
    origin::same_origin,
    problem::{Kind, Problem},
    watch::RequestId,
    who::{Admin, Checker, Publisher, Reader, ReviewReader, Reviewer, Who},
};
use self::{admission::Admission, metrics::Metrics};
use crate::{
    canon::Sha256,
    clock::Timestamp,
    config::{PublicUrl, Readers},
    service::{App, KeptHeads},
};

/// What the web needs to know besides the registry.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The URL that people use; the Origin check and the cookie follow from it.
    pub public_url: PublicUrl,
    /// Who may read.
    pub readers: Readers,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxy: Vec<IpNet>,
    /// Whether `/metrics` and `/readyz` are served at an address of their own.
    pub admin_apart: bool,
}

/// The state of every handler. Clones share it.
#[derive(Clone, Debug)]
pub struct Web(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    app: App,
    settings: Settings,
    admission: Admission,
    metrics: Metrics,
    heads: KeptHeads,
    /// Requests so far; with the start's time it makes their ids.
    requests: AtomicU64,
    started: Timestamp,
}

impl Web {
    /// The web of a registry.
    pub fn new(app: App, settings: Settings) -> Self {
        let (admission, started) = (Admission::new(app.limits()), app.clock().now());
        let (metrics, heads, requests) = (Metrics::new(), KeptHeads::default(), AtomicU64::new(0));
        Self(Arc::new(Inner { app, settings, admission, metrics, heads, requests, started }))
    }

    /// The registry.
    pub fn app(&self) -> &App {
        &self.0.app
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Answers about heads.
    pub fn heads(&self) -> &KeptHeads {
        &self.0.heads
    }

    /// What is measured, in the text form of Prometheus.
    pub fn measured(&self) -> String {
        self.0.metrics.render(&self.0.app)
    }

    /// An id that no other request has. It is no secret.
    pub(crate) fn next_id(&self) -> String {
        let n = self.0.requests.fetch_add(1, Ordering::Relaxed);
        let id = Sha256::of(format!("{} {} {n}", self.0.app.fingerprint(), self.0.started).as_bytes());
        format!("{:.16}", id.to_string())
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn admission(&self) -> &Admission {
        &self.0.admission
    }
}
