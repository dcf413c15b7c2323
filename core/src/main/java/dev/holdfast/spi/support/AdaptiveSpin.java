package dev.holdfast.spi.support;

/**
 * Whether it pays to stay awake for a moment before sleeping, as learned from how it went before. To put a thread to
 * sleep and to wake it takes about as long as a round trip to a server near by: where an answer comes at once, a thread
 * that looks out for it halves the time. Time that was spent in vain is made up for by sleeping: for
 * {@value #LEAST_REST} times as long at first, for twice as many with each further time in vain, up to
 * {@value #MOST_REST}, and for half as many after {@value #IN_A_ROW} times in a row that paid.
 *
 * <p>The time counts, not the number of attempts, because a thread that lets others run on a busy processor may get it
 * back only after some milliseconds. It then finds that its answer has come long ago: that was in vain too.
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
     * Whether to stay awake this time. Whoever does tells what came of it.
     *
     * @param now nanoseconds of a monotonic clock
     */
    public boolean isWorthwhile(long now) {
        isResting = isResting && now - restEnds < 0;
        return !isResting;
    }

    /** What was looked out for came in time. */
    public void paidOff() {
        if (++row == IN_A_ROW) {
            row = 0;
            rest = Math.max(LEAST_REST, rest / 2);
        }
    }

    /**
     * It did not come in time.
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
