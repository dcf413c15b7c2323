package dev.holdfast.testkit.sim;

import java.util.List;

/** An oracle has found a broken rule; the message says which seed shows it, and how to run it again. */
public final class SimulationFailure extends AssertionError {

    private static final long serialVersionUID = 1L;

    private final Rule rule;
    private final String what;
    private final long event;
    private final long nanos;

    SimulationFailure(Rule rule, String what, long event, long nanos) {
        super(rule + " broken at event " + event + ", " + nanos / 1e6 + " ms: " + what);
        this.rule = rule;
        this.what = what;
        this.event = event;
        this.nanos = nanos;
    }

    private SimulationFailure(SimulationFailure first, String text) {
        super(text, first);
        this.rule = first.rule;
        this.what = first.what;
        this.event = first.event;
        this.nanos = first.nanos;
    }

    /** The same failure, with the seed and the lines that led to it. */
    SimulationFailure withReplay(long seed, String plan, List<String> lines, String again) {
        return new SimulationFailure(
                this,
                "seed " + seed + ": " + getMessage() + "\n" + plan + "\nthe last lines:\n  "
                        + String.join("\n  ", lines) + "\nseed " + seed + ": " + getMessage()
                        + "\nrun it again: " + again);
    }

    /** The rule that was broken. */
    public Rule rule() {
        return rule;
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
