package dev.holdfast.verification.world;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedSemaphore;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** A thread that performs the actions that a test gives it, one after another. */
public final class Actor implements AutoCloseable {

    /** What an actor does that returns nothing. */
    @FunctionalInterface
    public interface Deed {
        /** Does it. */
        void run() throws Exception;
    }

    private final BlockingQueue<FutureTask<?>> deeds = new LinkedBlockingQueue<>();
    private final Thread thread;
    private final Quiescence quiescence = new Quiescence(this);

    /** The number of actions given to it, counted before each is queued. */
    private final AtomicInteger told = new AtomicInteger();

    // Written by the actor's thread.
    private volatile int begun;
    private volatile int ended;

    Actor(String name) {
        thread = new Thread(this::live, name);
        thread.setDaemon(true);
        thread.start();
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void live() {
        while (true) {
            FutureTask<?> deed;
            try {
                deed = deeds.take();
            } catch (InterruptedException e) {
                // Meant for an action that had ended by then.
                continue;
            }
            if (deed == END) {
                return;
            }
            begun++;
            deed.run();
            ended++;
        }
    }

    private static final FutureTask<Void> END = new FutureTask<>(() -> null);

    /** The actor's thread. */
    public Thread thread() {
        return thread;
    }

    /** Begins to do something, and does not wait for it. */
    public <T> Doing<T> start(Callable<T> deed) {
        FutureTask<T> task = new FutureTask<>(deed);
        told.incrementAndGet();
        deeds.add(task);
        return new Doing<>(this, task);
    }

    /** Does something to its end; what it throws is thrown here. */
    public <T> T call(Callable<T> deed) throws Exception {
        return start(deed).result();
    }

    /** Does something to its end; what it throws is thrown here. */
    public void run(Deed deed) throws Exception {
        call(() -> {
            deed.run();
            return true;
        });
    }

    /** Begins to do something that should end when a lock is granted, and returns when it waits for that lock. */
    public <T> Doing<T> startWaiting(Callable<T> deed) {
        Doing<T> doing = start(deed);
        doing.awaitParked();
        return doing;
    }

    /** Sets the interrupt flag of its thread. */
    public void interrupt() {
        thread.interrupt();
    }

    /** Lets the thread die, with all that it holds. */
    public void die() throws InterruptedException {
        deeds.add(END);
        thread.join(Eventually.DEADLINE.toMillis());
        if (thread.isAlive()) {
            throw new AssertionError(thread + " did not end");
        }
    }

    /** The number of completed actions. */
    int ended() {
        return ended;
    }

    /** Whether it is in the middle of a deed. */
    boolean isBusy() {
        return begun > ended;
    }

    /** Whether it has completed all actions. */
    boolean isIdle() {
        return ended == told.get();
    }

    /** How and when it comes to rest. */
    Quiescence quiescence() {
        return quiescence;
    }

    @Override
    public void close() {
        deeds.add(END);
    }

    /**
     * Something that an actor is doing.
     *
     * @param <T> what it comes to
     */
    public static final class Doing<T> {
        private final Actor actor;
        private final FutureTask<T> task;

        private Doing(Actor actor, FutureTask<T> task) {
            this.actor = actor;
            this.task = task;
        }

        /** Whether it has ended. */
        public boolean isDone() {
            return task.isDone();
        }

        /** Returns when the actor is parked in the queue of a lock. */
        public void awaitParked() {
            Eventually.holds(actor.thread.getName() + " waits for a lock", () -> {
                if (task.isDone()) {
                    throw new AssertionError(
                            actor.thread.getName() + " was to wait for a lock, but did not: " + outcome());
                }
                Object blocker = LockSupport.getBlocker(actor.thread);
                return blocker instanceof DistributedLock
                        || blocker instanceof DistributedSemaphore
                        || blocker instanceof DistributedCountDownLatch;
            });
        }

        /** What it came to; what it threw is thrown here. */
        public T result() throws Exception {
            try {
                return task.get(Eventually.DEADLINE.toNanos(), TimeUnit.NANOSECONDS);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof Exception known) {
                    throw known;
                }
                throw (Error) e.getCause();
            } catch (TimeoutException e) {
                AssertionError error = new AssertionError(actor.thread.getName() + " did not come to an end");
                error.setStackTrace(actor.thread.getStackTrace());
                throw error;
            }
        }

        private String outcome() {
            try {
                return "it returned " + task.get();
            } catch (ExecutionException e) {
                return "it threw " + e.getCause();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return "unknown";
            }
        }
    }
}
