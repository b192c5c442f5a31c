-- Witnesses: what they have cosigned, how each is doing, and which heads wait for them.

-- A witness is its key's text, `name+id+base64`.
CREATE TABLE cosignature (
    size        BIGINT NOT NULL REFERENCES checkpoint (size),
    witness     TEXT COLLATE "C" NOT NULL,
    line        TEXT COLLATE "C" NOT NULL,
    received_at BIGINT NOT NULL,
    PRIMARY KEY (size, witness)
);

-- `size` is the largest that the witness is known to have cosigned, `next_at` when it may be asked again: the process
-- that asks moves it on first, so that others don't ask at the same time.
CREATE TABLE witness (
    vkey        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    size        BIGINT NOT NULL CHECK (size >= 0),
    cosigned_at BIGINT,
    trouble     TEXT COLLATE "C",
    trouble_at  BIGINT,
    failures    BIGINT NOT NULL CHECK (failures >= 0),
    next_at     BIGINT NOT NULL
);

-- The checkpoint that all witnesses are asked for, and the largest that has its quorum; `changes` tells other processes
-- that something here has moved.
CREATE TABLE witness_round (
    id       BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    size     BIGINT NOT NULL CHECK (size >= 0),
    begun_at BIGINT NOT NULL,
    cosigned BIGINT NOT NULL CHECK (cosigned >= 0),
    changes  BIGINT NOT NULL
);

INSERT INTO witness_round (id, size, begun_at, cosigned, changes) VALUES (1, 0, 0, 0, 0);

-- Heads that were signed over a checkpoint and wait for its quorum.
CREATE TABLE head_waiting (
    pinset          TEXT COLLATE "C" NOT NULL,
    version         BIGINT NOT NULL CHECK (version > 0),
    envelope        BYTEA NOT NULL,
    issued          BIGINT NOT NULL,
    expires         BIGINT NOT NULL,
    checkpoint_size BIGINT NOT NULL CHECK (checkpoint_size > 0),
    PRIMARY KEY (checkpoint_size, pinset)
);

-- The head of each pin set that gateways get.
CREATE TABLE head_released (
    pinset          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version         BIGINT NOT NULL CHECK (version > 0),
    envelope        BYTEA NOT NULL,
    issued          BIGINT NOT NULL,
    expires         BIGINT NOT NULL,
    checkpoint_size BIGINT NOT NULL CHECK (checkpoint_size > 0)
);

INSERT INTO head_released (pinset, version, envelope, issued, expires, checkpoint_size)
SELECT pinset, version, envelope, issued, expires, checkpoint_size FROM head;

CREATE TRIGGER cosignature_stays BEFORE UPDATE ON cosignature
    FOR EACH ROW EXECUTE FUNCTION refuse('a cosignature never changes');
CREATE TRIGGER witness_round_grows BEFORE UPDATE ON witness_round
    FOR EACH ROW
    WHEN (NEW.size < OLD.size OR NEW.cosigned < OLD.cosigned OR NEW.changes < OLD.changes) EXECUTE FUNCTION refuse('a round never goes back');
CREATE TRIGGER head_released_moves_on BEFORE UPDATE ON head_released
    FOR EACH ROW
    WHEN (NEW.version < OLD.version OR NEW.checkpoint_size < OLD.checkpoint_size) EXECUTE FUNCTION refuse('a head never goes back');
