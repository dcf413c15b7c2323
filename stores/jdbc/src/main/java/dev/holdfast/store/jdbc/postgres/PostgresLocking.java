package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.ledger.BufferedClaimRows;
import dev.holdfast.store.ledger.LockedRowSet;
import dev.holdfast.store.ledger.table.ClaimRow;
import dev.holdfast.store.ledger.table.ClaimRows;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplate;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Locks and reads rows on PostgreSQL in one round trip: the driver sends the statements of one text without waiting for
 * the answers in between. They remain separate statements, each of which sees what was committed before it began, so
 * the order is as safe as with one round trip each.
 *
 * <p>Not thread-safe.
 */
final class PostgresLocking {

    private static final String SESSION_COLUMNS = "client, ttl, label, epoch, deadline";

    /** Locks resources only. */
    static final String LOCK = "SELECT " + Product.RESOURCE_COLUMNS
            + " FROM holdfast_resource WHERE name = ANY (?) ORDER BY name FOR UPDATE";

    private static final String QUEUES = "SELECT c.*, s." + SESSION_COLUMNS.replace(", ", ", s.")
            + " FROM holdfast_resource r CROSS JOIN LATERAL (" + SqlTemplate.CLAIM_COLUMNS
            + " WHERE name = r.name AND granted = 0 ORDER BY place LIMIT " + BufferedClaimRows.AHEAD
            + ") c LEFT JOIN holdfast_session s ON s.id = c.session"
            + " WHERE r.name = ANY (?) AND r.waiters > 0 ORDER BY c.name, c.place";

    private final String withSessions;
    private final String withoutSessions;

    PostgresLocking(String clock) {
        String share = "SELECT " + SESSION_COLUMNS + ", " + clock
                + ", id FROM holdfast_session WHERE id = ANY (?) ORDER BY id FOR SHARE";
        this.withSessions = LOCK + "; " + share + "; " + QUEUES;
        this.withoutSessions = LOCK + "; SELECT " + clock + "; " + QUEUES;
    }

    LockedRowSet lock(StatementCache statements, List<byte[]> keys, Collection<Long> sessions) throws SQLException {
        PreparedStatement all =
                statements.prepare(statements.templates().of(sessions.isEmpty() ? withoutSessions : withSessions));
        Array names = statements.connection().createArrayOf("bytea", keys.toArray(byte[][]::new));
        all.setArray(1, names);
        if (!sessions.isEmpty()) {
            all.setArray(2, statements.connection().createArrayOf("bigint", sessions.toArray()));
        }
        all.setArray(sessions.isEmpty() ? 2 : 3, names);
        List<ResourceRow> resources = Rows.resources(answer(all.execute(), all));
        List<SessionRow> found = new ArrayList<>(sessions.size());
        long now = 0;
        ResultSet second = answer(all.getMoreResults(), all);
        while (second.next()) {
            if (sessions.isEmpty()) {
                now = second.getLong(1);
            } else {
                found.add(Rows.session(second.getLong(7), second));
                now = second.getLong(6);
            }
        }
        LockedRowSet.Queues queues = queues(resources, answer(all.getMoreResults(), all));
        return new LockedRowSet(resources, found, now, queues);
    }

    private static ResultSet answer(boolean isThere, PreparedStatement statement) throws SQLException {
        ResultSet answer = isThere ? statement.getResultSet() : null;
        if (answer == null) {
            throw new SQLException("The driver returned fewer results than there were statements");
        }
        return answer;
    }

    private static LockedRowSet.Queues queues(List<ResourceRow> resources, ResultSet row) throws SQLException {
        Map<ResourceName, ResourceRow> byName = new HashMap<>();
        resources.forEach(resource -> byName.put(resource.name, resource));
        List<ClaimRow> claims = new ArrayList<>();
        List<SessionRow> sessions = new ArrayList<>();
        while (row.next()) {
            @Nullable ResourceRow resource = byName.get(StatementCache.name(row.getBytes(10)));
            if (resource == null) {
                throw new SQLException("The database returned a queue that was not requested");
            }
            claims.add(ClaimRows.claim(resource, row));
            long id = row.getLong(1);
            if (row.getLong(14) != 0) {
                sessions.add(Rows.session(id, row, 13));
            }
        }
        return new LockedRowSet.Queues(claims, sessions);
    }
}
