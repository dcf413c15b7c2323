package dev.holdfast.engine.execution;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done once the lock of a resource is free again: nothing that leaves the resource (commands, wake-ups,
 * listeners) happens under its lock. It is sent whatever was thrown under the lock: what it says has been decided. Used
 * by one thread.
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
     * Does what was put in, in that order. The caller holds no lock. What one of them throws is logged, and keeps none
     * of the others from being done: each may be the command or the wake-up that somebody waits for. Nor is it the
     * caller's, whose own request may be granted already.
     */
    public void send() {
        List<Runnable> list = actions;
        if (list == null) {
            return;
        }
        actions = null;
        for (Runnable action : list) {
            Failsafe.run("a step of a lock", action);
        }
    }
}
