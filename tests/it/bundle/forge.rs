//! Puts bundles and pin sets together from edited documents, signed with the registry's own keys, so that one statement
//! in them is false and everything that rests on it is consistent.

use countersign::{
    attest::dsse::{self, Envelope},
    canon::{Sha256, to_jcs},
    clock::Timestamp,
    keys::SigningKey,
    log::{
        Checkpoint, Edge, Plan, Proof, Tiles, leaf_hash,
        note::{self, Signer},
        sign_checkpoint_by,
    },
    pinset::{
        bundle::{Bundle, Logged},
        head,
        verify::HeadAnswer,
    },
};
use serde_json::{Value, json};

use super::Audit;

/// The documents of a bundle by name, in the order in which one rests on the other.
pub(super) const NAMES: [&str; 8] =
    ["statement", "authority", "release", "decision", "pins", "set", "published", "head"];

/// Everything that a registry can sign with, and what it says.
pub(super) struct Forge {
    /// The keys that sign the log.
    pub(super) logs: Vec<Signer>,
    /// Who cosigns its checkpoints, by name, and when they say so.
    pub(super) witnesses: Vec<(String, SigningKey, Timestamp)>,
    pub(super) head_key: SigningKey,
    pub(super) publisher: SigningKey,
    descriptor: Vec<u8>,
    documents: Vec<(&'static str, Value)>,
    /// The places of the four leaves in the log.
    pub(super) places: [u64; 4],
}

/// What a forged registry serves.
pub(super) struct Forged {
    pub(super) bundle: Bundle,
    pub(super) answer: HeadAnswer,
    pub(super) documents: Vec<Vec<u8>>,
}

impl Forge {
    /// Takes a genuine bundle apart.
    pub(super) fn of(audit: &Audit, bundle: &Bundle) -> Self {
        let read = |bytes: &[u8]| -> Value { serde_json::from_slice(bytes).expect("JSON") };
        let (publisher, head) = (crate::api::publisher(), audit.key("head.pem"));
        let payload = |envelope: &[u8], kind: &str, key: &SigningKey| {
            let known = [(key.verifying().id(), key.verifying())].into();
            let envelope = Envelope::parse(envelope).expect("an envelope");
            read(envelope.verify(kind, &known).expect("signed").payload)
        };
        let documents = vec![
            ("statement", payload(&bundle.attestation, "application/vnd.in-toto+json", &publisher)),
            ("authority", read(&bundle.authority.leaf)),
            ("release", read(&bundle.release.leaf)),
            ("decision", read(&bundle.decision.leaf)),
            ("pins", read(&bundle.pins)),
            ("set", read(&bundle.set)),
            ("published", read(&bundle.published.leaf)),
            ("head", payload(&bundle.head, head::PAYLOAD_TYPE, &head)),
        ];
        let log = Signer::new("pins.example", audit.key("log.pem")).expect("a name");
        Self {
            logs: vec![log],
            witnesses: vec![],
            head_key: head,
            publisher,
            descriptor: bundle.descriptor.clone(),
            documents,
            places: [3, 7, 11, 12],
        }
    }

    pub(super) fn document(&self, name: &str) -> &Value {
        &self.documents.iter().find(|(known, _)| *known == name).expect("one of them").1
    }

    /// Signs it all anew: `edit` sees each document after the links to those before it were made, and before it is hashed.
    pub(super) fn forge(&self, edit: &dyn Fn(&str, &mut Value)) -> Forged {
        let make = |name: &'static str, link: &dyn Fn(&mut Value)| {
            let mut document = self.document(name).clone();
            link(&mut document);
            edit(name, &mut document);
            document
        };
        let hex = |bytes: &[u8]| json!(Sha256::of(bytes).to_string());
        let [_, release_at, decision_at, _] = self.places;

        let statement = make("statement", &|_| ());
        let attestation = dsse::sign("application/vnd.in-toto+json", &to_jcs(&statement), &self.publisher);
        let authority = to_jcs(&make("authority", &|_| ()));
        let release = to_jcs(&make("release", &|it| {
            it["attestation"] = hex(&attestation);
            let subjects = &statement["subject"];
            it["subjects"] =
                json!({"count": subjects.as_array().map_or(0, Vec::len), "sha256": hex(&to_jcs(subjects))});
        }));
        let decision = to_jcs(&make("decision", &|it| it["attestation"] = hex(&attestation)));
        let pins = to_jcs(&make("pins", &|it| {
            let (_, mut evidence) = it["evidence"].as_object().expect("one").iter().next().expect("one").to_owned();
            let mut evidence: Value = std::mem::take(&mut evidence).clone();
            evidence["log_index"] = json!(release_at);
            let name = Sha256::of(&attestation).to_string();
            it["evidence"] = json!({name: evidence});
            let digest = Sha256::of(&self.descriptor).to_string();
            for pin in it["pins"].as_array_mut().expect("a list") {
                pin["evidence"] = hex(&attestation);
                if pin["digests"]["jcs-sha256"] == json!(digest) {
                    pin["approval"]["decision_sha256"] = hex(&decision);
                    pin["approval"]["log_index"] = json!(decision_at);
                }
            }
        }));
        let set = to_jcs(&make("set", &|it| {
            it["aliases"]["notes"]["pins_sha256"] = hex(&pins);
            it["aliases"]["notes"]["pins_size"] = json!(pins.len());
        }));
        let published = to_jcs(&make("published", &|it| it["set_sha256"] = hex(&set)));

