package dev.holdfast.store.register.client;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.Stages;

/** The failures of a register store. */
final class RegisterFailures {

    private RegisterFailures() {}

    static StoreException closed(Effect effect) {
        return new StoreException(Reason.CLOSED, effect, "the store was closed by this client", null);
    }

    /** The failure that a store reports for a stage that failed. */
    static StoreException of(Throwable failure) {
        Throwable cause = Stages.causeOf(failure);
        if (cause instanceof StoreException known) {
            return known;
        }
        return new StoreException(
                Reason.CORRUPT, Effect.UNKNOWN, "the store failed with an unexpected error: " + cause, cause);
    }

    /** The failure of a request that follows others whose effect is unknown. */
    static StoreException withUnknownEffect(StoreException failure) {
        return failure.effect() == Effect.UNKNOWN
                ? failure
                : new StoreException(failure.reason(), Effect.UNKNOWN, String.valueOf(failure.getMessage()), failure);
    }

    /** The failure of a request that could not change anything. */
    static StoreException withoutEffect(Throwable failure) {
        StoreException known = of(failure);
        return known.effect() == Effect.NONE
                ? known
                : new StoreException(known.reason(), Effect.NONE, String.valueOf(known.getMessage()), known);
    }
}
