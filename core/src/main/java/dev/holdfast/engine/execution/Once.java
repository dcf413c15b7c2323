package dev.holdfast.engine.execution;

import java.util.concurrent.atomic.AtomicBoolean;

/** A task that runs at most once: an executor that fails may have kept it all the same. */
public final class Once extends AtomicBoolean implements Runnable {

    private static final long serialVersionUID = 1L;

    private final transient Runnable task;

    public Once(Runnable task) {
        this.task = task;
    }

    /** Makes sure that it does not begin any more, if it has not begun. */
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
