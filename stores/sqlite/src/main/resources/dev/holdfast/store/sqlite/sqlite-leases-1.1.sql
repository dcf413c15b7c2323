-- Version 1.1 adds what clients annotate their grants with, and the runs of scheduled tasks. Earlier programs use neither.

CREATE TABLE holdfast_annotation (
    name BLOB NOT NULL,
    session INTEGER NOT NULL,
    claim INTEGER NOT NULL,      -- a row counts only while this claim holds
    seq INTEGER NOT NULL,
    text BLOB NOT NULL,          -- UTF-8
    PRIMARY KEY (name, session, claim)
) STRICT, WITHOUT ROWID;

CREATE TABLE holdfast_run (
    name BLOB NOT NULL,
    token INTEGER NOT NULL,
    run BLOB NOT NULL,
    PRIMARY KEY (name, token)
) STRICT, WITHOUT ROWID;
