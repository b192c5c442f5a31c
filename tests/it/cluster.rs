//! A PostgreSQL cluster of a test's own, whose postmaster may be killed. Unlike the one that all other tests share, it
//! keeps what it confirmed.

use std::{
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use countersign::config::{Database, DatabaseText};
use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;

/// PostgreSQL refuses to run as root; this is nobody.
const NOBODY: u32 = 65_534;

pub(crate) struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    postmaster: Option<Child>,
}

impl Cluster {
    /// A new cluster, running.
    pub(crate) async fn new() -> Self {
        // A short path: a socket's name has at most 107 bytes.
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("given away");
        }
        let mut cluster = Self { folder, programs: programs(), postmaster: None };
        let mut initdb = cluster.program("initdb");
        initdb.args(["-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C", "-D"]);
        let made = initdb.arg(cluster.data()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(made.expect("initdb runs").success());
        cluster.start().await;
        cluster
    }

    /// The cluster as a database of a registry.
    pub(crate) fn database(&self) -> Database {
        Database::Postgres(DatabaseText::new(self.url()))
    }

    /// Kills the postmaster as a power cut would; its children find out by themselves.
    pub(crate) fn kill(&mut self) {
        let mut postmaster = self.postmaster.take().expect("runs");
        postmaster.kill().expect("runs");
        postmaster.wait().expect("ends");
    }

    /// Starts it, and waits until it takes connections. While children of a killed one still hold its memory it won't
    /// start, so that is tried again.
    pub(crate) async fn start(&mut self) {
        let mut postmaster = self.spawn();
        let started = async {
            loop {
                if let Some(_ended) = postmaster.try_wait().expect("a child") {
                    postmaster = self.spawn();
                }
                if let Ok(conn) = PgConnection::connect(&self.url()).await {
                    conn.close().await.expect("closes");
                    return;
                }
                tokio::task::spawn_blocking(std::thread::yield_now).await.expect("no panic");
            }
        };
        tokio::time::timeout(crate::process::PATIENCE, started).await.expect("it starts");
        self.postmaster = Some(postmaster);
    }

    fn spawn(&self) -> Child {
        let sockets = format!("unix_socket_directories={}", self.folder.path().display());
        let mut postgres = self.program("postgres");
        postgres.args(["-c", "listen_addresses=", "-c", &sockets, "-c", "max_connections=60", "-D"]).arg(self.data());
        postgres.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("postgres runs")
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.current_dir(self.folder.path());
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn url(&self) -> String {
        format!("postgres://postgres@localhost/postgres?host={}", self.folder.path().display())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.postmaster.is_some() {
            self.kill();
        }
    }
}

fn programs() -> PathBuf {
    let versions =
        std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL's programs, as `sh tests/run` installs them");
    let bin = versions.map(|version| version.expect("an entry").path().join("bin"));
    bin.filter(|bin: &PathBuf| Path::new(bin).join("postgres").exists()).max().expect("PostgreSQL's programs")
}
