//! What a release's attestation says: an in-toto Statement v1 with our own predicate.
//!
//! ```text
//! {"_type": "https://in-toto.io/Statement/v1",
//!  "subject": [{"name": "tool/export", "digest": {"sha256": "<64 hex>"}}, …],
//!  "predicateType": "urn:countersign:attestation:mcp-release:v1",
//!  "predicate": {
//!    "server": {"name": "com.example/notes", "version": "1.4.0", "variant"?: ""},
//!    "role": "publisher" | "capture",
//!    "canonicalization": "jcs-sha256",
//!    "protocolVersion"?: 1 to 64 visible ASCII characters,
//!    "artifacts"?: [{"purl": "pkg:…", "digest": "sha256:<64 hex>" | "sha512:<128 hex>"}, …],
//!    "remotes"?: ["https://mcp.example.com/mcp", …],
//!    "source"?: {"repository": "<http or https URL>", "commit": "<40 or 64 hex>"},
//!    "capture"?: {"method": "stdio" | "http" | "file", "command"?: ["…", …], "endpoint"?: "<URL>",
//!                 "clientCapabilities"?: {…}, "capturedAt"?: "<time>"}}}
//! ```
//!
//! A member with a question mark may be absent; a `variant` that is absent is empty, lists that are absent are. A
//! subject's name is a descriptor's kind, a slash and its name as listed, its digest the hash of the descriptor's
//! `jcs-sha256`; subjects are sorted by the name's bytes, then the digest. Remotes are `http` or `https` URLs as a URL
//! parser writes them, without user name and fragment; remotes and artifacts have 8 KiB together. `capture` goes with
//! the role `capture` only: a command with `stdio`, an endpoint with `http`, neither with `file`. The digest of the
//! list of subjects, which the log's leaf has, is SHA-256 over the canonical JSON of the `subject` array.
//!
//! Follows in-toto/attestation `spec/v1`, more strictly: a member that the format doesn't know is refused, a subject has
//! one digest and nothing else, and subjects are sorted. A statement read here is only words; [`super::verify`] says
//! whose.

use serde::Serialize;

use super::{
    Role,
    members::{Malformed, Members},
    predicate::{NotAPredicate, Predicate, Recorded, Server},
};
use crate::{
    canon::{self, Value},
    descriptor::{Release, Subject},
};

/// The in-toto statement type.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// The payload type of a DSSE envelope that holds a statement.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
/// Our predicate type. A changed predicate gets another one.
pub const PREDICATE_TYPE: &str = "urn:countersign:attestation:mcp-release:v1";

/// Which descriptors belong to which release, and who says so in which role.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Statement {
    /// Every descriptor of the release, sorted.
    pub subjects: Vec<Subject>,
    /// What is said about them.
    pub predicate: Predicate,
}

/// Why a payload is no statement of ours.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotAStatement {
    /// Not strict JSON of the statement's form.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// `_type` is another one.
    #[error("the statement type is {0:?}")]
    StatementType(String),
    /// `predicateType` is another one.
    #[error("the predicate type is {0:?}")]
    PredicateType(String),
    /// The subjects' digests are made by a recipe that decides nothing.
    #[error("the canonicalization is {0:?}")]
    Canonicalization(String),
    /// A subject stands before one that sorts lower.
    #[error("the subjects are not sorted at {0:?}")]
    Unsorted(String),
}

impl Statement {
    /// What there is to sign about a release: all its descriptors, and how they were recorded if the role is `capture`.
    ///
    /// Artifacts, remotes and source start out empty and are public fields. Whether the release may be attested at all,
    /// [`super::verify`] decides.
    pub fn for_release(release: &Release, role: Role) -> Self {
        let mut statement = Self::new(Server::of(release), role, release.subjects());
        statement.predicate.protocol_version.clone_from(&release.capture.protocol_version);
        if role == Role::Capture {
            statement.predicate.capture = Some(Recorded::of(release.capture.taken.as_ref()));
        }
        statement
    }

    pub(super) fn new(server: Server, role: Role, mut subjects: Vec<Subject>) -> Self {
        subjects.sort_unstable();
        Self { subjects, predicate: Predicate::new(server, role) }
    }

