-- Who may do what. Secrets are here as hashes alone.

CREATE TABLE account (
    name         TEXT NOT NULL PRIMARY KEY,
    password     TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    disabled_at  INTEGER,
    last_seen_at INTEGER
) STRICT;

CREATE TABLE account_role (
    account TEXT NOT NULL REFERENCES account (name),
    role    TEXT NOT NULL CHECK (role IN ('admin', 'reviewer', 'auditor')),
    PRIMARY KEY (account, role)
) STRICT;

-- The random id under which an account appears in the log.
CREATE TABLE reviewer (
    id      TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL UNIQUE REFERENCES account (name)
) STRICT;

CREATE TABLE token (
    id           TEXT NOT NULL PRIMARY KEY,
    sha256       BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
    account      TEXT NOT NULL REFERENCES account (name),
    scope        TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
) STRICT;

CREATE INDEX token_account ON token (account, created_at, id);

CREATE TABLE session (
    sha256     BLOB NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
    account    TEXT NOT NULL REFERENCES account (name),
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX session_account ON session (account);
CREATE INDEX session_expires ON session (expires_at);

-- Failed sign-ins of an account name or a client address.
CREATE TABLE throttle (
    key      TEXT NOT NULL PRIMARY KEY,
    failures INTEGER NOT NULL CHECK (failures > 0),
    last_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX throttle_last ON throttle (last_at);

-- The one-time set-up link.
CREATE TABLE setup (
    id         INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    sha256     BLOB NOT NULL CHECK (length(sha256) = 32),
    created_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT;

-- Moves with every change to the tables above that decides who may do what, so that other processes notice.
CREATE TABLE access_head (
    id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL CHECK (version >= 0)
) STRICT;

INSERT INTO access_head (id, version) VALUES (1, 0);

CREATE TABLE audit (
    id      INTEGER NOT NULL PRIMARY KEY,
    at      INTEGER NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail  TEXT NOT NULL
) STRICT;

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'an audit row never changes'); END;
CREATE TRIGGER audit_remains BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'an audit row is never deleted'); END;
