package dev.holdfast.engine.barrier;

import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.LockMismatchException;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.latch.LatchCall;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.support.Stages;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/*
 * The call ends after the store time-out at the latest, but the place may outlive it: an opener that has counted the
 * place may hold the lock for longer, and would otherwise open for fewer parties than it counted. The wait for the lock
 * therefore has no limit, and is one request: between two requests another opener could get the lock and count the
 * place.
 *
 * The wait ends with the grant of the lock, with the loss of the place, or with the client, which ends the place too.
 */

/**
 * Releases the place of a party that gives up, under the door's lock, so that no opener has counted it; unless the door
 * is open, which lets the party in. Thread-safe; begun once.
 */
final class BarrierWithdrawal {

    private static final Backoff BACKOFF = Backoff.from(Duration.ofSeconds(1), 5);

    private final BarrierEntry entering;
    private final EngineBarrier barrier;
    private final ClientContext context;
    private final LocalHold place;

    /** False -> true once: the party goes in, or its place is released. */
    private final AtomicBoolean isDecided = new AtomicBoolean();

    /** False -> true once: the caller is notified that the place is still held. */
    private final AtomicBoolean isUncertain = new AtomicBoolean();

    private volatile CompletableFuture<Hold> request = new CompletableFuture<>();

    /** How many requests have failed; only one is under way at a time. */
    private volatile int failures;

    private BarrierWithdrawal(BarrierEntry entering, EngineBarrier barrier, LocalHold place) {
        this.entering = entering;
        this.barrier = barrier;
        this.context = barrier.context;
        this.place = place;
    }

    static void begin(BarrierEntry entering, EngineBarrier barrier, LocalHold place) {
        BarrierWithdrawal withdrawal = new BarrierWithdrawal(entering, barrier, place);
        withdrawal.requestLock();
        Environment.Timer alarm = withdrawal
                .context
                .environment()
                .schedule(withdrawal.context.options().storeTimeout().toNanos(), () -> withdrawal.endCall(null));
        entering.afterEnd(alarm::cancel);
        place.whenLost(loss -> withdrawal.request.cancel(false));
    }

    private void requestLock() {
        CompletableFuture<Hold> asked = barrier.lockDoor();
        request = asked;
        if (place.loss() != null) {
            // The listener may have cancelled the request before this one.
            asked.cancel(false);
        }
        var unused = asked.whenComplete((lock, failure) -> {
            if (lock != null) {
                underLock(lock);
            } else if (!isDecided.get()) {
                failed(failure);
            }
        });
    }

    private void failed(Throwable failure) {
        if (place.loss() != null || Stages.causeOf(failure) instanceof LockMismatchException) {
            // There is no place to release, or no lock under which another party could open.
            withoutLock(failure);
        } else {
            endCall(failure);
            requestLater();
        }
    }

    private void underLock(Hold lock) {
        var unused = barrier.newest().whenComplete((newest, unanswered) -> {
            var unusedEnd = decide(newest, unanswered).whenComplete((ended, never) -> {
                var unusedRelease = HoldHandle.of(lock).giveBack(CallerMode.ASYNC);
            });
        });
    }

    private void withoutLock(Throwable failure) {
        var unused = barrier.newest().whenComplete((newest, unanswered) -> {
            var unusedEnd = decide(newest, failure);
        });
    }

    /** Goes in if the door is open; otherwise releases the place. */
    private CompletableFuture<?> decide(LatchCall.@Nullable Answer newest, @Nullable Throwable besides) {
        if (!isDecided.compareAndSet(false, true)) {
            return CompletableFuture.completedFuture(null);
        }
        if (newest != null && entering.isIn(newest)) {
            entering.goIn(place, newest);
            return CompletableFuture.completedFuture(null);
        }
        return entering.release(place, besides);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one request at a time
    private void requestLater() {
        if (!context.isClosing()) {
            BACKOFF.retry(context.environment(), failures++, this::requestLock);
        }
    }

    /** Ends the call, but not the wait for the lock, unless the door is open: the lock's holder may be dead. */
    private void endCall(@Nullable Throwable failure) {
        if (!isUncertain.compareAndSet(false, true)) {
            return;
        }
        var unused = barrier.newest().whenComplete((newest, unanswered) -> {
            if (newest != null && entering.isIn(newest)) {
                if (isDecided.compareAndSet(false, true)) {
                    request.cancel(false);
                    entering.goIn(place, newest);
                }
            } else if (!isDecided.get()) {
                entering.endUncertain(place, failure != null ? failure : unanswered);
            }
        });
    }
}
