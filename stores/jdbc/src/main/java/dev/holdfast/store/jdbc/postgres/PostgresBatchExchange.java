package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.OnClaim;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Reply;
import dev.holdfast.store.jdbc.server.BatchKey;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/*
 * Why there are no deadlocks, although this waits for rows that others have locked: it updates rows in the order of
 * their names, which is the order in which every transaction locks several rows. It locks the session before that, and
 * a transaction that locks a session exclusively holds no other lock. The order is that of the names in the parameter,
 * or that of the index of names: it does not matter which of the two the server reads first, and other join methods are
 * disabled on connections of our own. With several sessions it could be the order of these.
 */

/**
 * A batch of releases and acquires in one statement that visits each row once: for claims of one session with the same
 * {@link BatchKey}, on connections of our own. Locking the rows in a first step, which could skip those that others
 * have locked, would take the server nearly twice the time.
 *
 * <p>Not thread-safe.
 */
final class PostgresBatchExchange {

    /**
     * Placeholders: {@code $clock} is the time, {@code $mark} the time as a token, {@code $sharing} a lock on the
     * session or nothing, and {@code $late} further result columns or nothing.
     */
    private static final String EXCHANGE = """
            WITH k AS NOT MATERIALIZED (SELECT ?::bigint AS session, ?::bigint AS epoch, ?::bigint AS spec,
                   ?::bigint AS weight, ?::bigint AS length, ?::bigint AS wanted),
            s AS MATERIALIZED (
                SELECT epoch, now, $mark AS mark
                  FROM (SELECT epoch, $clock AS now FROM holdfast_session
                         WHERE id = (SELECT session FROM k) AND deadline > $clock $sharing) alive),
            v AS (SELECT * FROM unnest(?::bytea[], ?::bigint[], ?::boolean[]) WITH ORDINALITY
                AS v (name, claim, takes, n))
            UPDATE holdfast_resource r
               SET session = CASE WHEN v.takes THEN k.session ELSE 0 END,
                   claim = v.claim,
                   weight = CASE WHEN v.takes THEN k.weight ELSE r.weight END,
                   first_token = CASE WHEN v.takes THEN s.mark ELSE r.first_token END,
                   end_token = CASE WHEN v.takes THEN s.mark + k.wanted - 1 ELSE r.end_token END,
                   last_token = CASE WHEN v.takes THEN s.mark + k.wanted - 1 ELSE r.last_token END,
                   ends = CASE WHEN NOT v.takes THEN r.ends WHEN k.length = 0 THEN 0 ELSE s.now + k.length END,
                   seq = CASE WHEN v.takes THEN 0 ELSE r.seq END
              FROM k, s, v
             WHERE r.name = v.name AND r.waiters = 0
               AND CASE WHEN v.takes
                   THEN r.session = 0 AND r.grants = 0 AND r.spec = k.spec AND s.epoch <= k.epoch AND $sane
                   ELSE r.session = k.session AND r.claim = v.claim AND (r.ends <= 0 OR r.ends > s.now) END
            RETURNING v.n, r.first_token $late""";

    private final String exchange;
    private final String releaseOnly;

    PostgresBatchExchange(SqlTemplates templates, String clock) {
        String text = EXCHANGE.replace("$clock", clock)
                .replace("$mark", ServerFastPath.floor("now", "/"))
                .replace("$sane", PostgresFastPath.isSane("s.mark"));
        exchange = templates.of(text.replace("$sharing", "FOR SHARE").replace("$late", ""));
        releaseOnly = templates.of(text.replace("$sharing", "").replace("$late", ", " + PostgresFastPath.LATE));
    }

    /** Whether these commands can form such a batch. */
    static boolean isFit(List<Release> releases, List<Acquire> acquires) {
        return Stream.concat(releases.stream(), acquires.stream())
                                .map(OnClaim::claim)
                                .map(ClaimRef::session)
                                .distinct()
                                .count()
                        == 1
                && acquires.stream().map(BatchKey::of).distinct().count() <= 1;
    }

    /** Executes the batch; the names are distinct. Null for each command that it could not execute. */
    List<@Nullable Reply> carryOut(StatementCache statements, List<Release> releases, List<Acquire> acquires)
            throws SQLException {
        List<OnClaim> commands =
                Stream.<OnClaim>concat(releases.stream(), acquires.stream()).toList();
        List<Integer> order = IntStream.range(0, commands.size())
                .boxed()
                .sorted(Comparator.comparing(place -> commands.get(place).resource()))
                .collect(Collectors.toList());
        PreparedStatement update = statements.prepare(acquires.isEmpty() ? releaseOnly : exchange);
        update.setLong(1, SessionRow.numberOf(commands.get(0).claim().session()));
        BatchKey alike = acquires.isEmpty() ? null : BatchKey.of(acquires.get(0));
        update.setLong(2, alike == null ? 0 : alike.epoch());
        update.setLong(3, alike == null ? 0 : alike.spec());
        update.setLong(4, alike == null ? 0 : alike.weight());
        update.setLong(5, alike == null ? 0 : alike.lease());
        update.setLong(6, alike == null ? 0 : alike.tokens());
        set(
                update,
                7,
                "bytea",
                order.stream()
                        .map(place -> commands.get(place).resource().utf8())
                        .toArray(byte[][]::new));
        set(
                update,
                8,
                "bigint",
                order.stream().map(place -> commands.get(place).claim().claim()).toArray(Long[]::new));
        set(
                update,
                9,
                "bool",
                order.stream().map(place -> place >= releases.size()).toArray(Boolean[]::new));
        @Nullable Reply[] replies = new @Nullable Reply[commands.size()];
        try (ResultSet row = update.executeQuery()) {
            while (row.next()) {
                int place = order.get((int) row.getLong(1) - 1);
                replies[place] = place < releases.size()
                        ? ServerFastPath.RELEASED
                        : ServerFastPath.granted(acquires.get(place - releases.size()), row.getLong(2));
            }
        }
        return Arrays.asList(replies);
    }

    private static void set(PreparedStatement update, int place, String type, Object[] values) throws SQLException {
        update.setArray(place, update.getConnection().createArrayOf(type, values));
    }
}
