package dev.holdfast.sql.database;

import java.sql.SQLException;

/** The meaning of PostgreSQL's SQLStates. */
public final class PostgresErrorCodes {

    private PostgresErrorCodes() {}

    /** The kind of a failure, even if it is wrapped. */
    public static FailureKind kind(SQLException failure) {
        return FailureKind.of(failure, PostgresErrorCodes::kindOfOne);
    }

    static FailureKind kindOfOne(SQLException failure) {
        String state = String.valueOf(failure.getSQLState());
        return switch (state) {
            case "55P03" -> FailureKind.LOCK_WAIT;
            case "40P01" -> FailureKind.DEADLOCK;
            case "25006" -> FailureKind.READ_ONLY;
            case "42501" -> FailureKind.FORBIDDEN;
            case "3D000" -> FailureKind.NO_DATABASE;
            case "3F000", "42P01", "42703" -> FailureKind.NO_TABLE;
            case "26000", "42P05" -> FailureKind.POOLED;
            case "53100" -> FailureKind.NO_ROOM;
            case "53300" -> FailureKind.TOO_MANY;
            case "XX001", "XX002" -> FailureKind.DAMAGED; // a table, an index; XX000 is any internal error
            case "25P03" -> FailureKind.DISCONNECTED; // idle in a transaction for too long
            default -> state.startsWith("57P") ? FailureKind.DISCONNECTED : FailureKind.ofState(state);
        };
    }
}
