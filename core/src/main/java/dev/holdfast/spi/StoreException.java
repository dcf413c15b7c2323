package dev.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * A store did not answer a command. It says whether the command is known to have had no effect.
 */
public final class StoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** What is known about the effect of the command. */
    public enum Effect {
        /** It had none, and will have none. */
        NONE,
        /** It may have had one, or may still have one. */
        UNKNOWN
    }

    /** The kind of failure, as far as the client reacts to it. */
    public enum Reason {
        /** The store can't be reached, is too slow or is shutting down: a retry may help. */
        UNAVAILABLE,
        /**
         * The data in our place is not ours or is damaged: nothing was overwritten, and a person must act.
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

    /** With a text that becomes a part of the user's message; never with credentials. */
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
