//! The house rules of `src/` that a compiler doesn't know: which module may name which, where features may be asked for,
//! and how long a file may get.

#![cfg(test)]

#[path = "architecture/tokens.rs"]
mod tokens;

use std::{
    fs,
    path::{Path, PathBuf},
};

use tokens::{Token, own_paths, test_modules, tokens};

/// One total order: a module names only modules that stand before it.
const ORDER: [&str; 24] = [
    "clock",
    "text",
    "canon",
    "name",
    "keys",
    "log",
    "descriptor",
    "attest",
    "scan",
    "review",
    "event",
    "pinset",
    // The feature wall.
    "env",
    "sigstore",
    "config",
    "mcp",
    "client",
    "store",
    "service",
    "web",
    "api",
    "ui",
    "guard",
    "cli",
];

/// The first module below the wall; above it nothing is async and nothing does I/O.
const WALL: &str = "env";

/// A file without its tests; past 400 lines look for the seam.
const MAX_LINES: usize = 600;

/// What a module must not name although it stands below it, and words that it must not use at all.
const KEPT_APART: &[(&[&str], &[&str], &str)] = &[
    (&["api", "ui"], &["Writer", "sqlx", "SigningKey"], "reads go through a Reader, writes through a service function"),
    (&["guard"], &["store", "service", "web", "api", "ui"], "the gateway holds nothing of the service"),
];

/// Words that code above the wall must not use outside its tests.
const ABOVE_THE_WALL: &[&str] =
    &["async", "await", "tokio", "SystemTime", "Instant", "TcpStream", "TcpListener", "UdpSocket", "ToSocketAddrs"];

/// Parts of the standard library that code above the wall must not use outside its tests.
const NO_SYSTEM: &[&str] = &["fs", "process", "env", "thread", "os"];

