package dev.holdfast.election;

import dev.holdfast.engine.time.Durations;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;

/** The options of a campaign. Immutable; each {@code with} method returns a changed copy. */
public final class CampaignOptions {

    private static final CampaignOptions DEFAULTS =
            new CampaignOptions(Optional.empty(), Duration.ofMillis(100), Duration.ofSeconds(10));

    private final Optional<Executor> executor;
    private final Duration shortestPause;
    private final Duration longestPause;

    private CampaignOptions(Optional<Executor> executor, Duration shortestPause, Duration longestPause) {
        this.executor = executor;
        this.shortestPause = shortestPause;
        this.longestPause = longestPause;
    }

    /** A new thread for each series of calls to the candidate, and pauses of 100 ms to 10 s. */
    public static CampaignOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Runs the candidate on an executor, which it occupies while {@link Candidate#onElected} runs. If the executor
     * rejects a call, it runs on a new thread.
     */
    public CampaignOptions withExecutor(Executor tasks) {
        return new CampaignOptions(Optional.of(tasks), shortestPause, longestPause);
    }

    /**
     * Pauses this long after the first failure. Each further one doubles the pause, up to the longest.
     *
     * @throws IllegalArgumentException if it is not positive, or longer than the longest pause: set that first
     */
    public CampaignOptions withShortestPause(Duration pause) {
        return withPauses(Durations.positive("the shortest pause", pause), longestPause);
    }

    /**
     * Pauses at most this long.
     *
     * @throws IllegalArgumentException if it is not positive, or shorter than the shortest pause: set that first
     */
    public CampaignOptions withLongestPause(Duration pause) {
        return withPauses(shortestPause, Durations.positive("the longest pause", pause));
    }

    private CampaignOptions withPauses(Duration shortest, Duration longest) {
        if (shortest.compareTo(longest) > 0) {
            throw new IllegalArgumentException("The shortest pause (" + DurationFormat.format(shortest)
                    + ") must not be longer than the longest (" + DurationFormat.format(longest) + ")");
        }
        return new CampaignOptions(executor, shortest, longest);
    }

    /** The executor of the candidate; empty for new threads. */
    public Optional<Executor> executor() {
        return executor;
    }

    /** The pause after the first failure. */
    public Duration shortestPause() {
        return shortestPause;
    }

    /** The longest pause. */
    public Duration longestPause() {
        return longestPause;
    }

    @Override
    public String toString() {
        return "executor=" + executor + " pauses=" + shortestPause + ".." + longestPause;
    }
}
