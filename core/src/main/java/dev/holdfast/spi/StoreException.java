package dev.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * A store did not answer a command. Whether the command had an effect is part of it, and the two cases are never mixed.
 */
public final class StoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** What is known about the effect of the command. */
    public enum Effect {
        /** It had none, and will have none. */
        NONE,
        /** It may have had one, or may still have it. */
        UNKNOWN
    }

    /** What went wrong, as far as the client acts on it. */
    public enum Reason {
        /** The store can't be reached, is too slow or is shutting down: trying again may help. */
        UNAVAILABLE,
        /**
         * What the store holds at our place is not ours or is damaged: nothing was overwritten, and a person must look.
         */
        CORRUPT,
        /**
         * The store refuses this client: credentials, permissions, read-only, disk full, wrong schema. A person must
         * act.
         */
        DENIED,
        /** This client has closed the store. */
        CLOSED
    }

    private final Effect effect;
    private final Reason reason;

    /** Says what happened, in words that stand in the user's message; never with credentials. */
    public StoreException(Reason reason, Effect effect, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
        this.effect = effect;
    }

    /** What is known about the effect of the command. */
    public Effect effect() {
        return effect;
    }

    /** What went wrong. */
    public Reason reason() {
        return reason;
    }
}
