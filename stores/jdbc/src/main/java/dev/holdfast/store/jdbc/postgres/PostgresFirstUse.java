package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/*
 * Why this is as safe as inserting a row and then locking it. Of several transactions that insert the row of a name at
 * the same time, one succeeds, and the others find the row. The session is locked before that and stays unchanged until
 * the commit, so a keep-alive that raises its epoch comes either before, and is seen, or after. Rows are inserted in
 * the order of their names, so there are no deadlocks. And tokens are above those of an earlier row of the name: that
 * row was dropped one clean-up run after the floor had been raised above them, and this statement has seen the new
 * floor, because no lock wait lasts as long as the time between two runs.
 */

/** Inserts the rows of unused names with their first grants, on PostgreSQL. Not thread-safe. */
public final class PostgresFirstUse {

    private final String makeOne;
    private final String makeAll;

    /**
     * Builds the statements.
     *
     * @param values of one acquire, as {@link PostgresFastPath#set} sets them
     * @param bound a condition that is true and limits the lock waits of this statement; empty on connections of our
     *     own, which have a limit already
     */
    public PostgresFirstUse(SqlTemplates templates, String clock, String values, String bound) {
        makeOne = templates.of(text("(" + values + ", 1 AS n)", "id = (SELECT session FROM v)", clock, bound));
        makeAll = templates.of(text(
                PostgresFastPath.ACQUIRES + " WITH ORDINALITY",
                "EXISTS (SELECT 1 FROM v) AND id = ANY (?)",
                clock,
                bound));
    }

    /**
     * Builds a statement.
     *
     * @param sessions the condition for the claiming sessions. If all names have rows, no session is locked: that would
     *     be a write, with a commit that waits for the disk
     */
    private static String text(String values, String sessions, String clock, String bound) {
        return "WITH v AS MATERIALIZED (SELECT * FROM " + values
                + " AS v (name, session, claim, weight, spec, length, wanted, epoch, n)"
                + " WHERE (SELECT true FROM holdfast_resource r WHERE r.name = v.name) IS NULL" + bound + "),"
                + " s AS MATERIALIZED (SELECT id, epoch, " + clock + " AS now FROM holdfast_session"
                + " WHERE " + sessions + " AND deadline > " + clock + " ORDER BY id FOR SHARE),"
                + " k AS (SELECT v.*, s.now, " + ServerFastPath.floor("s.now", "/") + " AS mark"
                + " FROM v JOIN s ON s.id = v.session AND s.epoch <= v.epoch)"
                + " INSERT INTO holdfast_resource (" + Product.RESOURCE_COLUMNS + ")"
                + " SELECT k.spec, k.spec >> 16, k.mark + k.wanted - 1, k.session, k.claim, k.weight, k.mark,"
                + " k.mark + k.wanted - 1, CASE k.length WHEN 0 THEN 0 ELSE k.now + k.length END, 0, 0, 0, 0, 0, k.name"
                + " FROM k, holdfast_meta m WHERE m.one = 1 AND m.token_floor >= 0 AND m.token_floor < k.mark"
                + " AND k.mark <= " + ServerFastPath.LARGEST_FIRST
                + " ORDER BY k.n ON CONFLICT (name) DO NOTHING RETURNING name, first_token";
    }

    /** Acquires unused locks; the names are distinct. Null for each that has a row or could not be granted. */
    public List<@Nullable Reply> take(StatementCache statements, List<Acquire> acquires) throws SQLException {
        Map<ResourceName, Long> made = new HashMap<>();
        try (ResultSet row = prepared(statements, acquires).executeQuery()) {
            while (row.next()) {
                made.put(StatementCache.name(row.getBytes(1)), row.getLong(2));
            }
        }
        return acquires.stream()
                .<@Nullable Reply>map(acquire -> {
                    Long first = made.get(acquire.resource());
                    return first == null ? null : ServerFastPath.granted(acquire, first);
                })
                .toList();
    }

    /** Null if it has a row or could not be granted. */
    public @Nullable Reply take(StatementCache statements, Acquire acquire) throws SQLException {
        try (ResultSet row = prepared(statements, acquire).executeQuery()) {
            return row.next() ? ServerFastPath.granted(acquire, row.getLong(2)) : null;
        }
    }

    private PreparedStatement prepared(StatementCache statements, Acquire acquire) throws SQLException {
        PreparedStatement one = statements.prepare(makeOne);
        PostgresFastPath.set(one, acquire);
        return one;
    }

    private PreparedStatement prepared(StatementCache statements, List<Acquire> acquires) throws SQLException {
        if (acquires.size() == 1) {
            return prepared(statements, acquires.get(0));
        }
        List<Acquire> inOrder = acquires.stream()
                .sorted(Comparator.comparing(Acquire::resource))
                .toList();
        PreparedStatement several = statements.prepare(makeAll);
        PostgresArrayBinder all = new PostgresArrayBinder(several);
        all.acquires(inOrder);
        all.sessions(inOrder);
        return several;
    }
}
