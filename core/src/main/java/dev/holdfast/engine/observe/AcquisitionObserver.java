package dev.holdfast.engine.observe;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.AcquisitionListener.GrantSource;
import dev.holdfast.AcquisitionListener.WaitEnd;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A hold can be lost before the thread that waited for it runs again. So the state is one reference, which this object
 * is, to be one object less in each acquisition: null while the grant has not been told; the loss, if that came first;
 * and GRANTED from when the grant was told. Whoever moves it there second tells the loss.
 */

/**
 * Notifies the listener of one acquisition, in the order of its events. All but {@link #serve} is called without any
 * lock of the engine.
 */
public final class AcquisitionObserver extends AtomicReference<@Nullable Object> {
    private static final Logger log = LoggerFactory.getLogger(AcquisitionObserver.class);

    private static final long serialVersionUID = 1L;
    private static final Object GRANTED = new Object();

    private final transient AcquisitionListener listener;

    /** Written before the request ends, read after. */
    private GrantSource source = GrantSource.STORE;

    AcquisitionObserver(AcquisitionListener listener) {
        this.listener = listener;
    }

    /** A hold is made. Called under the lock of its resource. */
    public void serve(GrantSource from) {
        source = from;
    }

    public void granted(long token) {
        try {
            listener.onGranted(token, source);
        } catch (RuntimeException | Error e) {
            log(e);
        }
        if (getAndSet(GRANTED) instanceof Loss before) {
            tell(before);
        }
    }

    public void notGranted(WaitEnd end) {
        try {
            listener.onNotGranted(end);
        } catch (RuntimeException | Error e) {
            log(e);
        }
    }

    public void lost(Loss lost) {
        if (!compareAndSet(null, lost) && get() == GRANTED) {
            tell(lost);
        }
    }

    private void tell(Loss lost) {
        try {
            listener.onLost(lost);
        } catch (RuntimeException | Error e) {
            log(e);
        }
    }

    /** A grant that came after its request had been cancelled is not reported. */
    public void released(ReleaseOutcome outcome) {
        if (get() == GRANTED) {
            try {
                listener.onReleased(outcome);
            } catch (RuntimeException | Error e) {
                log(e);
            }
        }
    }

    static void log(Throwable thrown) {
        log.warn("a listener of the client failed", thrown);
    }
}
