package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.runtime.SystemClock;
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
 * Space for keep-alives and releases on a full disk, reserved while there is some. These commands change existing rows,
 * so they need no new pages in the database, and in the write-ahead log only space that can be reused:
 *
 * <ul>
 *   <li>The log has a minimum size. When it cannot grow, its content is copied into the database, and the next
 *   transaction overwrites it from the start.
 *   <li>That copy must not need space either. So a commit alone never extends the database: its number of pages is
 *   limited to those on the disk, and it grows by {@value #STEP_PAGES} free pages at a time, which are written and
 *   copied at once.
 * </ul>
 *
 * <p>It does not help on file systems that need new space to overwrite old data (Btrfs, ZFS), or while a long read
 * transaction prevents reuse of the log.
 *
 * <p>Used by the one thread that owns the lane.
 */
final class DiskReserve {

    private static final Logger LOG = LoggerFactory.getLogger(DiskReserve.class);

    /** Enough for a transaction of thirty pages; a keep-alive needs one or two. */
    static final int LOG_BYTES = 128 * 1024;

    private static final int STEP_PAGES = 32;

    /** The pages that a command may need for a new name: rows and indexes, each of which may split a page. */
    private static final int COMMAND_PAGES = 8;

    private static final long WARN_NANOS = 600_000_000_000L;

    /** How long to wait for other processes; a command waits meanwhile. */
    private static final Duration MAX_WAIT = Duration.ofMillis(500);

    /** Deletes the row under an invalid name. */
    private static final String DELETE_FILLER = "DELETE FROM holdfast_count WHERE name = x''";

    private final SqliteFile file;
    private final Connection connection;
    private final long pageBytes;

    /** The initial page limit. */
    private final long maxPages;

    private long failures;
    private long warnedAtNanos;

    DiskReserve(SqliteFile file, Connection connection) throws SQLException {
        this.file = file;
        this.connection = connection;
        this.pageBytes = number("PRAGMA page_size");
        this.maxPages = number("PRAGMA max_page_count");
    }

    /** Reserves the space, if it is not reserved yet. The file can also be used without it. */
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

    /** Restores the minimum size of the log, which others may have truncated. */
    void extendLog() {
        if (lacking() <= 0) {
            return;
        }
        try {
            // Writers put pages at offsets given by their numbers, even beyond the end.
            run("BEGIN IMMEDIATE");
            try (OutputStream log = new FileOutputStream(file.log().toFile(), true)) {
                log.write(new byte[(int) Math.max(0, lacking())]);
            } finally {
                run("ROLLBACK");
            }
        } catch (SQLException | IOException e) {
            LOG.debug("file={} the write-ahead log can't be extended: {}", file.path(), e.toString());
        }
    }

    private long lacking() {
        return LOG_BYTES - file.log().toFile().length();
    }

    /**
     * Called when a transaction found no space and was rolled back.
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
            LOG.debug("file={} no space can be freed: {}", file.path(), e.toString());
            return false;
        }
    }

    private void warn() {
        failures++;
        long now = SystemClock.nanoTime();
        if (failures == 1 || now - warnedAtNanos >= WARN_NANOS) {
            warnedAtNanos = now;
            LOG.warn(
                    "file={} the disk is full ({} times since the file was opened): held locks are "
                            + "renewed and released in reserved space, but new locks may be rejected; free "
                            + "some space",
                    file.path(),
                    failures);
        }
    }

    /**
     * Copies the whole log into the database, so that the next transaction of any process overwrites it. Waits briefly
     * for others.
     */
    private boolean reuseLog() throws SQLException {
        BusyTimeout busyTimeout = new BusyTimeout(MAX_WAIT);
        do {
            if (number("PRAGMA wal_checkpoint(RESTART)") == 0) {
                return true;
            }
        } while (busyTimeout.pause());
        return false;
    }

    /** One step for the log, one for the database, and as much again for everything else. */
    private boolean hasSpace() {
        return file.path().toFile().getUsableSpace() >= 4 * STEP_PAGES * pageBytes;
    }

    /** Adds free pages to the database and writes them to the disk. */
    private boolean grow() throws SQLException {
        long before = number("PRAGMA page_count");
        long pages = Math.min(STEP_PAGES, maxPages - before);
        limitPages(before + pages);
        if (pages < COMMAND_PAGES) {
            return false;
        }
        try {
            // Free pages that were never written would be holes in the file, so write a row and delete it.
            String filler = "hex(zeroblob(" + (pages - 2) * pageBytes / 2 + "))";
            write(DELETE_FILLER, "INSERT INTO holdfast_count (name, id) VALUES (x'', " + filler + ")");
            write(DELETE_FILLER);
            boolean isOnDisk = reuseLog();
            LOG.trace("file={} has grown; the new pages are written to the disk: {}", file.path(), isOnDisk);
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

    /** Makes changes in a transaction; waits briefly for others. */
    private void write(String... changes) throws SQLException {
        BusyTimeout busyTimeout = new BusyTimeout(MAX_WAIT);
        while (true) {
            try {
                run("BEGIN IMMEDIATE");
                break;
            } catch (SQLException e) {
                if (!SqliteErrorCodes.isBusy(e) || !busyTimeout.pause()) {
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
            // SQLite has already rolled back after some failures.
            try {
                run("ROLLBACK");
            } catch (SQLException alreadyUndone) {
                e.addSuppressed(alreadyUndone);
            }
            throw e;
        }
    }

    /** Limits the pages of the database; SQLite ignores a limit below the present number. */
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
