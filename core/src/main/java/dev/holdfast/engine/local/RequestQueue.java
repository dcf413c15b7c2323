package dev.holdfast.engine.local;

import java.time.Duration;
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
    private int tries;
    private boolean mayHaveOverdue;

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

    /** Whether there are some that don't wait. */
    boolean hasTries() {
        return tries > 0;
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
        tries += request.isTry ? 1 : 0;
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
        tries += request.isTry ? 1 : 0;
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
        tries -= request.isTry ? 1 : 0;
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
        mayHaveOverdue = true;
    }

    /** Whether one may wait whose time is up. */
    boolean mayHaveOverdue() {
        return mayHaveOverdue;
    }

    /** Finds out whether one waits whose time is up. */
    void checkOverdue() {
        mayHaveOverdue = false;
        for (Request request = head; request != null && !mayHaveOverdue; request = request.next) {
            mayHaveOverdue = request.overdueAfter != null;
        }
    }

    /** Whether a request waits that a claim could serve. */
    boolean hasOneFor(LocalClaim claim) {
        for (Request request = head; request != null; request = request.next) {
            if (claim.suits(request)) {
                return true;
            }
        }
        return false;
    }
}
