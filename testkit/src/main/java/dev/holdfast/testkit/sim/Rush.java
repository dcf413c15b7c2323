package dev.holdfast.testkit.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * The time after the calm in which everybody is healthy and wants something all the time: a writer among readers, a
 * heavy claim among light ones. Judges that nobody is passed by for ever.
 */
final class Rush {

    /** How often each of the others may go first: as much as they can in a cohort's budget, for each process. */
    private static final int EACH = 20;

    private final Run run;
    private final List<Wish> waiting = new ArrayList<>();
    private boolean isOn;

    Rush(Run run) {
        this.run = run;
    }

    void begin() {
        isOn = true;
    }

    boolean isOn() {
        return isOn;
    }

    void startsWaiting(Wish wish) {
        if (isOn) {
            waiting.add(wish);
        }
    }

    void stopsWaiting(Wish wish, boolean wasServed) {
        if (!isOn) {
            return;
        }
        waiting.remove(wish);
        if (wasServed) {
            waiting.forEach(other -> goesFirst(wish, other));
        }
    }

    private void goesFirst(Wish wish, Wish other) {
        Wish.Part part = other.parts.get(0);
        boolean isFirst = other.askedAt < wish.askedAt;
        // Of several at once, the first is asked for first, and only that one has been waited for all the time.
        boolean isTheSame = wish.parts.stream().anyMatch(mine -> mine.resource().equals(part.resource()));
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
