//! What real servers list: all of it is read, hashed and compared without loss.

use std::{collections::BTreeMap, path::PathBuf};

use countersign::descriptor::{Capture, Descriptor, Kind, diff::diff, renamed};

use crate::shared::shared;

/// One capture a server and version, made of the recorded responses.
fn servers() -> BTreeMap<(String, String), Capture> {
    let Some(root) = shared("corpus/benign") else { return BTreeMap::new() };
    let folders = |path: &PathBuf| -> Vec<PathBuf> {
        std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("readable").path()).collect()
    };
    let name = |path: &PathBuf| path.file_name().expect("named").to_string_lossy().into_owned();
    let mut servers = BTreeMap::new();
    for server in folders(&root) {
        for version in folders(&server) {
            let mut all = Vec::new();
            for file in ["initialize", "tools", "prompts", "resources", "resourceTemplates"] {
                // Not every server has every list.
                all.extend(std::fs::read(version.join(format!("{file}.raw.json"))).unwrap_or_default());
            }
            let capture = Capture::read_any(&all).expect("recorded responses");
            servers.insert((name(&server), name(&version)), capture);
        }
    }
    servers
}

fn descriptors(capture: &Capture) -> Vec<&Descriptor> {
    capture.listed.iter().map(|listed| listed.parsed.as_ref().expect("real servers list strict JSON")).collect()
}

#[test]
fn real_lists_are_read_whole_and_nearly_all_can_be_pinned() {
    let servers = servers();
    let mut unpinnable = Vec::new();
    let mut count = 0;
    for ((server, version), capture) in &servers {
        for descriptor in descriptors(capture) {
            count += 1;
            assert!(!descriptor.listed_name().is_empty());
            if let Some(why) = descriptor.unpinnable() {
                unpinnable.push(format!(
                    "{server} {version} {} {}: {why}",
                    descriptor.kind(),
                    descriptor.listed_name()
                ));
            }
        }
        assert_eq!(Capture::parse(&capture.to_json()).as_ref(), Ok(capture));
    }
    assert!(unpinnable.len() * 50 <= count, "{} of {count}:\n{}", unpinnable.len(), unpinnable.join("\n"));
}

#[test]
fn the_changes_between_two_real_versions_are_the_whole_difference() {
    let servers = servers();
    for ((server, version), old) in &servers {
        for ((_, newer), new) in servers.iter().filter(|((other, newer), _)| other == server && newer > version) {
            for (old, new) in descriptors(old).into_iter().flat_map(|old| {
                let same = move |d: &&Descriptor| d.kind() == old.kind() && d.listed_name() == old.listed_name();
                descriptors(new).into_iter().find(same).map(|new| (old, new))
            }) {
                let diff = diff(&old.value(), &new.value());
                assert_eq!(diff.is_empty(), old.digest() == new.digest());
                let applied = diff.apply(&old.value()).expect("fits");
                assert_eq!(applied.to_jcs(), new.canonical(), "{server} {version} {newer} {}", new.listed_name());
            }
        }
    }
}

#[test]
fn tools_of_one_server_are_seldom_taken_for_renamed_ones() {
    let (mut alike, mut pairs) = (0, 0);
    for capture in servers().values() {
        let tools: Vec<&Descriptor> =
            descriptors(capture).into_iter().filter(|d| d.kind() == Kind::Tool).take(12).collect();
        for (i, tool) in tools.iter().enumerate() {
            for other in &tools[i + 1..] {
                pairs += 1;
                alike += renamed(&[*tool], &[*other]).len();
            }
        }
    }
    assert!(alike * 50 <= pairs, "{alike} of {pairs} pairs look renamed");
}
