package dev.holdfast.engine.local;

import dev.holdfast.engine.execution.DeferredActions;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Ends requests that wait at a resource and get no hold: given up, out of time, refused, or failed. */
final class RequestCancellation {

    private RequestCancellation() {}

    // ---- One that its caller gives up

    /**
     * Takes back a request that has not ended: its wait is over, it was interrupted or cancelled.
     *
     * @return whether it was taken back; if not, it has ended
     */
    static boolean cancel(LocalSynchronizer resource, Request request) {
        DeferredActions out = new DeferredActions();
        resource.lock.lock();
        try {
            if (request.isDone()) {
                return false;
            }
            request.end(null, null);
            resource.queue.remove(request);
            resource.react(out);
        } finally {
            resource.lock.unlock();
            out.send();
        }
        return true;
    }

    /** Whether the store has said nothing yet to what this process asks of it for a request. */
    static boolean isUnanswered(LocalSynchronizer resource, Request request) {
        resource.lock.lock();
        try {
            return resource.claims.isUnansweredSince(request.answersBefore);
        } finally {
            resource.lock.unlock();
        }
    }

    /**
     * Lets a request whose wait is over end with the next answer of the store, if none has come since it was queued.
     * The caller bounds the time until then.
     *
     * @return whether such an answer is outstanding; if not, nothing has changed
     */
    static boolean awaitAnswer(LocalSynchronizer resource, Request request, Duration waited) {
        resource.lock.lock();
        try {
            if (request.isDone() || !resource.claims.isUnansweredSince(request.answersBefore)) {
                return false;
            }
            resource.queue.noteOverdue(request, waited);
            return true;
        } finally {
            resource.lock.unlock();
        }
    }

    // ---- Several that an answer of the store concerns, or that it does not answer

    /** Ends the requests whose wait was over before the store answered, and that the answer does not serve. */
    static void endOverdue(LocalSynchronizer resource, DeferredActions out) {
        // Each after the one that was overdue first has come after as many answers, or more: this never looks at one
        // that stays, so that thousands whose waits end together don't look at each other.
        for (Request request = resource.queue.firstOverdue();
                request != null && !resource.claims.isUnansweredSince(request.answersBefore);
                request = resource.queue.firstOverdue()) {
            end(resource, request, null, null, out);
        }
    }

    /**
     * No session can be had: what waited here before one was asked for the last time fails; for others it is asked
     * again.
     */
    static void failThoseBefore(LocalSynchronizer resource, long attempt, Supplier<RuntimeException> why) {
        fail(resource, request -> request.sessionsAskedFor < attempt, why);
    }

    /** Fails all that wait here. */
    static void failAll(LocalSynchronizer resource, Supplier<RuntimeException> why) {
        fail(resource, request -> true, why);
    }

    // One by one they would each ask, and with a store that answers at once each in the answer to the one before.
    private static void fail(LocalSynchronizer resource, Predicate<Request> meant, Supplier<RuntimeException> why) {
        resource.step(out -> {
            endThose(resource, meant, why, null, out);
            resource.react(out);
        });
    }

    /**
     * Ends the requests that are meant: with a failure, or because others have or want the lock. Called under the lock
     * of the resource.
     *
     * @param refusal who has or wants it, if that is known
     */
    static void endThose(
            LocalSynchronizer resource,
            Predicate<Request> meant,
            @Nullable Supplier<RuntimeException> why,
            @Nullable String refusal,
            DeferredActions out) {
        Request request = resource.queue.head();
        while (request != null) {
            Request following = request.next;
            if (meant.test(request)) {
                end(resource, request, why, refusal, out);
            }
            request = following;
        }
    }

    /** Ends one that is queued. Called under the lock of the resource. */
    static void end(
            LocalSynchronizer resource,
            Request request,
            @Nullable Supplier<RuntimeException> why,
            @Nullable String refusal,
            DeferredActions out) {
        resource.queue.remove(request);
        request.refusal = refusal;
        RequestCompletion.end(resource.partition.context, request, null, why, out);
    }
}
