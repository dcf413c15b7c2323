package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/*
 * A statement sees what was committed before it began, but locks a row as it has become since: it would go by a queue
 * that is not so any more. But whoever changes a queue changes the row of its resource with it, and a changed row
 * stands in another place. So the place of the row that was locked is compared with the place of the row that the
 * statement sees: where they are the same, nobody has changed anything since, and the queue is as it is seen.
 *
 * A row that somebody else has locked is about to change, so that there is no use in waiting for it in the same
 * statement. The next statement sees what has become of it, and in one transaction with a first one that waits for the
 * row nobody comes in between. The driver sends both without waiting for the answer in between, and the server makes
 * one transaction of what it is sent so.
 */

/**
 * One statement in the queue of a resource, which changes all that is to be changed or nothing. It is tried without
 * waiting; and if others are at that row, once more behind them: one trip and one commit as well.
 *
 * <p>Its text has the table {@code v} of its values, locks the row as {@code r} in a part {@code held} by {@link #HELD}
 * that keeps its name and place, and goes on if {@link #UNCHANGED}. It always gives one row, that begins with
 * {@link #inUse}. Not thread-safe.
 */
final class PostgresQueueStatement {

    /** How the row is locked: what is selected from, and the condition {@code $row} of it. */
    static final String HELD = "FROM v, holdfast_resource r WHERE $row FOR UPDATE OF r SKIP LOCKED";

    /** Of the row {@code h} that was locked: that nobody has changed it since the statement began. */
    static final String UNCHANGED = "h.place = (SELECT r.ctid FROM holdfast_resource r WHERE r.name = h.name)";

    private static final String FIRST = "SELECT 1 FROM holdfast_resource WHERE name = ? FOR UPDATE; ";

    /** Sets the values of the statement. */
    @FunctionalInterface
    interface Values {
        /**
         * Sets them.
         *
         * @param before how many other values come before
         */
        void set(PreparedStatement statement, int before) throws SQLException;
    }

    /** Makes an answer of the row that tells what was done. */
    @FunctionalInterface
    interface Answer<T> {
        T of(ResultSet row) throws SQLException;
    }

    private final String atOnce;
    private final @Nullable String behind;

    /**
     * Puts the statement together.
     *
     * @param text with {@code $row} for the condition
     * @param row what the row has to be like
     * @param waits whether it may wait for others, and the driver sends together what stands together
     */
    PostgresQueueStatement(SqlTemplates templates, String text, String row, boolean waits) {
        String whole = text.replace("$row", row);
        this.atOnce = templates.of(whole);
        this.behind = waits ? templates.of(FIRST + whole) : null;
    }

    /**
     * What the row that it gives begins with: null if it was done, else whether that was because others are at the row.
     *
     * @param isDone a condition
     */
    static String inUse(String isDone) {
        return "CASE WHEN " + isDone + " THEN NULL WHEN EXISTS (SELECT 1 FROM held)"
                + " THEN NOT EXISTS (SELECT 1 FROM held h WHERE " + UNCHANGED + ")"
                + " ELSE EXISTS (SELECT 1 FROM v, holdfast_resource r WHERE $row) END";
    }

    /** Gives null if it could not be done so, and nothing was changed. */
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
            throw new SQLException("The driver gave fewer answers than there were statements");
        }
        try (ResultSet row = second.getResultSet()) {
            return isDone(row) ? answer.of(row) : null;
        }
    }

    private static boolean isDone(ResultSet row) throws SQLException {
        if (!row.next()) {
            throw new SQLException("A statement in a queue gave no row");
        }
        return row.getObject(1) == null;
    }
}
