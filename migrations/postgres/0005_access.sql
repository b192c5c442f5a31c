-- Who may do what. Secrets are here as hashes alone.

CREATE TABLE account (
    name         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    password     TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    disabled_at  BIGINT,
    last_seen_at BIGINT
);

CREATE TABLE account_role (
    account TEXT COLLATE "C" NOT NULL REFERENCES account (name),
    role    TEXT COLLATE "C" NOT NULL CHECK (role IN ('admin', 'reviewer', 'auditor')),
    PRIMARY KEY (account, role)
);

-- The random id under which an account appears in the log.
CREATE TABLE reviewer (
    id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES account (name)
);

CREATE TABLE token (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sha256       BYTEA NOT NULL UNIQUE CHECK (length(sha256) = 32),
    account      TEXT COLLATE "C" NOT NULL REFERENCES account (name),
    scope        TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    last_used_at BIGINT
);

CREATE INDEX token_account ON token (account, created_at, id);

CREATE TABLE session (
    sha256     BYTEA NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
    account    TEXT COLLATE "C" NOT NULL REFERENCES account (name),
    created_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX session_account ON session (account);
CREATE INDEX session_expires ON session (expires_at);

-- Failed sign-ins of an account name or a client address.
CREATE TABLE throttle (
    key      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    failures BIGINT NOT NULL CHECK (failures > 0),
    last_at  BIGINT NOT NULL
);

CREATE INDEX throttle_last ON throttle (last_at);

-- The one-time set-up link.
CREATE TABLE setup (
    id         BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    sha256     BYTEA NOT NULL CHECK (length(sha256) = 32),
    created_at BIGINT NOT NULL,
    used_at    BIGINT
);

-- Moves with every change to the tables above that decides who may do what, so that other processes notice.
CREATE TABLE access_head (
    id      BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL CHECK (version >= 0)
);

INSERT INTO access_head (id, version) VALUES (1, 0);

CREATE TABLE audit (
    id      BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      BIGINT NOT NULL,
    actor   TEXT COLLATE "C" NOT NULL,
    action  TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    detail  TEXT COLLATE "C" NOT NULL
);

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse('an audit row never changes');
CREATE TRIGGER audit_remains BEFORE DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse('an audit row is never deleted');
CREATE TRIGGER audit_whole BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('audit is never emptied');
