package dev.holdfast;

import dev.holdfast.engine.time.Durations;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.Optional;

/**
 * The options of one acquisition. Immutable; each {@code with} method returns a changed copy.
 *
 * <pre>{@code
 * lock.acquire(AcquireOptions.defaults().withMaxWait(ofSeconds(5)).withMaxHold(ofMinutes(10)));
 * }</pre>
 */
public final class AcquireOptions {

    private static final AcquireOptions DEFAULTS =
            new AcquireOptions(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    private final Optional<Duration> maxWait;
    private final Optional<Duration> fixedLease;
    private final Optional<Duration> maxHold;
    private final Optional<Duration> detachedLease;

    private AcquireOptions(
            Optional<Duration> maxWait,
            Optional<Duration> fixedLease,
            Optional<Duration> maxHold,
            Optional<Duration> detachedLease) {
        this.maxWait = maxWait;
        this.fixedLease = fixedLease;
        this.maxHold = maxHold;
        this.detachedLease = detachedLease;
    }

    /** Waits without a limit, and is renewed until released. */
    public static AcquireOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Waits for at most this long.
     *
     * @param wait zero (a single attempt) or longer
     * @throws IllegalArgumentException if it is negative
     */
    public AcquireOptions withMaxWait(Duration wait) {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative, but was " + DurationFormat.format(wait));
        }
        return new AcquireOptions(Optional.of(wait), fixedLease, maxHold, detachedLease);
    }

    /**
     * The hold is not renewed: it ends after this time, or with the session if that is sooner, unless {@linkplain
     * Hold#extend(Duration) extended}. Such a hold is never handed over within the process.
     *
     * @param lease at least 200 ms, at most a hundred years
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException if a maximum hold time or a detached lease is set
     */
    public AcquireOptions withFixedLease(Duration lease) {
        requireNoOther("fixedLease", lease, "maxHold", maxHold);
        requireNoOther("fixedLease", lease, "detachedLease", detachedLease);
        return new AcquireOptions(maxWait, Optional.of(checked("fixedLease", lease)), maxHold, detachedLease);
    }

    /**
     * The hold is renewed, but ends after this time at the latest, even if its owner seems healthy: a bound for a stuck
     * thread. Such a hold is never handed over within the process.
     *
     * @param hold at least 200 ms, at most a hundred years
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException if a fixed or detached lease is set
     */
    public AcquireOptions withMaxHold(Duration hold) {
        requireNoOther("maxHold", hold, "fixedLease", fixedLease);
        requireNoOther("maxHold", hold, "detachedLease", detachedLease);
        return new AcquireOptions(maxWait, fixedLease, Optional.of(checked("maxHold", hold)), detachedLease);
    }

    /**
     * The hold is not renewed and outlives its client: it ends after this time, unless {@linkplain
     * Hold#extend(Duration) extended}, even if the process that acquired it dies. For work that another process
     * finishes; see {@link Permits#permitId()}. Such a hold is never handed over within the process.
     *
     * @param lease at least 200 ms, at most a hundred years
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException if a fixed lease or a maximum hold time is set
     */
    public AcquireOptions withDetachedLease(Duration lease) {
        requireNoOther("detachedLease", lease, "fixedLease", fixedLease);
        requireNoOther("detachedLease", lease, "maxHold", maxHold);
        return new AcquireOptions(maxWait, fixedLease, maxHold, Optional.of(checked("detachedLease", lease)));
    }

    private static void requireNoOther(String what, Duration asked, String other, Optional<Duration> set) {
        if (set.isPresent()) {
            throw new IllegalStateException(what + " (" + DurationFormat.format(asked) + ") and " + other + " ("
                    + DurationFormat.format(set.get()) + ") can't be combined");
        }
    }

    /** The maximum wait; empty for none. */
    public Optional<Duration> maxWait() {
        return maxWait;
    }

    /** The fixed lease, if any. */
    public Optional<Duration> fixedLease() {
        return fixedLease;
    }

    /** The maximum hold time, if any. */
    public Optional<Duration> maxHold() {
        return maxHold;
    }

    /** The lease that outlives the client, if any. */
    public Optional<Duration> detachedLease() {
        return detachedLease;
    }

    @Override
    public String toString() {
        return "maxWait=" + maxWait + " fixedLease=" + fixedLease + " maxHold=" + maxHold + " detachedLease="
                + detachedLease;
    }

    private static Duration checked(String what, Duration lease) {
        return Durations.lease(what, lease);
    }
}
