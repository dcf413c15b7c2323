package dev.holdfast.engine.local;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The local requests that wait at a resource, first in, first out; linked through the requests themselves. Guarded by
 * the lock of the resource.
 */
final class RequestQueue {

    /** The queue of a resource where nobody waits: most resources of held locks have no other. Never appended to. */
    static final RequestQueue NONE = new RequestQueue();

    private @Nullable Request head;
    private @Nullable Request tail;
    private long numbers;
    private int size;

    /** How many don't wait, and have no claim that goes past the one that waits. */
    private int idleTries;

    /**
     * Those whose time is up, in the order in which that was noted; null before the first. None had an answer of the
     * store by then, so the numbers of answers that they came after only rise.
     */
    private @Nullable Set<Request> overdue;

    /** The number up to which requests are no newcomers any more. */
    private long newcomersAfter;

    /** This queue, or a new one if this is none. */
    RequestQueue orNew() {
        return this == NONE ? new RequestQueue() : this;
    }

    @Nullable
    Request head() {
        return head;
    }

    @Nullable
    Request tail() {
        return tail;
    }

    boolean isEmpty() {
        return head == null;
    }

    /** How many wait. */
    int size() {
        return size;
    }

    /** Whether there are some that don't wait, and have no claim that goes past the one that waits. */
    boolean hasIdleTries() {
        return idleTries > 0;
    }

    /** A request that waits has a claim that goes past the one that waits. */
    void noteBarging(Request request) {
        idleTries -= request.isTry ? 1 : 0;
    }

    /** A request has no claim any more that goes past the one that waits. */
    void noteBargingEnded(Request request) {
        idleTries += request.isQueued && request.isTry ? 1 : 0;
    }

    private static boolean isIdleTry(Request request) {
        return request.isTry && request.barging == null;
    }

    boolean hasSeveral() {
        return head != tail;
    }

    /** The number of the newest request that was ever queued. */
    long newest() {
        return numbers;
    }

    void append(Request request) {
        request.number = ++numbers;
        request.isQueued = true;
        size++;
        idleTries += isIdleTry(request) ? 1 : 0;
        request.previous = tail;
        if (tail == null) {
            head = request;
        } else {
            tail.next = request;
        }
        tail = request;
    }

    /** Puts a request back that was at the head. */
    void prepend(Request request) {
        request.isQueued = true;
        size++;
        idleTries += isIdleTry(request) ? 1 : 0;
        request.next = head;
        if (head == null) {
            tail = request;
        } else {
            head.previous = request;
        }
        head = request;
    }

    void remove(Request request) {
        if (!request.isQueued) {
            return;
        }
        request.isQueued = false;
        size--;
        idleTries -= isIdleTry(request) ? 1 : 0;
        if (request.barging != null) {
            request.barging.left(request);
        }
        if (request.previous == null) {
            head = request.next;
        } else {
            request.previous.next = request.next;
        }
        if (request.next == null) {
            tail = request.previous;
        } else {
            request.next.previous = request.previous;
        }
        request.previous = null;
        request.next = null;
        if (overdue != null) {
            overdue.remove(request);
        }
    }

    /** The oldest request behind the head that has come since the last call, with all that follow it; null if none. */
    @Nullable
    Request takeNewcomers() {
        Request oldest = null;
        for (Request last = tail; last != null && last != head && last.number > newcomersAfter; last = last.previous) {
            oldest = last;
        }
        newcomersAfter = numbers;
        return oldest;
    }

    /** Lets all that wait be newcomers again. */
    void renew() {
        newcomersAfter = 0;
    }

    /** The time of a request that waits is up: it ends with the next answer of the store. */
    void noteOverdue(Request request, Duration waited) {
        request.overdueAfter = waited;
        if (overdue == null) {
            overdue = new LinkedHashSet<>();
        }
        overdue.add(request);
    }

    /** The one whose time was up first; null if there is none. */
    @Nullable
    Request firstOverdue() {
        return overdue == null || overdue.isEmpty() ? null : overdue.iterator().next();
    }

    /** Whether a request waits that a claim could serve. */
    boolean hasOneFor(LocalClaim claim) {
        Request only = claim.boundTo();
        if (only != null) {
            return only.isQueued;
        }
        for (Request request = head; request != null; request = request.next) {
            if (claim.suits(request)) {
                return true;
            }
        }
        return false;
    }
}
