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
 * A hold can be lost, and released, before its grant has been told: before the thread that waited for it runs again, or
 * where another thread sees the stage complete first. So the state is one reference, which this object is, to be one
 * object less in each acquisition: null while the grant has not been told; what came too early, until that is told; and
 * GRANTED from when both were. Whoever tells the grant tells what came before it.
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
                early.tell(this);
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
            tell(lost);
        }
    }

    /** A grant that came after its request had been cancelled is not reported. */
    public void released(ReleaseOutcome outcome) {
        if (!isEarly(null, outcome)) {
            tell(outcome);
        }
    }

    /** Whether the grant has not been told; then this is kept until it is. */
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

    /** What happened before the grant was told. */
    private record Early(@Nullable Loss loss, @Nullable ReleaseOutcome outcome) {

        Early with(@Nullable Loss moreLoss, @Nullable ReleaseOutcome moreOutcome) {
            return new Early(loss == null ? moreLoss : loss, outcome == null ? moreOutcome : outcome);
        }

        void tell(AcquisitionObserver observer) {
            if (loss != null) {
                observer.tell(loss);
            }
            if (outcome != null) {
                observer.tell(outcome);
            }
        }
    }

    private void tell(Loss lost) {
        try {
            listener.onLost(lost);
        } catch (RuntimeException | Error e) {
            log(e);
        }
    }

    private void tell(ReleaseOutcome outcome) {
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
