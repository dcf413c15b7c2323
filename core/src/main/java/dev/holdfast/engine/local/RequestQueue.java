package dev.holdfast.engine.local;

import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The local requests that wait for a resource, first in, first out. Guarded by the lock of the resource. */
final class RequestQueue {

    /** The queue of a resource without waiters, such as most held locks. Never appended to. */
    static final RequestQueue NONE = new RequestQueue();

    /** The place of a request in the queue. */
    static final class Place {
        private final RequestQueue queue;
        private final Request request;
        private @Nullable Place previous;
        private @Nullable Place next;

        private Place(RequestQueue queue, Request request, @Nullable Place previous) {
            this.queue = queue;
            this.request = request;
            this.previous = previous;
        }
    }

    private @Nullable Place head;
    private @Nullable Place tail;
    private long numbers;
    private int size;

    /** The number of tries without a barging claim. */
    private int idleTries;

    /** Requests up to this number are no newcomers any more. */
    private long newcomersAfter;

    /**
     * Requests whose time is up, in that order; null before the first. None had an answer of the store by then, so the
     * numbers of answers before them only increase.
     */
    private @Nullable Set<Request> overdue;

    /** Requests with a barging claim that have left since the last call of {@link #takeLeft}; null before the first. */
    private @Nullable List<Request> left;

    /** This queue, or a new one if this is the empty constant. */
    RequestQueue orNew() {
        return this == NONE ? new RequestQueue() : this;
    }

    @Nullable
    Request head() {
        return head == null ? null : head.request;
    }

    @Nullable
    Request tail() {
        return tail == null ? null : tail.request;
    }

    boolean isEmpty() {
        return head == null;
    }

    /** Whether nothing is lost if a new queue replaces this one. */
    boolean isDisposable() {
        return head == null && left == null;
    }

    boolean hasSeveral() {
        return head != tail;
    }

    int size() {
        return size;
    }

    /** The number of the newest request that was ever queued. */
    long newestNumber() {
        return numbers;
    }

    void append(Request request) {
        Place place = new Place(this, request, tail);
        request.enqueued(place, ++numbers);
        size++;
        idleTries += isIdleTry(request) ? 1 : 0;
        if (tail == null) {
            head = place;
        } else {
            tail.next = place;
        }
        tail = place;
    }

    void remove(Request request) {
        Place place = request.place();
        if (place == null) {
            return;
        }
        request.dequeued();
        size--;
        idleTries -= isIdleTry(request) ? 1 : 0;
        if (request.bargingClaim() != null) {
            if (left == null) {
                left = new ArrayList<>();
            }
            left.add(request);
        }
        if (place.previous == null) {
            head = place.next;
        } else {
            place.previous.next = place.next;
        }
        if (place.next == null) {
            tail = place.previous;
        } else {
            place.next.previous = place.previous;
        }
        if (overdue != null) {
            overdue.remove(request);
        }
    }

    /** Whether a request matches. */
    boolean has(Predicate<Request> condition) {
        for (Place place = head; place != null; place = place.next) {
            if (condition.test(place.request)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a request before another one matches. */
    boolean hasBefore(Request request, Predicate<Request> condition) {
        for (Place place = head; place != null && place.request != request; place = place.next) {
            if (condition.test(place.request)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Ends the requests that match.
     *
     * @param whoHasIt who has or wants the resource, if that is known
     * @param why why they fail; null if they end because others have or want the resource
     */
    void end(
            Predicate<Request> condition,
            @Nullable String whoHasIt,
            @Nullable Supplier<RuntimeException> why,
            DeferredActions deferred) {
        for (Place place = head; place != null; place = place.next) {
            if (condition.test(place.request)) {
                end(place.request, whoHasIt, why, deferred);
            }
        }
    }

    /** Ends one request in the same way. */
    void end(
            Request request,
            @Nullable String whoHasIt,
            @Nullable Supplier<RuntimeException> why,
            DeferredActions deferred) {
        remove(request);
        if (why == null) {
            request.refuse(whoHasIt, deferred);
        } else {
            request.fail(why, deferred);
        }
    }

    // ---- Barging

    /** Whether there are tries without a barging claim. */
    boolean hasIdleTries() {
        return idleTries > 0;
    }

    private static boolean isIdleTry(Request request) {
        return request.isTry() && request.bargingClaim() == null;
    }

    /** A claim passes the waiting one for a request; null when it has ended. */
    static void setBargingClaim(Request request, @Nullable Claim claim) {
        boolean wasIdle = isIdleTry(request);
        request.setBargingClaim(claim);
        Place place = request.place();
        if (place != null && wasIdle != isIdleTry(request)) {
            place.queue.idleTries += wasIdle ? -1 : 1;
        }
    }

    /** Does something with each request behind the head that was queued since the last call, oldest first. */
    void takeNewcomers(Consumer<Request> action) {
        Place oldest = null;
        for (Place last = tail;
                last != null && last != head && last.request.number() > newcomersAfter;
                last = last.previous) {
            oldest = last;
        }
        newcomersAfter = numbers;
        for (Place place = oldest; place != null; place = place.next) {
            action.accept(place.request);
        }
    }

    /** Makes all requests newcomers again. */
    void renewNewcomers() {
        newcomersAfter = 0;
    }

    /** The requests with a barging claim that have left since the last call. */
    List<Request> takeLeft() {
        if (left == null) {
            return List.of();
        }
        List<Request> taken = left;
        left = null;
        return taken;
    }

    // ---- Overdue requests

    /** The time of a request is up: it ends with the next answer of the store. */
    void noteOverdue(Request request, Duration waited) {
        request.noteOverdue(waited);
        if (overdue == null) {
            overdue = new LinkedHashSet<>();
        }
        overdue.add(request);
    }

    /**
     * Ends the overdue requests that have had an answer. Each of them came after as many answers as the one before it,
     * or more, so this never visits one that stays: thousands whose waits end together don't visit each other.
     */
    void endOverdue(Predicate<Request> isUnanswered, DeferredActions deferred) {
        while (overdue != null && !overdue.isEmpty()) {
            Request first = overdue.iterator().next();
            if (isUnanswered.test(first)) {
                return;
            }
            end(first, null, null, deferred);
        }
    }
}
