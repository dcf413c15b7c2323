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
 * One party on its way through a barrier: it gets a place, looks until the door is open, and opens it if all are there.
 * Why that is safe is told in {@link EngineBarrier}.
 *
 * <p>Its steps follow one another, each on whatever thread ends the one before; anybody may call {@link #giveUp} at any
 * time.
 */
final class BarrierEntry {

    /** How often all that are present are counted by one that was not the last to come. */
    private static final long COUNT_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final EngineBarrier barrier;
    private final ClientContext context;
    private final TotalWait wait;
    private final PollBackoff backoff;
    private final CompletableFuture<EngineMembership> result = new CompletableFuture<>();

    /** Why it gives up; it may turn out to be inside all the same. */
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

    /** Ends the waiting, unless the door is open: asks first. */
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

    private void later(Runnable look) {
        if (wait.isOver()) {
            giveUp(timedOut());
        }
        backoff.later(wait.leftNanos(Long.MAX_VALUE), look);
        if (reason.get() != null) {
            backoff.interrupt();
        }
    }

    private Throwable timedOut() {
        return context.failures().timedOut(barrier.name(), wait.most().orElseThrow());
    }

    // ---- Looking

    private void step(LocalHold mine) {
        try {
            var unused = mine.fencingToken();
        } catch (LockLostException e) {
            var unusedEnd = drop(mine, e);
            return;
        }
        if (result.isDone() || reason.get() != null) {
            withdraw(mine);
            return;
        }
        var unused = barrier.newest().whenComplete((newest, failure) -> {
            if (failure != null) {
                reason.compareAndSet(null, Stages.causeOf(failure));
                withdraw(mine);
            } else if (isIn(newest)) {
                goIn(mine, newest);
            } else if (context.environment().monotonicNanos() - countsAt >= 0) {
                countsAt = context.environment().monotonicNanos() + COUNT_EVERY_NANOS;
                count(mine, newest);
            } else {
                lookLater(mine);
            }
        });
    }

    private void lookLater(LocalHold mine) {
        later(() -> step(mine));
    }

    private void count(LocalHold mine, LatchCall.Answer newest) {
        var unused = barrier.present()
                .thenApply(present ->
                        barrier.numberFor(present, newest.generation()).isPresent())
                .whenComplete((allThere, failure) -> {
                    if (failure == null && allThere) {
                        tryToOpen(mine);
                    } else {
                        // If the store has a reason not to answer, the next step learns it.
                        lookLater(mine);
                    }
                });
    }

    // ---- Opening

    private void tryToOpen(LocalHold mine) {
        var unused = barrier.tryLockDoor().whenComplete((lock, taken) -> {
            if (taken != null) {
                if (Stages.causeOf(taken) instanceof LockMismatchException misused) {
                    giveUp(misused);
                }
                // Otherwise another opens, or gives up.
                countsAt = context.environment().monotonicNanos();
                lookLater(mine);
                return;
            }
            var unusedOpening = open((LocalHold) lock).whenComplete((isOpen, failure) -> {
                var unusedEnd = HoldHandle.of(lock).giveBack(CallerMode.ASYNC);
                if (isOpen != null && isOpen) {
                    step(mine);
                } else {
                    lookLater(mine);
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

    void goIn(LocalHold mine, LatchCall.Answer newest) {
        var unused = barrier.atRest(newest)
                .thenCompose(atRest -> barrier.rememberNewest())
                .whenComplete((memory, failure) -> {
                    if (failure != null) {
                        var unusedEnd = drop(mine, Stages.causeOf(failure));
                        return;
                    }
                    try {
                        // Only who has kept the place until here is sure that the number is its own generation's.
                        var unusedToken = mine.fencingToken();
                    } catch (LockLostException e) {
                        var unusedMemory = HoldHandle.of(memory).giveBack(CallerMode.ASYNC);
                        var unusedEnd = drop(mine, e);
                        return;
                    }
                    EngineMembership inside = new EngineMembership(barrier, mine, memory, newest.generation());
                    if (!result.complete(inside)) {
                        inside.leaveQuietly();
                    }
                });
    }

    // ---- Giving up

    private void withdraw(LocalHold mine) {
        BarrierWithdrawal.begin(this, barrier, mine);
    }

    /** Runs something when the call has ended. */
    void afterEnd(Runnable what) {
        var unused = result.whenComplete((inside, failure) -> what.run());
    }

    /** Ends the call while the place may still be counted. */
    void endUncertain(LocalHold mine, @Nullable Throwable besides) {
        if (!result.isDone()) {
            Throwable why = why(besides);
            why.addSuppressed(context.failures().mayBeCounted(mine.name(), mine.effectiveLease()));
            result.completeExceptionally(why);
        }
    }

    /** Gives the place back, and ends the call unless it has ended before. */
    CompletableFuture<?> giveBack(LocalHold mine, @Nullable Throwable besides) {
        return result.isDone() ? mine.giveBack(CallerMode.ASYNC) : drop(mine, why(besides));
    }

    /** Why it gives up, with what else went wrong. */
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

    private CompletableFuture<?> drop(LocalHold mine, Throwable why) {
        return mine.giveBack(CallerMode.ASYNC).whenComplete((outcome, never) -> {
            if (outcome == ReleaseOutcome.UNCONFIRMED && !(why instanceof LockLostException)) {
                why.addSuppressed(context.failures().notGivenBack(barrier.name(), mine.effectiveLease()));
            }
            result.completeExceptionally(why);
        });
    }
}
