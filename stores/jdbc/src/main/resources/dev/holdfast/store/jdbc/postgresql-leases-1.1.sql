-- Version 1.1 adds what clients annotate their grants with, and runs of tasks. Earlier programs don't use either.

CREATE TABLE IF NOT EXISTS holdfast_annotation (
    name bytea NOT NULL,
    session bigint NOT NULL,
    claim bigint NOT NULL,           -- a row counts only while this claim holds
    seq bigint NOT NULL,
    text bytea NOT NULL,             -- UTF-8
    PRIMARY KEY (name, session, claim)
);

-- The last runs of each scheduled task. Its rows stay when the name is not in use.
CREATE TABLE IF NOT EXISTS holdfast_run (
    name bytea NOT NULL,
    token bigint NOT NULL,
    run bytea NOT NULL,              -- UTF-8
    PRIMARY KEY (name, token)
);

UPDATE holdfast_meta SET version = 1001 WHERE version = 1000;
