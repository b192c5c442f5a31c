-- What waits for a decision, the ballots, and what was decided.

CREATE TABLE candidate (
    id          TEXT NOT NULL PRIMARY KEY,
    pinset      TEXT NOT NULL,
    server      TEXT NOT NULL,
    variant     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    reason      TEXT NOT NULL,
    urgency     INTEGER NOT NULL CHECK (urgency BETWEEN 0 AND 99),
    digest      BLOB NOT NULL CHECK (length(digest) = 32),
    base        BLOB CHECK (length(base) = 32),
    state       TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'revoked', 'held')),
    decision    BLOB CHECK (length(decision) = 32),
    release     TEXT NOT NULL REFERENCES release (id),
    position    INTEGER NOT NULL,
    attestation BLOB NOT NULL CHECK (length(attestation) = 32),
    opened_at   INTEGER NOT NULL,
    log_index   INTEGER NOT NULL
) STRICT;

CREATE INDEX candidate_queue ON candidate (pinset, state, urgency, opened_at, id);
CREATE INDEX candidate_queues ON candidate (state, urgency, opened_at, id);
CREATE INDEX candidate_name ON candidate (pinset, server, variant, kind, name, digest);
CREATE INDEX candidate_digest ON candidate (pinset, kind, digest, log_index, id);
CREATE INDEX candidate_release ON candidate (release);

-- How many candidates are in each state; moved in the transaction that moves them.
CREATE TABLE candidate_count (
    pinset TEXT NOT NULL,
    state  TEXT NOT NULL,
    n      INTEGER NOT NULL CHECK (n >= 0),
    PRIMARY KEY (pinset, state)
) STRICT;

-- A vote as it was given, in the voter's own bytes. `void_since` is set when what it was about has changed.
CREATE TABLE ballot (
    candidate  TEXT NOT NULL REFERENCES candidate (id),
    reviewer   TEXT NOT NULL,
    view       BLOB NOT NULL CHECK (length(view) = 32),
    document   BLOB NOT NULL,
    reason     BLOB NOT NULL CHECK (length(reason) = 32),
    cast_at    INTEGER NOT NULL,
    void_since INTEGER,
    PRIMARY KEY (candidate, reviewer, view)
) STRICT;

CREATE TABLE decision (
    log_index INTEGER NOT NULL PRIMARY KEY,
    sha256    BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
    candidate TEXT NOT NULL REFERENCES candidate (id),
    outcome   TEXT NOT NULL,
    reason    BLOB NOT NULL CHECK (length(reason) = 32),
    mode      TEXT NOT NULL,
    at        INTEGER NOT NULL
) STRICT;

CREATE INDEX decision_candidate ON decision (candidate, log_index);
