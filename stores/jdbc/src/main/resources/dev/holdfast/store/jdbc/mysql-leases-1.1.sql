-- Version 1.1 adds what clients annotate their grants with, and runs of tasks. Earlier programs don't use either.

CREATE TABLE IF NOT EXISTS holdfast_annotation (
    name VARBINARY(512) NOT NULL,
    session BIGINT NOT NULL,
    claim BIGINT NOT NULL COMMENT 'a row counts only while this claim holds',
    seq BIGINT NOT NULL,
    text VARBINARY(2048) NOT NULL COMMENT 'UTF-8',
    PRIMARY KEY (name, session, claim)
) ENGINE = InnoDB;

-- The last runs of each scheduled task. Its rows stay when the name is not in use.
CREATE TABLE IF NOT EXISTS holdfast_run (
    name VARBINARY(512) NOT NULL,
    token BIGINT NOT NULL,
    run VARBINARY(1024) NOT NULL COMMENT 'UTF-8',
    PRIMARY KEY (name, token)
) ENGINE = InnoDB;

UPDATE holdfast_meta SET version = 1001 WHERE version = 1000;