#[test]
fn modules_name_only_what_stands_above_them() {
    let broken: Vec<_> =
        sources().iter().flat_map(|file| imports(&file.module, file.depth, &file.text, &file.name)).collect();
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn the_map_lists_every_module_in_order_and_nothing_else() {
    let text = fs::read_to_string(root().join("lib.rs")).expect("lib.rs");
    let entries = fs::read_dir(root()).expect("src").map(|entry| entry.expect("an entry").path());
    let mut there: Vec<String> =
        entries.map(|path| stem(&path)).filter(|name| name != "lib" && name != "main").collect();
    there.sort();
    there.dedup();
    assert_eq!(map(&text, &there), Vec::<String>::new());
}

#[test]
fn features_are_asked_for_only_in_the_map() {
    let asked = |file: &Source| {
        features(&file.text).into_iter().map(|line| format!("{}:{line}", file.name)).collect::<Vec<_>>()
    };
    let found: Vec<_> = sources().iter().filter(|file| file.name != "lib.rs").flat_map(asked).collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn no_file_is_longer_than_600_lines_without_its_tests() {
    let long: Vec<_> = sources()
        .iter()
        .filter(|file| !file.only_tests)
        .map(|file| (file.name.clone(), lines(&file.text)))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .collect();
    assert_eq!(long, vec![]);
}

#[test]
fn what_is_kept_apart_stays_apart() {
    let broken: Vec<_> = sources().iter().flat_map(|file| apart(&file.module, &file.text, &file.name)).collect();
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn above_the_wall_nothing_is_async_and_nothing_asks_the_system() {
    let broken: Vec<_> = sources()
        .iter()
        .filter(|file| !file.module.is_empty() && place(&file.module) < place(WALL) && !file.only_tests)
        .flat_map(|file| impure(&file.text).into_iter().map(|what| format!("{}:{what}", file.name)))
        .collect();
    assert_eq!(broken, Vec::<String>::new());
}

struct Source {
    /// As `log/note.rs`.
    name: String,
    /// The top module that it belongs to; empty for `lib.rs` and `main.rs`.
    module: String,
    /// How many modules deep its items stand; 0 in the crate's root.
    depth: usize,
    /// Whether it, or a folder it lies in, is declared under `#[cfg(test)]`.
    only_tests: bool,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

/// Every Rust file below `src`, at any depth.
fn sources() -> Vec<Source> {
    let (mut folders, mut found) = (vec![root()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                found.push(source(&path));
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let tests: Vec<String> = found.iter().flat_map(|file| test_files(&file.name, &file.text)).collect();
    for file in &mut found {
        file.only_tests =
            tests.iter().any(|below| file.name == format!("{below}.rs") || file.name.starts_with(&format!("{below}/")));
    }
    assert!(found.iter().any(|file| file.name == "lib.rs") && found.iter().any(|file| file.name.contains('/')));
    found
}

fn source(path: &Path) -> Source {
    let below = path.strip_prefix(root()).expect("below src");
    let mut modules: Vec<String> =
        below.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    modules.pop_if(|last| last == "mod" || modules_root(below));
    Source {
        name: below.to_string_lossy().replace('\\', "/"),
        module: modules.first().cloned().unwrap_or_default(),
        depth: modules.len(),
        only_tests: false,
        text: fs::read_to_string(path).expect("UTF-8"),
    }
}

/// Where the modules lie that a file declares under `#[cfg(test)]`, as `config/tests`.
fn test_files(name: &str, text: &str) -> Vec<String> {
    let folder = name.strip_suffix("/mod.rs").or_else(|| name.strip_suffix(".rs")).unwrap_or(name);
    tokens::test_declarations(&tokens(text)).into_iter().map(|module| format!("{folder}/{module}")).collect()
}

fn modules_root(below: &Path) -> bool {
    below == Path::new("lib.rs") || below == Path::new("main.rs")
}

fn place(module: &str) -> Option<usize> {
    ORDER.iter().position(|listed| *listed == module)
}

/// The top modules that a file names, by `crate::` or by enough `super::`, and must not.
fn imports(module: &str, depth: usize, text: &str, file: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for (path, line, inline) in own_paths(&tokens(text)) {
        let supers = path.iter().take_while(|segment| ["super", "self"].contains(&segment.as_str()));
        let levels = supers.clone().filter(|segment| *segment == "super").count();
        let named = match path.first().map(String::as_str) {
            Some("crate") => path.get(1),
            _ if depth > 0 && levels >= depth + inline => path.get(supers.count()),
            _ => continue,
        };
        let allowed = match named.map(String::as_str) {
            None => true,
            Some(named) if named == module => true,
            Some(named) if module.is_empty() => place(named).is_some(),
            Some(named) => place(named).is_some_and(|used| Some(used) < place(module)),
        };
        if !allowed {
            broken.push(format!("{file}:{line}: {}", path.join("::")));
        }
    }
    broken
}

/// What is wrong with `lib.rs`: it may hold `mod` lines in the order of the list, those below the wall behind a feature,
/// and beside one a stub twin for when its feature is off.
fn map(text: &str, there: &[String]) -> Vec<String> {
    let tokens = tokens(text);
    let text = |i: usize| tokens.get(i).map_or("", |t: &Token| t.text.as_str());
    let (mut broken, mut listed) = (Vec::new(), Vec::<(String, Asked)>::new());
    let (mut at, mut attributes) = (0, Vec::new());
    while at < tokens.len() {
        let line = tokens[at].line;
        if text(at) == "#" {
            let open = if text(at + 1) == "!" { at + 2 } else { at + 1 };
            let end = tokens::closing(&tokens, open);
            if open == at + 1 {
                let attribute: String = tokens[open + 1..end - 1].iter().map(|t| t.text.as_str()).collect();
                // A lint that is expected is no condition on the module.
                if !attribute.starts_with("expect(") && !attribute.starts_with("cfg_attr(not(test),expect(") {
                    attributes.push(attribute);
                }
            }
            at = end;
            continue;
        }
        if text(at) == "pub" {
            at += if text(at + 1) == "(" { 4 } else { 1 };
        }
        if text(at) != "mod" || text(at + 2) != ";" {
            broken.push(format!("lib.rs:{line}: more than a map: {}", text(at)));
            break;
        }
        match asked(&attributes) {
            Some(asked) => listed.push((text(at + 1).to_owned(), asked)),
            None => broken.push(format!("lib.rs:{line}: attributes {attributes:?}")),
        }
        attributes.clear();
        at += 3;
    }
    for (name, asked) in &listed {
        let below = place(name) >= place(WALL);
        match (place(name), asked) {
            (None, _) => broken.push(format!("not in the list: {name}")),
            (Some(_), Asked::Nothing) if below => broken.push(format!("not behind a feature: {name}")),
            (Some(_), Asked::On) if !below => broken.push(format!("behind a feature: {name}")),
            (Some(_), Asked::Off) if !listed.contains(&(name.clone(), Asked::On)) => {
                broken.push(format!("a stub of nothing: {name}"));
            }
            _ => {}
        }
    }
    let places: Vec<_> = listed.iter().map(|(name, _)| place(name)).collect();
    if !places.is_sorted() {
        broken.push("not in order".to_owned());
    }
    let undeclared = there.iter().filter(|name| !listed.iter().any(|(listed, _)| listed == *name));
    broken.extend(undeclared.map(|name| format!("not declared: {name}")));
    broken
}

/// What a `mod` line asks of the features.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Asked {
    Nothing,
    On,
    Off,
}

/// `None` for attributes that a `mod` line must not have.
fn asked(attributes: &[String]) -> Option<Asked> {
    match attributes {
        [] => Some(Asked::Nothing),
        [one] if one == "cfg(feature=\"\")" => Some(Asked::On),
        [one, path] if one == "cfg(not(feature=\"\"))" && path == "path=\"\"" => Some(Asked::Off),
        _ => None,
    }
}

/// The lines on which a file asks for a feature.
fn features(text: &str) -> Vec<usize> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if ["cfg", "cfg_attr"].contains(&token.text.as_str()) {
            let open = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|t| t.text == "!"));
            let inside = tokens.get(open..tokens::closing(&tokens, open)).unwrap_or_default();
            if inside.iter().any(|t| t.text == "feature") {
                found.push(token.line);
            }
        }
    }
    found
}

/// Lines without the test modules at the end.
fn lines(text: &str) -> usize {
    let tokens = tokens(text);
    let tests: usize =
        test_modules(&tokens).into_iter().map(|range| tokens[range.end - 1].line - tokens[range.start].line + 1).sum();
    text.lines().count() - tests
}

fn apart(module: &str, text: &str, file: &str) -> Vec<String> {
    let rules = KEPT_APART.iter().filter(|(modules, _, _)| modules.contains(&module));
    let found = rules.flat_map(|(_, words, why)| {
        let named = tokens(text).into_iter().filter(|t| words.contains(&t.text.as_str()));
        let paths = own_paths(&tokens(text)).into_iter().filter(|(path, _, _)| {
            path.iter().any(|segment| segment == "store") && path.last().is_some_and(|last| last == "*")
        });
        let named = named.map(|t| (t.text, t.line));
        named.chain(paths.map(|(path, line, _)| (path.join("::"), line))).map(move |(what, line)| (what, line, why))
    });
    found.map(|(what, line, why)| format!("{file}:{line}: {what}: {why}")).collect()
}

/// What pure code must not use, outside its tests.
fn impure(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let tests = test_modules(&tokens);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = |back: usize| at.checked_sub(back).map_or("", |i| tokens[i].text.as_str());
        let from_std = before(1) == "::" && before(2) == "std";
        // In `use std::{fs, fmt}` the word follows a brace or a comma.
        let in_group = ["{", ","].contains(&before(1)) && in_std_group(&tokens, at);
        let system = NO_SYSTEM.contains(&token.text.as_str()) && (from_std || in_group);
        let word = ABOVE_THE_WALL.contains(&token.text.as_str());
        if (system || word) && !tests.iter().any(|range| range.contains(&at)) {
            found.push(format!("{}: {}", token.line, token.text));
        }
    }
    found
}

