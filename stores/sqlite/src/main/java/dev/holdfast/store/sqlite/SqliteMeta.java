package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.sqlite.process.HostIdentity;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The row of metadata about the file, and the first transaction after a reboot of the host.
 *
 * <p>A reboot ends every process and so every session, and the boot clock starts again. Only detached grants continue:
 * the wall clock determines how much of their leases has passed meanwhile; if it went backwards, none has.
 */
final class SqliteMeta {

    private final String boot;
    private final long seen;
    private final long bootFloor;
    private final long horizon;

    private SqliteMeta(ResultSet row) throws SQLException {
        this.boot = row.getString(1);
        this.seen = row.getLong(2);
        this.bootFloor = row.getLong(3);
        this.horizon = row.getLong(4);
    }

    /** The greatest token that may have been granted before this boot. */
    long bootFloor() {
        return bootFloor;
    }

    /** The greatest token that may be granted without a flush. */
    long horizon() {
        return horizon;
    }

    /** Reads the row. */
    static SqliteMeta read(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT boot, seen, boot_floor, horizon FROM holdfast_meta")) {
            if (!row.next()) {
                throw new StoreException(
                        Reason.CORRUPT,
                        Effect.NONE,
                        "the table holdfast_meta has no row; " + StatementCache.WHAT_TO_DO,
                        null);
            }
            return new SqliteMeta(row);
        }
    }

    /**
     * Whether recorded times are by another clock than ours.
     *
     * @throws StoreException if they claim to be by ours but cannot be
     */
    boolean isOfAnotherBoot(HostIdentity host, StoreClock clock) {
        if (!boot.equals(host.boot())) {
            return true;
        }
        if (host.hasBootClock() && seen > clock.nowMicros()) {
            throw new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    "the clock of this process is behind the clocks of other processes that use "
                            + "the same file, so it can't tell which leases have expired",
                    null);
        }
        return false;
    }

    /** Writes the first row, for an empty file. */
    static void create(Connection connection, HostIdentity host, StoreClock clock) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO holdfast_meta"
                + " (one, boot, seen, seen_unix, token_floor, boot_floor, horizon, purged, flushes)"
                + " SELECT 1, ?1, ?2, ?3, 0, 0, 0, ?3, 0 WHERE NOT EXISTS (SELECT 1 FROM holdfast_meta)")) {
            insert.setString(1, host.boot());
            insert.setLong(2, clock.nowMicros());
            insert.setLong(3, clock.unixMicros());
            insert.executeUpdate();
        }
    }

    /** Ends everything that a reboot ends, inside a transaction that may write. */
    static void beginBoot(Connection connection, HostIdentity host, StoreClock clock) throws SQLException {
        SqliteMeta old = read(connection);
        if (!old.isOfAnotherBoot(host, clock)) {
            return;
        }
        refuseOtherClock(connection, old, host);
        long now = clock.nowMicros();
        long unix = clock.unixMicros();
        run(connection, "DELETE FROM holdfast_claim WHERE granted = 0 OR binding <> 2 OR ends <= 0");
        run(
                connection,
                "UPDATE holdfast_claim SET ends = ends - (SELECT seen + max(0, ? - seen_unix) FROM holdfast_meta) + ?",
                unix,
                now);
        run(connection, "DELETE FROM holdfast_claim WHERE ends <= ?", now);
        run(
                connection,
                "UPDATE holdfast_resource SET session = 0, claim = 0, weight = 0, first_token = 0, end_token = 0,"
                        + " ends = 0, seq = 0, waiters = 0,"
                        + " grants = (SELECT count(*) FROM holdfast_claim c WHERE c.name = holdfast_resource.name),"
                        + " shared = (SELECT coalesce(sum(weight), 0) FROM holdfast_claim c"
                        + " WHERE c.name = holdfast_resource.name)"
                        + " WHERE session <> 0 OR waiters > 0 OR grants > 0");
        run(
                connection,
                "DELETE FROM holdfast_session"
                        + " WHERE NOT EXISTS (SELECT 1 FROM holdfast_claim c WHERE c.session = holdfast_session.id)");
        run(connection, "UPDATE holdfast_session SET deadline = 0, epoch = ?", SessionRow.RETIRED);
        run(connection, "DELETE FROM holdfast_client");
        try (PreparedStatement update = connection.prepareStatement(
                "UPDATE holdfast_meta SET boot = ?, seen = ?, seen_unix = ?, boot_floor = max(boot_floor, horizon)")) {
            update.setString(1, host.boot());
            update.setLong(2, now);
            update.setLong(3, unix);
            update.executeUpdate();
        }
    }

    /**
     * Refuses a change of clocks while there are sessions: unlike those of an earlier boot, programs that use the wall
     * clock may still be running.
     */
    private static void refuseOtherClock(Connection connection, SqliteMeta old, HostIdentity host) throws SQLException {
        boolean bothCountBoots = host.hasBootClock() && !old.boot.equals(HostIdentity.WALL);
        if (bothCountBoots) {
            return;
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT 1 FROM holdfast_session LIMIT 1")) {
            if (row.next()) {
                throw new StoreException(
                        Reason.DENIED,
                        Effect.NONE,
                        "programs with different clocks have used this file, and may still use it: "
                                + "some could read when the machine was booted, and others could not. Stop "
                                + "these programs, and delete the file",
                        null);
            }
        }
    }

    private static void run(Connection connection, String sql, long... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setLong(i + 1, values[i]);
            }
            statement.executeUpdate();
        }
    }
}
