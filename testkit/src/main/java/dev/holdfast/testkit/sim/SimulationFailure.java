package dev.holdfast.testkit.sim;

import java.util.List;

/** An oracle has found a broken rule; the message says which seed shows it, and how to run it again. */
public final class SimulationFailure extends AssertionError {

    private static final long serialVersionUID = 1L;

    private final String oracle;
    private final String what;
    private final long event;
    private final long nanos;

    SimulationFailure(String oracle, String what, long event, long nanos) {
        super(oracle + " broken at event " + event + ", " + nanos / 1e6 + " ms: " + what);
        this.oracle = oracle;
        this.what = what;
        this.event = event;
        this.nanos = nanos;
    }

    private SimulationFailure(SimulationFailure first, String text) {
        super(text, first);
        this.oracle = first.oracle;
        this.what = first.what;
        this.event = first.event;
        this.nanos = first.nanos;
    }

    /** The same failure, with the seed and the lines that led to it. */
    SimulationFailure told(long seed, String plan, List<String> lines) {
        return new SimulationFailure(
                this,
                "seed " + seed + ": " + getMessage() + "\n" + plan + "\nthe last lines:\n  "
                        + String.join("\n  ", lines) + "\nseed " + seed + ": " + getMessage()
                        + "\nrun it again with -Dholdfast.sim.seed=" + seed);
    }

    /** The rule that was broken: the part of an oracle's name before the first blank is its number in the table of invariants. */
    public String oracle() {
        return oracle;
    }

    /** What was seen. */
    public String what() {
        return what;
    }

    /** The number of the event at which it was seen. */
    public long event() {
        return event;
    }
}
