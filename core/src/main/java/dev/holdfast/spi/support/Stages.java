package dev.holdfast.spi.support;

import java.util.concurrent.CompletionException;

/** What those need who work with {@link java.util.concurrent.CompletionStage stages}. */
public final class Stages {

    private Stages() {}

    /**
     * Why a stage failed, without what it has put around the failure of the stage that it depends on.
     *
     * @param failure as a stage hands it to its dependents
     * @return the first in the chain of causes that is no {@link CompletionException}, or that has no cause
     */
    public static Throwable causeOf(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? causeOf(cause) : failure;
    }
}
