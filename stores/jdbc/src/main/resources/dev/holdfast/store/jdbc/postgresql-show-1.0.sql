-- The current holds, for people, in PostgreSQL. No program depends on it. Run this after postgresql-leases-1.0.sql,
-- by the owner of the tables; a reader needs only SELECT on the view. Tokens show when they were granted.

CREATE OR REPLACE VIEW holdfast_show AS
SELECT CASE getdatabaseencoding() WHEN 'UTF8' THEN convert_from(held.name, 'UTF8')
            ELSE encode(held.name, 'escape') END AS name,
       CASE held.spec % 256 WHEN 109 THEN 'mutex' WHEN 114 THEN 'read-write' WHEN 115 THEN 'semaphore'
            WHEN 108 THEN 'latch' WHEN 101 THEN 'election' WHEN 116 THEN 'task' END AS kind,
       CASE getdatabaseencoding() WHEN 'UTF8' THEN convert_from(held.label, 'UTF8')
            ELSE encode(held.label, 'escape') END AS owner,
       date_trunc('second', to_timestamp(held.first_token * 0.9765625 / 1000000)) AS held_since,
       date_trunc('second', to_timestamp(held.until / 1000000.0)) AS held_until,
       held.first_token AS token,
       held.waiters
  FROM (SELECT r.name, r.spec, r.waiters, s.label, g.first_token,
               CASE WHEN g.binding = 2 AND g.ends > 0 THEN g.ends
                    WHEN g.ends > 0 THEN least(g.ends, s.deadline) ELSE s.deadline END AS until
          FROM (SELECT name, session, first_token, ends, 1 AS binding FROM holdfast_resource WHERE session <> 0
                UNION ALL
                SELECT name, session, first_token, ends, binding FROM holdfast_claim WHERE granted = 1) AS g
          JOIN holdfast_resource AS r ON r.name = g.name
          JOIN holdfast_session AS s ON s.id = g.session) AS held
 WHERE held.until > extract(epoch FROM clock_timestamp()) * 1000000;
