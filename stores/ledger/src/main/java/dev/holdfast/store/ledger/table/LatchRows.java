package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.Kind;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The rows of latches. Each method is one or two statements, as in {@link Rows}.
 *
 * <p>Not thread-safe.
 */
public final class LatchRows {

    private final StatementCache statements;

    public LatchRows(StatementCache statements) {
        this.statements = statements;
    }

    /** The latch of a resource; a new one if there is no row. */
    public LatchRow find(ResourceRow resource) throws SQLException {
        LatchRow latch = new LatchRow();
        try (ResultSet row = statements.bound(SqlTemplate.LATCH, resource.key).executeQuery()) {
            if (row.next()) {
                latch.isStored = true;
                latch.generation = row.getLong(1);
                latch.remaining = row.getLong(2);
                latch.changed = row.getLong(3);
            }
        }
        if (latch.generation < 0 || latch.remaining < 0) {
            throw StatementCache.damaged(
                    resource.name, "its generation is " + latch.generation + " and its count " + latch.remaining);
        }
        return latch;
    }

    /** Whether a resource is a latch that is not open. */
    public boolean isCounting(ResourceRow resource) throws SQLException {
        return resource.declared.kind() == Kind.LATCH && find(resource).remaining > 0;
    }

    public void save(ResourceRow resource, LatchRow latch, long unixMicros) throws SQLException {
        StatementCache.changeOne(statements.bound(
                latch.isStored ? SqlTemplate.SAVE_LATCH : SqlTemplate.ADD_LATCH,
                latch.generation,
                latch.remaining,
                unixMicros,
                resource.key));
        latch.isStored = true;
    }

    /** Records an id that has counted down; false if it had done so before. */
    public boolean addCounted(ResourceRow resource, String id) throws SQLException {
        if (StatementCache.first(statements.bound(SqlTemplate.COUNTED, resource.key, id), row -> true) != null) {
            return false;
        }
        StatementCache.changeOne(statements.bound(SqlTemplate.ADD_COUNTED, resource.key, id));
        return true;
    }

    public void dropCounted(ResourceRow resource) throws SQLException {
        statements.bound(SqlTemplate.DROP_COUNTED, resource.key).executeUpdate();
    }

    /** Drops a latch and the ids that have counted it down. */
    public void drop(ResourceRow resource) throws SQLException {
        statements.bound(SqlTemplate.DROP_LATCH, resource.key).executeUpdate();
        dropCounted(resource);
    }
}
