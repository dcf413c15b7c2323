-- The current holds, for people, in MySQL and MariaDB. No program depends on it. Run this after
-- mysql-leases-1.0.sql; a reader needs only SELECT on the view. Tokens show when they were granted.

CREATE OR REPLACE VIEW holdfast_show AS
SELECT CONVERT(held.name USING utf8mb4) AS name,
       CASE held.spec % 256 WHEN 109 THEN 'mutex' WHEN 114 THEN 'read-write' WHEN 115 THEN 'semaphore'
            WHEN 108 THEN 'latch' WHEN 101 THEN 'election' WHEN 116 THEN 'task' END AS kind,
       CONVERT(held.label USING utf8mb4) AS owner,
       DATE_FORMAT(TIMESTAMPADD(SECOND, held.first_token DIV 1024000, TIMESTAMP'1970-01-01 00:00:00'),
                   '%Y-%m-%d %H:%i:%s UTC') AS held_since,
       DATE_FORMAT(TIMESTAMPADD(SECOND, held.until DIV 1000000, TIMESTAMP'1970-01-01 00:00:00'),
                   '%Y-%m-%d %H:%i:%s UTC') AS held_until,
       held.first_token AS token,
       held.waiters
  FROM (SELECT r.name, r.spec, r.waiters, s.label, g.first_token,
               CASE WHEN g.binding = 2 AND g.ends > 0 THEN g.ends
                    WHEN g.ends > 0 THEN LEAST(g.ends, s.deadline) ELSE s.deadline END AS until
          FROM (SELECT name, session, first_token, ends, 1 AS binding FROM holdfast_resource WHERE session <> 0
                UNION ALL
                SELECT name, session, first_token, ends, binding FROM holdfast_claim WHERE granted = 1) AS g
          JOIN holdfast_resource AS r ON r.name = g.name
          JOIN holdfast_session AS s ON s.id = g.session) AS held
 WHERE held.until > TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6));
