package dev.holdfast.engine.barrier;

import dev.holdfast.Environment;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.latch.LatchCall;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.time.PollBackoff;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.support.Stages;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The entry of one party: it gets a place, polls until the door is open, and opens it if all parties are present.
 * {@link EngineBarrier} says why this is safe.
 *
 * <p>Its steps run one after the other, each on the thread that completes the step before. Any thread may call
 * {@link #giveUp} at any time.
 */
final class BarrierEntry {

    /** How often a party that did not come last counts the present parties. */
    private static final long COUNT_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final EngineBarrier barrier;
    private final ClientContext context;
    private final TotalWait wait;
    private final PollBackoff backoff;
    private final CompletableFuture<EngineMembership> result = new CompletableFuture<>();

    /** Why it gives up; it may still turn out to be inside. */
    private final AtomicReference<@Nullable Throwable> reason = new AtomicReference<>();

    private volatile Environment.Timer alarm = () -> {};

    // Written by one step and read by the next.
    private volatile long token;
    private volatile long countsAt;

    BarrierEntry(EngineBarrier barrier, TotalWait wait) {
        this.barrier = barrier;
        this.context = barrier.context;
        this.wait = wait;
        this.backoff = new PollBackoff(context.environment());
    }

    CompletableFuture<EngineMembership> begin() {
        context.life().endWithClient(result);
        if (wait.most().isPresent() && !wait.isOver()) {
            alarm = context.environment().schedule(wait.leftNanos(Long.MAX_VALUE), () -> giveUp(timedOut()));
        }
        var unused = result.whenComplete((inside, failure) -> alarm.cancel());
        askForPlace();
        return result;
    }

    /** Ends the wait, unless an inspection finds the door open. */
    void giveUp(Throwable why) {
        if (!result.isDone() && reason.compareAndSet(null, why)) {
            backoff.interrupt();
        }
    }

    private void askForPlace() {
        if (reason.get() != null || result.isDone()) {
            result.completeExceptionally(why(null));
            return;
        }
        var unused = barrier.askForPlace().whenComplete((hold, failure) -> {
            if (failure == null) {
                hasPlace((LocalHold) hold);
            } else if (Stages.causeOf(failure) instanceof LockWaitTimeoutException) {
                later(this::askForPlace);
            } else {
                result.completeExceptionally(Stages.causeOf(failure));
            }
        });
    }

    private void hasPlace(LocalHold hold) {
        token = hold.rawToken();
        countsAt = context.environment().monotonicNanos();
        step(hold);
    }

    private void later(Runnable action) {
        if (wait.isOver()) {
            giveUp(timedOut());
        }
        backoff.later(wait.leftNanos(Long.MAX_VALUE), action);
        if (reason.get() != null) {
            backoff.interrupt();
        }
    }

    private Throwable timedOut() {
        return context.failures().timedOut(barrier.name(), wait.most().orElseThrow());
    }

    // ---- Polling

    private void step(LocalHold place) {
        try {
            var unused = place.fencingToken();
        } catch (LockLostException e) {
            var unusedEnd = drop(place, e);
            return;
        }
        if (result.isDone() || reason.get() != null) {
            withdraw(place);
            return;
        }
        var unused = barrier.newest().whenComplete((newest, failure) -> {
            if (failure != null) {
                reason.compareAndSet(null, Stages.causeOf(failure));
                withdraw(place);
            } else if (isIn(newest)) {
                goIn(place, newest);
            } else if (context.environment().monotonicNanos() - countsAt >= 0) {
                countsAt = context.environment().monotonicNanos() + COUNT_EVERY_NANOS;
                count(place, newest);
            } else {
                pollLater(place);
            }
        });
    }

    private void pollLater(LocalHold place) {
        later(() -> step(place));
    }

    private void count(LocalHold place, LatchCall.Answer newest) {
        var unused = barrier.present()
                .thenApply(present ->
                        barrier.numberFor(present, newest.generation()).isPresent())
                .whenComplete((allThere, failure) -> {
                    if (failure == null && allThere) {
                        tryToOpen(place);
                    } else {
                        // If the store fails for a reason, the next step meets it too.
                        pollLater(place);
                    }
                });
    }

    // ---- Opening

    private void tryToOpen(LocalHold place) {
        var unused = barrier.tryLockDoor().whenComplete((lock, taken) -> {
            if (taken != null) {
                if (Stages.causeOf(taken) instanceof LockMismatchException misused) {
                    giveUp(misused);
                }
                // Otherwise another party opens, or gives up.
                countsAt = context.environment().monotonicNanos();
                pollLater(place);
                return;
            }
            var unusedOpening = open((LocalHold) lock).whenComplete((isOpen, failure) -> {
                var unusedEnd = HoldHandle.of(lock).giveBack(CallerMode.ASYNC);
                if (isOpen != null && isOpen) {
                    step(place);
                } else {
                    pollLater(place);
                }
            });
        });
    }

    private CompletableFuture<Boolean> open(LocalHold lock) {
        return barrier.newest()
                .thenCompose(barrier::atRest)
                .thenCompose(newest -> barrier.present().thenCompose(present -> open(lock, newest, present)));
    }

    private CompletableFuture<Boolean> open(LocalHold lock, LatchCall.Answer newest, List<Party> present) {
        return barrier.numberFor(present, newest.generation())
                .map(number -> barrier.open(lock, number))
                .orElseGet(() -> CompletableFuture.completedFuture(false));
    }

    /** Whether a number lets this party in. */
    boolean isIn(LatchCall.Answer newest) {
        return newest.generation() >= token;
    }

    void goIn(LocalHold place, LatchCall.Answer newest) {
        var unused = barrier.atRest(newest)
                .thenCompose(atRest -> barrier.rememberNewest())
                .whenComplete((memory, failure) -> {
                    if (failure != null) {
                        var unusedEnd = drop(place, Stages.causeOf(failure));
                        return;
                    }
                    try {
                        // Only a party that still has its place knows that the number is that of its generation.
                        var unusedToken = place.fencingToken();
                    } catch (LockLostException e) {
                        var unusedMemory = HoldHandle.of(memory).giveBack(CallerMode.ASYNC);
                        var unusedEnd = drop(place, e);
                        return;
                    }
                    EngineMembership inside = new EngineMembership(barrier, place, memory, newest.generation());
                    if (!result.complete(inside)) {
                        inside.leaveQuietly();
                    }
                });
    }

    // ---- Giving up

    private void withdraw(LocalHold place) {
        BarrierWithdrawal.begin(this, barrier, place);
    }

    /** Runs an action when the call has ended. */
    void afterEnd(Runnable what) {
        var unused = result.whenComplete((inside, failure) -> what.run());
    }

    /** Ends the call while the place may still be counted. */
    void endUncertain(LocalHold place, @Nullable Throwable besides) {
        if (!result.isDone()) {
            Throwable why = why(besides);
            why.addSuppressed(context.failures().mayBeCounted(place.name(), place.effectiveLease()));
            result.completeExceptionally(why);
        }
    }

    /** Releases the place, and ends the call unless it has ended before. */
    CompletableFuture<?> release(LocalHold place, @Nullable Throwable besides) {
        return result.isDone() ? place.giveBack(CallerMode.ASYNC) : drop(place, why(besides));
    }

    /** Why it gives up, with further failures as suppressed ones. */
    private Throwable why(@Nullable Throwable besides) {
        Throwable known = reason.get();
        if (known == null) {
            return new CancellationException();
        }
        if (besides != null && Stages.causeOf(besides) != known) {
            known.addSuppressed(Stages.causeOf(besides));
        }
        return known;
    }

    private CompletableFuture<?> drop(LocalHold place, Throwable why) {
        return place.giveBack(CallerMode.ASYNC).whenComplete((outcome, never) -> {
            if (outcome == ReleaseOutcome.UNCONFIRMED && !(why instanceof LockLostException)) {
                why.addSuppressed(context.failures().notGivenBack(barrier.name(), place.effectiveLease()));
            }
            result.completeExceptionally(why);
        });
    }
}
