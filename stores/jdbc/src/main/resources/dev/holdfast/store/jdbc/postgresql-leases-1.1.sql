-- Version 1.1 adds what clients annotate their grants with. Earlier programs don't use it.

CREATE TABLE IF NOT EXISTS holdfast_annotation (
    name bytea NOT NULL,
    session bigint NOT NULL,
    claim bigint NOT NULL,           -- a row counts only while this claim holds
    seq bigint NOT NULL,
    text bytea NOT NULL,             -- UTF-8
    PRIMARY KEY (name, session, claim)
);

UPDATE holdfast_meta SET version = 1001 WHERE version = 1000;
