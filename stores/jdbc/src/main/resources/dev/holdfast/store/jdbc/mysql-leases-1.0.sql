-- The tables of locks in MySQL from version 8.0 on, and in MariaDB from version 10.6 on. Times are microseconds since 1970
-- by the database's clock. Each statement skips what exists already.

CREATE TABLE IF NOT EXISTS holdfast_meta (
    one TINYINT PRIMARY KEY CHECK (one = 1),
    version INT NOT NULL COMMENT 'of these tables: major * 1000 + minor',
    token_floor BIGINT NOT NULL COMMENT 'no token of a resource without a row is above it',
    purged BIGINT NOT NULL COMMENT 'when idle rows were last looked for'
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS holdfast_session (
    id BIGINT PRIMARY KEY,
    client BIGINT NOT NULL,
    ttl BIGINT NOT NULL,
    label VARBINARY(256) NOT NULL COMMENT 'UTF-8',
    epoch BIGINT NOT NULL,
    deadline BIGINT NOT NULL COMMENT '0: ended, and kept for its detached grants'
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS holdfast_resource (
    name VARBINARY(512) PRIMARY KEY,
    spec BIGINT NOT NULL COMMENT 'capacity << 16 | order << 8 | kind',
    capacity BIGINT NOT NULL,
    last_token BIGINT NOT NULL,
    session BIGINT NOT NULL COMMENT 'the grant that found it free; 0: none',
    claim BIGINT NOT NULL,
    weight BIGINT NOT NULL,
    first_token BIGINT NOT NULL,
    end_token BIGINT NOT NULL,
    ends BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    grants BIGINT NOT NULL COMMENT 'how many others, with rows of their own as claims',
    shared BIGINT NOT NULL COMMENT 'what they weigh',
    waiters BIGINT NOT NULL,
    places BIGINT NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS holdfast_claim (
    name VARBINARY(512) NOT NULL,
    granted TINYINT NOT NULL,
    place BIGINT NOT NULL,
    session BIGINT NOT NULL,
    claim BIGINT NOT NULL,
    binding TINYINT NOT NULL COMMENT '0 session, 1 bounded, 2 detached',
    wanted INT NOT NULL,
    weight BIGINT NOT NULL,
    ends BIGINT NOT NULL COMMENT '0: no lease of its own; below: not yet begun',
    seq BIGINT NOT NULL,
    first_token BIGINT NOT NULL,
    end_token BIGINT NOT NULL,
    PRIMARY KEY (name, granted, place),
    INDEX holdfast_claim_session (session, claim)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS holdfast_latch (
    name VARBINARY(512) PRIMARY KEY,
    generation BIGINT NOT NULL,
    remaining BIGINT NOT NULL,
    changed BIGINT NOT NULL COMMENT 'when it was changed last'
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS holdfast_count (
    name VARBINARY(512) NOT NULL,
    id VARBINARY(64) NOT NULL,
    PRIMARY KEY (name, id)
) ENGINE = InnoDB;

INSERT INTO holdfast_meta (one, version, token_floor, purged) VALUES (1, 1000, 0, 0) ON DUPLICATE KEY UPDATE one = one;
