package dev.holdfast.spi.support;

/**
 * Whether it pays to stay awake for a moment before sleeping, as learned from how it went before. To put a thread to
 * sleep and to wake it takes about as long as a round trip to a server near by: where an answer comes at once, a thread
 * that looks out for it halves the time. After a spin that did not pay there is none for {@value #LEAST_REST} times as
 * long as it took. Each further one that does not pay doubles this factor, up to {@value #MOST_REST};
 * {@value #IN_A_ROW} in a row that pay halve it.
 *
 * <p>The time counts, not the number of spins, because a thread that yields on a busy processor may run again only
 * after some milliseconds. Its answer has arrived by then, but late, so that spin did not pay either.
 *
 * <p>That a wait learns from those before it is the idea of adaptive locks, as of the Java virtual machine's own
 * monitors.
 *
 * <p><b>Thread-safety:</b> none; for one thread, or under a lock.
 */
public final class AdaptiveSpin {

    private static final int LEAST_REST = 64;
    private static final int MOST_REST = 1_024;
    private static final int IN_A_ROW = 4;

    private boolean isResting;
    private long restEnds;
    private int rest = LEAST_REST;
    private int row;

    /** Makes one that begins with looking out. */
    public AdaptiveSpin() {}

    /**
     * Returns whether to spin this time. The caller then reports how it went.
     *
     * @param now nanoseconds of a monotonic clock
     */
    public boolean isWorthwhile(long now) {
        isResting = isResting && now - restEnds < 0;
        return !isResting;
    }

    /** Reports a spin during which the answer arrived. */
    public void paidOff() {
        if (++row == IN_A_ROW) {
            row = 0;
            rest = Math.max(LEAST_REST, rest / 2);
        }
    }

    /**
     * Reports a spin that was too short for the answer, or took too long.
     *
     * @param now nanoseconds of a monotonic clock
     * @param took the nanoseconds that were spent
     */
    public void wasInVain(long now, long took) {
        row = 0;
        isResting = true;
        restEnds = now + rest * took;
        rest = Math.min(2 * rest, MOST_REST);
    }
}
