package dev.holdfast.engine.local;

import java.util.ArrayList;
import java.util.List;

/** A thread that has waited for a second for a resource, and may hold others. Used by one search at a time. */
final class NestedWait {

    final Request request;
    final LocalSynchronizer resource;
    final Thread thread;

    /** When it began, by the monotonic clock. */
    final long beganNanos;

    /** What its thread held when the wait began, and has not released: a thread acquires nothing while it waits. */
    private final List<LocalHold> holds = new ArrayList<>();

    NestedWait(Request request, LocalSynchronizer resource, Thread thread, long beganNanos) {
        this.request = request;
        this.resource = resource;
        this.thread = thread;
        this.beganNanos = beganNanos;
    }

    void add(LocalHold hold) {
        holds.add(hold);
    }

    List<LocalHold> holds() {
        return holds;
    }

    /** Whether its thread still waits and has not released all that it held; never becomes true again. */
    boolean isNested() {
        holds.removeIf(LocalHold::isOver);
        return !request.isDone() && !holds.isEmpty();
    }

    String threadName() {
        return thread.getName().isEmpty() ? "#" + thread.getId() : thread.getName();
    }
}
