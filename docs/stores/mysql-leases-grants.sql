-- The user of a store that makes no tables (initialize=never): this and nothing else, on MySQL and MariaDB. To be run in the
-- database of the tables, after mysql-leases-1.0.sql and mysql-leases-1.1.sql.
CREATE USER locks@'%' IDENTIFIED BY 'change-me';
GRANT SELECT, UPDATE (token_floor, purged) ON holdfast_meta TO locks@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_session TO locks@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_resource TO locks@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_claim TO locks@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_latch TO locks@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_annotation TO locks@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_run TO locks@'%';
GRANT SELECT, INSERT, DELETE ON holdfast_count TO locks@'%';
-- For people, after mysql-show-1.0.sql; no store needs it: GRANT SELECT ON holdfast_show TO …
