package dev.holdfast.spring.boot;

import dev.holdfast.spi.StoreException;

/** A store could not be opened when the application started. */
final class StoreOpeningException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final StoreException.Reason reason;

    StoreOpeningException(String place, StoreException cause) {
        super("The lock store on " + place + " could not be opened: " + cause.getMessage(), cause);
        this.reason = cause.reason();
    }

    StoreException.Reason reason() {
        return reason;
    }
}
