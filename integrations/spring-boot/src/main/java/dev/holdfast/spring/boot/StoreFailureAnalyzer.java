package dev.holdfast.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Tells why a store could not be opened, and the remedy, instead of a stack trace. */
final class StoreFailureAnalyzer extends AbstractFailureAnalyzer<StoreOpeningException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, StoreOpeningException cause) {
        String action = switch (cause.reason()) {
            case UNAVAILABLE ->
                "Start the store, or correct where it is. An application that is to start without its store"
                        + " sets 'holdfast.startup-policy' to 'retry'.";
            case DENIED -> "Give the store what it asks for, or correct the configuration.";
            case CORRUPT -> "Look at what is there: nothing was overwritten.";
            case CLOSED -> "Keep the store open for as long as the application runs.";
        };
        return new FailureAnalysis(String.valueOf(cause.getMessage()), action, cause);
    }
}
