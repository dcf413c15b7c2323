package dev.holdfast.store.register.client;

import dev.holdfast.store.register.RegisterRecord;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The share of recent guesses of unknown records that were wrong. A refused write costs several requests, so a round
 * peeks at the record first once about a quarter of the guesses are wrong. Thread-safe.
 */
final class GuessHistory {

    private static final int ALL = 256;

    /** The latest guess has this part of the weight: one wrong guess ends guessing, and five right ones resume it. */
    private static final int WEIGHT = 4;

    /** The share of wrong guesses, of {@value #ALL}. */
    private final AtomicInteger wrong = new AtomicInteger();

    boolean isGood() {
        return wrong.get() < ALL / WEIGHT;
    }

    /** Notes whether a guess was right, if one was made. */
    void add(@Nullable RegisterRecord guess, RegisterRecord present) {
        if (guess == null) {
            return;
        }
        int latest = guess.version().equals(present.version()) ? 0 : ALL;
        var unused = wrong.accumulateAndGet(latest, (share, newest) -> share + (newest - share) / WEIGHT);
    }
}
