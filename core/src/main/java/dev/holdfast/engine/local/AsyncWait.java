package dev.holdfast.engine.local;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.session.HolderLookup;
import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The wait of a request with a stage: ended by a timer, or by the caller through the stage. Thread-safe. */
final class AsyncWait {
    private final ClientContext context;
    private final HolderLookup lookup;
    private final LocalSynchronizer resource;
    private final Request request;
    private final CompletableFuture<Hold> stage;

    @GuardedBy("this")
    private Environment.@Nullable Timer timer;

    @GuardedBy("this")
    private boolean isOver;

    private AsyncWait(
            LocalResources resources, LocalSynchronizer resource, Request request, CompletableFuture<Hold> stage) {
        this.context = resources.context;
        this.lookup = resources.lookup;
        this.resource = resource;
        this.request = request;
        this.stage = stage;
    }

    /** Queues a request at its resource, and ends it when its time is up. */
    static void begin(LocalResources resources, ResourceSpec spec, Request request, CompletableFuture<Hold> stage) {
        LocalSynchronizer resource = resources.enter(request.name, spec, request);
        AsyncWait wait = new AsyncWait(resources, resource, request, stage);
        long limit = request.limitNanos();
        if (limit < Long.MAX_VALUE / 4 && !request.isDone()) {
            wait.setTimer(limit, wait::waitEnded);
        }
        var unused = stage.whenComplete((hold, failure) -> wait.end());
    }

    private void waitEnded() {
        Duration waited = Duration.ofNanos(request.terms.waitNanos());
        if (!request.isTry() && resource.awaitAnswer(request, waited)) {
            setTimer(request.overtimeNanos(), this::timeOut);
        } else {
            timeOut();
        }
    }

    private void timeOut() {
        boolean wasUnanswered = request.isTry() || resource.isUnanswered(request);
        if (!resource.cancel(request)) {
            return;
        }
        Duration waited = Duration.ofNanos(request.terms.waitNanos());
        if (wasUnanswered) {
            fail(() -> request.unanswered(resource.partition.wire.lastFailure()));
        } else if (request.isOfEngine() || request.wasOverdue()) {
            // No look-up of the holder: the engine has more to do first, and an overtime leaves no time.
            fail(() -> context.failures().timedOut(request.name.value(), waited));
        } else {
            var unused = lookup.timedOutAsync(resource.partition, request.name, waited, Long.MAX_VALUE)
                    .thenAccept(timeout -> fail(() -> timeout));
        }
    }

    private void fail(Supplier<RuntimeException> failure) {
        request.runForStage(() -> stage.completeExceptionally(failure.get()));
    }

    private synchronized void setTimer(long nanos, Runnable action) {
        Environment.Timer next = context.environment().schedule(nanos, action);
        timer = next;
        if (isOver) {
            next.cancel();
        }
    }

    private void end() {
        synchronized (this) {
            isOver = true;
            if (timer != null) {
                timer.cancel();
            }
        }
        if (!request.isDone()) {
            // The caller has cancelled or completed the stage. If the request was granted meanwhile, its completion
            // finds the stage ended and releases the hold.
            resource.cancel(request);
        }
    }
}
