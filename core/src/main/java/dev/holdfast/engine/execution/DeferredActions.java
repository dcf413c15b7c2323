package dev.holdfast.engine.execution;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Actions that run when the lock of a resource is free again: no command, wake-up or listener runs under it. They run
 * even if an exception was thrown under the lock, since they follow from decisions that were made. Used by one thread.
 */
public final class DeferredActions {

    private @Nullable List<Runnable> actions;

    public void add(Runnable action) {
        List<Runnable> list = actions;
        if (list == null) {
            list = new ArrayList<>(2);
            actions = list;
        }
        list.add(action);
    }

    /**
     * Runs the actions in order. The caller holds no lock. What an action throws is logged. The others still run: each
     * may be the command or the wake-up that a request waits for. The caller does not get the exception either, since
     * its own request may have been granted.
     */
    public void send() {
        List<Runnable> list = actions;
        if (list == null) {
            return;
        }
        actions = null;
        for (Runnable action : list) {
            Failsafe.run("a deferred action of a lock", action);
        }
    }
}
