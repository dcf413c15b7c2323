package dev.holdfast.store.quorum;

import java.time.Duration;
import java.util.Optional;

/**
 * How one member of a quorum is doing, as of a moment; for people and tools that replace members one after another.
 *
 * @param name what the member is called: its number, and its URI or product
 * @param problem why it does not count; empty if it answers and has its marker
 * @param keptOutFor for how long it does not count yet, since it lost its data
 * @param held how many holds it has, of those that a majority has
 * @param missing how many holds a majority has that it lacks. Those are regained after the next keep-alives of their
 *     clients, once the member counts. Holds that come and go may be among them for a moment
 */
public record MemberStatus(String name, Optional<String> problem, Duration keptOutFor, int held, int missing) {

    /** Whether it counts, and has all that a majority has: then another member may go away. */
    public boolean isComplete() {
        return problem.isEmpty() && keptOutFor.isZero() && missing == 0;
    }
}
