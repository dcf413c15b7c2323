package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** The meaning of SQLite's result codes. */
final class SqliteErrorCodes {

    // Primary result codes of SQLite; the upper bits of an extended code add details.
    private static final int PERM = 3;
    static final int BUSY = 5;
    private static final int LOCKED = 6;
    private static final int READONLY = 8;
    private static final int IOERR = 10;
    private static final int CORRUPT = 11;
    private static final int FULL = 13;
    private static final int CANTOPEN = 14;
    private static final int PROTOCOL = 15;
    private static final int SCHEMA = 17;
    private static final int AUTH = 23;
    private static final int NOTADB = 26;

    /** Enough to open a database: the file, its log, its shared memory, and some more. */
    private static final int DESCRIPTORS = 5;

    private SqliteErrorCodes() {}

    static int code(SQLException failure) {
        return failure instanceof SQLiteException sqlite
                ? sqlite.getResultCode().code & 0xff
                : failure.getErrorCode() & 0xff;
    }

    /** Whether another process is using the database: nothing was done, and a retry is worthwhile. */
    static boolean isBusy(SQLException failure) {
        int code = code(failure);
        return code == BUSY || code == LOCKED || code == PROTOCOL || code == SCHEMA;
    }

    /** Whether a file cannot grow, because the disk is full or the user's quota is used up. */
    static boolean isFull(SQLException failure) {
        return code(failure) == FULL
                || (failure instanceof SQLiteException sqlite
                        && sqlite.getResultCode() == SQLiteErrorCode.SQLITE_IOERR_WRITE);
    }

    /**
     * The effect of a failed statement that is its own transaction. If it failed in its commit, the effect is unknown.
     */
    static Effect effectOf(SQLException failure) {
        int code = code(failure);
        return switch (code) {
            case PERM, BUSY, LOCKED, READONLY, CANTOPEN, PROTOCOL, SCHEMA, AUTH, NOTADB -> Effect.NONE;
            default -> Effect.UNKNOWN;
        };
    }

    /**
     * Whether this process or the host lacks file descriptors for a database: SQLite reports the same error for every
     * file that cannot be opened.
     */
    static boolean lacksDescriptors() {
        Path anything = Path.of("/dev/null");
        List<InputStream> open = new ArrayList<>();
        try {
            for (int i = 0; i < DESCRIPTORS && Files.isReadable(anything); i++) {
                open.add(new FileInputStream(anything.toFile()));
            }
            return false;
        } catch (FileNotFoundException e) {
            return true;
        } finally {
            open.forEach(SqliteErrorCodes::close);
        }
    }

    private static void close(InputStream stream) {
        try {
            stream.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static StoreException noDescriptors(Path file, Effect effect, Exception failure) {
        return new StoreException(
                Reason.UNAVAILABLE,
                effect,
                "the file " + file + " or one next to it can't be opened, because this process or the machine has no "
                        + "free file descriptor; find out what keeps files or connections open, or raise the "
                        + "limit (ulimit -n)",
                failure);
    }

    static StoreException translated(SQLException failure, Effect effect, Path file) {
        return switch (code(failure)) {
            case BUSY, LOCKED, PROTOCOL, SCHEMA ->
                new StoreException(
                        Reason.UNAVAILABLE,
                        effect,
                        "other programs kept the file " + file
                                + " busy for too long; look for a program with an open transaction on it",
                        failure);
            case FULL ->
                new StoreException(
                        Reason.DENIED,
                        effect,
                        "the disk has no space left for the file " + file + "; free some",
                        failure);
            case READONLY, PERM, AUTH ->
                new StoreException(
                        Reason.DENIED,
                        effect,
                        "the file " + file + " or its directory can't be written by this user",
                        failure);
            case CANTOPEN ->
                lacksDescriptors()
                        ? noDescriptors(file, effect, failure)
                        : new StoreException(
                                Reason.DENIED,
                                effect,
                                "the file " + file + " or one next to it can't be opened by this user",
                                failure);
            case NOTADB ->
                new StoreException(
                        Reason.DENIED,
                        effect,
                        "the file " + file + " is not a SQLite database; it was not touched",
                        failure);
            case CORRUPT ->
                new StoreException(
                        Reason.CORRUPT,
                        effect,
                        "the database file " + file + " is damaged and must be repaired by hand",
                        failure);
            case IOERR ->
                new StoreException(
                        Reason.UNAVAILABLE,
                        effect,
                        "reading or writing the file " + file + " failed: " + failure.getMessage(),
                        failure);
            default ->
                new StoreException(
                        Reason.UNAVAILABLE, effect, "the file " + file + " failed: " + failure.getMessage(), failure);
        };
    }
}