fn in_std_group(tokens: &[Token], at: usize) -> bool {
    let mut depth = 0_usize;
    for i in (0..at).rev() {
        match tokens[i].text.as_str() {
            "}" => depth += 1,
            "{" if depth > 0 => depth -= 1,
            "{" => return i >= 2 && tokens[i - 1].text == "::" && tokens[i - 2].text == "std",
            ";" => return false,
            _ => {}
        }
    }
    false
}

#[test]
fn an_import_is_seen_however_it_is_written() {
    for (code, expected) in [
        // `log` may name clock, canon, name and keys.
        ("use crate::canon::Sha256;", vec![]),
        ("use crate::store::Writer;", vec!["1: crate::store::Writer"]),
        ("use crate::{canon::{Sha256, parse}, pinset, keys};", vec!["1: crate::pinset"]),
        (
            "use crate::{\n  canon::Sha256,\n  pinset::{self, Set as S},\n};",
            vec!["3: crate::pinset::self", "3: crate::pinset::Set"],
        ),
        ("pub use crate :: scan :: Report ;", vec!["1: crate::scan::Report"]),
        ("fn f() { crate::cli::run() }", vec!["1: crate::cli::run"]),
        ("fn f() -> Vec<crate::event::Event> { vec![] }", vec!["1: crate::event::Event"]),
        ("macro_rules! m { () => { $crate::ui::page() } }", vec!["1: crate::ui::page"]),
        ("use crate::*;", vec!["1: crate::*"]),
        ("use crate as root;", vec!["1: crate::as"]),
        ("use crate::helpers::x;", vec!["1: crate::helpers::x"]),
        ("use crate::r#store::x;", vec!["1: crate::store::x"]),
        ("pub(crate) fn f() {}", vec![]),
        ("pub(in crate::log) fn f() {}", vec![]),
        // The file is log/note.rs, two modules deep.
        ("use super::tile::Tile;", vec![]),
        ("use super::super::store::Writer;", vec!["1: super::super::store::Writer"]),
        ("use super::{tile, super::store};", vec!["1: super::super::store"]),
        ("use super::super::canon::parse;", vec![]),
        ("mod tests { use super::super::tile; }", vec![]),
        ("mod tests { use super::super::super::store; }", vec!["1: super::super::super::store"]),
        ("mod tests { use super::x; }\nuse super::super::store;", vec!["2: super::super::store"]),
        ("use self::super::super::store;", vec!["1: self::super::super::store"]),
        // What isn't code.
        ("//! See crate::store::Writer.\n/// And [`crate::store`].\n// crate::store\nfn f() {}", vec![]),
        ("/* crate::store /* nested */ crate::store */ fn f() {}", vec![]),
        ("const S: &str = \"crate::store\";", vec![]),
        ("const S: &str = \"\\\" crate::store\";", vec![]),
        ("const S: &str = r#\"\" crate::store\"#;", vec![]),
        ("const S: &[u8] = br\"crate::store\";", vec![]),
        ("const C: char = '\"'; use crate::store::x; const D: char = '\"';", vec!["1: crate::store::x"]),
        ("const C: char = '\\''; use crate::store::x;", vec!["1: crate::store::x"]),
        ("fn f<'a>(x: &'a str) -> crate::store::X<'a> {}", vec!["1: crate::store::X"]),
    ] {
        let found: Vec<_> = imports("log", 2, code, "").into_iter().map(|s| s[1..].to_owned()).collect();
        assert_eq!(found, expected, "{code}");
    }
}

