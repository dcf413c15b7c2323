package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;

/** The database was deleted or replaced, or another host ended our sessions: grants on it are no longer valid. */
final class DatabaseReplacedException extends Exception {

    private static final long serialVersionUID = 1L;

    private final StoreException failure;

    /** @param failure the failure of new commands */
    DatabaseReplacedException(StoreException failure) {
        super(null, failure, false, false);
        this.failure = failure;
    }

    StoreException failure() {
        return failure;
    }
}
