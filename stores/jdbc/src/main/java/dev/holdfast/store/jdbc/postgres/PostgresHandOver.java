package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.ledger.LedgerExecutor;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/*
 * All conditions are checked before anything is changed, because nothing is rolled back. Each part of the statement
 * changes rows only for the rows that the part before it has changed.
 */

/**
 * Hands a contended lock over to the claim that has waited longest, and enqueues the previous holder's next claim: one
 * statement, with one round trip and one commit, which also notifies the other client. It handles only the simple case
 * of a lock that was held exclusively and whose live head wants it exclusively with a session lease; {@link
 * LedgerExecutor} handles the others.
 *
 * <p>Not thread-safe.
 */
final class PostgresHandOver {

    /**
     * In the form that {@link PostgresQueueStatement} requires. Placeholders: {@code $clock} is the time, {@code $mark}
     * the time as a token, {@code $level} the condition that the counter is level with it, and {@code $block} the
     * assignment of the new tokens.
     */
    private static final String HAND_OVER = """
            WITH v AS NOT MATERIALIZED (SELECT ?::bytea AS name, ?::bigint AS session, ?::bigint AS claim,
                   ?::bigint AS me, ?::text AS channel, ?::bigint AS spec, ?::bigint AS epoch, ?::bigint AS number,
                   ?::bigint AS weight, ?::integer AS wanted, ?::bigint AS ends, ?::smallint AS binding),
            held AS MATERIALIZED (
                SELECT r.ctid AS place, r.name, r.session, r.capacity, $clock AS now, $mark AS mark $held),
            own AS MATERIALIZED (
                SELECT s.ttl, s.deadline
                  FROM held h, v, LATERAL (SELECT ttl, deadline FROM holdfast_session
                         WHERE id = h.session AND deadline > h.now AND epoch <= v.epoch FOR SHARE SKIP LOCKED) s),
            next AS MATERIALIZED (
                SELECT h.name, h.mark, c.place, c.session, c.claim, c.wanted, c.weight, w.client,
                       least(o.ttl / 3, w.deadline - h.now, coalesce(b.deadline, o.deadline) - h.now) AS recheck
                  FROM held h CROSS JOIN own o CROSS JOIN v
                 CROSS JOIN LATERAL (SELECT * FROM holdfast_claim
                         WHERE name = h.name AND granted = 0 ORDER BY place LIMIT 1) c
                 CROSS JOIN LATERAL (SELECT client, deadline FROM holdfast_session
                         WHERE id = c.session AND deadline > h.now) w
                  LEFT JOIN LATERAL (SELECT s.deadline FROM holdfast_claim n JOIN holdfast_session s ON s.id = n.session
                         WHERE n.name = h.name AND n.granted = 0 AND n.place > c.place
                         ORDER BY n.place LIMIT 1) b ON true
                 WHERE c.binding = 0 AND c.ends = 0 AND c.weight = h.capacity
                   AND $unchanged
                   AND NOT EXISTS (SELECT 1 FROM holdfast_claim t
                         WHERE t.session = v.session AND t.claim = v.number AND t.name = v.name)),
            gone AS (
                DELETE FROM holdfast_claim c USING next n WHERE c.name = n.name AND c.granted = 0 AND c.place = n.place
             RETURNING n.*),
            given AS (
                UPDATE holdfast_resource r
                   SET session = g.session, claim = g.claim, weight = g.weight, ends = 0, seq = 0, $block,
                       waiters = r.waiters - 1 + (v.number <> 0)::integer, places = r.places + (v.number <> 0)::integer
                  FROM gone g, v WHERE r.name = g.name
             RETURNING r.first_token, r.end_token, r.waiters, r.places, g.session, g.claim, g.client, g.recheck),
            queued AS (
                INSERT INTO holdfast_claim (session, claim, binding, wanted, weight, ends, seq, first_token, end_token,
                       name, granted, place)
                SELECT v.session, v.number, v.binding, v.wanted, v.weight, v.ends, $clock, 0, 0, v.name, 0, g.places
                  FROM given g, v WHERE v.number <> 0)
            SELECT $inUse, g.client, g.session, g.claim, g.first_token, g.end_token, g.waiters, g.recheck,
                   CASE WHEN g.client <> v.me THEN pg_notify(v.channel || to_hex(g.client), 'g s' || to_hex(g.session)
                         || ' ' || g.claim || ' ' || encode(v.name, 'hex') || ' ' || g.first_token || ' ' || g.end_token
                         || ' ' || (g.waiters > 0)::text)::text END
              FROM v LEFT JOIN given g ON true""";

