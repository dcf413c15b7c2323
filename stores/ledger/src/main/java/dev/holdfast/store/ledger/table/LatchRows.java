package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.Kind;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The rows of latches. As {@link Rows}.
 *
 * <p>Not thread-safe.
 */
public final class LatchRows {

    private final StatementCache statements;

    public LatchRows(StatementCache statements) {
        this.statements = statements;
    }

    /** The latch of a resource; a new one if there is no row. */
    public Latch find(Resource resource) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.LATCH);
        select.setBytes(1, resource.key);
        Latch latch = new Latch();
        try (ResultSet row = select.executeQuery()) {
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
    public boolean isCounting(Resource resource) throws SQLException {
        return resource.declared.kind() == Kind.LATCH && find(resource).remaining > 0;
    }

    public void save(Resource resource, Latch latch, long unixMicros) throws SQLException {
        PreparedStatement write = statements.prepare(latch.isStored ? SqlTemplate.SAVE_LATCH : SqlTemplate.ADD_LATCH);
        write.setLong(1, latch.generation);
        write.setLong(2, latch.remaining);
        write.setLong(3, unixMicros);
        write.setBytes(4, resource.key);
        StatementCache.changeOne(write);
        latch.isStored = true;
    }

    /** Remembers an id that counted; false if it had counted before. */
    public boolean addCounted(Resource resource, String id) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.COUNTED);
        select.setBytes(1, resource.key);
        select.setString(2, id);
        try (ResultSet row = select.executeQuery()) {
            if (row.next()) {
                return false;
            }
        }
        PreparedStatement insert = statements.prepare(SqlTemplate.ADD_COUNTED);
        insert.setBytes(1, resource.key);
        insert.setString(2, id);
        StatementCache.changeOne(insert);
        return true;
    }

    public void dropCounted(Resource resource) throws SQLException {
        PreparedStatement delete = statements.prepare(SqlTemplate.DROP_COUNTED);
        delete.setBytes(1, resource.key);
        delete.executeUpdate();
    }

    /** Drops a latch with all that is remembered of it. */
    public void drop(Resource resource) throws SQLException {
        PreparedStatement delete = statements.prepare(SqlTemplate.DROP_LATCH);
        delete.setBytes(1, resource.key);
        delete.executeUpdate();
        dropCounted(resource);
    }
}
