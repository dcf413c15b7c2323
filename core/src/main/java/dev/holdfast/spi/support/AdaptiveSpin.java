package dev.holdfast.spi.support;

/**
 * Whether it pays to stay awake for a moment before sleeping, as learned from how it went before. To put a thread to
 * sleep and to wake it takes about as long as a round trip to a server near by: where an answer comes at once, a thread
 * that looks out for it halves the time. To look out in vain costs several times what is gained else, so it has to pay
 * nearly always: after each time in vain it is left out for twice as many times, up to {@value #MOST_LEFT_OUT}, and for
 * half as many after {@value #IN_A_ROW} times in a row that paid.
 *
 * <p>That a wait learns from those before it is the idea of adaptive locks, as of the Java virtual machine's own
 * monitors.
 *
 * <p><b>Thread-safety:</b> none; for one thread, or under a lock.
 */
public final class AdaptiveSpin {

    private static final int MOST_LEFT_OUT = 1_024;
    private static final int IN_A_ROW = 4;

    private int toLeaveOut;
    private int afterNextInVain = 1;
    private int row;

    /** Makes one that begins with looking out. */
    public AdaptiveSpin() {}

    /** Whether to stay awake this time. Whoever does tells what came of it. */
    public boolean isWorthwhile() {
        if (toLeaveOut > 0) {
            toLeaveOut--;
            return false;
        }
        return true;
    }

    /** What was looked out for came. */
    public void paidOff() {
        if (++row == IN_A_ROW) {
            row = 0;
            afterNextInVain = Math.max(1, afterNextInVain / 2);
        }
    }

    /** It did not come in time. */
    public void wasInVain() {
        row = 0;
        toLeaveOut = afterNextInVain;
        afterNextInVain = Math.min(2 * afterNextInVain, MOST_LEFT_OUT);
    }
}
