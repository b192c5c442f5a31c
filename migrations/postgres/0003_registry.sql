-- What was published, and the pin sets' versions and heads.

CREATE TABLE server (
    name      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    namespace TEXT COLLATE "C" NOT NULL,
    folded    TEXT COLLATE "C" NOT NULL UNIQUE,
    first_at  BIGINT NOT NULL,
    last_at   BIGINT NOT NULL,
    releases  BIGINT NOT NULL
);

CREATE TABLE release (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    server         TEXT COLLATE "C" NOT NULL REFERENCES server (name),
    version        TEXT COLLATE "C" NOT NULL,
    variant        TEXT COLLATE "C" NOT NULL,
    role           TEXT COLLATE "C" NOT NULL,
    document       BYTEA NOT NULL CHECK (length(document) = 32),
    subjects       BYTEA NOT NULL CHECK (length(subjects) = 32),
    count          BIGINT NOT NULL CHECK (count >= 0),
    submitted_by   TEXT COLLATE "C",
    received_at    BIGINT NOT NULL,
    log_index      BIGINT NOT NULL UNIQUE,
    UNIQUE (server, version, variant, role)
);

CREATE INDEX release_newest ON release (server, log_index);

-- `name` is as listed where that is a legal name, else escaped and cut: the raw bytes are a document.
CREATE TABLE descriptor (
    release       TEXT COLLATE "C" NOT NULL REFERENCES release (id),
    position      BIGINT NOT NULL CHECK (position >= 0),
    kind          TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL CHECK (length(name) <= 1024),
    digest        BYTEA NOT NULL CHECK (length(digest) = 32),
    python_digest BYTEA NOT NULL CHECK (length(python_digest) = 32),
    raw           BYTEA NOT NULL CHECK (length(raw) = 32),
    members       BYTEA NOT NULL,
    unpinnable    TEXT COLLATE "C",
    pointer       TEXT COLLATE "C",
    PRIMARY KEY (release, position)
);

CREATE INDEX descriptor_digest ON descriptor (digest);
CREATE INDEX descriptor_name ON descriptor (kind, name, release);

CREATE TABLE attestation (
    sha256       BYTEA NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
    release      TEXT COLLATE "C" NOT NULL REFERENCES release (id),
    level        TEXT COLLATE "C" NOT NULL,
    signer       TEXT COLLATE "C" NOT NULL,
    authority    TEXT COLLATE "C" NOT NULL,
    predicate    BYTEA NOT NULL CHECK (length(predicate) = 32),
    submitted_by TEXT COLLATE "C",
    received_at  BIGINT NOT NULL,
    log_index    BIGINT NOT NULL UNIQUE
);

CREATE INDEX attestation_release ON attestation (release, log_index);

CREATE TABLE set_version (
    pinset     TEXT COLLATE "C" NOT NULL,
    version    BIGINT NOT NULL CHECK (version > 0),
    set_sha256 BYTEA NOT NULL CHECK (length(set_sha256) = 32),
    issued     BIGINT NOT NULL,
    log_index  BIGINT NOT NULL UNIQUE,
    PRIMARY KEY (pinset, version)
);

CREATE TRIGGER set_version_stays BEFORE UPDATE ON set_version
    FOR EACH ROW EXECUTE FUNCTION refuse('a version never changes');
CREATE TRIGGER set_version_remains BEFORE DELETE ON set_version
    FOR EACH ROW EXECUTE FUNCTION refuse('a version is never deleted');

CREATE TABLE head (
    pinset          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version         BIGINT NOT NULL CHECK (version > 0),
    envelope        BYTEA NOT NULL,
    issued          BIGINT NOT NULL,
    expires         BIGINT NOT NULL,
    checkpoint_size BIGINT NOT NULL CHECK (checkpoint_size > 0)
);

-- After a version is committed no head of an earlier one is ever served.
CREATE TRIGGER head_moves_on BEFORE UPDATE ON head
    FOR EACH ROW
    WHEN (NEW.version < OLD.version OR NEW.checkpoint_size < OLD.checkpoint_size) EXECUTE FUNCTION refuse('a head never goes back');

CREATE TABLE trust (
    version BIGINT NOT NULL PRIMARY KEY CHECK (version > 0),
    note    TEXT COLLATE "C" NOT NULL
);
CREATE TRIGGER set_version_whole BEFORE TRUNCATE ON set_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('set_version is never emptied');
