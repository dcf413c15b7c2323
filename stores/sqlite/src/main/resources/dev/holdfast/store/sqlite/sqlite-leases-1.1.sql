-- Version 1.1 adds what clients annotate their grants with. Earlier programs don't use it.

CREATE TABLE holdfast_annotation (
    name BLOB NOT NULL,
    session INTEGER NOT NULL,
    claim INTEGER NOT NULL,      -- a row counts only while this claim holds
    seq INTEGER NOT NULL,
    text BLOB NOT NULL,          -- UTF-8
    PRIMARY KEY (name, session, claim)
) STRICT, WITHOUT ROWID;
