-- The tables of locks in a SQLite file. Times are microseconds since the boot of the host.

CREATE TABLE holdfast_meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    boot TEXT NOT NULL,           -- the boot that times count from
    seen INTEGER NOT NULL,        -- a past time
    seen_unix INTEGER NOT NULL,   -- the wall clock at that time
    token_floor INTEGER NOT NULL, -- no resource without a row had a greater token
    boot_floor INTEGER NOT NULL,  -- no token from before this boot is greater
    horizon INTEGER NOT NULL,     -- tokens above it need a flush first
    purged INTEGER NOT NULL,      -- the wall clock at the last clean-up of idle rows
    flushes INTEGER NOT NULL      -- changed only to force a flush
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
    deadline INTEGER NOT NULL    -- 0: ended, kept for detached grants
) STRICT;

CREATE INDEX holdfast_session_client ON holdfast_session (client);

CREATE TABLE holdfast_resource (
    name BLOB PRIMARY KEY,
    spec INTEGER NOT NULL,       -- capacity << 16 | order << 8 | kind
    capacity INTEGER NOT NULL,
    last_token INTEGER NOT NULL,
    session INTEGER NOT NULL,    -- the inline grant; 0: none
    claim INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    first_token INTEGER NOT NULL,
    end_token INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    grants INTEGER NOT NULL,     -- the number of other grants, in holdfast_claim
    shared INTEGER NOT NULL,     -- their total weight
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
    ends INTEGER NOT NULL,       -- 0: no own lease; negative: not yet begun
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

-- The current holds, for people with the sqlite3 shell. Tokens show when they were granted.
CREATE VIEW holdfast_show AS
SELECT CAST(held.name AS TEXT) AS name,
       CASE held.spec & 255 WHEN 109 THEN 'mutex' WHEN 114 THEN 'read-write' WHEN 115 THEN 'semaphore'
            WHEN 108 THEN 'latch' WHEN 101 THEN 'election' WHEN 116 THEN 'task' END AS kind,
       held.label AS owner, held.pid,
       strftime('%Y-%m-%dT%H:%M:%SZ', held.first_token / 128 * 125 / 1000000, 'unixepoch') AS held_since,
       strftime('%Y-%m-%dT%H:%M:%SZ', held.until / 1000000, 'unixepoch') AS held_until,
       held.first_token AS token, held.waiters
  FROM (SELECT r.name, r.spec, r.waiters, s.label, c.pid, g.first_token,
               m.seen_unix - m.seen + CASE WHEN g.binding = 2 AND g.ends > 0 THEN g.ends
                                           WHEN g.ends > 0 THEN min(g.ends, s.deadline) ELSE s.deadline END AS until
          FROM (SELECT name, session, first_token, ends, 1 AS binding FROM holdfast_resource WHERE session <> 0
                UNION ALL
                SELECT name, session, first_token, ends, binding FROM holdfast_claim WHERE granted = 1) AS g
          JOIN holdfast_resource AS r ON r.name = g.name
          JOIN holdfast_session AS s ON s.id = g.session
          LEFT JOIN holdfast_client AS c ON c.id = s.client
          CROSS JOIN holdfast_meta AS m) AS held
 WHERE held.until > strftime('%s', 'now') * 1000000;
