-- For tests: what a version after 1.1 could add.
CREATE TABLE IF NOT EXISTS holdfast_note (
    name bytea PRIMARY KEY,
    note text NOT NULL
);
ALTER TABLE holdfast_session ADD COLUMN IF NOT EXISTS host text;
ALTER TABLE holdfast_resource ADD COLUMN IF NOT EXISTS uses bigint NOT NULL DEFAULT 0;
UPDATE holdfast_meta SET version = 1002 WHERE version = 1001;
