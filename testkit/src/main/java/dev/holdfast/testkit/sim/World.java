package dev.holdfast.testkit.sim;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time: a heap of events, which one thread runs one after another. The order of events at one instant is
 * random.
 *
 * <p>The time of the world is the true time, in nanoseconds since the run began. No process can read it: each has its
 * own {@link SimClock}.
 */
final class World {

    /** A future event. */
    private static final class Event {
        private final long when;
        private final long order;
        private final @Nullable SimProcess where;
        private final Runnable what;

        Event(long when, long order, @Nullable SimProcess where, Runnable what) {
            this.when = when;
            this.order = order;
            this.where = where;
            this.what = what;
        }

        boolean isBefore(Event other) {
            return when != other.when ? when < other.when : order < other.order;
        }
    }

    private final SeededRandom random;
    private final Trace trace;
    private Event[] heap = new Event[256];
    private int size;
    private long now;
    private long events;
    private @Nullable SimulationFailure failure;

    World(SeededRandom random, Trace trace) {
        this.random = random;
        this.trace = trace;
    }

    long now() {
        return now;
    }

    /** The number of events so far. */
    long events() {
        return events;
    }

    Trace trace() {
        return trace;
    }

    /** Adds a line to the trace; callers that build text check {@link Trace#isInWords()} first. */
    void say(String text) {
        trace.line(events, now, text);
    }

    /** Schedules an event outside the clients: on the network, at the store, or a fault. */
    void after(long delay, Runnable what) {
        push(new Event(now + delay, random.next(), null, what));
    }

    /** Schedules an event in a process: postponed while that is paused, dropped if it is dead by then. */
    void after(long delay, SimProcess where, Runnable what) {
        push(new Event(now + delay, random.next(), where, what));
    }

    /** Reports a broken rule. It is stored, because exceptions in dependent actions of a stage are swallowed. */
    void fail(Rule rule, String what) {
        if (failure == null) {
            failure = new SimulationFailure(rule, what, events, now);
            if (trace.isInWords()) {
                say("FAILED " + rule + ": " + what);
            }
        }
    }

    boolean isOver() {
        return size == 0;
    }

    /**
     * Runs the next event.
     *
     * @throws SimulationFailure if an oracle has spoken, or the event ended with an exception
     */
    void step() {
        Event event = pop();
        now = event.when;
        SimProcess where = event.where;
        if (where != null && !where.isRunning()) {
            where.postpone(event.what);
            return;
        }
        events++;
        trace.mix(now);
        try {
            event.what.run();
        } catch (RuntimeException | Error thrown) {
            fail(Rule.NO_EXCEPTION, String.valueOf(thrown));
            if (failure != null && failure.getCause() == null && failure != thrown) {
                failure.initCause(thrown);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void push(Event event) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        int at = size++;
        while (at > 0) {
            int parent = (at - 1) >>> 1;
            if (!event.isBefore(heap[parent])) {
                break;
            }
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = event;
    }

    private Event pop() {
        Event top = heap[0];
        Event last = heap[--size];
        int at = 0;
        for (int child = 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && heap[child + 1].isBefore(heap[child])) {
                child++;
            }
            if (!heap[child].isBefore(last)) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = last;
        return top;
    }
}
