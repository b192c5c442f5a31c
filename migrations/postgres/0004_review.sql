-- What waits for a decision, the ballots, and what was decided.

CREATE TABLE candidate (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    pinset      TEXT COLLATE "C" NOT NULL,
    server      TEXT COLLATE "C" NOT NULL,
    variant     TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    reason      TEXT COLLATE "C" NOT NULL,
    urgency     BIGINT NOT NULL CHECK (urgency BETWEEN 0 AND 99),
    digest      BYTEA NOT NULL CHECK (length(digest) = 32),
    base        BYTEA CHECK (length(base) = 32),
    state       TEXT COLLATE "C" NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'revoked', 'held')),
    decision    BYTEA CHECK (length(decision) = 32),
    release     TEXT COLLATE "C" NOT NULL REFERENCES release (id),
    position    BIGINT NOT NULL,
    attestation BYTEA NOT NULL CHECK (length(attestation) = 32),
    opened_at   BIGINT NOT NULL,
    log_index   BIGINT NOT NULL
);

CREATE INDEX candidate_queue ON candidate (pinset, state, urgency, opened_at, id);
CREATE INDEX candidate_queues ON candidate (state, urgency, opened_at, id);
CREATE INDEX candidate_name ON candidate (pinset, server, variant, kind, name, digest);
CREATE INDEX candidate_digest ON candidate (pinset, kind, digest, log_index, id);
CREATE INDEX candidate_release ON candidate (release);

-- How many candidates are in each state; moved in the transaction that moves them.
CREATE TABLE candidate_count (
    pinset TEXT COLLATE "C" NOT NULL,
    state  TEXT COLLATE "C" NOT NULL,
    n      BIGINT NOT NULL CHECK (n >= 0),
    PRIMARY KEY (pinset, state)
);

-- A vote as it was given, in the voter's own bytes. `void_since` is set when what it was about has changed.
CREATE TABLE ballot (
    candidate  TEXT COLLATE "C" NOT NULL REFERENCES candidate (id),
    reviewer   TEXT COLLATE "C" NOT NULL,
    view       BYTEA NOT NULL CHECK (length(view) = 32),
    document   BYTEA NOT NULL,
    reason     BYTEA NOT NULL CHECK (length(reason) = 32),
    cast_at    BIGINT NOT NULL,
    void_since BIGINT,
    PRIMARY KEY (candidate, reviewer, view)
);

CREATE TABLE decision (
    log_index BIGINT NOT NULL PRIMARY KEY,
    sha256    BYTEA NOT NULL UNIQUE CHECK (length(sha256) = 32),
    candidate TEXT COLLATE "C" NOT NULL REFERENCES candidate (id),
    outcome   TEXT COLLATE "C" NOT NULL,
    reason    BYTEA NOT NULL CHECK (length(reason) = 32),
    mode      TEXT COLLATE "C" NOT NULL,
    at        BIGINT NOT NULL
);

CREATE INDEX decision_candidate ON decision (candidate, log_index);
