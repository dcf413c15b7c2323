package dev.holdfast.verification.world;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.ForkJoinPool.ManagedBlocker;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/*
 * Time that a test moves may only pass while no actor is in the middle of something: the time-out of a command would
 * otherwise be over in an instant of real time, while the thread that sends the command waits for a processor.
 *
 * An actor is at rest when it has nothing to do, or is blocked and nothing has woken it. The state of a thread does not
 * tell the latter: a thread that was woken stays WAITING until it gets a processor. What waits for a CompletableFuture
 * can be asked. Any other parked thread is unparked, which every parked thread must put up with, and is at rest once it
 * has looked for what it waits for and parked again: then all that had woken it before was too little.
 */

/** Whether one actor is at rest. Used by the thread that moves time. */
final class Rest {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Actor actor;

    /** Where the actor was at rest the last time. */
    private Place place = new Place(0, null, 0);

    /** How often the actor had waited when it was unparked to look again; negative before that. */
    private long waitsBefore;

    /**
     * Where an actor rests.
     *
     * @param ended how many deeds are over
     * @param blocker what it waits for; null if nothing
     * @param waits how often it has waited so far, as of the last time that it was unparked
     */
    private record Place(int ended, @Nullable Object blocker, long waits) {}

    Rest(Actor actor) {
        this.actor = actor;
    }

    /** Waits until the actor is at rest; returns whether it has not moved since it was so the last time. */
    boolean isUndisturbed() {
        Place before = place;
        waitsBefore = -1;
        Eventually.holds(
                actor.thread().getName() + " is at rest, but it is "
                        + actor.thread().getState(),
                this::isAtRest);
        return place.ended == before.ended
                && place.blocker == before.blocker
                && (waitsBefore < 0 || (waitsBefore == before.waits && place.waits == waitsBefore + 1));
    }

    private boolean isAtRest() {
        Thread thread = actor.thread();
        if (actor.isIdle() || thread == Thread.currentThread()) {
            return isAt(null);
        }
        Thread.State state = thread.getState();
        Object blocker = LockSupport.getBlocker(thread);
        if (!actor.isBusy() || thread.isInterrupted()) {
            return false;
        }
        if (state == Thread.State.TIMED_WAITING) {
            // It looks again by itself, and may do so for ever while time stands.
            return isAt(blocker);
        }
        if (state != Thread.State.WAITING || isMutex(blocker)) {
            return false;
        }
        if (blocker instanceof ManagedBlocker future) {
            return !future.isReleasable() && isAt(future);
        }
        return blocker == null ? isAt(null) : hasLookedAgain(blocker);
    }

    private boolean isAt(@Nullable Object blocker) {
        place = new Place(actor.ended(), blocker, place.waits);
        return true;
    }

    private boolean hasLookedAgain(Object blocker) {
        long waits = THREADS.getThreadInfo(actor.thread().getId()).getWaitedCount();
        if (waitsBefore < 0) {
            waitsBefore = waits;
            LockSupport.unpark(actor.thread());
            return false;
        }
        place = new Place(actor.ended(), blocker, waits);
        return waits > waitsBefore;
    }

    /** Whether a thread waits for another to leave a block: that ends without anything else. */
    private static boolean isMutex(@Nullable Object blocker) {
        Class<?> outer = blocker == null ? null : blocker.getClass().getEnclosingClass();
        return outer == ReentrantLock.class || outer == ReentrantReadWriteLock.class;
    }
}
