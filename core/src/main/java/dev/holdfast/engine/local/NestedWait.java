package dev.holdfast.engine.local;

import dev.holdfast.engine.local.WaitView.Blocker;
import dev.holdfast.engine.local.WaitView.WaitState;
import dev.holdfast.spi.ResourceName;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A thread that has waited for a second for a resource, and may hold others. Thread-safe. */
final class NestedWait {

    final ResourceName awaits;
    final Thread thread;

    /** When it began, by the monotonic clock. */
    final long beganNanos;

    private final Request request;
    private final LocalSynchronizer resource;

    /** What its thread held when the wait began, and has not released: a thread acquires nothing while it waits. */
    private final List<LocalHold> holds = new CopyOnWriteArrayList<>();

    NestedWait(Request request, LocalSynchronizer resource, Thread thread, long beganNanos) {
        this.request = request;
        this.resource = resource;
        this.awaits = request.name;
        this.thread = thread;
        this.beganNanos = beganNanos;
    }

    /** Adds what its thread holds: all at once, since each change copies the list. */
    void add(List<LocalHold> found) {
        holds.addAll(found);
    }

    List<LocalHold> holds() {
        return holds;
    }

    /** The holds for which it waits, and which last until a thread releases them; empty if it no longer waits. */
    List<Blocker> blockers() {
        List<Blocker> blockers = resource.query(view -> view.blockersOf(request));
        // Not under the lock: this ends a hold that is found to have expired.
        blockers.removeIf(blocker -> !blocker.hold().isLastingAndOwned());
        return blockers;
    }

    /** Whether its thread waits for a share. */
    boolean isReader() {
        return request.isShare();
    }

    /** What this process knows of its wait; null if it has ended. */
    @Nullable
    WaitState state() {
        return resource.query(view -> view.stateOf(request));
    }

    boolean isOver() {
        return request.isDone();
    }

    /** Ends it with an exception, unless it has ended. */
    void fail(Supplier<RuntimeException> why) {
        var unused = resource.fail(request, why);
    }

    /** Whether its thread still waits and has not released all that it held; never becomes true again. */
    boolean isNested() {
        holds.removeIf(LocalHold::isOver);
        return !isOver() && !holds.isEmpty();
    }

    String threadName() {
        return thread.getName().isEmpty() ? "#" + thread.getId() : thread.getName();
    }
}
