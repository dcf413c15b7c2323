package dev.holdfast.engine.local;

import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The wait of a request with a stage: a timer ends it, or whoever has the stage. Thread-safe. */
final class StageWait {
    private final ClientContext context;
    private final Gate gate;
    private final Request request;
    private final CompletableFuture<Hold> stage;
    private final long waitNanos;
    // Guarded by this object.
    private Environment.@Nullable Timer timer;
    private boolean isOver;

    private StageWait(
            ClientContext context, Gate gate, Request request, CompletableFuture<Hold> stage, long waitNanos) {
        this.context = context;
        this.gate = gate;
        this.request = request;
        this.stage = stage;
        this.waitNanos = waitNanos;
    }

    /** Lets a request enter its resource, and ends it when its time is over. */
    static void begin(
            LocalTier tier, ResourceSpec spec, Request request, CompletableFuture<Hold> stage, long waitNanos) {
        Gate gate = tier.enter(request.name, spec, request);
        StageWait wait = new StageWait(tier.context, gate, request, stage, waitNanos);
        long limit = Outcomes.limitOf(tier.context, request, waitNanos);
        if (limit < Long.MAX_VALUE / 4 && !request.isDone()) {
            wait.setTimer(limit, wait::timeIsUp);
        }
        var unused = stage.whenComplete((hold, failure) -> wait.end());
    }

    private void timeIsUp() {
        if (!request.isTry && gate.awaitAnswer(request, Duration.ofNanos(waitNanos))) {
            setTimer(TotalWait.OVERTIME_NANOS, this::timeOut);
        } else {
            timeOut();
        }
    }

    private void timeOut() {
        boolean wasUnanswered = request.isTry || gate.isUnanswered(request);
        if (gate.cancel(request)) {
            Outcomes.tell(
                    context,
                    request,
                    () -> stage.completeExceptionally(
                            wasUnanswered
                                    ? Outcomes.unanswered(context, request, waitNanos)
                                    : context.failures().timedOut(request.name.value(), Duration.ofNanos(waitNanos))));
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
            gate.cancel(request);
        }
    }
}
