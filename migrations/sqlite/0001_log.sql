-- The log: its head row, which serialises all writers; its leaves, hashes and checkpoints, which only grow.

CREATE TABLE log_head (
    id       INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    size     INTEGER NOT NULL CHECK (size >= 0),
    last_at  INTEGER NOT NULL,
    frontier BLOB NOT NULL CHECK (length(frontier) % 32 = 0)
) STRICT;

INSERT INTO log_head (id, size, last_at, frontier) VALUES (1, 0, 0, x'');

CREATE TABLE log_leaf (
    idx  INTEGER NOT NULL PRIMARY KEY CHECK (idx >= 0),
    leaf BLOB NOT NULL CHECK (length(leaf) BETWEEN 1 AND 65535)
) STRICT;

-- Tile N of level L: the hashes it has so far, 256 when full.
CREATE TABLE log_tile (
    level  INTEGER NOT NULL CHECK (level BETWEEN 0 AND 7),
    idx    INTEGER NOT NULL CHECK (idx >= 0),
    hashes BLOB NOT NULL CHECK (length(hashes) % 32 = 0 AND length(hashes) BETWEEN 32 AND 8192),
    PRIMARY KEY (level, idx)
) STRICT;

CREATE TABLE checkpoint (
    size      INTEGER NOT NULL PRIMARY KEY CHECK (size > 0),
    note      TEXT NOT NULL,
    signed_at INTEGER NOT NULL
) STRICT;

CREATE TRIGGER log_leaf_stays BEFORE UPDATE ON log_leaf
BEGIN SELECT RAISE(ABORT, 'a leaf never changes'); END;
CREATE TRIGGER log_leaf_remains BEFORE DELETE ON log_leaf
BEGIN SELECT RAISE(ABORT, 'a leaf is never deleted'); END;
CREATE TRIGGER checkpoint_stays BEFORE UPDATE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'a checkpoint never changes'); END;
CREATE TRIGGER checkpoint_remains BEFORE DELETE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'a checkpoint is never deleted'); END;
CREATE TRIGGER log_tile_grows BEFORE UPDATE ON log_tile
WHEN NEW.level <> OLD.level OR NEW.idx <> OLD.idx
    OR substr(NEW.hashes, 1, length(OLD.hashes)) <> OLD.hashes
BEGIN SELECT RAISE(ABORT, 'a tile only grows'); END;
CREATE TRIGGER log_tile_remains BEFORE DELETE ON log_tile
BEGIN SELECT RAISE(ABORT, 'a tile is never deleted'); END;
CREATE TRIGGER log_head_grows BEFORE UPDATE ON log_head
WHEN NEW.size < OLD.size OR NEW.last_at < OLD.last_at
BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
CREATE TRIGGER log_head_remains BEFORE DELETE ON log_head
BEGIN SELECT RAISE(ABORT, 'the head row is never deleted'); END;
