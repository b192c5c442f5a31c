-- Witnesses: what they have cosigned, how each is doing, and which heads wait for them.

-- A witness is its key's text, `name+id+base64`.
CREATE TABLE cosignature (
    size        INTEGER NOT NULL REFERENCES checkpoint (size),
    witness     TEXT NOT NULL,
    line        TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    PRIMARY KEY (size, witness)
) STRICT;

-- `size` is the largest that the witness is known to have cosigned, `next_at` when it may be asked again: the process
-- that asks moves it on first, so that others don't ask at the same time.
CREATE TABLE witness (
    vkey        TEXT NOT NULL PRIMARY KEY,
    size        INTEGER NOT NULL CHECK (size >= 0),
    cosigned_at INTEGER,
    trouble     TEXT,
    trouble_at  INTEGER,
    failures    INTEGER NOT NULL CHECK (failures >= 0),
    next_at     INTEGER NOT NULL
) STRICT;

-- The checkpoint that all witnesses are asked for, and the largest that has its quorum; `changes` tells other processes
-- that something here has moved.
CREATE TABLE witness_round (
    id       INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    size     INTEGER NOT NULL CHECK (size >= 0),
    begun_at INTEGER NOT NULL,
    cosigned INTEGER NOT NULL CHECK (cosigned >= 0),
    changes  INTEGER NOT NULL
) STRICT;

INSERT INTO witness_round (id, size, begun_at, cosigned, changes) VALUES (1, 0, 0, 0, 0);

-- Heads that were signed over a checkpoint and wait for its quorum.
CREATE TABLE head_waiting (
    pinset          TEXT NOT NULL,
    version         INTEGER NOT NULL CHECK (version > 0),
    envelope        BLOB NOT NULL,
    issued          INTEGER NOT NULL,
    expires         INTEGER NOT NULL,
    checkpoint_size INTEGER NOT NULL CHECK (checkpoint_size > 0),
    PRIMARY KEY (checkpoint_size, pinset)
) STRICT;

-- The head of each pin set that gateways get.
CREATE TABLE head_released (
    pinset          TEXT NOT NULL PRIMARY KEY,
    version         INTEGER NOT NULL CHECK (version > 0),
    envelope        BLOB NOT NULL,
    issued          INTEGER NOT NULL,
    expires         INTEGER NOT NULL,
    checkpoint_size INTEGER NOT NULL CHECK (checkpoint_size > 0)
) STRICT;

INSERT INTO head_released (pinset, version, envelope, issued, expires, checkpoint_size)
SELECT pinset, version, envelope, issued, expires, checkpoint_size FROM head;

CREATE TRIGGER cosignature_stays BEFORE UPDATE ON cosignature
BEGIN SELECT RAISE(ABORT, 'a cosignature never changes'); END;
CREATE TRIGGER witness_round_grows BEFORE UPDATE ON witness_round
WHEN NEW.size < OLD.size OR NEW.cosigned < OLD.cosigned OR NEW.changes < OLD.changes
BEGIN SELECT RAISE(ABORT, 'a round never goes back'); END;
CREATE TRIGGER head_released_moves_on BEFORE UPDATE ON head_released
WHEN NEW.version < OLD.version OR NEW.checkpoint_size < OLD.checkpoint_size
BEGIN SELECT RAISE(ABORT, 'a head never goes back'); END;
