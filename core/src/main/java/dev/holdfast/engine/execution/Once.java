package dev.holdfast.engine.execution;

import java.util.concurrent.atomic.AtomicBoolean;

/** A task that runs at most once: an executor that rejects a task may still have kept it. */
public final class Once extends AtomicBoolean implements Runnable {

    private static final long serialVersionUID = 1L;

    private final transient Runnable task;

    public Once(Runnable task) {
        this.task = task;
    }

    /** Keeps it from starting, if it has not started. */
    void cancel() {
        set(true);
    }

    @Override
    public void run() {
        if (compareAndSet(false, true)) {
            task.run();
        }
    }
}
