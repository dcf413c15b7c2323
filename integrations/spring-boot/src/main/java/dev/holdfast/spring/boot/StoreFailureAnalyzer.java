package dev.holdfast.spring.boot;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.StoreException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports why a store could not be opened, and the remedy, instead of a stack trace. */
final class StoreFailureAnalyzer extends AbstractFailureAnalyzer<HoldfastException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, HoldfastException cause) {
        String action;
        if (cause instanceof StoreUnavailableException) {
            action = "Start the store, or correct its address. To start the application without its store, "
                    + "set 'holdfast.startup-policy' to 'retry'.";
        } else if (cause instanceof StoreRefusedException) {
            StoreException store = findCause(cause, StoreException.class);
            action = store != null && store.reason() == StoreException.Reason.CORRUPT
                    ? "Inspect the store's data: nothing was overwritten."
                    : "Meet the store's requirement, or correct the configuration.";
        } else {
            return null;
        }
        return new FailureAnalysis(String.valueOf(cause.getMessage()), action, cause);
    }
}
