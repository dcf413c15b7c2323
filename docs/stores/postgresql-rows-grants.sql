-- What a program needs for row locks, versions and fence guards, beside what it needs for its own tables. To be run by the
-- owner of the tables, after postgresql-rows-1.0.sql. RowLocks.purge needs DELETE on holdfast_row_lock, too.
CREATE ROLE locks LOGIN PASSWORD 'change-me';
GRANT SELECT ON holdfast_rows_meta TO locks;
GRANT SELECT, INSERT, UPDATE ON holdfast_row_lock TO locks;
GRANT SELECT, INSERT, UPDATE ON holdfast_version TO locks;
GRANT SELECT, INSERT, UPDATE ON holdfast_fence TO locks;
