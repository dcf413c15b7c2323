package dev.holdfast.sql.database;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.sql.SQLException;

/** What a failure of a database means for who met it, whatever the product calls it. */
public enum FailureKind {
    LOCK_WAIT(Reason.UNAVAILABLE, "somebody else kept a row locked for too long (%s)"),
    DEADLOCK(Reason.UNAVAILABLE, "others were in the way each time (%s)"),

    /** The transaction has seen what is not so any more. */
    CONFLICT(Reason.UNAVAILABLE, "others were in the way each time (%s)"),

    DISCONNECTED(Reason.UNAVAILABLE, "the connection to the database is lost (%s)"),
    TOO_MANY(Reason.UNAVAILABLE, "the database takes no more connections or statements of this user (%s)"),
    READ_ONLY(Reason.DENIED, "the database takes no writes: connect to the primary (%s)"),
    LOGIN(Reason.DENIED, "the database does not accept the user or the password (%s)"),
    NO_PASSWORD(Reason.DENIED, "%s"),
    FORBIDDEN(Reason.DENIED, "the user may not do what locks need (%s); the manual lists the permissions"),
    NO_DATABASE(Reason.DENIED, "there is no such database (%s)"),
    NO_TABLE(Reason.DENIED, "the tables for locks are not there (%s)"),
    NO_ROOM(Reason.DENIED, "the database has no room left (%s)"),
    REJECTED(Reason.DENIED, "the database refuses a statement (%s)"),

    POOLED(
            Reason.DENIED,
            "a pooler gives each transaction another connection, on which prepared statements are not known: say"
                    + " pooler=transaction, or prepareThreshold=0 to the driver (%s)"),

    LOGS_STATEMENTS(
            Reason.DENIED,
            "the server writes its binary log by statements, which allows no writes under READ COMMITTED: set"
                    + " binlog_format to ROW or MIXED (%s)"),

    DAMAGED(Reason.CORRUPT, "the database is damaged, and a person must look (%s)"),
    OTHER(Reason.UNAVAILABLE, "the database did not do it (%s)");

    /** The state of a failure of ours: the file with the password is not there or can't be read. */
    public static final String NO_PASSWORD_STATE = "ZP000";

    private final Reason reason;
    private final String words;

    FailureKind(Reason reason, String words) {
        this.reason = reason;
        this.words = words;
    }

    /** A failure before it is known which product it is of: of PostgreSQL none has a code. */
    public static FailureKind whileConnecting(SQLException failure) {
        FailureKind kind = OTHER;
        Throwable cause = failure; // pools put theirs around it
        for (int depth = 0; cause != null && kind == OTHER && depth < 20; depth++, cause = cause.getCause()) {
            if (cause instanceof SQLException sql) {
                kind = sql.getErrorCode() == 0 ? PostgresErrorCodes.kind(sql) : MysqlErrorCodes.kind(sql);
            }
        }
        return kind;
    }

    /** By what the standard says of states. */
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

    /** Whether others were in the way: it had no effect, and is worth another try at once. */
    public boolean isBusy() {
        return this == LOCK_WAIT || isOfTransaction();
    }

    /** Whether a transaction can't go on beside others, and may be repeated. */
    public boolean isOfTransaction() {
        return this == DEADLOCK || this == CONFLICT;
    }

    /** In the terms of the SPI, and in words for people; the title says which database it is. */
    public StoreException failure(String title, SQLException cause, Effect effect) {
        return failure(title + ": " + cause.getMessage(), (Throwable) cause, effect);
    }

    /** As above, where nobody knows yet which database it is. */
    public StoreException failure(SQLException cause, Effect effect) {
        return failure(String.valueOf(cause.getMessage()), (Throwable) cause, effect);
    }

    private StoreException failure(String said, Throwable cause, Effect effect) {
        return new StoreException(reason, effect, words.replace("%s", said), cause);
    }
}
