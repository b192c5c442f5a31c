//! A person at a terminal, or a script: runs a command line in process and keeps what it said.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    io::{self, Cursor, Write},
    path::Path,
    sync::{Arc, Mutex},
};

use countersign::{
    cli,
    clock::Timestamp,
    env::{Clock, Env, ManualClock, SeededRng, SystemClock, Terminal},
};

/// Where command lines run: a time, a source of chance, variables, and whether somebody sits there.
pub(crate) struct Desk {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) seed: u64,
    pub(crate) vars: BTreeMap<String, String>,
    pub(crate) terminal: Terminal,
}

/// What a command line did.
pub(crate) struct Ran {
    pub(crate) exit: u8,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Desk {
    /// A script's desk, with time standing still.
    pub(crate) fn new() -> Self {
        Self::at(&ManualClock::at("2026-12-01T09:00:00.000000Z".parse::<Timestamp>().expect("a time")))
    }

    /// A script's desk under a clock that the test moves.
    pub(crate) fn at(clock: &ManualClock) -> Self {
        let vars = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        Self { clock: Arc::new(clock.clone()), seed: 7, vars, terminal: Terminal::default() }
    }

    /// For commands that start programs, whose answers take real time.
    pub(crate) fn in_real_time(mut self) -> Self {
        self.clock = Arc::new(SystemClock);
        self
    }

    pub(crate) fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    /// What a command gets from outside at this desk; nobody reads what it prints.
    pub(crate) fn env(&self) -> Env {
        Env {
            clock: Arc::clone(&self.clock),
            rng: Arc::new(SeededRng::new(self.seed)),
            vars: self.vars.clone(),
            stdin: Box::new(io::empty()),
            stdout: Box::new(io::sink()),
            stderr: Box::new(io::sink()),
            terminal: self.terminal,
        }
    }

    /// Runs `countersign` with these arguments and nothing on standard input.
    pub(crate) async fn run<A: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Ran {
        self.run_with(args, b"").await
    }

    /// Runs `countersign` with these arguments and this on standard input.
    pub(crate) async fn run_with<A: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        stdin: &[u8],
    ) -> Ran {
        let (stdout, stderr) = (Kept::default(), Kept::default());
        let mut env = self.env();
        env.stdin = Box::new(Cursor::new(stdin.to_vec()));
        env.stdout = Box::new(stdout.clone());
        env.stderr = Box::new(stderr.clone());
        let args: Vec<OsString> =
            std::iter::once("countersign".into()).chain(args.into_iter().map(|a| a.as_ref().to_owned())).collect();
        let exit = cli::run(args, &mut env).await.code();
        drop(env);
        Ran { exit, stdout: stdout.text(), stderr: stderr.text() }
    }
}

impl Kept {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("whole").clone()).expect("text")
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("whole").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Ran {
    /// The whole output with a folder's path taken out, for a snapshot.
    pub(crate) fn in_folder(&self, folder: &Path) -> String {
        self.to_string().replace(folder.to_str().expect("text"), "DIR")
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {}\n--- stdout\n{}--- stderr\n{}", self.exit, self.stdout, self.stderr)
    }
}
