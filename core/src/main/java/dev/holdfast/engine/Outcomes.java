package dev.holdfast.engine;

import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** How requests and releases end for those who made them: as stages, as exceptions, or in time. Thread-safe. */
final class Outcomes {

    private final Engine engine;

    Outcomes(Engine engine) {
        this.engine = engine;
    }

    void enterAsync(
            ResourceName name, ResourceSpec spec, Request request, CompletableFuture<Hold> future, long waitNanos) {
        Gate gate = engine.enter(name, spec, request);
        Environment.Timer timer = () -> {};
        long limit = limitOf(request, waitNanos);
        if (limit < Long.MAX_VALUE / 4 && !request.isDone()) {
            timer = engine.environment.schedule(limit, () -> timeOut(gate, request, future, waitNanos));
        }
        Environment.Timer alarm = timer;
        var unused = future.whenComplete((hold, failure) -> {
            alarm.cancel();
            if (!request.isDone()) {
                // Cancelled, or ended otherwise by whoever has the stage. If it was granted meanwhile, complete() finds
                // the stage ended and gives the hold back.
                gate.cancel(request);
            }
        });
    }

    /** How long a request may take: a try does not wait for others, but for the store. */
    long limitOf(Request request, long waitNanos) {
        return request.isTry ? engine.options.storeTimeout().toNanos() : waitNanos;
    }

    private void timeOut(Gate gate, Request request, CompletableFuture<Hold> future, long waitNanos) {
        boolean wasUnanswered = request.isTry || gate.isUnanswered(request);
        if (gate.cancel(request)) {
            String name = request.name.value();
            engine.callBack(() -> future.completeExceptionally(
                    wasUnanswered
                            ? engine.failures.unanswered(name)
                            : engine.failures.timedOut(name, Duration.ofNanos(waitNanos))));
        }
    }

    /** Tells the end of an asynchronous request to its stage, on the callback executor. */
    void complete(Request request) {
        CompletableFuture<Hold> future = request.future;
        if (future == null) {
            return;
        }
        LocalHold hold = request.hold();
        if (hold == null && request.failure() == null && !request.isTry) {
            return;
        }
        engine.callBack(() -> {
            Supplier<RuntimeException> failure = request.failure();
            if (hold != null) {
                if (!future.complete(hold)) {
                    var unused = hold.giveBack(Caller.GOES_ON);
                }
            } else {
                future.completeExceptionally(
                        failure != null
                                ? failure.get()
                                : engine.failures.timedOut(request.name.value(), Duration.ZERO));
            }
        });
    }

    /** Waits for what the store says to a question or a setting, and turns its failure into what users are told. */
    <T> T await(ResourceName name, CompletableFuture<T> answer) {
        try {
            return Waits.uninterruptibly(
                    answer, 2 * engine.options.storeTimeout().toNanos());
        } catch (TimeoutException e) {
            throw engine.failures.unanswered(name.value());
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StoreException failure) {
                throw engine.storeFailure(name.value(), failure);
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    void failIfUnanswered(ResourceName name, boolean wasUnanswered) {
        if (wasUnanswered) {
            throw engine.failures.unanswered(name.value());
        }
    }

    /** Waits for the end of a release and turns what is not good into an exception. */
    void finish(LocalHold hold, CompletionStage<ReleaseOutcome> release) {
        ReleaseOutcome outcome;
        try {
            CompletableFuture<ReleaseOutcome> end = release.toCompletableFuture();
            engine.wakeful.until(end::isDone, Long.MAX_VALUE);
            outcome =
                    Waits.uninterruptibly(end, 2 * engine.options.storeTimeout().toNanos());
        } catch (TimeoutException e) {
            outcome = ReleaseOutcome.UNCONFIRMED;
        } catch (ExecutionException e) {
            throw new IllegalStateException("a release never fails", e);
        }
        if (outcome == ReleaseOutcome.LOST) {
            throw engine.failures.lost(hold, Loss.Cause.REMOVED);
        }
        if (outcome == ReleaseOutcome.UNCONFIRMED) {
            throw engine.failures.unconfirmed(hold);
        }
    }
}
