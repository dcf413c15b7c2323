package dev.holdfast.engine;

import dev.holdfast.ClientClosedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import java.time.Duration;

/**
 * The words in which a client says what went wrong: what happened, to which lock, on which store, and what to do.
 *
 * @param store the store, for people
 */
record Failures(String store) {

    RuntimeException closed() {
        return new ClientClosedException(store);
    }

    RuntimeException timedOut(String resource, Duration waited) {
        return new LockWaitTimeoutException(resource, store, waited);
    }

    RuntimeException unanswered(String resource) {
        return new StoreUnavailableException(
                "Lock '" + resource + "' could not be asked for: the store " + store
                        + " has not answered. The caller holds nothing; a grant that was under way is withdrawn, or ends"
                        + " with the session.",
                resource,
                store,
                null);
    }

    RuntimeException noSession(Duration within) {
        return new StoreUnavailableException(
                "The store " + store + " did not open a session within " + within
                        + ". Check that it is reachable; nothing is held.",
                "",
                store,
                null);
    }

    RuntimeException unconfirmed(LocalHold hold) {
        return new StoreUnavailableException(
                "The release of '" + hold.name() + "' (token " + hold.rawToken() + ") was not confirmed by the store "
                        + store + ". It is repeated in the background, and the lease ends the hold within "
                        + hold.effectiveLease() + ".",
                hold.name(),
                store,
                null);
    }

    RuntimeException lost(LocalHold hold, Loss.Cause unlessKnown) {
        Loss loss = hold.loss();
        return new LockLostException(loss != null ? loss : new Loss(hold.name(), store, hold.rawToken(), unlessKnown));
    }

    /** For a lock, or for the whole client where the name is empty. */
    RuntimeException ofStore(String resource, StoreException failure) {
        String what = resource.isEmpty() ? "The store " + store : "Lock '" + resource + "' on the store " + store;
        if (failure.reason() == Reason.UNAVAILABLE || failure.reason() == Reason.CLOSED) {
            return new StoreUnavailableException(
                    what + " can't be reached: " + failure.getMessage()
                            + ". The caller holds nothing new; a grant that was under way is withdrawn, or ends with"
                            + " the session.",
                    resource,
                    store,
                    failure);
        }
        return new StoreRefusedException(what + " can't be used: " + failure.getMessage(), resource, store, failure);
    }
}
