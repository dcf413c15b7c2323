package dev.holdfast.console;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The state of a store, for a terminal. Immutable. Names, labels and messages are unchecked text.
 *
 * @param progress how much was read since this console began
 * @param at the time of what is shown: that of the last answer, if the store is unreachable
 * @param problem why the store is unreachable; empty if it answers
 * @param roundTrip how long the store takes to answer
 * @param holders the number of all holders
 * @param waiting the number of all claims that wait
 * @param findings what needs attention, worst first, as sentences
 * @param total the number of locks that match
 * @param locks a page of them
 */
public record StoreSummary(
        Progress progress,
        Instant at,
        Optional<String> problem,
        Duration roundTrip,
        long holders,
        long waiting,
        List<String> findings,
        int total,
        List<Lock> locks) {

    /** How much of a store was read. */
    public enum Progress {
        /** Nothing: the store has not answered yet. */
        CONNECTING,
        /** Some names. */
        READING,
        /** All names, at least once. */
        COMPLETE
    }

    /** Copies the lists. */
    public StoreSummary {
        findings = List.copyOf(findings);
        locks = List.copyOf(locks);
    }

    /**
     * A lock.
     *
     * @param name its name
     * @param kind its kind, such as {@code mutex}
     * @param holder the label and message of its oldest holder, or how many there are; empty if it is free
     * @param heldFor how long its oldest hold has lasted
     * @param leaseLeft what is left of the shortest lease
     * @param isDraining whether that lease is not renewed
     * @param waiting how many claims wait, or stand by
     * @param longestWait the longest wait, as far as it was seen
     * @param waitedPerMinute the seconds that all claims together waited in the last full minute
     * @param mark what is special about it, such as {@code 11x usual}; empty if nothing is
     */
    public record Lock(
            String name,
            String kind,
            String holder,
            Optional<Duration> heldFor,
            Optional<Duration> leaseLeft,
            boolean isDraining,
            long waiting,
            Optional<Duration> longestWait,
            long waitedPerMinute,
            String mark) {}
}
