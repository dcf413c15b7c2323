-- For tests: what a version after 1.1 could add. MySQL has no IF NOT EXISTS for columns: each is added by a statement of its
-- own, whose failure for that the column is there already is passed over.
CREATE TABLE IF NOT EXISTS holdfast_note (
    name VARBINARY(512) PRIMARY KEY,
    note TEXT NOT NULL
) ENGINE = InnoDB;
ALTER TABLE holdfast_session ADD COLUMN host TEXT;
ALTER TABLE holdfast_resource ADD COLUMN uses BIGINT NOT NULL DEFAULT 0;
UPDATE holdfast_meta SET version = 1002 WHERE version = 1001;
