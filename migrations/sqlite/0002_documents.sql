-- Documents by their SHA-256: stored once, served as they came in.

-- `readable`: something that readers may see refers to it. `keep_until`: set for documents that are named no more and
-- can be made again from the log; absent means for good.
CREATE TABLE content (
    sha256     BLOB NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
    bytes      BLOB NOT NULL,
    media_type TEXT NOT NULL,
    readable   INTEGER NOT NULL CHECK (readable IN (0, 1)),
    keep_until INTEGER
) STRICT;

CREATE INDEX content_keep_until ON content (keep_until) WHERE keep_until IS NOT NULL;

-- Which documents the newest head of each pin set names.
CREATE TABLE named (
    pinset TEXT NOT NULL,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    PRIMARY KEY (pinset, sha256)
) STRICT;

-- What the scanner said about a subject (a descriptor's digest, or a release) under a rule set.
CREATE TABLE scan (
    subject  TEXT NOT NULL,
    ruleset  BLOB NOT NULL CHECK (length(ruleset) = 32),
    report   BLOB NOT NULL CHECK (length(report) = 32),
    complete INTEGER NOT NULL CHECK (complete IN (0, 1)),
    findings INTEGER NOT NULL CHECK (findings >= 0),
    gravest  TEXT,
    PRIMARY KEY (subject, ruleset)
) STRICT;

-- Why somebody decided: the log has the hash alone, so that the text can be taken out without breaking it.
CREATE TABLE reason (
    sha256 BLOB NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
    salt   BLOB NOT NULL CHECK (length(salt) = 16),
    text   TEXT NOT NULL
) STRICT;
