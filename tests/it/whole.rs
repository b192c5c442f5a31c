//! Fold equals store, after every test that has a registry: whatever a test did, replaying the log gives what is served and
//! kept. The check is in the way out, so that no test can forget it.

use std::sync::atomic::{AtomicBool, Ordering};

use countersign::{canon::Sha256, service::App};

use crate::service::check_log;

/// Checks its registry when the test is over, unless the test has failed already or closed the database.
pub(crate) struct EndsWhole(App, AtomicBool);

impl EndsWhole {
    pub(crate) const fn new(app: App) -> Self {
        Self(app, AtomicBool::new(false))
    }

    /// The test has damaged its registry, and says so: there is nothing left to compare.
    pub(crate) fn spoiled(&self) {
        self.1.store(true, Ordering::Relaxed);
    }
}

impl Drop for EndsWhole {
    fn drop(&mut self) {
        if self.1.load(Ordering::Relaxed) {
            return;
        }
        at_the_end(async || {
            if self.0.reader().conn().await.is_ok() {
                fold_equals_store(&self.0).await;
            }
        });
    }
}

/// Runs a last check where a value ends. Tests with a registry run on several threads.
pub(crate) fn at_the_end(check: impl AsyncFnOnce()) {
    if !std::thread::panicking() {
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(check()));
    }
}

/// The log folds to exactly what is served and kept: see [`check_log`], and each alias's document besides.
pub(crate) async fn fold_equals_store(app: &App) {
    app.refresh().await.expect("answers");
    let size = check_log(app).await;
    let moment = app.moment();
    assert!(moment.checkpoint.size >= size);
    let mut conn = app.reader().conn().await.expect("a connection");
    for set in moment.state.sets() {
        let document = set.document().expect("published");
        for (alias, entry) in &document.aliases {
            let folded = moment.state.pins_document(set.name(), alias).expect("folds").to_bytes();
            assert_eq!(Sha256::of(&folded), entry.pins_sha256);
            let kept = conn.content(entry.pins_sha256).await.expect("reads").expect("is kept");
            assert_eq!(kept.bytes, folded, "{} {alias}", set.name());
        }
    }
}
