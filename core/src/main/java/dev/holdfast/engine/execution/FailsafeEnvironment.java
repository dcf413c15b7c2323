package dev.holdfast.engine.execution;

import dev.holdfast.Environment;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

/*
 * An environment may fail: its executor rejects a task, or no thread or memory is available for it. A claim whose next
 * step was such a task would be renewed forever and never used. A timer that could not be set is therefore set together
 * with the next one, or when the next one runs; a client with a session always has one. A rejected callback runs on the
 * thread that submitted it. Each runs at most once, even if the executor kept a task that it rejected, as those of the
 * JDK do when no thread can be started.
 */

/** An environment on which the engine can rely: setting a timer and running a callback never fail. Thread-safe. */
public final class FailsafeEnvironment extends ForwardingEnvironment {

    /** Timers that could not be set. */
    private final Queue<Task> unset = new ConcurrentLinkedQueue<>();

    public FailsafeEnvironment(Environment real) {
        super(real);
    }

    /** The wrapped environment. */
    public Environment real() {
        return real;
    }

    @Override
    public long maxSpinNanos() {
        return real.maxSpinNanos();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable action) {
        return set(new Task(action, real.monotonicNanos() + delayNanos, real::schedule), delayNanos);
    }

    @Override
    public Timer scheduleRenewal(long delayNanos, Runnable action) {
        return set(new Task(action, real.monotonicNanos() + delayNanos, real::scheduleRenewal), delayNanos);
    }

    private Timer set(Task task, long delayNanos) {
        setAgain();
        try {
            Timer timer = task.schedule(delayNanos);
            return () -> {
                task.cancel();
                timer.cancel();
            };
        } catch (Throwable t) {
            Failsafe.log("setting a timer", t);
            unset.add(task);
            return task::cancel;
        }
    }

    private void setAgain() {
        for (Task task = unset.poll(); task != null; task = unset.poll()) {
            try {
                var unused = task.schedule(Math.max(0, task.due - real.monotonicNanos()));
            } catch (Throwable t) {
                Failsafe.log("resetting a timer", t);
                unset.add(task);
                return;
            }
        }
    }

    /**
     * {@inheritDoc}
     *
     * <p>A task that the executor runs on the calling thread waits until the engine has finished its current reaction.
     */
    @Override
    public Executor callbacks() {
        return callback -> {
            Task task = new Task(() -> Trampoline.callBack(callback), 0, real::schedule);
            try {
                real.callbacks().execute(task);
            } catch (Throwable t) {
                Failsafe.log("passing a callback to its executor (it runs on another thread)", t);
                task.run();
            }
        };
    }

    @Override
    public Executor lossListeners() {
        return listener -> {
            Task task = new Task(() -> Trampoline.callBack(listener), 0, real::schedule);
            try {
                real.lossListeners().execute(task);
            } catch (Throwable t) {
                Failsafe.log("passing a listener to its executor (it runs as a callback)", t);
                callbacks().execute(task);
            }
        };
    }

    /** A way to set a timer of the wrapped environment. */
    private interface Scheduler {
        Timer schedule(long delayNanos, Runnable action);
    }

    private final class Task implements Runnable {

        private final Once action;
        private final long due;
        private final Scheduler scheduler;

        Task(Runnable action, long due, Scheduler scheduler) {
            this.action = new Once(action);
            this.due = due;
            this.scheduler = scheduler;
        }

        Timer schedule(long delayNanos) {
            return scheduler.schedule(delayNanos, this);
        }

        void cancel() {
            action.cancel();
        }

        @Override
        public void run() {
            Failsafe.run("a task of the client", action);
            if (!unset.isEmpty()) {
                setAgain();
            }
        }
    }
}
