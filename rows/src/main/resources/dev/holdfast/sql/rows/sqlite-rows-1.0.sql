-- Tables for row locks, versions and fences in your own transactions, version 1.0.
CREATE TABLE IF NOT EXISTS holdfast_rows_meta (
    version INTEGER PRIMARY KEY         -- major * 1000 + minor
) STRICT;
-- RowLocks: an update locks the whole file; the number of uses has no other purpose.
CREATE TABLE IF NOT EXISTS holdfast_row_lock (
    name BLOB PRIMARY KEY,
    uses INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Versioned
CREATE TABLE IF NOT EXISTS holdfast_version (
    name BLOB PRIMARY KEY,
    version INTEGER NOT NULL,
    nonce INTEGER NOT NULL              -- new with each version
) STRICT, WITHOUT ROWID;
-- FenceGuard: the greatest token seen, and its hold.
CREATE TABLE IF NOT EXISTS holdfast_fence (
    name BLOB PRIMARY KEY,
    token INTEGER NOT NULL,
    hold TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO holdfast_rows_meta (version) VALUES (1000);
