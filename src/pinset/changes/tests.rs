use proptest::{collection::btree_map, prelude::*};

use super::*;
use crate::{
    attest::{Level, Role, Signer},
    clock::Timestamp,
    keys::SigningKey,
    pinset::{
        Approval,
        document::{PinsType, SetType},
    },
    review::{Digests, Mode},
};

/// A version with its documents, before it is written down.
#[derive(Clone, Debug, PartialEq)]
struct Version {
    set: SetDocument,
    pins: BTreeMap<Alias, PinsDocument>,
}

fn hash(text: &str) -> Sha256 {
    Sha256::of(text.as_bytes())
}

fn word<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect(text)
}

fn at(n: i64) -> Timestamp {
    Timestamp::from_micros(1_796_025_600_000_000 + n).expect("in range")
}

fn pin(name: &str, digest: &str) -> Pin {
    Pin {
        kind: Kind::Tool,
        name: word(&format!("notes.{name}")),
        wire: Some(word(&format!("notes__{name}"))),
        variant: word(""),
        evidence: hash("1.0.0"),
        digests: Digests { jcs: hash(digest), python: hash("python") },
        approval: Approval {
            decision_sha256: hash("decision"),
            log_index: 9,
            mode: Mode::Solo,
            approved_at: at(1),
            not_after: at(100),
        },
    }
}

fn denial(name: &str, digest: &str, state: Denied) -> Denial {
    Denial {
        kind: Kind::Tool,
        name: word(&format!("notes.{name}")),
        variant: word(""),
        digest: Digest::jcs(hash(digest)),
        state,
        reason_sha256: hash("reason"),
        at: at(2),
        log_index: 11,
    }
}

fn by(version: &str) -> PinEvidence {
    PinEvidence {
        release: "r".repeat(32),
        version: word(version),
        role: Role::Publisher,
        level: Level::Key,
        signer: Signer::Key(SigningKey::from_seed(&[9; 32]).verifying().id()),
        remotes: vec![],
        artifacts: vec![],
        log_index: 7,
    }
}

impl Version {
    fn new(pins: Vec<Pin>, denied: Vec<Denial>) -> Self {
        let (registry, name) = ("pins.example".to_owned(), word("default"));
        let used: BTreeSet<Sha256> = pins.iter().map(|pin| pin.evidence).collect();
        let document = PinsDocument {
            r#type: PinsType::V1,
            registry: registry.clone(),
            set: word("default"),
            alias: word("notes"),
            server: word("com.example/notes"),
            evidence: used.into_iter().map(|id| (id, by("1.0.0"))).collect(),
            pins,
            denied,
        };
        let set = SetDocument {
            r#type: SetType::V1,
            registry,
            name,
            epoch: 1,
            version: 1,
            issued: at(3),
            policy_sha256: hash("policy"),
            flag_at: Severity::Medium,
            ruleset_sha256: hash("rules"),
            aliases: BTreeMap::new(),
        };
        Self { set, pins: BTreeMap::from([(word("notes"), document)]) }.sealed()
    }

    /// With every document in order, and named by its digest.
    fn sealed(mut self) -> Self {
        for document in self.pins.values_mut() {
            document.pins.sort_by(|a, b| pin_key(a).cmp(&pin_key(b)));
            document.denied.sort_by(|a, b| denial_key(a).cmp(&denial_key(b)));
        }
        let entry = |document: &PinsDocument| {
            let bytes = document.to_bytes();
            AliasEntry {
                server: document.server.clone(),
                pins_sha256: Sha256::of(&bytes),
                pins_size: bytes.len() as u64,
            }
        };
        self.set.aliases = self.pins.iter().map(|(alias, document)| (alias.clone(), entry(document))).collect();
        self
    }

