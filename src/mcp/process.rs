//! The program behind the stdio transport: its start, its environment and its end.

use std::{collections::BTreeMap, path::Path, process::Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use crate::{clock::Span, env::Clock};

use super::{Fault, lines::Lines};

/// What a program gets of our environment unless it is named: enough to be found, to cache and to reach a proxy.
/// Everything else stays here, because the environment of whoever captures holds tokens (our own `COUNTERSIGN_TOKEN` among
/// them) and the program is a stranger's.
const PASSED_ON: &[&str] = &[
    "ALL_PROXY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];
/// How long a program may take to end after its input was closed.
const GRACE: Span = Span::seconds(2);

/// The environment of a started program: the declared few of `ours`, and `more` on top.
pub fn child_vars(ours: &BTreeMap<String, String>, more: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let passed = PASSED_ON.iter().filter_map(|name| Some(((*name).to_owned(), ours.get(*name)?.clone())));
    let mut vars: BTreeMap<String, String> = passed.collect();
    vars.extend(more);
    vars
}

/// A started program and all that it starts, ended when this is dropped.
pub(super) struct Program {
    child: Child,
    group: Option<Pid>,
}

impl Program {
    /// Starts a program in a process group of its own.
    pub(super) fn start(
        command: &str,
        args: &[String],
        vars: &BTreeMap<String, String>,
        directory: Option<&Path>,
    ) -> Result<(Self, Lines), Fault> {
        let mut start = Command::new(command);
        start.args(args).env_clear().envs(vars).process_group(0).kill_on_drop(true);
        start.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(directory) = directory {
            start.current_dir(directory);
        }
        let mut child = start.spawn().map_err(|e| Fault::Start(format!("{command}: {e}")))?;
        let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        let (Some(input), Some(output), errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
            return Err(Fault::Start(format!("{command}: it has no streams")));
        };
        let errors = errors.map(|errors| Box::new(errors) as _);
        Ok((Self { child, group }, Lines::new(Box::new(input), Box::new(output), errors)))
    }

    /// Lets the program end by itself for a while after its input was closed; what is left of it then is killed.
    pub(super) async fn stop(mut self, clock: &dyn Clock) {
        let ends = clock.now() + GRACE;
        tokio::select! {
            _ = self.child.wait() => {}
            () = clock.until(ends) => {}
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The group, not the child alone: `npx` and `uvx` are parents of the server. It outlives its leader as long as
        // any of them runs, and where none does there is nothing to kill.
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
