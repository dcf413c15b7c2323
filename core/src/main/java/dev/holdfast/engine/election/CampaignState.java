package dev.holdfast.engine.election;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.election.Campaign.State;
import dev.holdfast.election.TermEnd;
import dev.holdfast.spi.support.LossInterrupt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of a campaign, with its present term. Thread-safe: each method is one step, and none calls the candidate or
 * the store.
 */
final class CampaignState {

    /**
     * What was to be left when a campaign was closed.
     *
     * @param isIdle whether nothing is under way that would end the campaign
     * @param term the present term
     * @param asked what asks for the next one
     */
    record Left(
            boolean isIdle,
            @Nullable EngineLeadership term,
            @Nullable CompletableFuture<Hold> asked) {}

    /**
     * What went on when a term ended.
     *
     * @param interrupt interrupts the candidate
     * @param isTaskOver whether the candidate was not, or will not be, in {@code onElected} any more
     */
    record Ended(@Nullable LossInterrupt interrupt, boolean isTaskOver) {}

    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private State state = State.WAITING;

    @GuardedBy("lock")
    private @Nullable EngineLeadership term;

    @GuardedBy("lock")
    private @Nullable CompletableFuture<Hold> request;

    @GuardedBy("lock")
    private Environment.Timer pause = () -> {};

    @GuardedBy("lock")
    private @Nullable Throwable lastError;

    @GuardedBy("lock")
    private boolean isLeaving;

    /** A pause begins when the candidate has been told why. */
    @GuardedBy("lock")
    private boolean isTelling;

    /** A term that the candidate is done with, and whose release the store has not answered. */
    @GuardedBy("lock")
    private @Nullable EngineLeadership releasing;

    /** How often in a row something has failed; what the pause grows with. */
    @GuardedBy("lock")
    private int troubles;

    // ---- Waiting

    /** Stands for the next term; false if the campaign is being left. */
    boolean stand() {
        lock.lock();
        try {
            if (!isLeaving) {
                state = State.WAITING;
            }
            return !isLeaving;
        } finally {
            lock.unlock();
        }
    }

    /** The next term is asked for; false if the campaign is being left. */
    boolean ask(CompletableFuture<Hold> asked) {
        lock.lock();
        try {
            request = asked;
            return !isLeaving;
        } finally {
            lock.unlock();
        }
    }

    /** A term was granted, and begins; false if the campaign is being left. */
    boolean begin(EngineLeadership fresh) {
        lock.lock();
        try {
            request = null;
            if (!isLeaving) {
                term = fresh;
                state = State.LEADING;
            }
            return !isLeaving;
        } finally {
            lock.unlock();
        }
    }

    /** A term could not be had: a pause follows once that was told; false if the campaign is being left. */
    boolean fail(Throwable failure) {
        lock.lock();
        try {
            request = null;
            if (!isLeaving) {
                isTelling = true;
                state = State.PAUSED;
                lastError = failure;
            }
            return !isLeaving;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Goes on after a term or a failure; false if the campaign is being left.
     *
     * @param timer begins the pause; null for none
     */
    boolean standAgain(@Nullable Supplier<Environment.Timer> timer) {
        lock.lock();
        try {
            isTelling = false;
            if (!isLeaving) {
                state = State.PAUSED;
                if (timer != null) {
                    // Under the lock, so that who leaves finds it.
                    pause = timer.get();
                }
            }
            return !isLeaving;
        } finally {
            lock.unlock();
        }
    }

    /** How often in a row something had failed before; counts one more. */
    int countTrouble() {
        lock.lock();
        try {
            return troubles++;
        } finally {
            lock.unlock();
        }
    }

    boolean isInTrouble() {
        lock.lock();
        try {
            return troubles > 0;
        } finally {
            lock.unlock();
        }
    }

    // ---- Leading

    /** The candidate is about to be told of its term; false if that is over already, and it will not be told. */
    boolean beginTask(EngineLeadership of, LossInterrupt interrupt) {
        lock.lock();
        try {
            of.wasTold = of.end == null;
            of.interrupt = interrupt;
            return of.wasTold;
        } finally {
            lock.unlock();
        }
    }

    /** The candidate has returned; whether its term is over. */
    boolean endTask(EngineLeadership of) {
        lock.lock();
        try {
            of.interrupt = null;
            of.isTaskOver = true;
            return of.end != null;
        } finally {
            lock.unlock();
        }
    }

    /** Ends a term; null if it was over. */
    @Nullable
    Ended end(EngineLeadership of, TermEnd how) {
        lock.lock();
        try {
            if (of.end != null) {
                return null;
            }
            of.end = how;
            state = State.STEPPING_DOWN;
            term = null;
            return new Ended(of.interrupt, of.isTaskOver);
        } finally {
            lock.unlock();
        }
    }

    /** How a term has ended. */
    TermEnd endOf(EngineLeadership of) {
        lock.lock();
        try {
            TermEnd how = of.end;
            if (how == null) {
                throw new IllegalStateException("term " + of.term() + " goes on");
            }
            return how;
        } finally {
            lock.unlock();
        }
    }

    void beginRelease(EngineLeadership of) {
        lock.lock();
        try {
            releasing = of;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The store has answered the release of a term, or never will.
     *
     * @param wasLong whether it lasted, so that troubles before it don't count any more
     * @return false if that was known
     */
    boolean endRelease(EngineLeadership of, boolean wasLong) {
        lock.lock();
        try {
            if (releasing != of) {
                return false;
            }
            releasing = null;
            if (wasLong) {
                troubles = 0;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    void note(Throwable failure) {
        lock.lock();
        try {
            lastError = failure;
        } finally {
            lock.unlock();
        }
    }

    // ---- Leaving

    boolean isLeaving() {
        lock.lock();
        try {
            return isLeaving;
        } finally {
            lock.unlock();
        }
    }

    /** The client is closed, which is why the campaign ends unless it is being left already. */
    void noteShut(RuntimeException why) {
        lock.lock();
        try {
            if (!isLeaving) {
                lastError = why;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Leaves the campaign; null if it was being left. */
    @Nullable
    Left leave() {
        lock.lock();
        try {
            if (isLeaving) {
                return null;
            }
            isLeaving = true;
            pause.cancel();
            boolean isIdle = state == State.WAITING || (state == State.PAUSED && !isTelling);
            return new Left(isIdle, term, request);
        } finally {
            lock.unlock();
        }
    }

    /** The campaign has ended; false if it had before. */
    boolean finish() {
        lock.lock();
        try {
            boolean isFirst = state != State.ENDED;
            state = State.ENDED;
            return isFirst;
        } finally {
            lock.unlock();
        }
    }

    // ---- Looks from outside

    State state() {
        lock.lock();
        try {
            return state;
        } finally {
            lock.unlock();
        }
    }

    /** The present term; null if there is none. */
    @Nullable
    EngineLeadership term() {
        lock.lock();
        try {
            return term;
        } finally {
            lock.unlock();
        }
    }

    /** The term whose release the store has not answered; null if there is none. */
    @Nullable
    EngineLeadership releasing() {
        lock.lock();
        try {
            return releasing;
        } finally {
            lock.unlock();
        }
    }

    @Nullable
    Throwable lastError() {
        lock.lock();
        try {
            return lastError;
        } finally {
            lock.unlock();
        }
    }
}
