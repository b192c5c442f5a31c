//! Verifiers in other languages, written from the documentation of the formats: where they are, and what they say.
//!
//! They need programs that not everybody has. In CI a missing one fails the test; elsewhere the test says that it skips.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A file of `tests/verifiers`.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verifiers").join(name)
}

/// `None` says aloud that the test looks at less than it should.
///
/// # Panics
/// In CI.
#[expect(clippy::disallowed_methods, reason = "tests have no Env of their own")]
#[expect(clippy::print_stderr, reason = "the test's own report")]
fn missing<T>(what: &str) -> Option<T> {
    assert!(std::env::var_os("CI").is_none(), "CI is set and {what} is missing: `sh tests/run` brings it");
    eprintln!("SKIPPED: {what} is missing; `sh tests/run` brings it");
    None
}

/// The verifier in Python, with a Python that has `cryptography`.
#[expect(clippy::disallowed_methods, reason = "tests have no Env of their own")]
pub(crate) fn python() -> Option<Command> {
    let python = std::env::var_os("COUNTERSIGN_VERIFIER_PYTHON").unwrap_or_else(|| "python3".into());
    let fits = Command::new(&python).args(["-c", "import cryptography"]).output().is_ok_and(|ran| ran.status.success());
    if !fits {
        return missing("a python3 with cryptography");
    }
    let mut command = Command::new(python);
    // -B: the sources are read where they are, and nothing is left beside them.
    command.arg("-B").arg(file("verify.py"));
    Some(command)
}

/// What the verifier in Python says about each place, one line each. `None` where there is none.
pub(crate) fn python_says<S: AsRef<std::ffi::OsStr>>(args: &[S], places: &[PathBuf]) -> Option<Vec<String>> {
    let ran = python()?.args(args).args(places).output().expect("it runs");
    let said = String::from_utf8(ran.stdout).expect("text");
    let errors = String::from_utf8_lossy(&ran.stderr);
    let lines: Vec<String> = said.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), places.len(), "{said}\n{errors}");
    assert_eq!(ran.status.code(), Some(i32::from(lines.iter().any(|line| line.starts_with("refused")))), "{errors}");
    Some(lines)
}

/// Debian's package of `golang.org/x/mod` puts its sources here.
const GO_SOURCES: &str = "/usr/share/gocode";

/// The verifier of logs in Go, built into this folder.
pub(crate) fn go(folder: &Path) -> Option<PathBuf> {
    let has_packages = Path::new(GO_SOURCES).join("src/golang.org/x/mod/sumdb/tlog").is_dir();
    if !has_packages || Command::new("go").arg("version").output().is_err() {
        return missing("go with golang.org/x/mod (Debian: golang-go, golang-golang-x-mod-dev)");
    }
    let program = folder.join("log");
    let built = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(file("log.go"))
        // No modules: nothing is fetched, the packages are the ones that Debian built and signed.
        .envs([("GO111MODULE", "off"), ("GOPATH", GO_SOURCES), ("GOFLAGS", ""), ("GOTOOLCHAIN", "local")])
        .env("GOCACHE", folder.join("cache"))
        .output()
        .expect("go runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(program)
}
