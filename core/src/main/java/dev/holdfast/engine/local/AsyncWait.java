package dev.holdfast.engine.local;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The wait of a request with a stage: a timer ends it, or whoever has the stage. Thread-safe. */
final class AsyncWait {
    private final ClientContext context;
    private final LocalSynchronizer resource;
    private final Request request;
    private final CompletableFuture<Hold> stage;

    @GuardedBy("this")
    private Environment.@Nullable Timer timer;

    @GuardedBy("this")
    private boolean isOver;

    private AsyncWait(
            ClientContext context, LocalSynchronizer resource, Request request, CompletableFuture<Hold> stage) {
        this.context = context;
        this.resource = resource;
        this.request = request;
        this.stage = stage;
    }

    /** Lets a request enter its resource, and ends it when its time is over. */
    static void begin(LocalResources resources, ResourceSpec spec, Request request, CompletableFuture<Hold> stage) {
        LocalSynchronizer resource = resources.enter(request.name, spec, request);
        AsyncWait wait = new AsyncWait(resources.context, resource, request, stage);
        long limit = RequestCompletion.limitOf(resources.context, request);
        if (limit < Long.MAX_VALUE / 4 && !request.isDone()) {
            wait.setTimer(limit, wait::timeIsUp);
        }
        var unused = stage.whenComplete((hold, failure) -> wait.end());
    }

    private void timeIsUp() {
        if (!request.isTry && resource.awaitAnswer(request, Duration.ofNanos(request.terms.waitNanos()))) {
            setTimer(TotalWait.OVERTIME_NANOS, this::timeOut);
        } else {
            timeOut();
        }
    }

    private void timeOut() {
        boolean wasUnanswered = request.isTry || resource.isUnanswered(request);
        if (resource.cancel(request)) {
            RequestCompletion.tell(
                    context,
                    request,
                    () -> stage.completeExceptionally(
                            wasUnanswered
                                    ? RequestCompletion.unanswered(context, request)
                                    : context.failures()
                                            .timedOut(
                                                    request.name.value(),
                                                    Duration.ofNanos(request.terms.waitNanos()))));
        }
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
            resource.cancel(request);
        }
    }
}
