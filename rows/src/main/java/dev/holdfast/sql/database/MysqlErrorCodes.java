package dev.holdfast.sql.database;

import java.sql.SQLException;

/** The meaning of error codes of MySQL and MariaDB; their SQLStates, such as 42000, are too ambiguous. */
public final class MysqlErrorCodes {

    private MysqlErrorCodes() {}

    /** The kind of a failure, even if it is wrapped. */
    public static FailureKind kind(SQLException failure) {
        return FailureKind.of(failure, MysqlErrorCodes::kindOfOne);
    }

    static FailureKind kindOfOne(SQLException failure) {
        return switch (failure.getErrorCode()) {
            // A lock wait, a time limit on a statement in MariaDB, NOWAIT in MySQL.
            case 1205, 1969, 3572 -> FailureKind.LOCK_WAIT;
            case 1213 -> FailureKind.DEADLOCK;
            // MariaDB: the record was changed since the snapshot.
            case 1020 -> FailureKind.CONFLICT;
            // Limits in total, for each user, and on statements in an hour.
            case 1040, 1203, 1226 -> FailureKind.TOO_MANY;
            case 1290, 1792, 1836 -> FailureKind.READ_ONLY;
            // Denied on a database, a table, a column, another object, a routine.
            case 1044, 1142, 1143, 1227, 1370 -> FailureKind.FORBIDDEN;
            // Also without a password, with one that must be changed or has expired, and for a locked user.
            case 1045, 1698, 1820, 1862, 3118, 4151 -> FailureKind.LOGIN;
            // Also an invalid name.
            case 1049, 1102 -> FailureKind.NO_DATABASE;
            case 1146 -> FailureKind.NO_TABLE;
            // The server is shutting down, the connection was killed, or it was idle for too long.
            case 1053, 1927, 4031 -> FailureKind.DISCONNECTED;
            case 1021, 1114 -> FailureKind.NO_ROOM;
            case 1665 -> FailureKind.LOGS_STATEMENTS;
            default -> FailureKind.ofState(String.valueOf(failure.getSQLState()));
        };
    }
}