    /// The payload to sign, in canonical form.
    pub fn to_payload(&self) -> Vec<u8> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Out<'a> {
            #[serde(rename = "_type")]
            statement_type: &'static str,
            subject: &'a [Subject],
            predicate_type: &'static str,
            predicate: &'a Predicate,
        }
        canon::to_jcs(&Out {
            statement_type: STATEMENT_TYPE,
            subject: &self.subjects,
            predicate_type: PREDICATE_TYPE,
            predicate: &self.predicate,
        })
    }

    /// Reads a payload. It needn't be in canonical form: what was signed are its bytes.
    ///
    /// # Errors
    /// The first of [`NotAStatement`] that applies, types before contents.
    pub fn parse(payload: &[u8]) -> Result<Self, NotAStatement> {
        let value = canon::parse_up_to(payload, payload.len()).map_err(Malformed::from)?;
        let mut members = Members::of(&value, String::new())?;
        let found = members.text("_type")?;
        if found != STATEMENT_TYPE {
            return Err(NotAStatement::StatementType(found.to_owned()));
        }
        let found = members.text("predicateType")?;
        if found != PREDICATE_TYPE {
            return Err(NotAStatement::PredicateType(found.to_owned()));
        }
        let listed = members.array("subject")?;
        let subjects = listed.into_iter().map(|(at, value)| subject(value, at)).collect::<Result<Vec<_>, _>>()?;
        let predicate = Predicate::read(members.members("predicate")?)?;
        members.done()?;
        if let Some(pair) = subjects.windows(2).find(|pair| pair[0] > pair[1]) {
            return Err(NotAStatement::Unsorted(pair[1].name.clone()));
        }
        Ok(Self { subjects, predicate })
    }
}

fn subject(value: &Value<'_>, pointer: String) -> Result<Subject, Malformed> {
    let mut members = Members::of(value, pointer)?;
    let name = members.text("name")?.to_owned();
    let mut digest = members.members("digest")?;
    let sha256 = digest.parsed("sha256", "64 lower-case hex digits")?;
    digest.done()?;
    members.done()?;
    Ok(Subject { name, sha256 })
}

