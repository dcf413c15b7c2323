-- Version 1.1 adds what clients annotate their grants with, and runs of tasks. Earlier programs don't use either.

CREATE TABLE holdfast_annotation (
    name BLOB NOT NULL,
    session INTEGER NOT NULL,
    claim INTEGER NOT NULL,      -- a row counts only while this claim holds
    seq INTEGER NOT NULL,
    text BLOB NOT NULL,          -- UTF-8
    PRIMARY KEY (name, session, claim)
) STRICT, WITHOUT ROWID;

-- The last runs of each scheduled task. Its rows stay when the name is not in use.
CREATE TABLE holdfast_run (
    name BLOB NOT NULL,
    token INTEGER NOT NULL,
    run BLOB NOT NULL,           -- UTF-8
    PRIMARY KEY (name, token)
) STRICT, WITHOUT ROWID;
