package dev.holdfast.spi.support;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens a store on a separate thread, so that the caller's wait is bounded even if a pool, a connection or a name
 * service blocks for longer. A store that opens too late is closed. Thread-safe.
 */
public final class BoundedOpening {

    /** Openings that timed out, each with its thread. Bounds the threads of a program that retries. */
    private static final int MOST_ABANDONED = 16;

    private static final Logger LOG = LoggerFactory.getLogger(BoundedOpening.class);

    private static final AtomicInteger ABANDONED = new AtomicInteger();

    private BoundedOpening() {}

    /**
     * Opens a store within a time that {@link OpeningTime} measures.
     *
     * <p><b>Blocking:</b> for at most that time. <b>Interruption:</b> ends the wait like a time-out.
     *
     * @throws StoreException if the store can't be opened, or not within that time
     * @throws InterruptedException if interrupted while waiting
     */
    public static <S extends LockStore> S within(Duration time, Supplier<S> opening) throws InterruptedException {
        CompletableFuture<S> opened = begin(opening);
        try {
            return await(opened, new OpeningTime(time));
        } catch (InterruptedException e) {
            abandon(opened);
            throw e;
        }
    }

    /**
     * As {@link #within}. <b>Interruption:</b> has no effect; the flag is set again afterwards.
     *
     * @throws StoreException if the store can't be opened, or not within that time
     */
    public static <S extends LockStore> S uninterruptibly(OpeningTime time, Supplier<S> opening) {
        CompletableFuture<S> opened = begin(opening);
        boolean wasInterrupted = false;
        try {
            while (true) {
                try {
                    return await(opened, time);
                } catch (InterruptedException e) {
                    wasInterrupted = true;
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static <S extends LockStore> CompletableFuture<S> begin(Supplier<S> opening) {
        if (ABANDONED.get() >= MOST_ABANDONED) {
            throw unavailable(MOST_ABANDONED + " abandoned attempts to open a store are still running");
        }
        CompletableFuture<S> opened = new CompletableFuture<>();
        Thread thread = new Thread(() -> open(opening, opened), "holdfast-open");
        thread.setDaemon(true);
        thread.start();
        return opened;
    }

    private static <S extends LockStore> S await(CompletableFuture<S> opened, OpeningTime time)
            throws InterruptedException {
        try {
            while (time.leftNanos() > 0) {
                Optional<S> store = within(opened, time.pauseNanos());
                if (store.isPresent()) {
                    return store.get();
                }
            }
            abandon(opened);
            throw unavailable("the store could not be opened within " + DurationFormat.format(time.limit()));
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof Error error) {
                throw error;
            }
            throw cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
        }
    }

    /** Returns empty if it is not open by then. */
    private static <S extends LockStore> Optional<S> within(CompletableFuture<S> opened, long nanos)
            throws InterruptedException, ExecutionException {
        try {
            return Optional.of(opened.get(nanos, TimeUnit.NANOSECONDS));
        } catch (TimeoutException e) {
            return Optional.empty();
        }
    }

    private static <S extends LockStore> void open(Supplier<S> opening, CompletableFuture<S> opened) {
        try {
            opened.complete(opening.get());
        } catch (Throwable t) {
            opened.completeExceptionally(t);
        }
    }

    /** Runs an action on the opening thread, unless that has ended. */
    private static void abandon(CompletableFuture<? extends LockStore> opened) {
        ABANDONED.incrementAndGet();
        var unused = opened.whenComplete((store, failure) -> {
            ABANDONED.decrementAndGet();
            if (store != null) {
                try {
                    store.close();
                } catch (RuntimeException | Error e) {
                    LOG.warn("a store that opened after the time-out could not be closed cleanly", e);
                }
            }
        });
    }

    private static StoreException unavailable(String why) {
        return new StoreException(Reason.UNAVAILABLE, Effect.NONE, why, null);
    }
}
