package dev.holdfast.engine.local;

import dev.holdfast.Hold;
import dev.holdfast.engine.execution.Audience;
import dev.holdfast.engine.local.WaitView.WaitState;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A thread of a simulated process. It acquires and waits like a thread that blocks, but by events: its {@link Thread}
 * is only an identity.
 */
public final class SimulatedThread {

    private final LocalResources resources;
    private final Thread identity;
    private @Nullable Request request;
    private @Nullable LocalSynchronizer resource;
    private @Nullable BiConsumer<@Nullable LocalHold, @Nullable Throwable> end;
    private long began;
    private @Nullable NestedWait added;

    /** Makes a thread of a client. */
    public SimulatedThread(LocalResources resources, Thread identity) {
        this.resources = resources;
        this.identity = identity;
    }

    /** The name of the thread. */
    public String name() {
        return identity.getName();
    }

    /** Begins to acquire; the callback gets the hold, a failure, or neither if the wait was given up. */
    public void acquire(
            String name,
            Mode mode,
            boolean isAsync,
            AcquireTerms terms,
            BiConsumer<@Nullable LocalHold, @Nullable Throwable> then) {
        ResourceName wanted = new ResourceName(name);
        CompletableFuture<Hold> stage = new CompletableFuture<>();
        Request fresh = new Request(
                resources.context, mode, wanted, isAsync ? null : identity, stage, terms, Audience.ENGINE, null);
        request = fresh;
        end = then;
        added = null;
        began = resources.context.environment().monotonicNanos();
        AsyncWait.begin(resources, mode.spec(), fresh, stage);
        resource = fresh.isDone() ? null : resources.resource(wanted);
        stage.whenComplete((hold, failure) -> finish(fresh, (LocalHold) hold, failure));
    }

    private void finish(Request ended, @Nullable LocalHold hold, @Nullable Throwable failure) {
        BiConsumer<@Nullable LocalHold, @Nullable Throwable> then = end;
        if (request != ended || then == null) {
            return;
        }
        NestedWait nested = added;
        if (nested != null) {
            resources.waits.ended(nested);
        }
        request = null;
        resource = null;
        end = null;
        then.accept(hold, failure);
    }

    /** Gives its wait up, as an interrupt does. */
    public void giveUp() {
        Request waiting = request;
        LocalSynchronizer at = resource;
        if (waiting != null && at != null && at.cancel(waiting)) {
            finish(waiting, null, null);
        }
    }

    /** Whether it waits in a queue. */
    public boolean isWaiting() {
        return request != null && request.isQueued() && !request.isDone();
    }

    /** The identity of its wait. */
    public @Nullable Object currentWait() {
        return request;
    }

    /** Adds its wait to the nested ones, as a blocked thread does after a second. */
    public void noteLongWait() {
        Request waiting = request;
        LocalSynchronizer at = resource;
        if (isWaiting() && added == null && waiting != null && at != null && waiting.owner() != null) {
            NestedWait nested = new NestedWait(waiting, at, identity, began);
            added = nested;
            resources.waits.add(nested);
        }
    }

    /** Polls as a thread at the head of the queue does while another has its slice. */
    public void poll() {
        Request waiting = request;
        LocalSynchronizer at = resource;
        if (waiting != null && at != null && waiting.isWatching()) {
            at.poll(waiting);
        }
    }

    /** Whether a writer of its process is before it. */
    public boolean isBehindWriterHere() {
        WaitState state = state();
        return state != null && state.isBehindWriter();
    }

    /** The claim of its process that waits at the store for the same name. */
    public Optional<ClaimRef> queuedClaim() {
        WaitState state = state();
        return state == null ? Optional.empty() : Optional.ofNullable(state.queued());
    }

    /** Whether its process serves no further reader, since others wait at the store. */
    public boolean isDraining() {
        WaitState state = state();
        return state != null && state.isDraining();
    }

    private @Nullable WaitState state() {
        Request waiting = request;
        LocalSynchronizer at = resource;
        return waiting == null || at == null ? null : at.query(view -> view.stateOf(waiting));
    }

    /** Releases a hold, on behalf of its owner. */
    public static void release(LocalHold hold, Sharing sharing) {
        if (hold.isEntered()) {
            var unused = hold.letGo(CallerMode.ASYNC, sharing);
        }
    }
}
