package dev.holdfast.engine.deadlock;

import java.util.List;
import java.util.Optional;

/**
 * What the store records of one name at one moment.
 *
 * @param holders the holders of other clients, with the lines of their annotations
 * @param waiters the claims that wait, in the order of the queue
 */
public record NameState(String name, List<Holder> holders, List<Waiter> waiters) {

    /** A holder. */
    public record Holder(OwnWait.Owner owner, List<String> lines) {}

    /**
     * A claim in the queue.
     *
     * @param claim its identity
     * @param isWriter whether it is for the whole capacity
     */
    public record Waiter(String claim, boolean isWriter) {}

    /** Whether a claim waits behind that of a writer. */
    public boolean isBehindWriter(String claim) {
        boolean hasWriter = false;
        for (Waiter waiter : waiters) {
            if (waiter.claim().equals(claim)) {
                return hasWriter;
            }
            hasWriter |= waiter.isWriter();
        }
        return false;
    }

    /** The first writer's claim that waits. */
    public Optional<String> firstWriter() {
        return waiters.stream().filter(Waiter::isWriter).map(Waiter::claim).findFirst();
    }
}
