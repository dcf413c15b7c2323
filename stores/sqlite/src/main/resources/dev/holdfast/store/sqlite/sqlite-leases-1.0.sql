-- The tables of locks in a file of SQLite. Times are microseconds since the boot of the machine.

CREATE TABLE holdfast_meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    boot TEXT NOT NULL,           -- the boot of the machine that the times count from
    seen INTEGER NOT NULL,        -- a time that has been
    seen_unix INTEGER NOT NULL,   -- the wall clock at that time
    token_floor INTEGER NOT NULL, -- no token of a resource without a row is above it
    boot_floor INTEGER NOT NULL,  -- no token that was given before this boot is above it
    horizon INTEGER NOT NULL,     -- no token that may not be on the disk yet is above it
    purged INTEGER NOT NULL,      -- the wall clock when idle rows were last looked for
    flushes INTEGER NOT NULL      -- a cell to write for the sake of writing
) STRICT;

CREATE TABLE holdfast_client (
    id INTEGER PRIMARY KEY,
    pid INTEGER NOT NULL,
    started INTEGER NOT NULL,
    pid_namespace TEXT NOT NULL,
    time_namespace TEXT NOT NULL,
    user TEXT NOT NULL,
    rule INTEGER NOT NULL,       -- 0 this process, 1 the lease only, 2 this process and all that follow it
    followed TEXT NOT NULL       -- pid:started, separated by commas
) STRICT;

CREATE TABLE holdfast_session (
    id INTEGER PRIMARY KEY,
    client INTEGER NOT NULL,
    ttl INTEGER NOT NULL,
    label TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    deadline INTEGER NOT NULL    -- 0: ended, and kept for its detached grants
) STRICT;

CREATE INDEX holdfast_session_client ON holdfast_session (client);

CREATE TABLE holdfast_resource (
    name BLOB PRIMARY KEY,
    spec INTEGER NOT NULL,       -- capacity << 16 | order << 8 | kind
    capacity INTEGER NOT NULL,
    last_token INTEGER NOT NULL,
    session INTEGER NOT NULL,    -- the grant that found it free; 0: none
    claim INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    first_token INTEGER NOT NULL,
    end_token INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    grants INTEGER NOT NULL,     -- how many others, with rows in holdfast_claim
    shared INTEGER NOT NULL,     -- what they weigh
    waiters INTEGER NOT NULL,
    places INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX holdfast_resource_contended ON holdfast_resource (session) WHERE waiters > 0;

CREATE TABLE holdfast_claim (
    name BLOB NOT NULL,
    granted INTEGER NOT NULL,
    place INTEGER NOT NULL,
    session INTEGER NOT NULL,
    claim INTEGER NOT NULL,
    binding INTEGER NOT NULL,    -- 0 session, 1 bounded, 2 detached
    wanted INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    ends INTEGER NOT NULL,       -- 0: no lease of its own; below: not yet begun
    seq INTEGER NOT NULL,
    first_token INTEGER NOT NULL,
    end_token INTEGER NOT NULL,
    PRIMARY KEY (name, granted, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX holdfast_claim_session ON holdfast_claim (session, claim);

CREATE TABLE holdfast_latch (
    name BLOB PRIMARY KEY,
    generation INTEGER NOT NULL,
    remaining INTEGER NOT NULL,
    changed INTEGER NOT NULL     -- the wall clock at the last change
) STRICT, WITHOUT ROWID;

CREATE TABLE holdfast_count (
    name BLOB NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (name, id)
) STRICT, WITHOUT ROWID;

-- For people with the sqlite3 shell.
CREATE VIEW holdfast_show AS
SELECT CAST(r.name AS TEXT) AS name, char(r.spec & 255) AS kind, r.capacity, r.last_token,
       r.waiters, (r.session <> 0) + r.grants AS holders, s.label AS holder, c.pid
  FROM holdfast_resource r
  LEFT JOIN holdfast_session s ON s.id = r.session
  LEFT JOIN holdfast_client c ON c.id = s.client;
