package dev.holdfast.engine.deadlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.Environment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * When a client searches for deadlocks: soon after a wait was added, and again while there are nested waits. One search
 * at a time, in this client; and one that asks the store, which takes as long as the store does. Thread-safe.
 *
 * @param <W> what is added
 */
public final class SearchSchedule<W> {

    /** What is done at its time. Never throws. */
    public interface Steps<W> {

        /** Whether the client is being closed, and searches no longer. */
        boolean isClosing();

        /**
         * Searches in this client.
         *
         * @param fresh what was added since the last search
         * @param end runs at the end
         */
        void searchHere(List<W> fresh, Runnable end);

        /** What follows on a search in this client. */
        Next next();

        /** Searches with the store's help; the parameter receives the pause that should follow. */
        void searchAtStore(LongConsumer end);

        /** There is no nested wait. */
        void rest();
    }

    /** What follows on a search. */
    public enum Next {
        /** Nothing: there is no nested wait. */
        REST,
        /** Another search in this client. */
        HERE,
        /** A search with the store's help. */
        STORE
    }

    /** The pause after a search, however many waits are added. */
    private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** A search without the store is repeated while there are nested waits: a hold in doubt may have hidden a cycle. */
    private static final long USUAL_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Environment environment;
    private final Steps<W> steps;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private List<W> added = new ArrayList<>();

    @GuardedBy("lock")
    private Environment.@Nullable Timer timer;

    @GuardedBy("lock")
    private long dueAt;

    @GuardedBy("lock")
    private boolean isSearching;

    /** Whether a search with the store's help is under way. */
    @GuardedBy("lock")
    private boolean isAsking;

    /** Whether a wait was added since that search began, which does not include it. */
    @GuardedBy("lock")
    private boolean hasNews;

    /** When the last search ended. */
    @GuardedBy("lock")
    private long searchedAt;

    /** Makes the schedule of a client. */
    public SearchSchedule(Environment environment, Steps<W> steps) {
        this.environment = environment;
        this.steps = steps;
        this.searchedAt = environment.monotonicNanos() - LEAST_PAUSE_NANOS;
    }

    /** Adds a wait that may be nested. */
    public void add(W wait) {
        long now = environment.monotonicNanos();
        lock.lock();
        try {
            added.add(wait);
            schedule(Math.max(0, searchedAt + LEAST_PAUSE_NANOS - now), now);
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void schedule(long delayNanos, long now) {
        long at = now + delayNanos;
        if (isSearching || steps.isClosing() || (timer != null && dueAt - at <= 0)) {
            return;
        }
        if (timer != null) {
            timer.cancel();
        }
        dueAt = at;
        timer = environment.schedule(delayNanos, this::begin);
    }

    private void begin() {
        List<W> fresh;
        lock.lock();
        try {
            timer = null;
            if (isSearching || steps.isClosing()) {
                return;
            }
            isSearching = true;
            fresh = added;
            added = new ArrayList<>();
        } finally {
            lock.unlock();
        }
        steps.searchHere(fresh, () -> searchedHere(!fresh.isEmpty()));
    }

    private void searchedHere(boolean isFresh) {
        Next next = steps.next();
        boolean wasAsking;
        lock.lock();
        try {
            wasAsking = isAsking;
            hasNews |= wasAsking && isFresh;
            isAsking |= next == Next.STORE;
            isSearching = false;
            searchedAt = environment.monotonicNanos();
            if (!added.isEmpty()) {
                schedule(LEAST_PAUSE_NANOS, searchedAt);
            } else if (next == Next.HERE && !isAsking) {
                schedule(USUAL_PAUSE_NANOS, searchedAt);
            }
        } finally {
            lock.unlock();
        }
        if (wasAsking) {
            return; // its end begins the next search
        }
        if (next == Next.STORE) {
            steps.searchAtStore(this::searchedAtStore);
        } else {
            steps.rest();
        }
    }

    private void searchedAtStore(long pauseNanos) {
        long now = environment.monotonicNanos();
        lock.lock();
        try {
            isAsking = false;
            schedule(hasNews ? Math.min(pauseNanos, LEAST_PAUSE_NANOS) : pauseNanos, now);
            hasNews = false;
        } finally {
            lock.unlock();
        }
    }
}
