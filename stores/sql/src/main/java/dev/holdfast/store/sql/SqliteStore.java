package dev.holdfast.store.sql;

import dev.holdfast.spi.Caller;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import java.nio.file.Path;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * Locks in one local SQLite file, for the processes of one machine.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class SqliteStore implements LockStore {

    private SqliteStore() {}

    /**
     * Opens a file, and makes it if it isn't there.
     *
     * @throws StoreException if the file can't be used: not a database, not writable, on a network file system, of another version
     */
    public static SqliteStore open(Path file) {
        return builder(file).open();
    }

    /** Begins to set up a store in a file. */
    public static Builder builder(Path file) {
        return new Builder(file);
    }

    /** How others judge whether the holder behind this store is still there. */
    public Presence presence() {
        throw new UnsupportedOperationException();
    }

    @Override
    public StoreTraits traits() {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Reply> execute(Command command, Caller caller) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void subscribe(Consumer<Signal> listener) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }

    /** How hard a commit is. */
    public enum Synchronous {
        /** Each commit is flushed to the disk. */
        FULL,
        /** Commits survive the death of every process, and a power cut may undo the last of them. */
        NORMAL
    }

    /** Sets up a store. Not thread-safe. */
    public static final class Builder {
        private final Path file;

        private Builder(Path file) {
            this.file = file;
        }

        /** How hard a commit is. */
        public Builder synchronous(Synchronous synchronous) {
            throw new UnsupportedOperationException(file + " " + synchronous);
        }

        /**
         * Opens the store.
         *
         * @throws StoreException if the file can't be used
         */
        public SqliteStore open() {
            return new SqliteStore();
        }
    }
}
