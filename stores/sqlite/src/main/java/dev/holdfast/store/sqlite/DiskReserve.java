package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.runtime.SystemTime;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Space for keep-alives and releases on a full disk, taken while there is some. These change rows that are there, so
 * they need no page more in the database, and in the write-ahead log only what can be used again:
 *
 * <ul>
 *   <li>The log has a least size. When it can't grow, its content is copied into the database, and the next transaction
 *       overwrites it from its start.
 *   <li>That copy must not need space either. So the database never grows by a commit alone: its number of pages is
 *       limited to what is on the disk, and grows by {@value #STEP_PAGES} free pages at a time, which are written and
 *       copied at once.
 * </ul>
 *
 * <p>It does not help where a file system needs new space to overwrite old (Btrfs, ZFS), or while a read transaction
 * that stays open keeps the log from being used again.
 *
 * <p>Used by the one thread that has the lane.
 */
final class DiskReserve {

    private static final Logger LOG = LoggerFactory.getLogger(DiskReserve.class);

    /** The log holds a transaction of thirty pages, where that of a keep-alive has one or two. */
    static final int LOG_BYTES = 128 * 1024;

    private static final int STEP_PAGES = 32;

    /** What a command may need for a name that is new: rows and indexes, each of which may split its page. */
    private static final int COMMAND_PAGES = 8;

    private static final long WARN_NANOS = 600_000_000_000L;

    /** How long to wait for others: a command waits for it. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    /** A row under a name that is none. */
    private static final String DELETE_FILLER = "DELETE FROM holdfast_count WHERE name = x''";

    private final SqliteFile file;
    private final Connection connection;
    private final long pageBytes;

    /** A limit that was set before ours. */
    private final long maxPages;

    private long failures;
    private long warnedAtNanos;

    DiskReserve(SqliteFile file, Connection connection) throws SQLException {
        this.file = file;
        this.connection = connection;
        this.pageBytes = number("PRAGMA page_size");
        this.maxPages = number("PRAGMA max_page_count");
    }

    /** Takes the space, if it isn't taken yet. Without it the file can be used all the same. */
    void take() {
        try {
            long onDisk = file.path().toFile().length() / pageBytes;
            limitPages(onDisk);
            if (number("PRAGMA page_count") > onDisk) {
                boolean isTaken = grow();
                LOG.trace("file={} space is reserved: {}", file.path(), isTaken);
            }
        } catch (SQLException e) {
            LOG.debug("file={} no space can be reserved: {}", file.path(), e.toString());
        }
        extendLog();
    }

    /** Gives the log its least size again, if it is smaller: others may have truncated it. */
    void extendLog() {
        if (lacking() <= 0) {
            return;
        }
        try {
            // Those who write put their pages where their numbers say, even beyond the end.
            run("BEGIN IMMEDIATE");
            try (OutputStream log = new FileOutputStream(file.log().toFile(), true)) {
                log.write(new byte[(int) Math.max(0, lacking())]);
            } finally {
                run("ROLLBACK");
            }
        } catch (SQLException | IOException e) {
            LOG.debug("file={} the log can't be extended: {}", file.path(), e.toString());
        }
    }

    private long lacking() {
        return LOG_BYTES - file.log().toFile().length();
    }

    /**
     * Called when a transaction found no space, and was undone.
     *
     * @return whether there may be some now
     */
    boolean makeRoom() {
        try {
            boolean isLimited = number("PRAGMA page_count") + COMMAND_PAGES
                    > number("PRAGMA max_page_count") + number("PRAGMA freelist_count");
            if (isLimited && hasSpace() && grow()) {
                return true;
            }
            warn();
            return reuseLog();
        } catch (SQLException e) {
            LOG.debug("file={} no room can be made: {}", file.path(), e.toString());
            return false;
        }
    }

    private void warn() {
        failures++;
        long now = SystemTime.nanoTime();
        if (failures == 1 || now - warnedAtNanos >= WARN_NANOS) {
            warnedAtNanos = now;
            LOG.warn(
                    "file={} there is no room on the disk ({} times since the file was opened): what is held is renewed"
                            + " and released in reserved space, but new locks may be refused; make room",
                    file.path(),
                    failures);
        }
    }

    /**
     * Copies all of the log into the database, so that the next transaction, whose ever it is, overwrites it. Waits for
     * others for a moment.
     */
    private boolean reuseLog() throws SQLException {
        BusyTimeout patience = new BusyTimeout(PATIENCE);
        do {
            if (number("PRAGMA wal_checkpoint(RESTART)") == 0) {
                return true;
            }
        } while (patience.pause());
        return false;
    }

    /** Once for the log and once for the database, and as much for all else. */
    private boolean hasSpace() {
        return file.path().toFile().getUsableSpace() >= 4 * STEP_PAGES * pageBytes;
    }

    /** Adds free pages to the database, and has them on the disk. */
    private boolean grow() throws SQLException {
        long before = number("PRAGMA page_count");
        long pages = Math.min(STEP_PAGES, maxPages - before);
        limitPages(before + pages);
        if (pages < COMMAND_PAGES) {
            return false;
        }
        try {
            // Free pages that were never written would be holes in the file: so a row is written and deleted.
            String filler = "hex(zeroblob(" + (pages - 2) * pageBytes / 2 + "))";
            write(DELETE_FILLER, "INSERT INTO holdfast_count (name, id) VALUES (x'', " + filler + ")");
            write(DELETE_FILLER);
            boolean isOnDisk = reuseLog();
            LOG.trace("file={} has grown, and the new pages are on the disk: {}", file.path(), isOnDisk);
            limitPages(0);
        } catch (SQLException e) {
            if (!SqliteErrorCodes.isBusy(e)) {
                limitPages(0);
                throw e;
            }
            LOG.debug("file={} grows without a reserve: {}", file.path(), e.toString());
        }
        return true;
    }

    /** Makes changes in a transaction; waits for others for a moment. */
    private void write(String... changes) throws SQLException {
        BusyTimeout patience = new BusyTimeout(PATIENCE);
        while (true) {
            try {
                run("BEGIN IMMEDIATE");
                break;
            } catch (SQLException e) {
                if (!SqliteErrorCodes.isBusy(e) || !patience.pause()) {
                    throw e;
                }
            }
        }
        try {
            for (String change : changes) {
                run(change);
            }
            run("COMMIT");
        } catch (SQLException e) {
            // Some failures have undone it already.
            try {
                run("ROLLBACK");
            } catch (SQLException alreadyUndone) {
                e.addSuppressed(alreadyUndone);
            }
            throw e;
        }
    }

    /** Limits the pages of the database, but not to fewer than it has. */
    private void limitPages(long pages) throws SQLException {
        run("PRAGMA max_page_count = " + Math.max(1, Math.min(pages, maxPages)));
    }

    private void run(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            boolean answers = statement.execute(sql);
            assert answers || statement.getUpdateCount() >= -1;
        }
    }

    private long number(String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() ? row.getLong(1) : 0;
        }
    }
}
