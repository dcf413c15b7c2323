package dev.holdfast.sql.database;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** What a database failure means for the caller, on any product. */
public enum FailureKind {
    LOCK_WAIT(Reason.UNAVAILABLE, "another transaction kept a row locked for too long (%s)"),
    DEADLOCK(Reason.UNAVAILABLE, "every attempt conflicted with other transactions (%s)"),

    /** The transaction has read outdated data. */
    CONFLICT(Reason.UNAVAILABLE, "every attempt conflicted with other transactions (%s)"),

    DISCONNECTED(Reason.UNAVAILABLE, "the connection to the database was lost (%s)"),
    TOO_MANY(Reason.UNAVAILABLE, "the database accepts no more connections or statements from this user (%s)"),
    READ_ONLY(Reason.DENIED, "the database is read-only: connect to the primary (%s)"),
    LOGIN(Reason.DENIED, "the database rejects the user name or password (%s)"),
    NO_PASSWORD(Reason.DENIED, "%s"),
    FORBIDDEN(
            Reason.DENIED,
            "the user lacks permissions that locks need (%s); the page of the store in docs/stores lists " + "them"),
    NO_DATABASE(Reason.DENIED, "the database does not exist (%s)"),
    NO_TABLE(Reason.DENIED, "the lock tables do not exist (%s)"),
    NO_ROOM(Reason.DENIED, "the database has no space left (%s)"),
    REJECTED(Reason.DENIED, "the database rejects a statement (%s)"),

    POOLED(
            Reason.DENIED,
            "a pooler gives each transaction another connection, which does not know the prepared "
                    + "statements: set pooler=transaction, or prepareThreshold=0 for the driver (%s)"),

    LOGS_STATEMENTS(
            Reason.DENIED,
            "the server uses statement-based binary logging, which forbids writes under READ "
                    + "COMMITTED: set binlog_format to ROW or MIXED (%s)"),

    DAMAGED(Reason.CORRUPT, "the database is damaged and must be repaired by hand (%s)"),
    OTHER(Reason.UNAVAILABLE, "the database could not execute a statement (%s)");

    /** The SQLState of our own failure if the password file is missing or unreadable. */
    public static final String NO_PASSWORD_STATE = "ZP000";

    /** A batch has as many next exceptions as statements. */
    private static final int LONGEST_CHAIN = 100;

    private final Reason reason;
    private final String words;

    FailureKind(Reason reason, String words) {
        this.reason = reason;
        this.words = words;
    }

    /** The kind of a failure before the product is known: PostgreSQL's failures have no error codes. */
    public static FailureKind whileConnecting(SQLException failure) {
        return of(
                failure,
                sql -> sql.getErrorCode() == 0 ? PostgresErrorCodes.kindOfOne(sql) : MysqlErrorCodes.kindOfOne(sql));
    }

    /**
     * The kind of a failure: that of the first exception in its {@linkplain #chain chain} with known codes. Pools and
     * frameworks wrap the failures of drivers, and a batch has its statement's failure as the next exception.
     */
    static FailureKind of(Throwable failure, Function<SQLException, FailureKind> codes) {
        for (Throwable one : chain(failure)) {
            FailureKind kind = one instanceof SQLException sql ? codes.apply(sql) : OTHER;
            if (kind != OTHER) {
                return kind;
            }
        }
        return OTHER;
    }

    /**
     * A failure with its causes and next exceptions, each once, the nearest first. Suppressed exceptions are included
     * only for failures of the database: elsewhere they are failed clean-ups.
     */
    public static List<Throwable> chain(Throwable failure) {
        Set<Throwable> found = Collections.newSetFromMap(new IdentityHashMap<>());
        List<Throwable> chain = new ArrayList<>();
        Deque<Throwable> open = new ArrayDeque<>();
        open.add(failure);
        for (Throwable one = open.poll(); one != null && chain.size() < LONGEST_CHAIN; one = open.poll()) {
            if (!found.add(one)) {
                continue;
            }
            chain.add(one);
            if (one instanceof SQLException sql && sql.getNextException() != null) {
                open.add(sql.getNextException());
            }
            if (one.getCause() != null) {
                open.add(one.getCause());
            }
            if (one instanceof SQLException) {
                open.addAll(List.of(one.getSuppressed()));
            }
        }
        return chain;
    }

    /** The kind of a standard SQLState. */
    static FailureKind ofState(String state) {
        if (state.equals(NO_PASSWORD_STATE)) {
            return NO_PASSWORD;
        } else if (state.equals("40001")) {
            return CONFLICT;
        }
        return switch (state.length() < 2 ? "" : state.substring(0, 2)) {
            case "08" -> DISCONNECTED;
            case "28" -> LOGIN;
            case "42" -> REJECTED;
            default -> OTHER;
        };
    }

    public Reason reason() {
        return reason;
    }

    /** Whether it conflicted with others: it had no effect and can be retried at once. */
    public boolean isBusy() {
        return this == LOCK_WAIT || isOfTransaction();
    }

    /** Whether the transaction must be rolled back because of others, and can be repeated. */
    public boolean isOfTransaction() {
        return this == DEADLOCK || this == CONFLICT;
    }

    /** The failure as an exception of the SPI, with a message for people; the title names the database. */
    public StoreException failure(String title, SQLException cause, Effect effect) {
        return failure(title + ": " + cause.getMessage(), (Throwable) cause, effect);
    }

    /** As above, while the product is unknown. */
    public StoreException failure(SQLException cause, Effect effect) {
        return failure(String.valueOf(cause.getMessage()), (Throwable) cause, effect);
    }

    private StoreException failure(String said, Throwable cause, Effect effect) {
        return new StoreException(reason, effect, words.replace("%s", said), cause);
    }
}