    /** The condition that the claim holds the lock exclusively and that there are waiters. */
    private static final String ROW =
            "r.name = v.name AND r.session = v.session AND r.claim = v.claim AND (r.ends <= 0 OR r.ends > $clock)"
                    + " AND r.waiters > 0 AND r.grants = 0 AND r.shared = 0 AND r.capacity = r.spec >> 16"
                    + " AND r.last_token >= 0 AND r.spec & 255 <> 108"
                    + " AND (v.number = 0 OR (r.spec = v.spec AND r.capacity >= v.weight)) AND $level";

    /** How many tokens ahead of the clock a block may end. */
    private static final long LEAD = Tokens.floor(Tokens.LEAD_MICROS);

    private final long client;
    private final String channel;
    private final PostgresQueueStatement handOver;

    /**
     * Builds the statement.
     *
     * @param client the number of this client, whose notification is in the result
     * @param channel the prefix of the channels that notify other clients
     * @param waits as for {@link PostgresQueueStatement}
     */
    PostgresHandOver(SqlTemplates templates, String clock, String channel, long client, boolean waits) {
        this.client = client;
        this.channel = channel;
        String mark = ServerFastPath.floor(clock, "/");
        String text = HAND_OVER
                .replace("$held", PostgresQueueStatement.HELD)
                .replace("$unchanged", PostgresQueueStatement.UNCHANGED)
                .replace("$inUse", PostgresQueueStatement.inUse("g.client IS NOT NULL"))
                .replace("$clock", clock)
                .replace("$mark", mark)
                .replace("$block", block());
        String row = ROW.replace("$clock", clock)
                .replace(
                        "$level",
                        "r.last_token <= " + mark + " + " + LEAD + " AND " + mark + " <= "
                                + ServerFastPath.LARGEST_FIRST);
        this.handOver = new PostgresQueueStatement(templates, text, row, waits);
    }

    /** The assignments of a new block, as {@link Tokens#next} computes it. */
    private static String block() {
        String first = "greatest(r.last_token + 1, g.mark)";
        String last = "greatest(" + first + ", least(" + first + " + g.wanted - 1, g.mark + " + LEAD + "))";
        return "first_token = " + first + ", end_token = " + last + ", last_token = " + last;
    }

    /**
     * Hands a lock over.
     *
     * @param next the previous holder's next claim; null for none
     * @return null if this was not possible, with nothing changed
     */
    ServerFastPath.@Nullable HandedOver tryIt(StatementCache statements, ClaimRef grant, @Nullable Acquire next)
            throws SQLException {
        return handOver.carryOut(
                statements,
                grant.resource(),
                (update, before) -> set(update, before, grant, next),
                row -> handedOver(row, grant.resource(), next));
    }

    private void set(PreparedStatement update, int before, ClaimRef grant, @Nullable Acquire next) throws SQLException {
        int at = before;
        update.setBytes(++at, grant.resource().utf8());
        update.setLong(++at, SessionRow.numberOf(grant.session()));
        update.setLong(++at, grant.claim());
        update.setLong(++at, client);
        update.setString(++at, channel);
        update.setLong(++at, next == null ? 0 : ColumnCodes.of(next.spec()));
        update.setLong(++at, next == null ? SessionRow.RETIRED : next.epoch());
        update.setLong(++at, next == null ? 0 : next.claim().claim());
        update.setLong(++at, next == null ? 0 : next.weight());
        update.setInt(++at, next == null ? 0 : next.tokens());
        update.setLong(++at, next == null ? 0 : -Micros.of(next.lease().length()));
        update.setInt(++at, next == null ? 0 : ColumnCodes.of(next.lease().binding()));
    }

    private ServerFastPath.HandedOver handedOver(ResultSet row, ResourceName name, @Nullable Acquire next)
            throws SQLException {
        boolean isOwn = row.getLong(2) == client;
        ClaimRef head = new ClaimRef(name, SessionRow.idOf(row.getLong(3)), row.getLong(4));
        TokenBlock tokens = new TokenBlock(row.getLong(5), row.getLong(6));
        boolean isAwaited = row.getLong(7) > 0;
        return new ServerFastPath.HandedOver(
                next == null ? ServerFastPath.RELEASED : new Reply.Queued(Micros.duration(Math.max(1, row.getLong(8)))),
                isOwn
                        ? Optional.of(new LedgerTransaction.Notification(
                                client,
                                new Signal.Granted(head, new Reply.Granted(tokens, Optional.empty(), isAwaited))))
                        : Optional.empty(),
                isAwaited);
    }
}
