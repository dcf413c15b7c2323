package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;

/** The database of our sessions is no more, or ended them behind our back: nothing that was granted on it holds. */
final class DatabaseReplacedException extends Exception {

    private static final long serialVersionUID = 1L;

    private final StoreException failure;

    /** @param failure what to tell whoever asks for something new */
    DatabaseReplacedException(StoreException failure) {
        super(null, failure, false, false);
        this.failure = failure;
    }

    StoreException failure() {
        return failure;
    }
}
