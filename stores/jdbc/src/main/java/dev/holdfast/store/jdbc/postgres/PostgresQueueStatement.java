package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/*
 * A statement sees what was committed before it began, but locks the newest version of a row, so it could act on an
 * outdated queue. But every change to a queue also changes the row of its resource, and a changed row has another
 * physical place (ctid). So the place of the locked row is compared with that of the row in the snapshot: if they are
 * equal, nothing has changed since, and the queue is as the statement sees it.
 *
 * A row locked by another transaction is about to change, so waiting for it in the same statement is useless. Instead,
 * a first statement waits for the row, and a second one in the same transaction sees its new version, which no other
 * transaction can change in between. The driver sends both without waiting for the first answer, and the server treats
 * them as one transaction.
 */

/**
 * One statement on the queue of a resource, which makes all its changes or none. It first runs without waiting; if
 * another transaction has the row, it runs once more after that one, which is one round trip and one commit as well.
 *
 * <p>Its text has its values as table {@code v}. In a part {@code held}, which keeps name and place, it locks the row
 * {@code r} by {@link #HELD}, and it continues if {@link #UNCHANGED}. It always returns one row, which begins with
 * {@link #inUse}. Not thread-safe.
 */
final class PostgresQueueStatement {

    /** Selects and locks the row that meets the condition {@code $row}. */
    static final String HELD = "FROM v, holdfast_resource r WHERE $row FOR UPDATE OF r SKIP LOCKED";

    /** The condition that the locked row {@code h} has not changed since the statement began. */
    static final String UNCHANGED = "h.place = (SELECT r.ctid FROM holdfast_resource r WHERE r.name = h.name)";

    private static final String FIRST = "SELECT 1 FROM holdfast_resource WHERE name = ? FOR UPDATE; ";

    /** Sets the values of the statement. */
    @FunctionalInterface
    interface Values {
        /**
         * Sets the values.
         *
         * @param before how many other values come first
         */
        void set(PreparedStatement statement, int before) throws SQLException;
    }

    /** Creates a reply from the result row. */
    @FunctionalInterface
    interface Answer<T> {
        T of(ResultSet row) throws SQLException;
    }

    private final String atOnce;
    private final @Nullable String behind;

    /**
     * Builds the statement.
     *
     * @param text with {@code $row} for the condition
     * @param row the condition on the row
     * @param waits whether it may wait for others, and the driver sends statements of one text in one round trip
     */
    PostgresQueueStatement(SqlTemplates templates, String text, String row, boolean waits) {
        String whole = text.replace("$row", row);
        this.atOnce = templates.of(whole);
        this.behind = waits ? templates.of(FIRST + whole) : null;
    }

    /**
     * The first result column: null if the changes were made, and otherwise whether another transaction has the row.
     *
     * @param isDone a condition
     */
    static String inUse(String isDone) {
        return "CASE WHEN " + isDone + " THEN NULL WHEN EXISTS (SELECT 1 FROM held)"
                + " THEN NOT EXISTS (SELECT 1 FROM held h WHERE " + UNCHANGED + ")"
                + " ELSE EXISTS (SELECT 1 FROM v, holdfast_resource r WHERE $row) END";
    }

    /** Returns null if this was not possible, with nothing changed. */
    <T> @Nullable T carryOut(StatementCache statements, ResourceName name, Values values, Answer<T> answer)
            throws SQLException {
        PreparedStatement first = statements.prepare(atOnce);
        values.set(first, 0);
        try (ResultSet row = first.executeQuery()) {
            if (isDone(row)) {
                return answer.of(row);
            }
            if (behind == null || !row.getBoolean(1)) {
                return null;
            }
        }
        PreparedStatement second = statements.prepare(behind);
        second.setBytes(1, name.utf8());
        values.set(second, 1);
        if (!second.execute() || !second.getMoreResults()) {
            throw new SQLException("The driver returned fewer results than there were statements");
        }
        try (ResultSet row = second.getResultSet()) {
            return isDone(row) ? answer.of(row) : null;
        }
    }

    private static boolean isDone(ResultSet row) throws SQLException {
        if (!row.next()) {
            throw new SQLException("A queue statement returned no row");
        }
        return row.getObject(1) == null;
    }
}
