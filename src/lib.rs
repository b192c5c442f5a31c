//! Countersign: the supply-chain registry and signing service for the descriptors that MCP servers advertise.
//!
//! A **publisher** submits the complete descriptors of a server release with a signature over them. A **reviewer** sees
//! exactly what was submitted and what changed since the last approval, and approves that and nothing else; the registry
//! countersigns the decision and logs it. A **gateway** pulls a signed, expiring pin set and lets through only
//! descriptors whose digest is pinned. A matching digest proves that a descriptor didn't change, not that it is safe.
//!
//! This page is the map. Each module's documentation says what it is, what it isn't, what it trusts and which text it
//! follows; a module imports only modules listed above it here, and a test holds it to that.
//!
//! # The light library
//!
//! What a Rust gateway embeds, with `default-features = false`: nothing here does I/O, is async, reads a clock or draws
//! randomness.
//!
//! | module | what it is |
//! |---|---|
//! | [`clock`] | points in time, as numbers |
//! | [`text`] | characters that hide, and how to show them |
//! | [`canon`] | strict JSON to canonical bytes to digest: the one canonicaliser |
//! | [`name`] | names of servers, aliases and descriptors, and which ones clash |
//! | [`keys`] | Ed25519 keys and their text forms |
//! | [`log`] | Merkle trees, tiles, notes, checkpoints, proofs, witness policies; a leaf is opaque bytes |
//! | [`descriptor`] | what a server lists: descriptors, captures, releases, differences |
//! | [`attest`] | evidence: DSSE, in-toto statements, authorities, [`attest::Verified`] |
//! | [`scan`] | the scanner: rules as data, findings |
//! | [`review`] | policies, views, ballots, the state machine, decisions |
//! | [`event`] | what a leaf of the log says |
//! | [`pinset`] | the fold from events to pin sets; head, trust file, verification, verdict, replay for auditors |
//!
//! # The service and the command line
//!
//! With the feature `server` (the default): everything with I/O.
//!
//! | module | what it is |
//! |---|---|
//! | `env` | clock, entropy, variables and streams, as arguments |
//! | `config` | settings, checked once |
//! | `mcp` | a raw JSON-RPC client that captures what a server lists |
//! | `client` | the registry's client: publish, pull into a state directory, audit |
//! | `store` | one SQL text for SQLite and PostgreSQL |
//! | `service` | the commit queue, access, publishing, review, distribution, witnesses |
//! | `web` | what API and pages share |
//! | `api` | the HTTP API |
//! | `ui` | the pages |
//! | `cli` | the commands; `serve` wires everything |
//!
//! # Formats
//!
//! Everything signed or hashed is documented where it is defined, completely enough to write another verifier from:
//! `tests/verifiers/verify.py` was, and a test holds both to the same verdicts.
//!
//! | format | where |
//! |---|---|
//! | canonical JSON, digests, base64, times, names | [`canon`], [`clock`], [`name`] |
//! | keys and key ids | [`keys`] |
//! | notes, checkpoints, proofs, tiles | [`log`], [`log::note`], [`log::Checkpoint`], [`log::Proof`] |
//! | attestations | [`attest::dsse`], [`attest::statement`] |
//! | leaves of the log; views, ballots and decisions | [`event`]; [`review::View`], [`review::Ballot`], [`review::Decision`] |
//! | trust file, head, set and pins documents, the answer that carries them | [`pinset::trust`], [`pinset::head`], [`pinset::SetDocument`], [`pinset::verify`] |
//! | bundles | [`pinset::bundle`] |
//!
//! # Walkthrough: a release is published and approved
//!
//! 1. `countersign capture` runs the server and keeps every list's raw bytes in a [`descriptor::Capture`]; one that was cut
//!    short says so and goes no further. `countersign attest` signs an [`attest::Statement`] that names every descriptor
//!    by [`canon::Digest`], the server, version, variant and role.
//! 2. `POST /v1/releases` reads the submission with the strict parser. [`attest::verify`] checks the signature by a key
//!    with [`attest::Authorities`] over the server, then that the statement is about exactly these descriptors. The
//!    [`attest::Verified`] that comes out is the only thing that publishing takes. [`scan::Ruleset::scan`] runs.
//! 3. The write waits for its turn in the commit queue, which holds the log's head row. There it looks again at what may
//!    have changed, logs a [`event::Event::ReleaseAttested`], and opens a candidate for each digest that
//!    [`review::reasons`] finds no live decision on.
//! 4. A reviewer opens a candidate. The page is made from a [`review::View`], whose digest a [`review::Ballot`] names.
//!    [`review::Candidate::apply`] counts ballots of that very view; enough of them make a [`review::Decision`].
//! 5. The decision is logged, and [`pinset::State`], the fold of all leaves, cuts the next version of the pin set with a
//!    [`event::Event::PinsetPublished`]. Leaves, tiles, documents, the signed checkpoint and the new [`pinset::head::Head`]
//!    are committed in one transaction; only then is the write acknowledged. Where the registry has witnesses, gateways get
//!    the head once a quorum of them has cosigned the checkpoint ([`log::policy`], [`log::witness`]).
//!
//! # Walkthrough: a gateway decides
//!
//! 1. `countersign pull` starts from a [`pinset::trust::Trust`] file whose fingerprint a person compared once.
//! 2. [`pinset::verify::head`] checks the head's signature, its times, that version and log never went back, that the log
//!    contains the log seen before, that the trust file's witnesses have cosigned it, and that the version's leaf is in it;
//!    then set and pins documents by digest. A
//!    [`pinset::PinSet`] comes out of this and of nothing else, and is kept in the state directory.
//! 3. At discovery and again before dispatch, [`pinset::verdict::judge`] compares each [`descriptor::Listed`] item's digest
//!    with the set. Unknown, changed, revoked, expired, flagged, incomplete and stale are different answers, and only a live
//!    pin of exactly this digest, in a whole list, under a fresh head, is allowed.
//!
//! # Walkthrough: an auditor verifies
//!
//! 1. `countersign audit` starts from the same trust file and reads the log's bundles in order, over HTTP or from the
//!    registry's database. Each entry is hashed into a [`log::Edge`], and the tiles that are served must be what comes out.
//! 2. Each listed checkpoint must be signed by the log's key over the root that the entries have at its size, so that
//!    each is a prefix of the next.
//! 3. [`pinset::replay::Replay`] folds the entries and says which documents each version must have, byte for byte, and
//!    whether a head that a gateway kept says what the log said when it was signed.
//!
//! ```
//! use countersign::{canon, descriptor::{Descriptor, Kind}};
//!
//! let raw = br#"{ "name": "export", "inputSchema": { "type": "object" } }"#;
//! let descriptor = Descriptor::parse(Kind::Tool, raw)?;
//! assert_eq!(descriptor.canonical(), br#"{"inputSchema":{"type":"object"},"name":"export"}"#);
//! assert_eq!(descriptor.digest().sha256, canon::Sha256::of(descriptor.canonical()));
//! # Ok::<(), canon::Refused>(())
//! ```

pub mod clock;

pub mod text;

pub mod canon;

pub mod name;

pub mod keys;

pub mod log;

pub mod descriptor;

pub mod attest;

pub mod scan;

pub mod review;

pub mod event;

pub mod pinset;

#[cfg(feature = "server")]
pub mod env;

#[cfg(feature = "server")]
pub mod config;

#[cfg(feature = "server")]
pub mod mcp;

#[cfg(feature = "server")]
pub mod client;

#[cfg(feature = "server")]
pub mod store;

#[cfg(feature = "server")]
pub mod service;

#[cfg(feature = "server")]
pub mod web;

#[cfg(feature = "server")]
pub mod api;

#[cfg(feature = "server")]
pub mod ui;

#[cfg(feature = "server")]
pub mod cli;
