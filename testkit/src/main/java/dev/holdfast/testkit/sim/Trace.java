package dev.holdfast.testkit.sim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The events of a run: always as a hash, which shows whether two runs were the same, and on demand the last lines as
 * text.
 *
 * <p>Text is expensive, so a run is made without it first, and a failed run is repeated with it.
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
        hash = SeededRandom.mix(hash ^ value);
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
