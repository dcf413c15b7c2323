package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.ledger.LedgerExecutor;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Enqueues a claim for a held lock with one statement, whose commit does not wait for the disk, because a new waiter
 * was granted nothing. It handles only the simple case of a lock that one live session holds exclusively; {@link
 * LedgerExecutor} handles the others.
 *
 * <p>Not thread-safe.
 */
final class PostgresEnqueue {

    /** In the form that {@link PostgresQueueStatement} requires; {@code $clock} is the time. */
    private static final String QUEUE = """
            WITH v AS NOT MATERIALIZED (SELECT ?::bytea AS name, ?::bigint AS session, ?::bigint AS number,
                   ?::bigint AS spec, ?::bigint AS epoch, ?::bigint AS weight, ?::integer AS wanted, ?::bigint AS ends,
                   ?::smallint AS binding),
            held AS MATERIALIZED (
                SELECT r.ctid AS place, r.name, r.session, r.ends, $clock AS now $held),
            own AS MATERIALIZED (
                SELECT s.ttl, s.deadline
                  FROM held h, v, LATERAL (SELECT ttl, deadline FROM holdfast_session
                         WHERE id = v.session AND deadline > h.now AND epoch <= v.epoch FOR SHARE SKIP LOCKED) s),
            tail AS MATERIALIZED (
                SELECT h.name, least(o.ttl / 3, w.deadline - h.now, CASE WHEN h.ends > 0 THEN h.ends - h.now END,
                       coalesce(b.deadline, o.deadline) - h.now) AS recheck
                  FROM held h CROSS JOIN own o CROSS JOIN v
                 CROSS JOIN LATERAL (SELECT deadline FROM holdfast_session WHERE id = h.session AND deadline > h.now) w
                  LEFT JOIN LATERAL (SELECT s.deadline FROM holdfast_claim n JOIN holdfast_session s ON s.id = n.session
                         WHERE n.name = h.name AND n.granted = 0 ORDER BY n.place LIMIT 1) b ON true
                 WHERE coalesce(b.deadline, o.deadline) > h.now
                   AND $unchanged
                   AND NOT EXISTS (SELECT 1 FROM holdfast_claim t
                         WHERE t.session = v.session AND t.claim = v.number AND t.name = v.name)),
            counted AS (
                UPDATE holdfast_resource r SET waiters = r.waiters + 1, places = r.places + 1
                  FROM tail t WHERE r.name = t.name
             RETURNING r.places, t.recheck),
            queued AS (
                INSERT INTO holdfast_claim (session, claim, binding, wanted, weight, ends, seq, first_token, end_token,
                       name, granted, place)
                SELECT v.session, v.number, v.binding, v.wanted, v.weight, v.ends, $clock, 0, 0, v.name, 0, c.places
                  FROM counted c, v)
            SELECT $inUse, c.recheck, CASE WHEN c.places > 0 THEN $late END FROM v LEFT JOIN counted c ON true""";

    /** The condition that another claim holds the lock exclusively. */
    private static final String ROW =
            "r.name = v.name AND r.session <> 0 AND (r.session <> v.session OR r.claim <> v.number)"
                    + " AND (r.ends <= 0 OR r.ends > $clock) AND r.grants = 0 AND r.shared = 0 AND r.spec = v.spec"
                    + " AND r.capacity = r.spec >> 16 AND r.capacity >= v.weight AND r.last_token >= 0"
                    // The first claim of a row drops the rest of one that was deleted by hand.
                    + " AND r.waiters >= 0 AND r.places > 0";

    private final PostgresQueueStatement queue;

    /** @param waits as for {@link PostgresQueueStatement} */
    PostgresEnqueue(SqlTemplates templates, String clock, boolean waits) {
        String text = QUEUE.replace("$held", PostgresQueueStatement.HELD)
                .replace("$unchanged", PostgresQueueStatement.UNCHANGED)
                .replace("$inUse", PostgresQueueStatement.inUse("c.places IS NOT NULL"))
                .replace("$clock", clock)
                .replace("$late", PostgresFastPath.LATE);
        this.queue = new PostgresQueueStatement(templates, text, ROW.replace("$clock", clock), waits);
    }

    /** Returns null if this was not possible, with nothing changed. */
    Reply.@Nullable Queued tryIt(StatementCache statements, Acquire acquire) throws SQLException {
        return queue.carryOut(
                statements,
                acquire.resource(),
                (update, before) -> set(update, before, acquire),
                row -> new Reply.Queued(Micros.duration(Math.max(1, row.getLong(2)))));
    }

    private static void set(PreparedStatement update, int before, Acquire acquire) throws SQLException {
        int at = before;
        update.setBytes(++at, acquire.resource().utf8());
        update.setLong(++at, SessionRow.numberOf(acquire.claim().session()));
        update.setLong(++at, acquire.claim().claim());
        update.setLong(++at, ColumnCodes.of(acquire.spec()));
        update.setLong(++at, acquire.epoch());
        update.setLong(++at, acquire.weight());
        update.setInt(++at, acquire.tokens());
        update.setLong(++at, -Micros.of(acquire.lease().length()));
        update.setInt(++at, ColumnCodes.of(acquire.lease().binding()));
    }
}
