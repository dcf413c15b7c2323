-- The tables of locks in PostgreSQL, from version 12 on. Times are microseconds since 1970 by the database's clock.
-- Each statement skips what exists already.

CREATE TABLE IF NOT EXISTS holdfast_meta (
    one smallint PRIMARY KEY CHECK (one = 1),
    version integer NOT NULL,        -- of these tables: major * 1000 + minor
    token_floor bigint NOT NULL,     -- no resource without a row had a greater token
    purged bigint NOT NULL           -- the time of the last clean-up of idle rows
);

CREATE TABLE IF NOT EXISTS holdfast_session (
    id bigint PRIMARY KEY,
    client bigint NOT NULL,
    ttl bigint NOT NULL,
    label bytea NOT NULL,            -- UTF-8
    epoch bigint NOT NULL,
    deadline bigint NOT NULL         -- 0: ended, kept for detached grants
) WITH (fillfactor = 50);

-- A grant changes no indexed column, so a row can be updated within its page; half of each page is kept free for that.
CREATE TABLE IF NOT EXISTS holdfast_resource (
    name bytea PRIMARY KEY,
    spec bigint NOT NULL,            -- capacity << 16 | order << 8 | kind
    capacity bigint NOT NULL,
    last_token bigint NOT NULL,
    session bigint NOT NULL,         -- the inline grant; 0: none
    claim bigint NOT NULL,
    weight bigint NOT NULL,
    first_token bigint NOT NULL,
    end_token bigint NOT NULL,
    ends bigint NOT NULL,
    seq bigint NOT NULL,
    grants bigint NOT NULL,          -- the number of other grants, in holdfast_claim
    shared bigint NOT NULL,          -- their total weight
    waiters bigint NOT NULL,
    places bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE IF NOT EXISTS holdfast_claim (
    name bytea NOT NULL,
    granted smallint NOT NULL,
    place bigint NOT NULL,
    session bigint NOT NULL,
    claim bigint NOT NULL,
    binding smallint NOT NULL,       -- 0 session, 1 bounded, 2 detached
    wanted integer NOT NULL,
    weight bigint NOT NULL,
    ends bigint NOT NULL,            -- 0: no own lease; negative: not yet begun
    seq bigint NOT NULL,
    first_token bigint NOT NULL,
    end_token bigint NOT NULL,
    PRIMARY KEY (name, granted, place)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX IF NOT EXISTS holdfast_claim_session ON holdfast_claim (session, claim);

CREATE TABLE IF NOT EXISTS holdfast_latch (
    name bytea PRIMARY KEY,
    generation bigint NOT NULL,
    remaining bigint NOT NULL,
    changed bigint NOT NULL          -- the time of the last change
);

CREATE TABLE IF NOT EXISTS holdfast_count (
    name bytea NOT NULL,
    id text NOT NULL,
    PRIMARY KEY (name, id)
);

INSERT INTO holdfast_meta (one, version, token_floor, purged) VALUES (1, 1000, 0, 0) ON CONFLICT (one) DO NOTHING;
