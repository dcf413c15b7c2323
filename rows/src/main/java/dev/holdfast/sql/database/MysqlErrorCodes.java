package dev.holdfast.sql.database;

import java.sql.SQLException;

/** Meaning of the error codes of MySQL and MariaDB; their SQLStates mean too many things, as 42000 does. */
public final class MysqlErrorCodes {

    private MysqlErrorCodes() {}

    /** What a failure means, whatever is wrapped around it. */
    public static FailureKind kind(SQLException failure) {
        return FailureKind.of(failure, MysqlErrorCodes::kindOfOne);
    }

    static FailureKind kindOfOne(SQLException failure) {
        return switch (failure.getErrorCode()) {
            // A lock wait, a statement of MariaDB that has a bound, NOWAIT of MySQL.
            case 1205, 1969, 3572 -> FailureKind.LOCK_WAIT;
            case 1213 -> FailureKind.DEADLOCK;
            // MariaDB: the record was changed since the snapshot.
            case 1020 -> FailureKind.CONFLICT;
            // In all, for each user, of statements in an hour.
            case 1040, 1203, 1226 -> FailureKind.TOO_MANY;
            case 1290, 1792, 1836 -> FailureKind.READ_ONLY;
            // To the database, to a table, a column, something else, a routine.
            case 1044, 1142, 1143, 1227, 1370 -> FailureKind.FORBIDDEN;
            // Also without a password, with one that must be changed or has expired, and of a user that is locked.
            case 1045, 1698, 1820, 1862, 3118, 4151 -> FailureKind.LOGIN;
            // Also a name that can't be one.
            case 1049, 1102 -> FailureKind.NO_DATABASE;
            case 1146 -> FailureKind.NO_TABLE;
            // The server shuts down, somebody has ended the connection, it was idle for too long.
            case 1053, 1927, 4031 -> FailureKind.DISCONNECTED;
            case 1021, 1114 -> FailureKind.NO_ROOM;
            case 1665 -> FailureKind.LOGS_STATEMENTS;
            default -> FailureKind.ofState(String.valueOf(failure.getSQLState()));
        };
    }
}
