//! Third parties' data (vectors, cases, captures), which lies outside this repository.

use std::path::{Path, PathBuf};

/// The file or folder at `path` below the folder that the variable `COUNTERSIGN_SHARED` names; `None` where the variable
/// is not set, and then the caller falls back on small fixtures of its own.
///
/// # Panics
/// When `CI` is set and the data isn't there, and when the variable is set and the path doesn't exist: a test that
/// silently looks at nothing proves nothing.
#[expect(clippy::disallowed_methods, reason = "tests have no Env of their own")]
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    find(std::env::var_os("COUNTERSIGN_SHARED").map(PathBuf::from), std::env::var_os("CI").is_some(), path)
}

fn find(root: Option<PathBuf>, required: bool, path: &str) -> Option<PathBuf> {
    let Some(root) = root else {
        assert!(!required, "CI is set and COUNTERSIGN_SHARED is not: nothing to test {path} with");
        return None;
    };
    let found = root.join(Path::new(path));
    assert!(found.exists(), "COUNTERSIGN_SHARED has no {path}: looked at {}", found.display());
    Some(found)
}

#[test]
fn shared_data_is_optional_only_outside_ci() {
    let there = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(find(None, false, "Cargo.toml"), None);
    assert_eq!(find(Some(there.clone()), true, "Cargo.toml"), Some(there.join("Cargo.toml")));
    for (root, required, path) in
        [(None, true, "Cargo.toml"), (Some(there.clone()), false, "nothing"), (Some(there), true, "nothing")]
    {
        assert!(std::panic::catch_unwind(|| find(root, required, path)).is_err());
    }
    // The variable itself is read; what it names depends on who runs the tests.
    if let Some(cases) = shared("cases/cases.jsonl") {
        assert!(cases.is_file());
    }
}
