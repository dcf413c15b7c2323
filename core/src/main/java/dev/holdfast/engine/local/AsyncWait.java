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

/** The wait of a request with a stage: a timer ends it, or whoever has the stage. Thread-safe. */
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

    /** Lets a request enter its resource, and ends it when its time is over. */
    static void begin(LocalResources resources, ResourceSpec spec, Request request, CompletableFuture<Hold> stage) {
        LocalSynchronizer resource = resources.enter(request.name, spec, request);
        AsyncWait wait = new AsyncWait(resources, resource, request, stage);
        long limit = RequestCompletion.limitOf(resources.context, request);
        if (limit < Long.MAX_VALUE / 4 && !request.isDone()) {
            wait.setTimer(limit, wait::timeIsUp);
        }
        var unused = stage.whenComplete((hold, failure) -> wait.end());
    }

    private void timeIsUp() {
        Duration waited = Duration.ofNanos(request.terms.waitNanos());
        if (!request.isTry && RequestCancellation.awaitAnswer(resource, request, waited)) {
            setTimer(RequestCompletion.overtimeNanos(context, request), this::timeOut);
        } else {
            timeOut();
        }
    }

    private void timeOut() {
        boolean wasUnanswered = request.isTry || RequestCancellation.isUnanswered(resource, request);
        if (!RequestCancellation.cancel(resource, request)) {
            return;
        }
        Duration waited = Duration.ofNanos(request.terms.waitNanos());
        if (wasUnanswered) {
            tell(() -> RequestCompletion.unanswered(resource, request));
        } else if (request.isOfEngine || request.overdueAfter != null) {
            // The engine has more to do first, and an overtime leaves no time.
            tell(() -> context.failures().timedOut(request.name.value(), waited));
        } else {
            var unused = lookup.timedOutAsync(resource.partition, request.name, waited, Long.MAX_VALUE)
                    .thenAccept(timeout -> tell(() -> timeout));
        }
    }

    private void tell(Supplier<RuntimeException> failure) {
        RequestCompletion.tell(context, request, () -> stage.completeExceptionally(failure.get()));
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
            // Cancelled, or ended otherwise by whoever has the stage. If it was granted meanwhile, the completion of
            // the request finds the stage ended and gives the hold back.
            RequestCancellation.cancel(resource, request);
        }
    }
}
