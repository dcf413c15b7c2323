package dev.holdfast.store.sql;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Reply;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Puts a claim at the end of the queue for a lock that somebody holds: one statement, whose commit waits for no disk, for who begins to wait has been given nothing. It does so in the plain case,
 * of a lock that is held alone by somebody who lives, and as {@link PostgresHandOver} does it; all else is left to {@link Steps}.
 *
 * <p>Not thread-safe.
 */
final class PostgresQueueing {

    /** With the time for {@code $clock}. */
    private static final String QUEUE = """
            WITH v AS NOT MATERIALIZED (SELECT ?::bytea AS name, ?::bigint AS session, ?::bigint AS number, ?::bigint AS spec,
                   ?::bigint AS epoch, ?::bigint AS weight, ?::integer AS wanted, ?::bigint AS ends, ?::smallint AS binding),
            held AS MATERIALIZED (
                SELECT r.ctid AS place, r.name, r.session, r.ends, $clock AS now
                  FROM v, holdfast_resource r
                 WHERE r.name = v.name AND r.session <> 0 AND (r.session <> v.session OR r.claim <> v.number)
                   AND (r.ends <= 0 OR r.ends > $clock) AND r.grants = 0 AND r.shared = 0 AND r.spec = v.spec
                   AND r.capacity = r.spec >> 16 AND r.capacity >= v.weight AND r.last_token >= 0 AND r.waiters >= 0
                   FOR UPDATE OF r SKIP LOCKED),
            own AS MATERIALIZED (
                SELECT s.ttl, s.deadline
                  FROM held h, v, LATERAL (SELECT ttl, deadline FROM holdfast_session
                         WHERE id = v.session AND deadline > h.now AND epoch <= v.epoch FOR SHARE SKIP LOCKED) s),
            tail AS MATERIALIZED (
                SELECT h.name, least(o.ttl / 3, w.deadline - h.now, CASE WHEN h.ends > 0 THEN h.ends - h.now END,
                       coalesce(b.deadline, o.deadline) - h.now) AS looks
                  FROM held h CROSS JOIN own o CROSS JOIN v
                 CROSS JOIN LATERAL (SELECT deadline FROM holdfast_session WHERE id = h.session AND deadline > h.now) w
                  LEFT JOIN LATERAL (SELECT s.deadline FROM holdfast_claim n JOIN holdfast_session s ON s.id = n.session
                         WHERE n.name = h.name AND n.granted = 0 ORDER BY n.place LIMIT 1) b ON true
                 WHERE coalesce(b.deadline, o.deadline) > h.now
                   AND h.place = (SELECT r.ctid FROM holdfast_resource r WHERE r.name = h.name)
                   AND NOT EXISTS (SELECT 1 FROM holdfast_claim t
                         WHERE t.session = v.session AND t.claim = v.number AND t.name = v.name)),
            counted AS (
                UPDATE holdfast_resource r SET waiters = r.waiters + 1, places = r.places + 1
                  FROM tail t WHERE r.name = t.name
             RETURNING r.places, t.looks),
            queued AS (
                INSERT INTO holdfast_claim (session, claim, binding, wanted, weight, ends, seq, first_token, end_token, name,
                       granted, place)
                SELECT v.session, v.number, v.binding, v.wanted, v.weight, v.ends, 0, 0, 0, v.name, 0, c.places
                  FROM counted c, v)
            SELECT c.looks, $late FROM counted c""";

    private final String queue;

    PostgresQueueing(Texts texts, String clock) {
        this.queue = texts.of(QUEUE.replace("$clock", clock).replace("$late", PostgresFastPath.LATE));
    }

    /** Gives null if it could not be done so, and nothing was changed. */
    Reply.@Nullable Queued tryIt(Statements statements, Acquire acquire) throws SQLException {
        PreparedStatement update = statements.prepare(queue);
        update.setBytes(1, acquire.resource().utf8());
        update.setLong(2, Session.numberOf(acquire.claim().session()));
        update.setLong(3, acquire.claim().claim());
        update.setLong(4, Codes.of(acquire.spec()));
        update.setLong(5, acquire.epoch());
        update.setLong(6, acquire.weight());
        update.setInt(7, acquire.tokens());
        update.setLong(8, -Micros.of(acquire.lease().length()));
        update.setInt(9, Codes.of(acquire.lease().binding()));
        try (ResultSet row = update.executeQuery()) {
            return row.next() ? new Reply.Queued(Micros.duration(Math.max(1, row.getLong(1)))) : null;
        }
    }
}
