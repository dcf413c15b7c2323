package dev.holdfast.store.register.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RegisterAdapter;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The watched sessions of other clients. Each is watched once, however many lanes need it. Thread-safe. */
final class Watches {

    private final RegisterAdapter adapter;

    @GuardedBy("this")
    private final Map<SessionId, Integer> users = new HashMap<>();

    Watches(RegisterAdapter adapter) {
        this.adapter = adapter;
    }

    synchronized boolean isWatched(SessionId id) {
        return users.containsKey(id);
    }

    /** Replaces the sessions that one lane needs. */
    synchronized void replace(Set<SessionId> before, Set<SessionId> after) {
        boolean isChanged = false;
        for (SessionId id : after) {
            if (!before.contains(id)) {
                isChanged |= users.merge(id, 1, Integer::sum) == 1;
            }
        }
        for (SessionId id : before) {
            if (!after.contains(id)) {
                isChanged |= users.computeIfPresent(id, (same, count) -> count == 1 ? null : count - 1) == null;
            }
        }
        if (isChanged) {
            // Under the lock, so that the newest set is the last one that the adapter gets.
            adapter.watchSessions(Set.copyOf(users.keySet()));
        }
    }
}
