package dev.holdfast.cli;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.sqlite.SqliteStore;
import java.util.Map;

/**
 * How a store on this machine learns which processes a lock protects, so that it stays taken when this process is
 * killed and the command runs on, and is free at once when all are gone.
 */
interface Presence {

    /** For stores that go by the lease alone. */
    Presence NONE = new Presence() {
        @Override
        public void leaseOnly() {}

        @Override
        public void mark(Map<String, String> environment) {}

        @Override
        public void follow(long pid) {}
    };

    /**
     * From now on the death of this process says nothing: a command may have been started that the store does not know
     * yet.
     *
     * @throws StoreException if that could not be recorded; then the command must not be started
     */
    void leaseOnly();

    /** Marks the environment of the command, for the store to find what it started. */
    void mark(Map<String, String> environment);

    /**
     * From now on the lock lasts as long as this process or one of the command's lives, and the lease.
     *
     * @throws StoreException if that could not be recorded; then the lease alone counts
     */
    void follow(long pid);

    /** What a store offers. */
    static Presence of(LockStore store) {
        return store instanceof SqliteStore sqlite ? new OfSqlite(sqlite.presence()) : NONE;
    }

    /** The store in a file knows the processes of its machine. */
    record OfSqlite(dev.holdfast.store.sqlite.Presence presence) implements Presence {

        @Override
        public void leaseOnly() {
            presence.leaseOnly();
        }

        @Override
        public void mark(Map<String, String> environment) {
            presence.mark(environment);
        }

        @Override
        public void follow(long pid) {
            presence.follow(pid);
        }
    }
}