        let leaves = [&authority, &release, &decision, &published];
        let mut tree = Tree::of(&self.places, &leaves, &self.logs);
        for (name, key, at) in &self.witnesses {
            tree.note += &note::cosign(&tree.checkpoint.to_string(), name, key, *at).expect("cosigns");
        }
        let head = to_jcs(&make("head", &|it| {
            it["set_sha256"] = hex(&set);
            it["set_size"] = json!(set.len());
            it["checkpoint_size"] = json!(tree.checkpoint.size);
            it["checkpoint_root"] = json!(tree.checkpoint.root.to_string());
        }));
        let head = dsse::sign(head::PAYLOAD_TYPE, &head, &self.head_key);
        let logged = |n: usize| Logged { leaf: leaves[n].clone(), proof: tree.proof(self.places[n]) };
        let bundle = Bundle {
            descriptor: self.descriptor.clone(),
            attestation,
            authority: logged(0),
            release: logged(1),
            decision: logged(2),
            published: logged(3),
            head: head.clone(),
            set: set.clone(),
            pins: pins.clone(),
        };
        let Logged { leaf, proof } = bundle.published.clone();
        Forged { answer: HeadAnswer { head, leaf, proof, consistency: vec![] }, documents: vec![set, pins], bundle }
    }
}

/// A log with these leaves at these places, and nothing in particular elsewhere.
pub(super) struct Tree {
    tiles: Tiles,
    pub(super) checkpoint: Checkpoint,
    note: String,
}

impl Tree {
    pub(super) fn of(places: &[u64], leaves: &[&Vec<u8>], logs: &[Signer]) -> Self {
        let mut edge = Edge::new();
        for index in 0..=places.iter().copied().max().unwrap_or_default() {
            match places.iter().position(|place| *place == index) {
                Some(n) => edge.append(leaf_hash(leaves[n])),
                None => edge.append(leaf_hash(b"something else")),
            }
        }
        let mut tiles = Tiles::new();
        for (tile, bytes) in edge.tiles() {
            tiles.insert(tile, &bytes).expect("fits");
        }
        let checkpoint = Checkpoint { origin: logs[0].name().to_owned(), size: edge.size(), root: edge.root() };
        let note = sign_checkpoint_by(&checkpoint, &logs.iter().collect::<Vec<_>>()).expect("signs");
        Self { tiles, checkpoint, note }
    }

    pub(super) fn proof(&self, index: u64) -> Proof {
        let plan = Plan::inclusion(index, self.checkpoint.size).expect("inside");
        let hashes = plan.compute(|node| self.tiles.node(node)).expect("all there");
        Proof { index, hashes, checkpoint: self.note.clone(), extra: None }
    }
}

/// JSON pointers to everything in a document that isn't an object or a list.
pub(super) fn scalars(value: &Value) -> Vec<String> {
    let at = |name: &str, inner: &Value| -> Vec<String> {
        let name = name.replace('~', "~0").replace('/', "~1");
        scalars(inner).into_iter().map(|rest| format!("/{name}{rest}")).collect()
    };
    match value {
        Value::Object(members) => members.iter().flat_map(|(name, inner)| at(name, inner)).collect(),
        Value::Array(items) => items.iter().enumerate().flat_map(|(n, inner)| at(&n.to_string(), inner)).collect(),
        _ => vec![String::new()],
    }
}

/// Another value of the same type, and where it can be of the same form.
pub(super) fn flip(value: &mut Value) {
    *value = match &*value {
        Value::Null => json!("00000000000000000000000000000007"),
        Value::Bool(it) => json!(!it),
        Value::Number(n) => json!(n.as_u64().expect("no other") + 1),
        Value::String(text) => {
            // The last digit or letter: of a time its microseconds, of a hash its last bits, of a mode what was needed.
            let place = text.rfind(|c: char| c.is_ascii_alphanumeric() && c != 'Z').unwrap_or(0);
            let c = text[place..].chars().next().unwrap_or('a');
            let other = match c {
                '0'..='8' | 'a'..='e' | 'g'..='y' => char::from(u8::try_from(c).expect("ASCII") + 1),
                '9' => '8',
                'f' => 'e',
                _ => 'q',
            };
            let rest = text.get(place + c.len_utf8()..).unwrap_or_default();
            json!(format!("{}{other}{rest}", &text[..place]))
        }
        Value::Array(_) | Value::Object(_) => unreachable!("no scalar"),
    }
}
