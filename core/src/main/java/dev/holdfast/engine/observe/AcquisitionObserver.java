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
 * A hold can be lost and released before its grant was reported: before its waiting thread runs again, or if another
 * thread sees the stage complete first. The state is one reference, and this object is that AtomicReference, which
 * saves an object in each acquisition. It is null until the grant is reported, then holds events that came too early
 * until they are reported, and is GRANTED afterwards. The thread that reports the grant also reports earlier events.
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
        do {
            if (getAndSet(null) instanceof Early early) {
                early.report(this);
            }
        } while (!compareAndSet(null, GRANTED));
    }

    public void notGranted(WaitEnd end) {
        try {
            listener.onNotGranted(end);
        } catch (RuntimeException | Error e) {
            log(e);
        }
    }

    public void lost(Loss lost) {
        if (!isEarly(lost, null)) {
            report(lost);
        }
    }

    /** The owner begins to release the hold; not reported before the grant was. */
    public void releasing() {
        if (get() == GRANTED) {
            try {
                listener.onReleasing();
            } catch (RuntimeException | Error e) {
                log(e);
            }
        }
    }

    /** A grant that came after its request had been cancelled is not reported. */
    public void released(ReleaseOutcome outcome) {
        if (!isEarly(null, outcome)) {
            report(outcome);
        }
    }

    /** Whether the grant was not reported yet; then the event is kept until it is. */
    private boolean isEarly(@Nullable Loss loss, @Nullable ReleaseOutcome outcome) {
        Object before = get();
        while (before != GRANTED) {
            Early more = before instanceof Early early ? early.with(loss, outcome) : new Early(loss, outcome);
            if (compareAndSet(before, more)) {
                return true;
            }
            before = get();
        }
        return false;
    }

    /** The events before the grant was reported. */
    private record Early(@Nullable Loss loss, @Nullable ReleaseOutcome outcome) {

        Early with(@Nullable Loss moreLoss, @Nullable ReleaseOutcome moreOutcome) {
            return new Early(loss == null ? moreLoss : loss, outcome == null ? moreOutcome : outcome);
        }

        void report(AcquisitionObserver observer) {
            if (loss != null) {
                observer.report(loss);
            }
            if (outcome != null) {
                observer.report(outcome);
            }
        }
    }

    private void report(Loss lost) {
        try {
            listener.onLost(lost);
        } catch (RuntimeException | Error e) {
            log(e);
        }
    }

    private void report(ReleaseOutcome outcome) {
        try {
            listener.onReleased(outcome);
        } catch (RuntimeException | Error e) {
            log(e);
        }
    }

    static void log(Throwable thrown) {
        log.warn("a listener of the client failed", thrown);
    }
}
