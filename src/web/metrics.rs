//! What is measured. A recorder of each [`Web`](super::Web)'s own, so that two registries in one process don't mix.

use metrics::{Key, KeyName, Label, Metadata, Recorder as _, SharedString, Unit};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};

use crate::{
    clock::{Span, Timestamp},
    service::{App, KeyKind, Trouble, trust::KeyState},
};

/// Counters and histograms.
pub(crate) struct Metrics(PrometheusRecorder);

const REQUESTS: &str = "countersign_http_requests_total";
const SECONDS: &str = "countersign_http_request_seconds";
const LOG_SIZE: &str = "countersign_log_size";
const RECHECKED: &str = "countersign_log_rechecked_leaves";
const RECHECKS: &str = "countersign_log_rechecks_total";
const CACHE_HITS: &str = "countersign_log_cache_hits_total";
const CACHE_MISSES: &str = "countersign_log_cache_misses_total";
const CACHE_BYTES: &str = "countersign_log_cache_bytes";
const READ_ONLY: &str = "countersign_read_only";
const HEAD_EXPIRES: &str = "countersign_head_expires_timestamp_seconds";
const KEY_FROM: &str = "countersign_key_from_timestamp_seconds";
const KEY_UNTIL: &str = "countersign_key_until_timestamp_seconds";
const KEY_HERE: &str = "countersign_key_here";
const COSIGNED: &str = "countersign_cosigned_size";
const WITNESS_SIZE: &str = "countersign_witness_size";
const WITNESS_LAG: &str = "countersign_witness_lag";
const WITNESS_TROUBLE: &str = "countersign_witness_trouble";

/// From a cached read to a release of 2,000 descriptors.
const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0];

impl Metrics {
    pub(super) fn new() -> Self {
        let builder = PrometheusBuilder::new();
        // The only fault is an empty list of buckets.
        let builder = builder.set_buckets_for_metric(Matcher::Full(SECONDS.to_owned()), &BUCKETS);
        let recorder = builder.unwrap_or_else(|_| PrometheusBuilder::new()).build_recorder();
        for (name, unit, what) in [
            (REQUESTS, Unit::Count, "Requests answered"),
            (SECONDS, Unit::Seconds, "Time until an answer began"),
            (LOG_SIZE, Unit::Count, "Leaves under the newest checkpoint"),
            (RECHECKED, Unit::Count, "Stored leaves that the present walk has read again"),
            (CACHE_BYTES, Unit::Bytes, "Memory that full tiles and bundles take"),
            (READ_ONLY, Unit::Count, "1 if nothing may be written until an operator has looked"),
            (KEY_FROM, Unit::Seconds, "When a key of the registry begins to count"),
            (KEY_UNTIL, Unit::Seconds, "When a key of the registry counts no more"),
            (KEY_HERE, Unit::Count, "1 if a key that counts, or will, is in the directory of keys"),
            (HEAD_EXPIRES, Unit::Seconds, "When the head of a pin set that gateways get runs out"),
            (COSIGNED, Unit::Count, "Leaves under the newest checkpoint that has its witness quorum"),
            (WITNESS_SIZE, Unit::Count, "Leaves under the newest checkpoint that a witness has cosigned"),
            (WITNESS_LAG, Unit::Count, "Leaves that the log has beyond that"),
            (WITNESS_TROUBLE, Unit::Count, "1 if this is wrong with a witness since it last cosigned"),
        ] {
            recorder.describe_gauge(KeyName::from(name), Some(unit), SharedString::from(what));
        }
        for (name, what) in [
            (RECHECKS, "Walks through all stored leaves that came to the end"),
            (CACHE_HITS, "Full tiles and bundles served from memory"),
            (CACHE_MISSES, "Full tiles and bundles that the database was asked for"),
        ] {
            recorder.describe_counter(KeyName::from(name), Some(Unit::Count), SharedString::from(what));
        }
        Self(recorder)
    }

    /// Notes a request. Labels are few: patterns of paths, not paths.
    pub(super) fn request(&self, method: &'static str, path: &str, status: u16, took: Span) {
        let labels = vec![
            Label::new("method", method),
            Label::new("path", path.to_owned()),
            Label::new("status", status.to_string()),
        ];
        self.0.register_counter(&Key::from_parts(REQUESTS, labels), &METADATA).increment(1);
        let labels = vec![Label::new("path", path.to_owned())];
        let seconds = std::time::Duration::from(took).as_secs_f64();
        self.0.register_histogram(&Key::from_parts(SECONDS, labels), &METADATA).record(seconds);
    }

    pub(super) fn render(&self, app: &App) -> String {
        let moment = app.moment();
        let gauge = |name, labels: Vec<Label>, value: f64| {
            self.0.register_gauge(&Key::from_parts(name, labels), &METADATA).set(value);
        };
        gauge(LOG_SIZE, vec![], approximate(moment.checkpoint.size));
        let (rechecked, cache) = (app.rechecked(), app.cache_use());
        gauge(RECHECKED, vec![], approximate(rechecked.leaves));
        gauge(CACHE_BYTES, vec![], approximate(cache.bytes));
        for (name, total) in [(RECHECKS, rechecked.passes), (CACHE_HITS, cache.hits), (CACHE_MISSES, cache.misses)] {
            self.0.register_counter(&Key::from_name(name), &METADATA).absolute(total);
        }
        gauge(READ_ONLY, vec![], if app.read_only().is_some() { 1.0 } else { 0.0 });
        for (set, head) in &moment.released {
            let seconds = head.expires.micros().div_euclid(1_000_000).unsigned_abs();
            gauge(HEAD_EXPIRES, vec![Label::new("pinset", set.to_string())], approximate(seconds));
        }
        for key in app.keys() {
            let labels = || vec![Label::new("signs", key.kind.word()), Label::new("id", key.id.to_string())];
            let seconds = |at: Timestamp| approximate(at.micros().div_euclid(1_000_000).unsigned_abs());
            gauge(KEY_FROM, labels(), seconds(key.from));
            if let Some(until) = key.until {
                gauge(KEY_UNTIL, labels(), seconds(until));
            }
            if key.kind != KeyKind::Root && key.state != KeyState::Retired {
                gauge(KEY_HERE, labels(), if key.here { 1.0 } else { 0.0 });
            }
        }
        if let Some(quorum) = app.quorum() {
            gauge(COSIGNED, vec![], approximate(quorum.cosigned));
        }
        for witness in app.witnesses() {
            let label = Label::new("witness", witness.name.clone());
            gauge(WITNESS_SIZE, vec![label.clone()], approximate(witness.size));
            gauge(WITNESS_LAG, vec![label.clone()], approximate(witness.lag));
            for trouble in Trouble::ALL {
                let wrong = if witness.trouble == Some(trouble) { 1.0 } else { 0.0 };
                gauge(WITNESS_TROUBLE, vec![label.clone(), Label::new("trouble", trouble.word())], wrong);
            }
        }
        self.0.handle().render()
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

static METADATA: Metadata<'static> = Metadata::new(module_path!(), metrics::Level::INFO, Some(module_path!()));

/// A gauge's value. Logs of four thousand million leaves and the year 2106 are shown as that many.
fn approximate(n: u64) -> f64 {
    u32::try_from(n).map_or(f64::from(u32::MAX), f64::from)
}
