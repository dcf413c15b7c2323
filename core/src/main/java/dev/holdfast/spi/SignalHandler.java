package dev.holdfast.spi;

/**
 * A handler of signals: one method for each of them, called by {@link Signal#accept}. A signal that is added to the SPI
 * is a compile error in every handler without a method for it.
 */
public interface SignalHandler {

    void granted(Signal.Granted signal);

    void changed(Signal.Changed signal);

    void revoked(Signal.Revoked signal);

    void sessionEnded(Signal.SessionEnded signal);

    void resubscribed(Signal.Resubscribed signal);

    void failedOver(Signal.FailedOver signal);
}
