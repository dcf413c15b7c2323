-- Tables for row locks, versions and fences in your own transactions, version 1.0, for MariaDB and MySQL.
CREATE TABLE IF NOT EXISTS holdfast_rows_meta (
    version INTEGER PRIMARY KEY         -- major * 1000 + minor
) ENGINE = InnoDB;
-- RowLocks: an update locks a row; the number of uses has no other purpose.
CREATE TABLE IF NOT EXISTS holdfast_row_lock (
    name VARBINARY(512) PRIMARY KEY,
    uses BIGINT NOT NULL
) ENGINE = InnoDB;
-- Versioned
CREATE TABLE IF NOT EXISTS holdfast_version (
    name VARBINARY(512) PRIMARY KEY,
    version BIGINT NOT NULL,
    nonce BIGINT NOT NULL               -- new with each version
) ENGINE = InnoDB;
-- FenceGuard: the greatest token seen, and its hold.
CREATE TABLE IF NOT EXISTS holdfast_fence (
    name VARBINARY(512) PRIMARY KEY,
    token BIGINT NOT NULL,
    hold VARBINARY(300) NOT NULL
) ENGINE = InnoDB;
INSERT IGNORE INTO holdfast_rows_meta (version) VALUES (1000);
