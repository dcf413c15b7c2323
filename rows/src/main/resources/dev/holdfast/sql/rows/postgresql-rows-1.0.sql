-- Tables for row locks, versions and fences in your own transactions, version 1.0.
CREATE TABLE IF NOT EXISTS holdfast_rows_meta (
    version INTEGER PRIMARY KEY         -- major * 1000 + minor
);
-- RowLocks: an update locks a row; the number of uses has no other purpose.
CREATE TABLE IF NOT EXISTS holdfast_row_lock (
    name BYTEA PRIMARY KEY,
    uses BIGINT NOT NULL
) WITH (fillfactor = 50);
-- Versioned
CREATE TABLE IF NOT EXISTS holdfast_version (
    name BYTEA PRIMARY KEY,
    version BIGINT NOT NULL,
    nonce BIGINT NOT NULL               -- new with each version
) WITH (fillfactor = 50);
-- FenceGuard: the greatest token seen, and its hold.
CREATE TABLE IF NOT EXISTS holdfast_fence (
    name BYTEA PRIMARY KEY,
    token BIGINT NOT NULL,
    hold VARCHAR(300) NOT NULL
) WITH (fillfactor = 50);
INSERT INTO holdfast_rows_meta (version) VALUES (1000) ON CONFLICT DO NOTHING;
