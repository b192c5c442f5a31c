-- Documents by their SHA-256: stored once, served as they came in.

-- `readable`: something that readers may see refers to it. `keep_until`: set for documents that are named no more and
-- can be made again from the log; absent means for good.
CREATE TABLE content (
    sha256     BYTEA NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
    bytes      BYTEA NOT NULL,
    media_type TEXT COLLATE "C" NOT NULL,
    readable   BOOLEAN NOT NULL,
    keep_until BIGINT
);

CREATE INDEX content_keep_until ON content (keep_until) WHERE keep_until IS NOT NULL;

-- Which documents the newest head of each pin set names.
CREATE TABLE named (
    pinset TEXT COLLATE "C" NOT NULL,
    sha256 BYTEA NOT NULL CHECK (length(sha256) = 32),
    PRIMARY KEY (pinset, sha256)
);

-- What the scanner said about a subject (a descriptor's digest, or a release) under a rule set.
CREATE TABLE scan (
    subject  TEXT COLLATE "C" NOT NULL,
    ruleset  BYTEA NOT NULL CHECK (length(ruleset) = 32),
    report   BYTEA NOT NULL CHECK (length(report) = 32),
    complete BOOLEAN NOT NULL,
    findings BIGINT NOT NULL CHECK (findings >= 0),
    gravest  TEXT COLLATE "C",
    PRIMARY KEY (subject, ruleset)
);

-- Why somebody decided: the log has the hash alone, so that the text can be taken out without breaking it.
CREATE TABLE reason (
    sha256 BYTEA NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
    salt   BYTEA NOT NULL CHECK (length(salt) = 16),
    text   TEXT COLLATE "C" NOT NULL
);
