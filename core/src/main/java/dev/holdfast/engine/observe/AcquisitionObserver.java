package dev.holdfast.engine.observe;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.HoldfastListener.Acquisition;
import dev.holdfast.HoldfastListener.WaitEnd;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells those who look on what becomes of one acquisition, in its order. All but {@link #serve} is called without any
 * lock of the engine.
 */
public final class AcquisitionObserver {
    private static final Logger log = LoggerFactory.getLogger(AcquisitionObserver.class);

    private final List<Acquisition> told;
    private final ReentrantLock lock = new ReentrantLock();

    /** The hold came from another of this process. Written before the request ends, read after. */
    private boolean isHandedOver;

    // A hold can be lost before the thread that waited for it runs again.
    @GuardedBy("lock")
    private boolean wasGranted;

    @GuardedBy("lock")
    private @Nullable Loss loss;

    AcquisitionObserver(List<Acquisition> told) {
        this.told = told;
    }

    /** A hold is made. Called under the lock of its resource. */
    public void serve(boolean fromAnother) {
        isHandedOver = fromAnother;
    }

    public void granted(long token) {
        tell(one -> one.granted(token, isHandedOver));
        Loss before;
        lock.lock();
        try {
            wasGranted = true;
            before = loss;
        } finally {
            lock.unlock();
        }
        if (before != null) {
            tell(one -> one.lost(before));
        }
    }

    public void notGranted(WaitEnd how) {
        tell(one -> one.notGranted(how));
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
            tell(one -> one.lost(lost));
        }
    }

    /** A grant that came when its request had been given up is told to nobody. */
    public void released(ReleaseOutcome outcome) {
        boolean isKnown;
        lock.lock();
        try {
            isKnown = wasGranted;
        } finally {
            lock.unlock();
        }
        if (isKnown) {
            tell(one -> one.released(outcome));
        }
    }

    private void tell(Consumer<Acquisition> what) {
        for (Acquisition one : told) {
            guarded(() -> what.accept(one));
        }
    }

    static void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            log.warn("a listener for acquisitions failed", e);
        }
    }
}