impl From<NotAPredicate> for NotAStatement {
    fn from(refused: NotAPredicate) -> Self {
        match refused {
            NotAPredicate::Malformed(malformed) => Self::Malformed(malformed),
            NotAPredicate::Canonicalization(found) => Self::Canonicalization(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        attest::{Artifact, MAX_DESTINATIONS, Source},
        canon::Sha256,
        clock::Timestamp,
        descriptor::Method,
    };

    fn server() -> Server {
        Server {
            name: "com.example/notes".parse().expect("a server"),
            version: "1.4.0".parse().expect("a version"),
            variant: "".parse().expect("a variant"),
        }
    }

    fn subject(name: &str, content: &[u8]) -> Subject {
        Subject { name: name.to_owned(), sha256: Sha256::of(content) }
    }

    fn plain() -> String {
        let statement = Statement::new(server(), Role::Publisher, vec![subject("tool/export", b"{}")]);
        String::from_utf8(statement.to_payload()).expect("UTF-8")
    }

    #[test]
    fn the_payload_is_an_in_toto_statement_in_canonical_form() {
        assert_eq!(
            plain(),
            r#"{"_type":"https://in-toto.io/Statement/v1","predicate":{"canonicalization":"jcs-sha256","role":"publisher","server":{"name":"com.example/notes","variant":"","version":"1.4.0"}},"predicateType":"urn:countersign:attestation:mcp-release:v1","subject":[{"digest":{"sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"name":"tool/export"}]}"#
        );
    }

    #[test]
    fn everything_a_statement_can_say_comes_back() {
        let mut statement = Statement::new(
            server(),
            Role::Capture,
            vec![subject("tool/b", b"1"), subject("tool/a", b"2"), subject("resource/file:///x", b"3")],
        );
        assert_eq!(statement.subjects[0].name, "resource/file:///x");
        let predicate = &mut statement.predicate;
        predicate.protocol_version = Some("2026-07-28".to_owned());
        predicate.artifacts = vec![Artifact {
            purl: "pkg:npm/%40example/notes@1.4.0".to_owned(),
            digest: format!("sha512:{}", "ab".repeat(64)),
        }];
        predicate.remotes = vec!["https://notes.example.com/mcp".to_owned(), "https://notes.example.com".to_owned()];
        predicate.source =
            Some(Source { repository: "https://git.example.com/notes".to_owned(), commit: "c0".repeat(20) });
        predicate.capture = Some(Recorded {
            method: Method::Stdio,
            command: vec!["npx".to_owned(), "-y".to_owned(), "@example/notes".to_owned()],
            endpoint: None,
            client_capabilities: Some(serde_json::json!({"roots": {"listChanged": true}})),
            captured_at: Timestamp::from_micros(1_796_025_600_000_001),
        });
        assert_eq!(Statement::parse(&statement.to_payload()), Ok(statement));
    }

    #[test]
    fn white_space_and_member_order_are_free_and_nothing_else_is() {
        let good = plain();
        let same = Statement::parse(good.as_bytes()).expect("a statement");
        assert_eq!(Statement::parse(good.replace(',', ",\n\t").as_bytes()), Ok(same));
        let role = r#""role":"publisher""#;
        for (from, to, expected) in [
            ("in-toto.io/Statement/v1", "in-toto.io/Statement/v0.1", "statement type"),
            ("mcp-release:v1", "mcp-release:v2", "predicate type"),
            ("jcs-sha256", "python-sorted-sha256", "canonicalization"),
            (role, r#""role":"publisher","note":1"#, r#""/predicate/note" is not a member"#),
            (role, r#""role":"publisher","Role":"capture""#, r#""/predicate/Role" is not a member"#),
            (role, r#""role":"publisher","role":"publisher""#, "duplicate-key"),
            (role, r#""role":"publisher","r\u006fle":"capture""#, "duplicate-key"),
            (role, r#""role":"Publisher""#, "must be publisher or capture"),
            (role, r#""role":null"#, r#""/predicate/role" must be a string"#),
            (role, r#""role":"publisher","source":null"#, r#""/predicate/source" must be an object"#),
            (role, r#""role":"publisher","protocolVersion":null"#, "must be a string"),
            (role, r#""role":"publisher","remotes":null"#, "must be an array"),
            (role, r#""role":"publisher","remotes":["ftp://example.com"]"#, "http or https"),
            (role, r#""role":"publisher","remotes":["https://u@example.com/"]"#, "http or https"),
            (role, r#""role":"publisher","remotes":["HTTPS://example.com/"]"#, "normal form"),
            (
                role,
                r#""role":"publisher","artifacts":[{"purl":"pkg:npm/x@1","digest":"md5:00"}]"#,
                "sha256: or sha512:",
            ),
            (role, r#""role":"publisher","capture":{"method":"file"}"#, "absent unless the role is capture"),
            (role, r#""role":"capture","capture":{"method":"stdio"}"#, "stdio with a command"),
            (role, r#""role":"capture","capture":{"method":"file","command":["x"]}"#, "stdio with a command"),
            (role, r#""role":"capture","capture":{"method":"file","at":1}"#, r#""/predicate/capture/at" is not"#),
            (role, r#""role":"capture","capture":{"method":"file","clientCapabilities":[]}"#, "must be an object"),
            (r#""variant":"""#, r#""variant":"","edition":"pro""#, r#""/predicate/server/edition" is not a member"#),
            (r#""version":"1.4.0""#, r#""version":"^1.4.0""#, "must be one version"),
            (r#""version":"1.4.0""#, r#""version":1"#, r#""/predicate/server/version" must be a string"#),
            ("com.example/notes", "notes", "must be a server name"),
            ("44136fa3", "44136FA3", "64 lower-case hex digits"),
            ("aaff8a", "aaff8", "64 lower-case hex digits"),
            (r#""digest":{"#, r#""digest":{"md5":"00","#, r#""/subject/0/digest/md5" is not a member"#),
            (r#""name":"tool"#, r#""uri":"x","name":"tool"#, r#""/subject/0/uri" is not a member"#),
            (r#""name":"tool/export""#, r#""name":7"#, r#""/subject/0/name" must be a string"#),
            (r#""subject":["#, r#""subject":[{},"#, r#""/subject/0/name" is missing"#),
            (r#""_type""#, r#""extra":{},"_type""#, r#""/extra" is not a member"#),
            (r#""_type""#, r#""_Type""#, r#""/_type" is missing"#),
        ] {
            assert!(good.contains(from), "{from}");
            let refused = Statement::parse(good.replacen(from, to, 1).as_bytes()).expect_err(to).to_string();
            assert!(refused.contains(expected), "{to}: {refused}");
        }
    }

    #[test]
    fn subjects_out_of_order_are_refused() {
        let mut statement =
            Statement::new(server(), Role::Publisher, vec![subject("tool/a", b"1"), subject("tool/b", b"2")]);
        statement.subjects.reverse();
        assert_eq!(Statement::parse(&statement.to_payload()), Err(NotAStatement::Unsorted("tool/a".to_owned())));
    }

    #[test]
    fn artifacts_and_remotes_fill_eight_kib_and_no_more() {
        let mut statement = Statement::new(server(), Role::Publisher, Vec::new());
        let purl = "pkg:npm/notes@1";
        let url = "https://example.com/";
        let digest = format!("sha256:{}", "0".repeat(64));
        let rest = MAX_DESTINATIONS - purl.len() - digest.len() - url.len();
        statement.predicate.artifacts = vec![Artifact { purl: purl.to_owned(), digest }];
        statement.predicate.remotes = vec![format!("{url}{}", "x".repeat(rest))];
        assert_eq!(Statement::parse(&statement.to_payload()).as_ref(), Ok(&statement));
        statement.predicate.remotes[0].push('x');
        let refused = Statement::parse(&statement.to_payload()).expect_err("one byte too many").to_string();
        assert_eq!(refused, "\"/predicate/remotes\" must be 8 KiB at most, together with the artifacts");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_no_statement(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            Statement::parse(&bytes).unwrap_err();
        }

        #[test]
        fn whatever_is_read_is_written_with_the_same_meaning(at in 0usize..10_000, to in any::<u8>()) {
            let mut bytes = plain().into_bytes();
            let at = at % bytes.len();
            bytes[at] = to;
            if let Ok(statement) = Statement::parse(&bytes) {
                prop_assert_eq!(Statement::parse(&statement.to_payload()), Ok(statement));
            }
        }
    }
}
