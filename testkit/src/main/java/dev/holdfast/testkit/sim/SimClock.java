package dev.holdfast.testkit.sim;

/**
 * The clocks of one machine: their rate deviates by a constant factor, they stop when the machine sleeps, and the wall
 * clock is stepped.
 *
 * <p>A <em>suspended</em> machine stops its monotonic clock but not its boot clock. A <em>frozen</em> one (a virtual
 * machine stopped by its host) stops both, and its wall clock steps when it resumes.
 */
final class SimClock {

    private static final long MILLION = 1_000_000;
    private static final long UPTIME_GRAIN = 10 * MILLION;

    private final long ratePpm;
    private final long monotonicOrigin;
    private final boolean isBootCoarse;
    private long wallOrigin;
    /** What the clocks had counted at the instant {@link #anchor} of the true time. */
    private long counted;

    private long anchor;
    private long slept;

    /**
     * Sets the clocks.
     *
     * @param ratePpm how much faster than the true time they run, in millionths
     * @param monotonicOrigin where the monotonic clock begins; may be near the end of its range
     * @param wallOrigin where the wall clock begins, in nanoseconds since 1970
     * @param isBootCoarse whether the boot clock counts in hundredths of a second only
     */
    SimClock(long ratePpm, long monotonicOrigin, long wallOrigin, boolean isBootCoarse) {
        this.ratePpm = ratePpm;
        this.monotonicOrigin = monotonicOrigin;
        this.wallOrigin = wallOrigin;
        this.isBootCoarse = isBootCoarse;
    }

    long monotonic(long now) {
        return monotonicOrigin + elapsed(now) - slept;
    }

    long boot(long now) {
        long exact = elapsed(now);
        return isBootCoarse ? exact - exact % UPTIME_GRAIN : exact;
    }

    long wall(long now) {
        return wallOrigin + elapsed(now);
    }

    /** The true time in which this clock advances by a duration; rounded up. */
    long trueDuration(long local) {
        long most = Long.MAX_VALUE / (4 * MILLION);
        long bounded = Math.min(local, most);
        return (bounded * MILLION + MILLION + ratePpm - 1) / (MILLION + ratePpm);
    }

    void stepWall(long nanos) {
        wallOrigin += nanos;
    }

    /** The machine was suspended from an instant until now. */
    void wakeFromSuspension(long since, long now) {
        slept += elapsed(now) - elapsed(since);
    }

    /** The machine was frozen from an instant until now. */
    void thaw(long since, long now) {
        long missed = elapsed(now) - elapsed(since);
        counted = elapsed(since);
        anchor = now;
        wallOrigin += missed;
    }

    private long elapsed(long now) {
        long real = now - anchor;
        return counted + real + Math.floorDiv(real * ratePpm, MILLION);
    }
}
