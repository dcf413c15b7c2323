package dev.holdfast.engine.observe;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.AcquisitionListener;
import dev.holdfast.AcquisitionListener.GrantSource;
import dev.holdfast.AcquisitionListener.WaitEnd;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies the listeners of one acquisition, in the order of its events. All but {@link #serve} is called without any
 * lock of the engine.
 */
public final class AcquisitionObserver {
    private static final Logger log = LoggerFactory.getLogger(AcquisitionObserver.class);

    private final List<AcquisitionListener> listeners;
    private final ReentrantLock lock = new ReentrantLock();

    /** Written before the request ends, read after. */
    private GrantSource source = GrantSource.STORE;

    // A hold can be lost before the thread that waited for it runs again.
    @GuardedBy("lock")
    private boolean wasGranted;

    @GuardedBy("lock")
    private @Nullable Loss loss;

    AcquisitionObserver(List<AcquisitionListener> listeners) {
        this.listeners = listeners;
    }

    /** A hold is made. Called under the lock of its resource. */
    public void serve(GrantSource from) {
        source = from;
    }

    public void granted(long token) {
        notifyAll(one -> one.onGranted(token, source));
        Loss before;
        lock.lock();
        try {
            wasGranted = true;
            before = loss;
        } finally {
            lock.unlock();
        }
        if (before != null) {
            notifyAll(one -> one.onLost(before));
        }
    }

    public void notGranted(WaitEnd end) {
        notifyAll(one -> one.onNotGranted(end));
    }

    public void lost(Loss lost) {
        boolean isNow;
        lock.lock();
        try {
            isNow = wasGranted;
            loss = lost;
        } finally {
            lock.unlock();
        }
        if (isNow) {
            notifyAll(one -> one.onLost(lost));
        }
    }

    /** A grant that came after its request had been cancelled is not reported. */
    public void released(ReleaseOutcome outcome) {
        boolean isKnown;
        lock.lock();
        try {
            isKnown = wasGranted;
        } finally {
            lock.unlock();
        }
        if (isKnown) {
            notifyAll(one -> one.onReleased(outcome));
        }
    }

    private void notifyAll(Consumer<AcquisitionListener> event) {
        for (AcquisitionListener one : listeners) {
            guarded(() -> event.accept(one));
        }
    }

    static void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            log.warn("a listener of the client failed", e);
        }
    }
}