#[test]
fn a_map_that_is_more_or_less_than_a_map_is_refused() {
    let there = ["canon".to_owned(), "cli".to_owned(), "sso".to_owned()];
    let wrong = |text: &str| map(text, &there[..2]).join("; ");
    let good =
        "//! Docs.\n#![doc = \"x\"]\n/// The rule.\npub mod canon;\n#[cfg(feature = \"server\")]\npub mod cli;\n";
    assert_eq!(wrong(good), "");
    for (name, text, expected) in [
        ("a re-export", format!("{good}pub use canon::Sha256;"), "lib.rs:7: more than a map: use"),
        ("a function", format!("{good}fn f() {{}}"), "lib.rs:7: more than a map: fn"),
        ("an inline module", format!("{good}mod x {{ }}"), "lib.rs:7: more than a map: mod"),
        ("a module that isn't listed", format!("{good}mod utils;"), "not in the list: utils; not in order"),
        ("a missing module", "pub mod canon;".to_owned(), "not declared: cli"),
        ("out of order", good.replace("/// The", "#[cfg(feature = \"server\")] mod env;\n/// The"), "not in order"),
        ("no feature below the wall", good.replace("#[cfg(feature = \"server\")]\n", ""), "not behind a feature: cli"),
        ("a feature above it", good.replace("/// The", "#[cfg(feature = \"x\")]///"), "behind a feature: canon"),
        (
            "another condition",
            good.replace("feature =", "any(feature) ="),
            "lib.rs:6: attributes [\"cfg(any(feature)=\\\"\\\")\"]; not declared: cli",
        ),
        (
            "a stub of nothing",
            format!("{good}#[cfg(not(feature = \"x\"))] #[path = \"canon/absent.rs\"] mod guard;"),
            "a stub of nothing: guard; not in order",
        ),
    ] {
        assert_eq!(wrong(&text), expected, "{name}");
    }
    let twin = format!("{good}#[cfg(not(feature = \"server\"))]\n#[path = \"cli/absent.rs\"]\npub mod cli;\n");
    assert_eq!(wrong(&twin), "");
}

