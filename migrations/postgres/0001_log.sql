-- The log: its head row, which serialises all writers; its leaves, hashes and checkpoints, which only grow.

CREATE TABLE log_head (
    id       BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    size     BIGINT NOT NULL CHECK (size >= 0),
    last_at  BIGINT NOT NULL,
    frontier BYTEA NOT NULL CHECK (length(frontier) % 32 = 0)
);

INSERT INTO log_head (id, size, last_at, frontier) VALUES (1, 0, 0, '');

CREATE TABLE log_leaf (
    idx  BIGINT NOT NULL PRIMARY KEY CHECK (idx >= 0),
    leaf BYTEA NOT NULL CHECK (length(leaf) BETWEEN 1 AND 65535)
);

-- Tile N of level L: the hashes it has so far, 256 when full.
CREATE TABLE log_tile (
    level  BIGINT NOT NULL CHECK (level BETWEEN 0 AND 7),
    idx    BIGINT NOT NULL CHECK (idx >= 0),
    hashes BYTEA NOT NULL CHECK (length(hashes) % 32 = 0 AND length(hashes) BETWEEN 32 AND 8192),
    PRIMARY KEY (level, idx)
);

CREATE TABLE checkpoint (
    size      BIGINT NOT NULL PRIMARY KEY CHECK (size > 0),
    note      TEXT COLLATE "C" NOT NULL,
    signed_at BIGINT NOT NULL
);

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;

CREATE TRIGGER log_leaf_stays BEFORE UPDATE ON log_leaf
    FOR EACH ROW EXECUTE FUNCTION refuse('a leaf never changes');
CREATE TRIGGER log_leaf_remains BEFORE DELETE ON log_leaf
    FOR EACH ROW EXECUTE FUNCTION refuse('a leaf is never deleted');
CREATE TRIGGER checkpoint_stays BEFORE UPDATE ON checkpoint
    FOR EACH ROW EXECUTE FUNCTION refuse('a checkpoint never changes');
CREATE TRIGGER checkpoint_remains BEFORE DELETE ON checkpoint
    FOR EACH ROW EXECUTE FUNCTION refuse('a checkpoint is never deleted');
CREATE TRIGGER log_tile_grows BEFORE UPDATE ON log_tile
    FOR EACH ROW
    WHEN (NEW.level <> OLD.level OR NEW.idx <> OLD.idx
    OR substr(NEW.hashes, 1, length(OLD.hashes)) <> OLD.hashes) EXECUTE FUNCTION refuse('a tile only grows');
CREATE TRIGGER log_tile_remains BEFORE DELETE ON log_tile
    FOR EACH ROW EXECUTE FUNCTION refuse('a tile is never deleted');
CREATE TRIGGER log_head_grows BEFORE UPDATE ON log_head
    FOR EACH ROW
    WHEN (NEW.size < OLD.size OR NEW.last_at < OLD.last_at) EXECUTE FUNCTION refuse('the log only grows');
CREATE TRIGGER log_head_remains BEFORE DELETE ON log_head
    FOR EACH ROW EXECUTE FUNCTION refuse('the head row is never deleted');
CREATE TRIGGER log_leaf_whole BEFORE TRUNCATE ON log_leaf
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('log_leaf is never emptied');
CREATE TRIGGER checkpoint_whole BEFORE TRUNCATE ON checkpoint
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('checkpoint is never emptied');
CREATE TRIGGER log_tile_whole BEFORE TRUNCATE ON log_tile
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('log_tile is never emptied');
CREATE TRIGGER log_head_whole BEFORE TRUNCATE ON log_head
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('log_head is never emptied');
