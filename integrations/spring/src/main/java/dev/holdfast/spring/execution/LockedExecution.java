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
 * can tell a lock that it could not get from a failure of the work.
 */
public final class LockedExecution {

    private static final Logger LOG = LoggerFactory.getLogger(LockedExecution.class);
    private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            LockedExecution.class.getClassLoader());

    /** Of work whose name is made at run time there may be no end. */
    private static final int MOST_WARNINGS = 1_000;

    private final Consumer<LockLostEvent> lossEvents;
    private final Set<String> warnedOf = ConcurrentHashMap.newKeySet();

    /**
     * Tells losses to one receiver.
     *
     * @param lossEvents called on a thread of its own when locks are lost while work runs
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
     * Runs work under locks, and releases them when it ends, or when the transaction of the calling thread does.
     *
     * @throws LockLostException if a lock was lost before the work ended, unless the settings say that the event is
     *     enough; what the work threw is suppressed in it
     */
    public <T extends @Nullable Object, E extends Throwable> T run(
            LockRequest request, HeldLocks held, LockedWork<T, E> work) throws E {
        boolean bound = TRANSACTIONS_PRESENT && TransactionBinding.bind(request, held);
        if (bound) {
            warnOnce(request.work());
        }
        LossInterrupt interrupt = LossInterrupt.begin();
        boolean interrupts = request.settings().onLoss() == LossReaction.INTERRUPT;
        held.onLost(loss -> {
            if (interrupts) {
                interrupt.fire();
            }
            lossEvents.accept(new LockLostEvent(request.work(), request.names(), loss));
        });
        T result;
        try {
            HeldStack stack = HeldStack.push(held);
            try {
                result = work.run();
            } finally {
                stack.pop();
                interrupt.end();
            }
        } catch (Throwable failure) {
            endAfter(failure, request, held, bound);
            if (failure instanceof InterruptedException) {
                interrupt.passOn();
            }
            throw failure;
        }
        end(request, held, bound);
        return result;
    }

    private void warnOnce(String work) {
        if (warnedOf.size() < MOST_WARNINGS && warnedOf.add(work)) {
            LOG.warn(
                    "{} takes its lock inside a transaction that has begun before: it keeps the lock until that ends,"
                            + " and may see data from before it had the lock. Take the lock outside, for instance with"
                            + " @Locked on the method that begins the transaction.",
                    work);
        }
    }

    private static void endAfter(Throwable failure, LockRequest request, HeldLocks held, boolean bound) {
        try {
            end(request, held, bound);
        } catch (LockLostException lost) {
            lost.addSuppressed(failure);
            throw lost;
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    private static void end(LockRequest request, HeldLocks held, boolean bound) {
        try {
            if (bound) {
                held.failIfLost();
            } else {
                held.close();
            }
        } catch (LockLostException lost) {
            if (request.settings().onLoss() != LossReaction.EVENT) {
                throw lost;
            }
        } catch (StoreUnavailableException e) {
            // The work is done and the lock was good to its end: a failure here would have callers do it again.
            LOG.warn("resource={} store={} The release was not confirmed; it is repeated", e.resource(), e.store(), e);
        }
    }
}
