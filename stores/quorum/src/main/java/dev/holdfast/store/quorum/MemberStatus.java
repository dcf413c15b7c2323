package dev.holdfast.store.quorum;

import java.time.Duration;
import java.util.Optional;

/**
 * The status of one member of a quorum at a moment, for people and tools that replace members one by one.
 *
 * @param name the member's name: its number, and its URI or product
 * @param problem why it does not count; empty if it answers and has its marker
 * @param keptOutFor how long it will not count yet, after a loss of data
 * @param present how many of the holds that a majority has it has too
 * @param missing how many of the holds that a majority has it lacks. They are regained after the next keep-alives of
 *     their clients, once the member counts. Short-lived holds may be among them for a moment
 */
public record MemberStatus(String name, Optional<String> problem, Duration keptOutFor, int present, int missing) {

    /** Whether it counts and has everything that a majority has, so that another member may go away. */
    public boolean isComplete() {
        return problem.isEmpty() && keptOutFor.isZero() && missing == 0;
    }
}