#[test]
fn a_question_for_a_feature_is_seen_however_it_is_written() {
    for (code, expected) in [
        ("#[cfg(feature = \"server\")]\nfn f() {}", vec![1]),
        ("fn f() { if cfg!(feature = \"x\") {} }", vec![1]),
        ("\n#[cfg_attr(feature = \"x\", derive(Debug))]\nstruct S;", vec![2]),
        ("#[cfg(all(test, not(feature = \"x\")))]\nmod t {}", vec![1]),
        ("#[cfg(test)]\nmod t {}", vec![]),
        ("// #[cfg(feature = \"x\")]\nconst S: &str = \"#[cfg(feature)]\";", vec![]),
        ("fn cfg() {} fn feature() {}", vec![]),
    ] {
        assert_eq!(features(code), expected, "{code}");
    }
}

#[test]
fn the_other_rules_see_what_they_should() {
    assert_eq!(lines("a\n#[cfg(test)]\nmod tests {\n  fn f() { \"}\" }\n}\nb\n"), 2);
    assert_eq!(lines("a\n\n// b\n"), 3);
    let declared =
        "#[cfg(test)]\nmod tests;\n#[cfg(test)]\n#[path = \"x/y.rs\"]\npub(crate) mod y;\nmod z;\n#[cfg(test)]\nuse a;";
    assert_eq!(test_files("x.rs", declared), ["x/tests", "x/y"]);
    assert_eq!(test_files("x/mod.rs", declared), ["x/tests", "x/y"]);
    assert_eq!(
        impure("use std::{fmt, fs};\nasync fn f() {}\nuse std::net::TcpStream;"),
        ["1: fs", "2: async", "3: TcpStream"]
    );
    assert_eq!(impure("use std::{fmt, io::Write, net::IpAddr};\nfn env(fs: u8) { g(1, fs) }"), Vec::<String>::new());
    assert_eq!(impure("#[cfg(test)]\nmod tests { use std::fs; }"), Vec::<String>::new());
    for (code, expected) in [
        ("use crate::store::Reader;", 0),
        ("use crate::store::{Reader, Writer};", 1),
        ("use crate::store::*;", 1),
        ("fn f(x: &sqlx::SqlitePool, key: keys::SigningKey) {}", 2),
        ("// a Writer\nconst S: &str = \"sqlx\";", 0),
    ] {
        assert_eq!(apart("ui", code, "").len(), expected, "{code}");
        assert_eq!(apart("service", code, "").len(), 0, "{code}");
    }
}
