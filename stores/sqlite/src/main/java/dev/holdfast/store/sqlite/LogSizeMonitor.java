package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the processes that let the write-ahead log grow. The log is reused from its start only if no transaction reads
 * its content, so one that stays open lets it grow with every commit of any process.
 *
 * <p>Not thread-safe.
 */
final class LogSizeMonitor {

    /** Four times the normal size of the log, so that a merely slow reader does not count. */
    static final long MAX_BYTES = 16L * 1024 * 1024;

    /** A process that reads briefly is in some samples, and one that keeps a transaction open is in all. */
    private static final int SAMPLES = 4;

    // The bytes of the shared memory on which readers have locks, in SQLite's terms WAL_READ_LOCK(0) to (4).
    private static final long FIRST_READER_BYTE = 123;
    private static final long LAST_READER_BYTE = 127;

    private final SqliteFile file;
    private final ProcFs proc;
    private long reportAtBytes = MAX_BYTES;
    private long sinceNanos;
    private int samples;
    private @Nullable Set<Long> readers;

    LogSizeMonitor(SqliteFile file, ProcFs proc) {
        this.file = file;
        this.proc = proc;
    }

    /**
     * Takes a sample. Called from time to time, while the caller has no open transaction.
     *
     * @return a line for the program's log: when the write-ahead log has grown too much, when it has doubled since, and
     *     when it has shrunk again
     */
    Optional<String> sample() {
        long bytes = file.log().toFile().length();
        if (bytes < MAX_BYTES) {
            return end(bytes);
        }
        if (bytes < reportAtBytes) {
            return Optional.empty();
        }
        Set<Long> now = new TreeSet<>(proc.lockOwners(file.sharedMemoryPath(), FIRST_READER_BYTE, LAST_READER_BYTE));
        if (readers == null) {
            readers = now;
        } else {
            readers.retainAll(now);
        }
        samples++;
        if (samples < SAMPLES) {
            return Optional.empty();
        }
        String text = "file=" + file.path() + " the write-ahead log has grown to " + megabytes(bytes)
                + " and keeps growing, because " + describe(readers)
                + "; end that transaction (for example, close an open sqlite3 shell)";
        if (reportAtBytes == MAX_BYTES) {
            sinceNanos = SystemClock.nanoTime();
        }
        reportAtBytes = 2 * bytes;
        samples = 0;
        readers = null;
        return Optional.of(text);
    }

    private Optional<String> end(long bytes) {
        samples = 0;
        readers = null;
        if (reportAtBytes == MAX_BYTES) {
            return Optional.empty();
        }
        reportAtBytes = MAX_BYTES;
        Duration since = Duration.ofNanos(SystemClock.nanoTime() - sinceNanos);
        return Optional.of("file=" + file.path() + " the write-ahead log has shrunk to " + megabytes(bytes) + " after "
                + since.toSeconds() + " s");
    }

    private static String megabytes(long bytes) {
        return (bytes + 500_000) / 1_000_000 + " MB";
    }

    private String describe(Set<Long> processes) {
        if (processes.isEmpty()) {
            return "a process that can't be identified from here keeps a read transaction open";
        }
        String names = processes.stream().map(proc::describe).collect(Collectors.joining(" and "));
        return names + (processes.size() == 1 ? " keeps" : " keep") + " a read transaction open";
    }
}
