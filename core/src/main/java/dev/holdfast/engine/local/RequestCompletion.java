package dev.holdfast.engine.local;

import dev.holdfast.Hold;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How requests and releases end for those who made them: as stages, as exceptions, or in time. Thread-safe. */
public final class RequestCompletion {

    private RequestCompletion() {}

    /** How long a request may take: a try does not wait for others, but for the store. */
    static long limitOf(ClientContext context, Request request) {
        return request.isTry ? context.options().storeTimeout().toNanos() : request.terms.waitNanos();
    }

    /**
     * How much longer than its wait a request lasts for an answer that is outstanding: the wait bounds how long others
     * may keep the resource, and the store has its own time-out.
     */
    static long overtimeNanos(ClientContext context, Request request) {
        return Math.max(
                TotalWait.OVERTIME_NANOS, context.options().storeTimeout().toNanos() - request.terms.waitNanos());
    }

    /** Ends a request, and tells that as soon as the lock of the resource is free, under which this is called. */
    static void end(
            ClientContext context,
            Request request,
            @Nullable LocalHold hold,
            @Nullable Supplier<RuntimeException> failure,
            DeferredActions out) {
        request.end(hold, failure);
        if (request.future != null) {
            out.add(() -> complete(context, request));
        } else if (request.waiter != Thread.currentThread()) {
            out.add(request::wake);
        }
    }

    /** Runs what ends the stage of a request: on the callback executor, unless nobody but the engine depends on it. */
    static void tell(ClientContext context, Request request, Runnable end) {
        if (request.isOfEngine) {
            Trampoline.react(end);
        } else {
            context.callbacks().run(end);
        }
    }

    /** Tells the end of an asynchronous request to its stage, as of {@link #tell}. */
    private static void complete(ClientContext context, Request request) {
        CompletableFuture<Hold> future = request.future;
        if (future == null) {
            return;
        }
        LocalHold hold = request.hold();
        Duration waited = request.overdueAfter;
        if (hold == null && request.failure() == null && waited == null && !request.isTry) {
            return;
        }
        tell(context, request, () -> {
            Supplier<RuntimeException> failure = request.failure();
            if (hold != null) {
                if (!future.complete(hold)) {
                    var unused = hold.giveBack(CallerMode.ASYNC);
                }
            } else if (failure != null) {
                future.completeExceptionally(failure.get());
            } else {
                future.completeExceptionally(takenOrTimedOut(context, request));
            }
        });
    }

    /** The exception for a try that found the resource taken, or a wait that ended with a late answer of the store. */
    static RuntimeException takenOrTimedOut(ClientContext context, Request request) {
        Duration waited = request.overdueAfter;
        return waited == null
                ? context.failures().taken(request.name.value(), request.refusal)
                : context.failures().timedOut(request.name.value(), waited);
    }

    /** Waits for what the store says to a question or a setting, and turns its failure into what users are told. */
    public static <T> T await(ClientContext context, ResourceName name, CompletableFuture<T> answer) {
        try {
            return Uninterruptibles.uninterruptibly(
                    answer, 2 * context.options().storeTimeout().toNanos());
        } catch (TimeoutException e) {
            throw context.failures()
                    .unanswered(name.value(), context.options().storeTimeout().multipliedBy(2), null);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StoreException failure) {
                throw context.storeFailure(name.value(), failure);
            }
            throw e.getCause() instanceof RuntimeException known ? known : new IllegalStateException(e.getCause());
        }
    }

    /** Why a request failed that the store has not answered in time: the time is the caller's, or that of the store. */
    static RuntimeException unanswered(LocalSynchronizer resource, Request request) {
        ClientContext context = resource.partition.context;
        StoreException why = resource.partition.wire.lastFailure();
        String name = request.name.value();
        return request.isTry || overtimeNanos(context, request) > TotalWait.OVERTIME_NANOS
                ? context.failures().unanswered(name, context.options().storeTimeout(), why)
                : context.failures()
                        .unansweredInWait(
                                name,
                                Duration.ofNanos(request.terms.waitNanos()),
                                Duration.ofNanos(TotalWait.OVERTIME_NANOS),
                                why);
    }
}
