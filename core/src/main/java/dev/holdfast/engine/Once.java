package dev.holdfast.engine;

import java.util.concurrent.atomic.AtomicBoolean;

/** A task that runs at most once: an executor that fails may have kept it all the same. */
final class Once extends AtomicBoolean implements Runnable {

    private static final long serialVersionUID = 1L;

    private final transient Runnable task;

    Once(Runnable task) {
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