    /// Applies changes; panics where one doesn't fit.
    fn apply(mut self, changes: &[Change<'_>]) -> Self {
        for change in changes {
            match change {
                Change::Registry(pair) => {
                    self.set.registry = pair.new.to_owned();
                    self.pins.values_mut().for_each(|document| document.registry = pair.new.to_owned());
                }
                Change::Epoch(pair) => self.set.epoch = pair.new,
                Change::Policy(pair) => self.set.policy_sha256 = pair.new,
                Change::FlagAt(pair) => self.set.flag_at = pair.new,
                Change::Ruleset(pair) => self.set.ruleset_sha256 = pair.new,
                Change::Bound(alias, server) => {
                    let empty = Self::new(vec![], vec![]).pins.pop_first().expect("one").1;
                    let registry = self.set.registry.clone();
                    let empty = PinsDocument { registry, alias: (*alias).clone(), server: (*server).clone(), ..empty };
                    assert_eq!(self.pins.insert((*alias).clone(), empty), None);
                }
                Change::Unbound(..) => {}
                Change::Rebound(alias, pair) => {
                    let document = self.pins.get_mut(*alias).expect("is there");
                    assert_eq!(document.server, *pair.old);
                    document.server = pair.new.clone();
                }
                Change::Under(alias, under) => apply(self.pins.get_mut(*alias).expect("is there"), under),
            }
        }
        for change in changes {
            if let Change::Unbound(alias, server) = change {
                let gone = self.pins.remove(*alias).expect("was there");
                assert_eq!((&gone.server, gone.pins.len(), gone.denied.len(), gone.evidence.len()), (*server, 0, 0, 0));
            }
        }
        self.sealed()
    }
}

fn apply(document: &mut PinsDocument, under: &Under<'_>) {
    fn out<T: PartialEq>(from: &mut Vec<T>, what: &T) {
        let place = from.iter().position(|one| one == what).expect("is there");
        from.remove(place);
    }
    match under {
        Under::Added(pin) => document.pins.push((*pin).clone()),
        Under::Removed(pin) => out(&mut document.pins, *pin),
        Under::Replaced(pair)
        | Under::Renewed(pair)
        | Under::Moved(pair)
        | Under::Ends(pair)
        | Under::Altered(pair) => {
            out(&mut document.pins, pair.old);
            document.pins.push(pair.new.clone());
        }
        Under::TakenAway(pin, denial) => {
            out(&mut document.pins, *pin);
            document.denied.push((*denial).clone());
        }
        Under::Denied(denial) => document.denied.push((*denial).clone()),
        Under::Restated(pair) => {
            out(&mut document.denied, pair.old);
            document.denied.push(pair.new.clone());
        }
        Under::Lifted(denial) => out(&mut document.denied, *denial),
        Under::Evidence(id, pair) => {
            assert_eq!(document.evidence.get(id), pair.old);
            match pair.new {
                Some(new) => drop(document.evidence.insert(*id, new.clone())),
                None => drop(document.evidence.remove(id)),
            }
        }
    }
}

fn documents(versions: [&Version; 2]) -> Documents {
    let mut documents = Documents::new();
    for document in versions.into_iter().flat_map(|version| version.pins.values()) {
        documents.add(&document.to_bytes()).expect("a document");
    }
    documents
}

/// The one change between two versions that differ in pins and denials alone.
fn only(old: (Vec<Pin>, Vec<Denial>), new: (Vec<Pin>, Vec<Denial>)) -> String {
    let (old, new) = (Version::new(old.0, old.1), Version::new(new.0, new.1));
    let documents = documents([&old, &new]);
    let changes = between(&old.set, &new.set, &documents).expect("comparable");
    let named: Vec<String> = changes.iter().map(|change| name(change).to_owned()).collect();
    named.join(", ")
}

fn name(change: &Change<'_>) -> &'static str {
    match change {
        Change::Registry(_) => "registry",
        Change::Epoch(_) => "epoch",
        Change::Policy(_) => "policy",
        Change::FlagAt(_) => "flag-at",
        Change::Ruleset(_) => "ruleset",
        Change::Bound(..) => "bound",
        Change::Unbound(..) => "unbound",
        Change::Rebound(..) => "rebound",
        Change::Under(_, under) => match under {
            Under::Added(_) => "added",
            Under::Removed(_) => "removed",
            Under::Replaced(_) => "replaced",
            Under::Renewed(_) => "renewed",
            Under::Moved(_) => "moved",
            Under::Ends(_) => "ends",
            Under::Altered(_) => "altered",
            Under::TakenAway(..) => "taken-away",
            Under::Denied(_) => "denied",
            Under::Restated(_) => "restated",
            Under::Lifted(_) => "lifted",
            Under::Evidence(..) => "evidence",
        },
    }
}

#[test]
fn each_change_of_pins_and_denials_has_its_name() {
    let (one, two) = (pin("export", "one"), pin("export", "two"));
    let approval = |change: &dyn Fn(&mut Approval)| {
        let mut pin = one.clone();
        change(&mut pin.approval);
        pin
    };
    let renewed = approval(&|approval| approval.decision_sha256 = hash("later"));
    let cut = approval(&|approval| approval.not_after = at(50));
    let moved = Pin { evidence: hash("1.1.0"), ..renewed.clone() };
    let odd = Pin { digests: Digests { python: hash("other"), ..one.digests }, ..one.clone() };
    let odd_mode = approval(&|approval| approval.log_index = 10);
    let revoked = denial("export", "one", Denied::Revoked);
    let rejected = Denial { state: Denied::Rejected, ..revoked.clone() };
    type Side = (Vec<Pin>, Vec<Denial>);
    let german = Pin { variant: word("de"), ..two.clone() };
    let rows: [(&str, Side, Side, &str); 16] = [
        ("nothing", (vec![one.clone()], vec![]), (vec![one.clone()], vec![]), ""),
        ("a first pin", (vec![], vec![]), (vec![one.clone()], vec![]), "added, evidence"),
        ("a pin gone", (vec![one.clone()], vec![]), (vec![], vec![]), "removed, evidence"),
        ("another digest", (vec![one.clone()], vec![]), (vec![two.clone()], vec![]), "replaced"),
        ("a second digest", (vec![one.clone()], vec![]), (vec![one.clone(), two.clone()], vec![]), "added"),
        ("an overlap", (vec![one.clone()], vec![]), (vec![cut.clone(), two.clone()], vec![]), "ends, added"),
        ("another variant", (vec![one.clone()], vec![]), (vec![one.clone(), german], vec![]), "added"),
        ("approved again", (vec![one.clone()], vec![]), (vec![renewed], vec![]), "renewed"),
        ("on other evidence", (vec![one.clone()], vec![]), (vec![moved], vec![]), "moved, evidence, evidence"),
        ("another second digest", (vec![one.clone()], vec![]), (vec![odd], vec![]), "altered"),
        ("another index", (vec![one.clone()], vec![]), (vec![odd_mode], vec![]), "altered"),
        ("taken back", (vec![one.clone()], vec![]), (vec![], vec![revoked.clone()]), "taken-away, evidence"),
        ("never pinned, denied", (vec![], vec![]), (vec![], vec![rejected.clone()]), "denied"),
        ("denied otherwise", (vec![], vec![revoked.clone()]), (vec![], vec![rejected.clone()]), "restated"),
        ("approved after all", (vec![], vec![rejected]), (vec![one.clone()], vec![]), "added, lifted, evidence"),
        ("replaced, the old one denied", (vec![one], vec![]), (vec![two], vec![revoked]), "taken-away, added"),
    ];
    for (what, old, new, expected) in rows {
        assert_eq!(only(old, new), expected, "{what}");
    }
}

#[test]
fn what_a_set_says_beside_its_pins_is_compared_too() {
    let old = Version::new(vec![pin("export", "one")], vec![]);
    let documents = documents([&old, &old]);
    let set = |change: &dyn Fn(&mut SetDocument)| {
        let mut set = old.set.clone();
        change(&mut set);
        set
    };
    let rows = [
        (set(&|set| (set.version, set.issued) = (7, at(9))), "the number and the time follow", ""),
        (set(&|set| set.epoch = 2), "a new start", "epoch"),
        (set(&|set| set.policy_sha256 = hash("other")), "a policy", "policy"),
        (set(&|set| set.flag_at = Severity::High), "a severity", "flag-at"),
        (set(&|set| set.ruleset_sha256 = hash("other")), "rules", "ruleset"),
        (set(&|set| set.aliases.clear()), "an alias gone", "unbound, removed, evidence"),
    ];
    for (new, what, expected) in &rows {
        let changes = between(&old.set, new, &documents).expect("comparable");
        assert_eq!(changes.iter().map(name).collect::<Vec<_>>().join(", "), *expected, "{what}");
    }
    let other = set(&|set| set.name = word("prod"));
    assert_eq!(between(&old.set, &other, &documents), Err(Incomparable::OtherSet));
    let strange = set(&|set| set.registry = "other.example".into());
    assert!(
        between(&old.set, &strange, &documents).is_ok_and(|changes| changes.len() == 1),
        "its documents are the same"
    );
}

#[test]
fn a_document_that_is_missing_or_another_sets_is_no_difference() {
    let (old, new) = (Version::new(vec![pin("export", "one")], vec![]), Version::new(vec![], vec![]));
    let missing = new.set.aliases[&word::<Alias>("notes")].pins_sha256;
    assert_eq!(needed(&old.set, &new.set).len(), 2);
    assert_eq!(needed(&old.set, &old.set), BTreeSet::new());
    let half = documents([&old, &old]);
    assert_eq!(between(&old.set, &new.set, &half), Err(Incomparable::Missing(missing)));
    let strays: [(&str, &dyn Fn(&mut PinsDocument)); 5] = [
        ("another registry's", &|document| document.registry = "other.example".into()),
        ("another set's", &|document| document.set = word("prod")),
        ("another alias's", &|document| document.alias = word("other")),
        ("another server's", &|document| document.server = word("com.example/other")),
        ("in another order", &|document| document.pins = vec![pin("search", "one"), pin("export", "one")]),
    ];
    for (what, change) in strays {
        let mut stray = new.clone();
        stray.pins.values_mut().for_each(change);
        let bytes = stray.pins.values().next().expect("one").to_bytes();
        let entry = stray.set.aliases.values_mut().next().expect("one");
        entry.pins_sha256 = Sha256::of(&bytes);
        let mut documents = documents([&old, &old]);
        documents.add(&bytes).expect("a document");
        assert_eq!(between(&old.set, &stray.set, &documents), Err(Incomparable::Astray(Sha256::of(&bytes))), "{what}");
    }
}

#[test]
fn a_tally_counts_what_people_ask_for() {
    let old = Version::new(vec![pin("a", "1"), pin("b", "1"), pin("c", "1")], vec![denial("d", "1", Denied::Rejected)]);
    let held = denial("b", "1", Denied::Held);
    let new = Version::new(
        vec![pin("a", "2"), pin("c", "1"), pin("d", "1"), pin("e", "1")],
        vec![held, denial("f", "1", Denied::Rejected)],
    );
    let documents = documents([&old, &new]);
    let tally = Tally::of(&between(&old.set, &new.set, &documents).expect("comparable"));
    assert_eq!(tally, Tally { added: 2, replaced: 1, held: 1, rejected: 1, lifted: 1, ..Tally::default() });
}

prop_compose! {
    fn any_pin()(
        variant in prop::sample::select(vec!["", "de"]),
        evidence in prop::sample::select(vec!["1.0.0", "1.1.0"]),
        digest in prop::sample::select(vec!["x", "y", "z"]),
        python in prop::sample::select(vec!["p", "p", "p", "q"]),
        decision in prop::sample::select(vec!["d", "e"]),
        not_after in 100..102_i64,
        log_index in 9..11_u64,
        name in prop::sample::select(vec!["export", "search"]),
    ) -> Pin {
        let pin = pin(name, digest);
        let approval = Approval { decision_sha256: hash(decision), not_after: at(not_after), log_index, ..pin.approval };
        let digests = Digests { python: hash(python), ..pin.digests };
        Pin { variant: word(variant), evidence: hash(evidence), digests, approval, ..pin }
    }
}

prop_compose! {
    fn any_denial()(
        name in prop::sample::select(vec!["export", "search"]),
        digest in prop::sample::select(vec!["x", "y", "z"]),
        state in prop::sample::select(vec![Denied::Revoked, Denied::Rejected, Denied::Held]),
        log_index in 9..11_u64,
    ) -> Denial {
        Denial { log_index, ..denial(name, digest, state) }
    }
}

prop_compose! {
    fn any_document()(
        server in prop::sample::select(vec!["com.example/notes", "com.example/notes", "com.example/other"]),
        pins in prop::collection::vec(any_pin(), 0..6),
        denied in prop::collection::vec(any_denial(), 0..4),
        evidence in prop::sample::select(vec!["1.0.0", "1.0.1"]),
    ) -> PinsDocument {
        let pins: BTreeMap<_, Pin> = pins
            .into_iter()
            .map(|pin| ((pin.name.clone(), pin.variant.clone(), pin.digests.jcs), pin))
            .collect();
        let denied: BTreeMap<_, Denial> =
            denied.into_iter().map(|denial| ((denial.name.clone(), denial.digest), denial)).collect();
        let made = Version::new(pins.into_values().collect(), denied.into_values().collect());
        let mut document = made.pins.into_values().next().expect("one");
        document.server = word(server);
        document.evidence.values_mut().for_each(|by| by.version = word(evidence));
        document
    }
}

prop_compose! {
    fn any_version()(
        under in btree_map(prop::sample::select(vec!["a", "b", "c"]), any_document(), 0..3),
        policy in prop::sample::select(vec!["p", "q"]),
        rules in prop::sample::select(vec!["r", "s"]),
        epoch in 1..3_u64,
        registry in prop::sample::select(vec!["pins.example", "pins.example/2"]),
        flag_at in prop::sample::select(vec![Severity::Medium, Severity::High]),
    ) -> Version {
        let made = Version::new(vec![], vec![]);
        let pins = under.into_iter().map(|(alias, document)| {
            let alias: Alias = word(alias);
            (alias.clone(), PinsDocument { alias, registry: registry.to_owned(), ..document })
        });
        let set = SetDocument {
            registry: registry.to_owned(), policy_sha256: hash(policy), ruleset_sha256: hash(rules), epoch, flag_at,
            ..made.set
        };
        Version { set, pins: pins.collect() }.sealed()
    }
}

proptest! {
    #[test]
    fn applying_the_changes_to_the_older_version_gives_the_newer(old in any_version(), new in any_version()) {
        let documents = documents([&old, &new]);
        let changes = between(&old.set, &new.set, &documents).expect("comparable");
        prop_assert_eq!(changes.is_empty(), old == new);
        prop_assert_eq!(old.clone().apply(&changes), new.clone());
        let back = between(&new.set, &old.set, &documents).expect("comparable");
        prop_assert_eq!(new.clone().apply(&back), old.clone());
        prop_assert_eq!(between(&new.set, &new.set, &documents), Ok(vec![]));
    }
}
