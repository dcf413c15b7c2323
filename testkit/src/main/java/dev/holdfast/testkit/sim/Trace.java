package dev.holdfast.testkit.sim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * What happened in a run: always a hash, which tells whether two runs were the same, and on demand the last lines in
 * words.
 *
 * <p>Words are dear, so a run is first made without them; a run that failed is made again with them.
 */
final class Trace {

    private final boolean inWords;
    private final int linesMax;
    private final Deque<String> lines = new ArrayDeque<>();
    private long hash = 0x2545F4914F6CDD1DL;

    private Trace(boolean inWords, int linesMax) {
        this.inWords = inWords;
        this.linesMax = linesMax;
    }

    static Trace hashOnly() {
        return new Trace(false, 0);
    }

    static Trace inWords(int linesMax) {
        return new Trace(true, linesMax);
    }

    /** Whether lines are kept: who would have to build one asks first. */
    boolean isInWords() {
        return inWords;
    }

    void mix(long value) {
        hash = Dice.mix(hash ^ value);
    }

    void mix(String text) {
        // The hash of a string is a function of its characters, the same in every run.
        mix(text.hashCode());
    }

    void line(long event, long now, String text) {
        if (lines.size() == linesMax) {
            lines.removeFirst();
        }
        lines.addLast(String.format("%6d %12.6f ms  %s", event, now / 1e6, text));
    }

    long hash() {
        return hash;
    }

    List<String> lines() {
        return List.copyOf(lines);
    }
}
