package dev.holdfast.engine.task;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.engine.session.StorePart;
import dev.holdfast.engine.session.StoreParts;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The claims of scheduled tasks, which have no resources. Knows them for as long as the store may, so that an audit
 * takes none for a ghost, and holds what runs, waits, or is to end by itself. Thread-safe.
 */
public final class TaskHolds implements SessionUser {

    public final ClientContext context;
    private final StoreParts parts;
    private final Set<ClaimRef> known = ConcurrentHashMap.newKeySet();
    private final Map<ClaimRef, TaskHold> running = new ConcurrentHashMap<>();
    private final Queue<TaskAcquisition> waiting = new ConcurrentLinkedQueue<>();

    public TaskHolds(StoreParts parts) {
        this.context = parts.context;
        this.parts = parts;
    }

    // ---- Claims

    void know(ClaimRef ref) {
        known.add(ref);
    }

    @Override
    public boolean knows(ClaimRef ref) {
        return known.contains(ref);
    }

    void forget(ClaimRef ref) {
        known.remove(ref);
    }

    /** Forgets a claim that is left to end by itself when it has, also by a store's clock that runs slower. */
    void forgetAfter(ClaimRef ref, long leaseNanos) {
        long spare = leaseNanos / 4 + context.options().sessionTtl().toNanos();
        context.environment().schedule(leaseNanos + spare, () -> forget(ref));
    }

    // ---- Holds

    /** The part of the store to which a task belongs. */
    StorePart part(ResourceName name) {
        return parts.of(name);
    }

    void add(TaskHold hold) {
        running.put(hold.ref, hold);
        if (context.isClosing()) {
            hold.clientClosed();
        }
    }

    void remove(TaskHold hold) {
        running.remove(hold.ref);
    }

    @Override
    public void revoked(ClaimRef ref) {
        TaskHold hold = running.get(ref);
        if (hold != null) {
            hold.contradicted();
        }
    }

    // ---- The client

    /** A call goes on when there is a session. */
    void awaitSession(TaskAcquisition call) {
        waiting.add(call);
        StorePart part = call.part();
        if (part.session() != null) {
            opened(part);
        }
    }

    void stopWaiting(TaskAcquisition call) {
        waiting.remove(call);
    }

    @Override
    public void opened(StorePart part) {
        for (TaskAcquisition call : List.copyOf(waiting)) {
            if (call.part() == part && waiting.remove(call)) {
                call.ask();
            }
        }
    }

    /** Whether a task runs, waits or is to end in a part. */
    @Override
    public boolean isUsing(StorePart part) {
        return known.stream().anyMatch(ref -> parts.of(ref.resource()) == part)
                || waiting.stream().anyMatch(call -> call.part() == part);
    }

    /** The client is closed. */
    public void shut() {
        running.values().forEach(TaskHold::clientClosed);
    }

    public boolean isEmpty() {
        return known.isEmpty() && running.isEmpty() && waiting.isEmpty();
    }
}
