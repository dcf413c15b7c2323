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
import org.jspecify.annotations.Nullable;

/** How requests and releases end for those who made them: as stages, as exceptions, or in time. Thread-safe. */
final class Outcomes {

    private final Engine engine;

    Outcomes(Engine engine) {
        this.engine = engine;
    }

    /** The timer that ends the wait of a stage. */
    private static final class Alarm {

        private Environment.@Nullable Timer timer;
        private boolean isCancelled;

        synchronized void set(Environment.Timer next) {
            timer = next;
            if (isCancelled) {
                next.cancel();
            }
        }

        synchronized void cancel() {
            isCancelled = true;
            if (timer != null) {
                timer.cancel();
            }
        }
    }

    void enterAsync(
            ResourceName name, ResourceSpec spec, Request request, CompletableFuture<Hold> future, long waitNanos) {
        Gate gate = engine.enter(name, spec, request);
        Alarm alarm = new Alarm();
        long limit = limitOf(request, waitNanos);
        if (limit < Long.MAX_VALUE / 4 && !request.isDone()) {
            alarm.set(engine.environment.schedule(limit, () -> waitIsOver(gate, request, future, waitNanos, alarm)));
        }
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

    private void waitIsOver(Gate gate, Request request, CompletableFuture<Hold> future, long waitNanos, Alarm alarm) {
        if (!request.isTry && gate.awaitAnswer(request, Duration.ofNanos(waitNanos))) {
            alarm.set(engine.environment.schedule(TotalWait.OVERTIME_NANOS, () -> timeOut(gate, request, future, waitNanos)));
        } else {
            timeOut(gate, request, future, waitNanos);
        }
    }

    private void timeOut(Gate gate, Request request, CompletableFuture<Hold> future, long waitNanos) {
        boolean wasUnanswered = request.isTry || gate.isUnanswered(request);
        if (gate.cancel(request)) {
            tell(
                    request,
                    () -> future.completeExceptionally(
                            wasUnanswered
                                    ? unanswered(request, waitNanos)
                                    : engine.failures.timedOut(request.name.value(), Duration.ofNanos(waitNanos))));
        }
    }

    /** Runs what ends the stage of a request: on the callback executor, unless nobody but the engine depends on it. */
    void tell(Request request, Runnable end) {
        if (request.isOfEngine) {
            Trampoline.react(end);
        } else {
            engine.callbacks.run(end);
        }
    }

    /** Tells the end of an asynchronous request to its stage, as of {@link #tell}. */
    void complete(Request request) {
        CompletableFuture<Hold> future = request.future;
        if (future == null) {
            return;
        }
        LocalHold hold = request.hold();
        Duration waited = request.isTry ? Duration.ZERO : request.overdueAfter;
        if (hold == null && request.failure() == null && waited == null) {
            return;
        }
        tell(request, () -> {
            Supplier<RuntimeException> failure = request.failure();
            if (hold != null) {
                if (!future.complete(hold)) {
                    var unused = hold.giveBack(Caller.GOES_ON);
                }
            } else if (failure != null) {
                future.completeExceptionally(failure.get());
            } else if (waited != null) {
                future.completeExceptionally(engine.failures.timedOut(request.name.value(), waited));
            }
        });
    }

    /** Waits for what the store says to a question or a setting, and turns its failure into what users are told. */
    <T> T await(ResourceName name, CompletableFuture<T> answer) {
        try {
            return Waits.uninterruptibly(
                    answer, 2 * engine.options.storeTimeout().toNanos());
        } catch (TimeoutException e) {
            throw engine.failures.unanswered(
                    name.value(), engine.options.storeTimeout().multipliedBy(2));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StoreException failure) {
                throw engine.storeFailure(name.value(), failure);
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Why a request failed that the store has not answered in time: the time is the caller's, or that of the store. */
    RuntimeException unanswered(Request request, long waitNanos) {
        String name = request.name.value();
        return request.isTry
                ? engine.failures.unanswered(name, engine.options.storeTimeout())
                : engine.failures.unansweredInWait(name, Duration.ofNanos(waitNanos), Duration.ofNanos(TotalWait.OVERTIME_NANOS));
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
            throw hold.lostException(Loss.Cause.REMOVED);
        }
        if (outcome == ReleaseOutcome.UNCONFIRMED) {
            throw hold.unconfirmedException();
        }
    }
}
