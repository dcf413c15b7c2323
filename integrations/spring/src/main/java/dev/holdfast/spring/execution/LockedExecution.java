package dev.holdfast.spring.execution;

import dev.holdfast.LockLostException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.support.LossInterrupt;
import dev.holdfast.spring.LockLostEvent;
import dev.holdfast.spring.LockedWork;
import dev.holdfast.spring.LossReaction;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/**
 * Runs work on the calling thread under locks that belong to it. Acquiring and running are two steps, so that a caller
 * can distinguish a failed acquisition from a failure of the work.
 */
public final class LockedExecution {

    private static final Logger LOG = LoggerFactory.getLogger(LockedExecution.class);
    private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            LockedExecution.class.getClassLoader());

    /** A bound, since descriptions of work that are built at run time may be unlimited in number. */
    private static final int MAX_WARNINGS = 1_000;

    private final Consumer<LockLostEvent> lossEvents;
    private final Set<String> warnedWork = ConcurrentHashMap.newKeySet();

    /**
     * An execution that reports losses.
     *
     * @param lossEvents called on a separate thread when locks are lost while work runs
     */
    public LockedExecution(Consumer<LockLostEvent> lossEvents) {
        this.lossEvents = lossEvents;
    }

    /**
     * Acquires the locks of a request, for {@link #run}.
     *
     * @throws IllegalStateException if the settings refuse the transaction of the calling thread
     */
    public HeldLocks acquire(LockRequest request) throws InterruptedException {
        if (TRANSACTIONS_PRESENT) {
            TransactionBinding.check(request);
        }
        return request.acquire();
    }

    /**
     * Runs work under locks, and releases them when the work ends, or when the calling thread's transaction does.
     *
     * @throws LockLostException if a lock was lost before the work ended, unless the settings ask only for an event; an
     *     exception of the work is suppressed in it
     */
    public <T extends @Nullable Object, E extends Throwable> T run(
            LockRequest request, HeldLocks locks, LockedWork<T, E> work) throws E {
        boolean bound = TRANSACTIONS_PRESENT && TransactionBinding.bind(request, locks);
        if (bound) {
            warnOnce(request.work());
        }
        LossInterrupt interrupt = LossInterrupt.begin();
        boolean interrupts = request.settings().onLoss() == LossReaction.INTERRUPT;
        locks.onLost(loss -> {
            if (interrupts) {
                interrupt.fire();
            }
            lossEvents.accept(new LockLostEvent(request.work(), request.names(), loss));
        });
        T result;
        try {
            HeldStack stack = HeldStack.push(locks);
            try {
                result = work.run();
            } finally {
                stack.pop();
                interrupt.end();
            }
        } catch (Throwable failure) {
            endAfter(failure, request, locks, bound);
            if (failure instanceof InterruptedException) {
                interrupt.passOn();
            }
            throw failure;
        }
        end(request, locks, bound);
        return result;
    }

    private void warnOnce(String work) {
        if (warnedWork.size() < MAX_WARNINGS && warnedWork.add(work)) {
            LOG.warn(
                    "{} acquires its lock inside a transaction that has already begun: it keeps "
                            + "the lock until the transaction ends, and may read data older than the lock. "
                            + "Acquire the lock outside, for example with @Locked on the method that begins "
                            + "the transaction.",
                    work);
        }
    }

    private static void endAfter(Throwable failure, LockRequest request, HeldLocks locks, boolean bound) {
        try {
            end(request, locks, bound);
        } catch (LockLostException lost) {
            lost.addSuppressed(failure);
            throw lost;
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    private static void end(LockRequest request, HeldLocks locks, boolean bound) {
        try {
            if (bound) {
                locks.failIfLost();
            } else {
                locks.close();
            }
        } catch (LockLostException lost) {
            if (request.settings().onLoss() != LossReaction.EVENT) {
                throw lost;
            }
        } catch (StoreUnavailableException e) {
            // The work has ended and its lock was valid until then: an exception would make callers repeat the work.
            LOG.warn("resource={} store={} the release was not confirmed; it is retried", e.resource(), e.store(), e);
        }
    }
}
