package dev.holdfast.store.jdbc;

import dev.holdfast.servers.sql.StatementLog;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

/** Connections on which the server fails at the n-th statement: once, or from then on. */
final class FaultySource extends StatementLog {

    /** The kind of failure. */
    enum Fault {
        /** The transaction is rolled back because of a deadlock. */
        DEADLOCK("40P01", 1213, true),
        /** A row was locked for too long. On MySQL and MariaDB the transaction keeps its earlier changes. */
        LOCK_WAIT("55P03", 1205, false),
        /** The transaction is rolled back because it cannot be serialised with others. */
        SERIALIZATION("40001", 1020, true),
        /** The statement is rolled back because the disk is full. */
        DISK_FULL("53100", 1021, false),
        /** The connection ends before the server receives the statement. */
        CUT_BEFORE("08006", 0, false),
        /** The connection ends after the server has executed the statement. */
        CUT_AFTER("08006", 0, false);

        private final String state;
        private final int code;
        private final boolean isUndone;

        Fault(String state, int code, boolean isUndone) {
            this.state = state;
            this.code = code;
            this.isUndone = isUndone;
        }

        boolean isCut() {
            return this == CUT_BEFORE || this == CUT_AFTER;
        }
    }

    private static final int LONGEST_TEXT = 60;

    private final boolean isPostgres;
    private final AtomicInteger left = new AtomicInteger();
    private volatile Fault fault = Fault.DEADLOCK;
    private volatile boolean lasts;

    FaultySource(String url) {
        super(url);
        this.isPostgres = url.startsWith("jdbc:postgresql:");
    }

    /** Makes the statement with this number, counted from one, fail. */
    void failAt(int number, Fault how) {
        lasts = false;
        fault = how;
        left.set(number);
    }

    /** Makes the statement with this number, counted from one, and all later ones fail until healed. */
    void failFrom(int number, Fault how) {
        lasts = true;
        fault = how;
        left.set(number);
    }

    /** Whether a statement has failed. */
    boolean hasFailed() {
        return left.get() <= 0;
    }

    /** Stops the failures. */
    void heal() {
        left.set(0);
    }

    private boolean isFailing() {
        int before = left.getAndUpdate(now -> now > 1 || now == 1 && !lasts ? now - 1 : now);
        return before == 1;
    }

    @Override
    public Object call(Connection connection, String text, Call call) throws Throwable {
        boolean isCounted = !text.endsWith("TransactionIsolation") && !text.equalsIgnoreCase("rollback");
        if (!isCounted || !isFailing()) {
            return call.make();
        }
        Fault now = fault;
        if (now.isCut()) {
            if (now == Fault.CUT_AFTER) {
                var unheard = call.make();
            }
            connection.abort(Runnable::run);
        } else if (isPostgres && !connection.getAutoCommit()) {
            // After a failed statement the transaction can do nothing more.
            connection.rollback();
        } else if (!isPostgres && now.isUndone) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("ROLLBACK");
            }
        }
        throw new SQLException(
                now + " at: " + text.substring(0, Math.min(LONGEST_TEXT, text.length())),
                isPostgres || now.isCut() ? now.state : now == Fault.DEADLOCK ? "40001" : "HY000",
                isPostgres ? 0 : now.code);
    }
}
