package dev.holdfast.spi.support;

/**
 * Decides whether a thread spins before it parks, by the success of earlier spins. To park and unpark a thread takes
 * about as long as a round trip to a nearby server, so spinning halves the time if the reply arrives at once. A
 * fruitless spin is followed by a rest of {@value #LEAST_REST} times its duration. Each further one doubles this
 * factor, up to {@value #MOST_REST}; {@value #IN_A_ROW} successful ones in a row halve it.
 *
 * <p>Time counts, not the number of spins, since a thread that yields on a busy processor may run again only after some
 * milliseconds. Its reply has arrived by then, but late, so that spin was fruitless too.
 *
 * <p>Adaptive locks, such as the monitors of the Java virtual machine, learn from earlier waits in the same way.
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

    /** Begins with spinning. */
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
