package dev.holdfast.store.ledger.table;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * The writes of a transaction, sent at its end in the order in which they were added: in one round trip if the driver
 * sends statements of one text in one request, otherwise in one for each run of equal statements.
 *
 * <p>Not thread-safe.
 */
public final class WriteBatch {

    /** The most statements in one text: longer combinations rarely recur, so preparing them is not worthwhile. */
    private static final int MOST_JOINED = 6;

    private static final String BETWEEN = "; ";

    /** Sets the values of a statement. */
    @FunctionalInterface
    public interface Values {
        /**
         * Sets the values.
         *
         * @param before how many values of other statements come before those of this one
         */
        void set(PreparedStatement statement, int before) throws SQLException;
    }

    /** @param changesOne whether it must change exactly one row; otherwise its result does not matter */
    private record Write(String text, Values values, boolean changesOne) {}

    private final StatementCache statements;
    private final boolean joins;
    private final List<Write> due = new ArrayList<>();

    /** @param joins whether the driver sends statements of one text in one round trip */
    public WriteBatch(StatementCache statements, boolean joins) {
        this.statements = statements;
        this.joins = joins;
    }

    /** Discards all writes, for a new transaction. */
    public void forgetAll() {
        due.clear();
    }

    /** Adds a statement that changes one row. */
    public void change(SqlTemplate sql, Values values) {
        due.add(new Write(statements.templates().of(sql), values, true));
    }

    /** Adds a statement whose result does not matter. */
    public void ask(String text, Values values) {
        due.add(new Write(statements.templates().of(text), values, false));
    }

    /** Sends all added statements. */
    public void send() throws SQLException {
        List<Write> all = List.copyOf(due);
        due.clear();
        if (joins && all.size() > 1 && all.size() <= MOST_JOINED) {
            sendJoined(all);
            return;
        }
        for (int from = 0, to; from < all.size(); from = to) {
            to = from + 1;
            while (to < all.size() && all.get(to).text.equals(all.get(from).text)) {
                to++;
            }
            sendRun(all.subList(from, to));
        }
    }

    private void sendJoined(List<Write> all) throws SQLException {
        PreparedStatement joined = statements.prepare(
                String.join(BETWEEN, all.stream().map(Write::text).toList()));
        int before = 0;
        for (Write write : all) {
            write.values.set(joined, before);
            before += (int) write.text.chars().filter(c -> c == '?').count();
        }
        boolean hasRows = joined.execute();
        for (Write write : all) {
            if (write.changesOne && (hasRows || joined.getUpdateCount() != 1)) {
                throw StatementCache.changed(joined.getUpdateCount());
            }
            hasRows = joined.getMoreResults();
        }
    }

    private void sendRun(List<Write> equal) throws SQLException {
        PreparedStatement statement = statements.prepare(equal.get(0).text);
        if (!equal.get(0).changesOne) {
            for (Write write : equal) {
                write.values.set(statement, 0);
                boolean hasRows = statement.execute();
                assert hasRows || statement.getUpdateCount() >= 0;
            }
            return;
        }
        for (Write write : equal) {
            write.values.set(statement, 0);
            statement.addBatch();
        }
        for (int rows : execute(statement)) {
            // A driver that has joined several statements may not know how many rows each has changed.
            if (rows != 1 && rows != Statement.SUCCESS_NO_INFO) {
                throw StatementCache.changed(rows);
            }
        }
    }

    /**
     * Executes a batch. Clears it after a failure, because a driver may keep the statements and send them with the next
     * batch.
     */
    private static int[] execute(PreparedStatement batch) throws SQLException {
        try {
            return batch.executeBatch();
        } catch (SQLException e) {
            try {
                batch.clearBatch();
            } catch (SQLException closed) {
                e.addSuppressed(closed);
            }
            throw e;
        }
    }
}
