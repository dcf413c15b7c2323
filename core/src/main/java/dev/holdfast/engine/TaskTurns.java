package dev.holdfast.engine;

import dev.holdfast.spi.ClaimRef;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The claims of scheduled tasks, which have no gates. Knows them for as long as the store may, so that an audit takes
 * none for a ghost, and holds what runs, waits, or is to end by itself. Thread-safe.
 */
final class TaskTurns {

    private final Engine engine;
    private final Set<ClaimRef> known = ConcurrentHashMap.newKeySet();
    private final Map<ClaimRef, TaskTurn> running = new ConcurrentHashMap<>();
    private final Queue<TurnCall> waiting = new ConcurrentLinkedQueue<>();

    TaskTurns(Engine engine) {
        this.engine = engine;
    }

    // ---- Claims

    void know(ClaimRef ref) {
        known.add(ref);
    }

    boolean isKnown(ClaimRef ref) {
        return known.contains(ref);
    }

    void forget(ClaimRef ref) {
        known.remove(ref);
    }

    /** Forgets a claim that is left to end by itself when it has, also by a store's clock that runs slower. */
    void forgetAfter(ClaimRef ref, long leaseNanos) {
        long spare = leaseNanos / 4 + engine.options.sessionTtl().toNanos();
        engine.environment.schedule(leaseNanos + spare, () -> forget(ref));
    }

    // ---- Turns

    void add(TaskTurn turn) {
        running.put(turn.ref, turn);
        if (engine.isClosing()) {
            turn.clientClosed();
        }
    }

    void remove(TaskTurn turn) {
        running.remove(turn.ref);
    }

    /** The store says that a grant was taken away. */
    void revoked(ClaimRef ref) {
        TaskTurn turn = running.get(ref);
        if (turn != null) {
            turn.contradicted();
        }
    }

    // ---- The client

    /** A call goes on when there is a session. */
    void awaitSession(TurnCall call) {
        waiting.add(call);
        StorePart part = call.part();
        if (part.session() != null) {
            goOn(part);
        }
    }

    void stopWaiting(TurnCall call) {
        waiting.remove(call);
    }

    /** There is a session of a part. */
    void goOn(StorePart part) {
        for (TurnCall call : List.copyOf(waiting)) {
            if (call.part() == part && waiting.remove(call)) {
                call.ask();
            }
        }
    }

    /** Whether a task runs, waits or is to end in a part. */
    boolean isUsing(StorePart part) {
        return known.stream().anyMatch(ref -> engine.part(ref.resource()) == part)
                || waiting.stream().anyMatch(call -> call.part() == part);
    }

    /** The client is closed. */
    void shut() {
        running.values().forEach(TaskTurn::clientClosed);
    }

    boolean isEmpty() {
        return known.isEmpty() && running.isEmpty() && waiting.isEmpty();
    }
}
