package dev.holdfast.spi;

import java.time.Duration;
import java.util.Set;

/**
 * What a store can and cannot promise. The conformance kit reads it: what is declared is tested, what is not declared
 * is skipped with the reason.
 *
 * @param product what it is, for people: "SQLite 3.54.1"
 * @param push whether it pushes signals; if not, the engine polls
 * @param fifo whether waiters are admitted in the order in which they queued
 * @param barging whether resources of the order {@link Order#BARGING} exist
 * @param advance whether {@link Command.Advance} is supported
 * @param admissions which claims it admits
 * @param minSessionTtl the shortest session it keeps
 * @param ttlGranularity session ttls are rounded up to this
 * @param fixedLease how it ends leases that are not renewed
 * @param detached whether grants may outlive their session
 * @param tokenSource where the fencing tokens come from
 * @param waitersKnown whether {@code awaited} means something
 * @param callerRuns whether a trip may run on the calling thread, which it keeps for a moment only
 * @param orderedInspection whether {@link Command.Inspect} answers in the order of the names
 * @param pollEvery the interval of the engine's polls while claims wait and nothing is pushed
 */
public record StoreTraits(
        String product,
        boolean push,
        boolean fifo,
        boolean barging,
        boolean advance,
        Set<Admission> admissions,
        Duration minSessionTtl,
        Duration ttlGranularity,
        FixedLease fixedLease,
        boolean detached,
        TokenSource tokenSource,
        boolean waitersKnown,
        boolean callerRuns,
        boolean orderedInspection,
        Duration pollEvery) {

    /** Copies the set. */
    public StoreTraits {
        admissions = Set.copyOf(admissions);
    }

    /** A class of claims. */
    public enum Admission {
        /** One holder. */
        EXCLUSIVE,
        /** Readers and writers. */
        SHARED,
        /** Weights and capacities other than one and all. */
        COUNTED,
        /** Latches and pass claims. */
        LATCH
    }

    /** How leases that are not renewed end. */
    public enum FixedLease {
        /** By the store's clock, in the step that looks. */
        NATIVE,
        /** By other clients that remove them. */
        EVICTED,
        /** There are none. */
        NONE
    }

    /** Where fencing tokens come from. */
    public enum TokenSource {
        /** A counter that follows the store's clock, see {@link Tokens}. */
        CLOCKED,
        /** The claim's place in the queue: strict order, no barging, no {@code Advance}; restarts after a wipe. */
        QUEUE_PLACE,
        /** The highest of several stores. */
        QUORUM
    }
}
