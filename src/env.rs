//! What the process gets from outside: clock, entropy, variables, standard streams.
//!
//! The only place that reads the system's clock and its entropy. Everything else takes an [`Env`] or one of its parts,
//! so that a test moves time by hand ([`ManualClock`]) and fixes chance ([`SeededRng`]). The binary has no switch for
//! either: `main` builds [`Env::system`], and only tests build another.

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    io::{self, IsTerminal, Read, Write},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use sha2::Digest as _;
use tokio::sync::watch;

use crate::clock::{Span, Timestamp};

/// A boxed future, for traits that are used as `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Everything a command needs from outside.
pub struct Env {
    /// What time it is, and waiting for a time.
    pub clock: Arc<dyn Clock>,
    /// Where secrets and salts come from.
    pub rng: Arc<dyn Rng>,
    /// Environment variables; those that aren't UTF-8 are left out.
    pub vars: BTreeMap<String, String>,
    /// Standard input.
    pub stdin: Box<dyn Read + Send>,
    /// Standard output.
    pub stdout: Box<dyn Write + Send>,
    /// Standard error.
    pub stderr: Box<dyn Write + Send>,
    /// Which of the streams are terminals.
    pub terminal: Terminal,
}

/// Which standard streams a person sits at.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Terminal {
    /// Whether questions can be asked.
    pub stdin: bool,
    /// Whether output may be coloured.
    pub stdout: bool,
    /// Whether progress may be drawn.
    pub stderr: bool,
}

/// What time it is, and waiting for a time to come.
pub trait Clock: Send + Sync {
    /// Now. May step back when the machine's clock is set; whoever needs order keeps it itself, as the log does.
    fn now(&self) -> Timestamp;

    /// Ends when it is `at` or later.
    fn until(&self, at: Timestamp) -> BoxFuture<'_, ()>;
}

/// Unpredictable bytes.
pub trait Rng: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

/// A clock that stands still until it is moved on; clones share one time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<watch::Sender<Timestamp>>);

/// The machine's entropy.
#[derive(Clone, Copy, Debug)]
pub struct SystemRng;

/// The same bytes for the same seed, and no two calls alike. For tests: whoever knows the seed knows every secret.
#[derive(Debug)]
pub struct SeededRng {
    seed: u64,
    blocks: AtomicU64,
}

/// The longest single sleep. A machine that was suspended or whose clock was set is noticed after this long.
const LONGEST_SLEEP: Span = Span::seconds(1);

impl Env {
    /// The process's own environment.
    pub fn system() -> Self {
        let vars = std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
        Self {
            clock: Arc::new(SystemClock),
            rng: Arc::new(SystemRng),
            vars: vars.collect(),
            stdin: Box::new(io::stdin()),
            stdout: Box::new(io::stdout()),
            stderr: Box::new(io::stderr()),
            terminal: Terminal {
                stdin: io::stdin().is_terminal(),
                stdout: io::stdout().is_terminal(),
                stderr: io::stderr().is_terminal(),
            },
        }
    }
}

/// Shows no variable: they carry tokens and database passwords.
impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env").field("now", &self.clock.now()).finish_non_exhaustive()
    }
}

impl dyn Rng {
    /// `N` unpredictable bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one reader of the system's clock")]
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(jiff::Timestamp::now().as_microsecond()).unwrap_or(Timestamp::EPOCH)
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that sleeps")]
    fn until(&self, at: Timestamp) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            loop {
                let left = at.since(self.now());
                if left == Span::ZERO {
                    return;
                }
                tokio::time::sleep(left.min(LONGEST_SLEEP).into()).await;
            }
        })
    }
}

impl ManualClock {
    /// A clock that shows `at`.
    pub fn at(at: Timestamp) -> Self {
        Self(Arc::new(watch::Sender::new(at)))
    }

    /// Moves the clock on and wakes whoever waited for a time that has now come.
    pub fn advance(&self, by: Span) {
        self.0.send_modify(|now| *now = *now + by);
    }

    /// Sets the clock, also back.
    pub fn set(&self, at: Timestamp) {
        self.0.send_replace(at);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    fn until(&self, at: Timestamp) -> BoxFuture<'_, ()> {
        let mut time = self.0.subscribe();
        Box::pin(async move {
            // The sender lives as long as `self`, so the only outcome is that the time has come.
            let _ = time.wait_for(|now| *now >= at).await;
        })
    }
}

impl Rng for SystemRng {
    #[expect(clippy::disallowed_methods, reason = "the one reader of the system's entropy")]
    #[expect(clippy::expect_used, reason = "a process without entropy must not make one more secret")]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system has entropy");
    }
}

impl SeededRng {
    /// The generator with this seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed, blocks: AtomicU64::new(0) }
    }
}

impl Rng for SeededRng {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(32) {
            let block = self.blocks.fetch_add(1, Ordering::Relaxed);
            let hash = sha2::Sha256::new().chain_update(self.seed.to_le_bytes()).chain_update(block.to_le_bytes());
            chunk.copy_from_slice(&hash.finalize()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = match Timestamp::from_micros(1_796_025_600_000_000) {
        Some(at) => at,
        None => Timestamp::EPOCH,
    };

    #[tokio::test]
    async fn a_manual_clock_wakes_who_waits_for_a_time_that_has_come_and_no_one_else() {
        let clock = ManualClock::at(START);
        clock.until(START).await;
        let (early, late) = (START + Span::seconds(1), START + Span::minutes(1));
        let waiter = |at| {
            let clock = clock.clone();
            tokio::spawn(async move { clock.until(at).await })
        };
        let (early, late) = (waiter(early), waiter(late));
        clock.advance(Span::seconds(2));
        early.await.expect("woken");
        assert!(!late.is_finished());
        clock.advance(Span::minutes(1));
        late.await.expect("woken");
        assert_eq!(clock.now(), START + Span::seconds(62));
    }

    #[tokio::test]
    async fn the_system_clock_shows_this_century_and_does_not_wait_for_the_past() {
        let now = SystemClock.now();
        assert!(now > "2026-01-01T00:00:00.000000Z".parse().expect("a time"), "{now}");
        SystemClock.until(now).await;
        SystemClock.until(now + Span::millis(2)).await;
        assert!(SystemClock.now() >= now + Span::millis(2));
    }

    #[test]
    fn a_seeded_generator_repeats_itself_only_from_the_start() {
        let (one, two): (&dyn Rng, &dyn Rng) = (&SeededRng::new(7), &SeededRng::new(7));
        let first: [u8; 40] = one.bytes();
        assert_eq!(first, two.bytes());
        assert_ne!(first, one.bytes());
        assert_ne!(first[..32], (&SeededRng::new(8) as &dyn Rng).bytes::<32>());
        assert_ne!((&SystemRng as &dyn Rng).bytes::<32>(), [0; 32]);
    }

    #[test]
    fn debug_shows_no_variable() {
        let mut env = Env::system();
        env.vars.insert("COUNTERSIGN_TOKEN".to_owned(), "cs_secret".to_owned());
        assert!(!format!("{env:?}").contains("secret"));
    }
}
