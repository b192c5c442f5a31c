-- What was published, and the pin sets' versions and heads.

CREATE TABLE server (
    name      TEXT NOT NULL PRIMARY KEY,
    namespace TEXT NOT NULL,
    folded    TEXT NOT NULL UNIQUE,
    first_at  INTEGER NOT NULL,
    last_at   INTEGER NOT NULL,
    releases  INTEGER NOT NULL
) STRICT;

CREATE TABLE release (
    id             TEXT NOT NULL PRIMARY KEY,
    server         TEXT NOT NULL REFERENCES server (name),
    version        TEXT NOT NULL,
    variant        TEXT NOT NULL,
    role           TEXT NOT NULL,
    document       BLOB NOT NULL CHECK (length(document) = 32),
    subjects       BLOB NOT NULL CHECK (length(subjects) = 32),
    count          INTEGER NOT NULL CHECK (count >= 0),
    submitted_by   TEXT,
    received_at    INTEGER NOT NULL,
    log_index      INTEGER NOT NULL UNIQUE,
    UNIQUE (server, version, variant, role)
) STRICT;

CREATE INDEX release_newest ON release (server, log_index);

-- `name` is as listed where that is a legal name, else escaped and cut: the raw bytes are a document.
CREATE TABLE descriptor (
    release       TEXT NOT NULL REFERENCES release (id),
    position      INTEGER NOT NULL CHECK (position >= 0),
    kind          TEXT NOT NULL,
    name          TEXT NOT NULL CHECK (length(name) <= 1024),
    digest        BLOB NOT NULL CHECK (length(digest) = 32),
    python_digest BLOB NOT NULL CHECK (length(python_digest) = 32),
    raw           BLOB NOT NULL CHECK (length(raw) = 32),
    members       BLOB NOT NULL,
    unpinnable    TEXT,
    pointer       TEXT,
    PRIMARY KEY (release, position)
) STRICT;

CREATE INDEX descriptor_digest ON descriptor (digest);
CREATE INDEX descriptor_name ON descriptor (kind, name, release);

CREATE TABLE attestation (
    sha256       BLOB NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
    release      TEXT NOT NULL REFERENCES release (id),
    level        TEXT NOT NULL,
    signer       TEXT NOT NULL,
    authority    TEXT NOT NULL,
    predicate    BLOB NOT NULL CHECK (length(predicate) = 32),
    submitted_by TEXT,
    received_at  INTEGER NOT NULL,
    log_index    INTEGER NOT NULL UNIQUE
) STRICT;

CREATE INDEX attestation_release ON attestation (release, log_index);

CREATE TABLE set_version (
    pinset     TEXT NOT NULL,
    version    INTEGER NOT NULL CHECK (version > 0),
    set_sha256 BLOB NOT NULL CHECK (length(set_sha256) = 32),
    issued     INTEGER NOT NULL,
    log_index  INTEGER NOT NULL UNIQUE,
    PRIMARY KEY (pinset, version)
) STRICT;

CREATE TRIGGER set_version_stays BEFORE UPDATE ON set_version
BEGIN SELECT RAISE(ABORT, 'a version never changes'); END;
CREATE TRIGGER set_version_remains BEFORE DELETE ON set_version
BEGIN SELECT RAISE(ABORT, 'a version is never deleted'); END;

CREATE TABLE head (
    pinset          TEXT NOT NULL PRIMARY KEY,
    version         INTEGER NOT NULL CHECK (version > 0),
    envelope        BLOB NOT NULL,
    issued          INTEGER NOT NULL,
    expires         INTEGER NOT NULL,
    checkpoint_size INTEGER NOT NULL CHECK (checkpoint_size > 0)
) STRICT;

-- After a version is committed no head of an earlier one is ever served.
CREATE TRIGGER head_moves_on BEFORE UPDATE ON head
WHEN NEW.version < OLD.version OR NEW.checkpoint_size < OLD.checkpoint_size
BEGIN SELECT RAISE(ABORT, 'a head never goes back'); END;

CREATE TABLE trust (
    version INTEGER NOT NULL PRIMARY KEY CHECK (version > 0),
    note    TEXT NOT NULL
) STRICT;
