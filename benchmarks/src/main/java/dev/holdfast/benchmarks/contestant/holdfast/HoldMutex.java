package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.Hold;
import dev.holdfast.benchmarks.harness.Contestant;
import org.jspecify.annotations.Nullable;

/** Acquires a hold and reads its token each time, as a user does who sends the token along. For one thread. */
public final class HoldMutex implements Contestant.Mutex {

    /** Waits for a hold. */
    @FunctionalInterface
    public interface Acquisition {
        Hold acquire() throws InterruptedException;
    }

    private final Acquisition acquisition;
    private @Nullable Hold hold;

    public HoldMutex(Acquisition acquisition) {
        this.acquisition = acquisition;
    }

    @Override
    public long acquire() throws InterruptedException {
        Hold granted = acquisition.acquire();
        hold = granted;
        return granted.fencingToken();
    }

    @Override
    public void release() {
        Hold owned = hold;
        hold = null;
        if (owned != null) {
            owned.close();
        }
    }
}
