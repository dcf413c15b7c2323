package dev.holdfast.testkit.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * The phase after the calm, in which all clients are healthy and request without a break: a writer among readers, a
 * heavy claim among light ones. Checks that no request is overtaken for ever.
 */
final class StarvationCheck {

    /** How often each of the others may be served first: the hand-overs of a cohort's budget, for each process. */
    private static final int EACH = 20;

    private final Run run;
    private final List<AcquireIntent> waiting = new ArrayList<>();
    private boolean isOn;

    StarvationCheck(Run run) {
        this.run = run;
    }

    void begin() {
        isOn = true;
    }

    boolean isOn() {
        return isOn;
    }

    void startsWaiting(AcquireIntent intent) {
        if (isOn) {
            waiting.add(intent);
        }
    }

    void stopsWaiting(AcquireIntent intent, boolean wasServed) {
        if (!isOn) {
            return;
        }
        waiting.remove(intent);
        if (wasServed) {
            waiting.forEach(other -> goesFirst(intent, other));
        }
    }

    private void goesFirst(AcquireIntent intent, AcquireIntent other) {
        AcquireIntent.Part part = other.parts.get(0);
        boolean isFirst = other.askedAt < intent.askedAt;
        // Of several at once, the first is requested first, and only that one has waited all the time.
        boolean isTheSame = intent.parts.stream().anyMatch(own -> own.resource().equals(part.resource()));
        if (isFirst && isTheSame && other.parts.size() == 1 && !part.resource().isBarging()) {
            int most = EACH * (run.countActors() + 1);
            if (++other.passedBy > most) {
                run.world.fail(
                        Rule.NOBODY_STARVES,
                        "since somebody asked for " + other + " at " + other.askedAt / 1_000 + " us, " + most
                                + " who asked later have been served before");
            }
        }
    }
}
