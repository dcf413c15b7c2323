package dev.holdfast.spi.support;

import java.util.concurrent.CompletionException;

/** Helpers for {@link java.util.concurrent.CompletionStage stages}. */
public final class Stages {

    private Stages() {}

    /**
     * The failure of a stage, without the exceptions that dependent stages wrap around it.
     *
     * @param failure as a stage hands it to its dependents
     * @return the first in the chain of causes that is not a {@link CompletionException}, or that has no cause
     */
    public static Throwable causeOf(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? causeOf(cause) : failure;
    }
}
