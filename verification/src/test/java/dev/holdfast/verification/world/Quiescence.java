package dev.holdfast.verification.world;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.ForkJoinPool.ManagedBlocker;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/*
 * A test may only move time while no actor is busy: otherwise a command could time out within an instant of real time,
 * while the thread that sends it waits for a processor.
 *
 * An actor is at rest when it has nothing to do, or is blocked and nothing has woken it. The state of a thread does
 * not show the latter: a woken thread stays WAITING or TIMED_WAITING until it gets a processor. A thread that waits
 * for a CompletableFuture can be checked by that. Any other parked thread is unparked, which every parked thread must
 * tolerate. It is at rest once it has checked its condition and parked again: then all earlier wake-ups were
 * insufficient. A thread that polls its condition, with pauses, counts as at rest.
 */

/** Whether one actor is at rest. Used by the thread that moves time. */
final class Quiescence {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Actor actor;

    /** Where the actor was at rest the last time. */
    private Place place = new Place(0, null, 0);

    /** How often the actor had waited when it was unparked to recheck; negative before that. */
    private long waitsBefore;

    /**
     * Where an actor is at rest.
     *
     * @param ended the number of completed actions
     * @param blocker what it waits for; null if nothing
     * @param waits how often it had waited when it was last unparked
     */
    private record Place(int ended, @Nullable Object blocker, long waits) {}

    Quiescence(Actor actor) {
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
        boolean isTimed = state == Thread.State.TIMED_WAITING;
        if (!isTimed && state != Thread.State.WAITING || isMutex(blocker)) {
            return false;
        }
        if (blocker instanceof ManagedBlocker future) {
            return !future.isReleasable() && isAt(future);
        }
        if (isTimed && !(blocker instanceof Condition)) {
            // It rechecks on its own, and may do so for ever while time stands still.
            return isAt(blocker);
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
