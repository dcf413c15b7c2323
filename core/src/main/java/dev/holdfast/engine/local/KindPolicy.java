package dev.holdfast.engine.local;

import dev.holdfast.engine.session.Claim;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;

/**
 * The rules of one kind of resource in the local tier: which holds share a grant, which requests a grant serves, and
 * when it is yielded. Stateless. The base class is the policy of a mutex; other kinds override the differences.
 */
class KindPolicy {
    private static final KindPolicy MUTEX = new KindPolicy();
    private static final KindPolicy READ_WRITE = new ReadWrite();
    private static final KindPolicy SEMAPHORE = new Semaphore();
    private static final KindPolicy LATCH = new Latch();
    private static final KindPolicy ELECTION = new Election();

    /** How long a grant serves further requests of this process. */
    enum HandOver {
        /** Until its budget is spent and others wait at the store. */
        BUDGETED,
        /** While the store said a moment ago that no one waits there. */
        UNAWAITED,
        /** It serves one request. */
        NEVER
    }

    private KindPolicy() {}

    static KindPolicy of(Kind kind) {
        return switch (kind) {
            case MUTEX, TASK -> MUTEX;
            case READ_WRITE -> READ_WRITE;
            case SEMAPHORE -> SEMAPHORE;
            case LATCH -> LATCH;
            case ELECTION -> ELECTION;
        };
    }

    /** Whether users declare the capacity. */
    boolean isCapacityDeclared() {
        return false;
    }

    /** Whether local holds may share a grant. */
    boolean isShared() {
        return false;
    }

    /** Whether holds of this weight share a grant. */
    Sharing sharing(int weight, int capacity) {
        return Sharing.EXCLUSIVE;
    }

    /** Whether threads share a grant as readers, and a hold that excludes all others is a writer's. */
    boolean hasReaders() {
        return false;
    }

    /** Whether this process may have several grants at a time that serve any request. */
    boolean hasSeveralGrants() {
        return false;
    }

    /** Whether a grant is a pass: it serves only requests that waited here while its claim waited at the store. */
    boolean grantsPasses() {
        return false;
    }

    /** Whether a request may pass those in the queue that ask for more. */
    boolean isBarging(Order order) {
        return false;
    }

    /** How long a grant serves further requests. A budget of zero means strict order. */
    HandOver handOver(long cohortBudgetNanos, StoreTraits traits) {
        if (cohortBudgetNanos > 0) {
            return HandOver.BUDGETED;
        }
        return traits.has(Feature.KNOWN_WAITERS) ? HandOver.UNAWAITED : HandOver.NEVER;
    }

    /**
     * Whether a grant that is not bound to a request serves one of this weight.
     *
     * @param number the place of the request among all that were queued here
     */
    boolean suits(Claim grant, int weight, long number) {
        return weight == grant.weight();
    }

    /**
     * Whether a grant prevents another claim: it will serve the request, or has to end first.
     *
     * @param weight what the grant has of the capacity
     * @param standsApart whether the grant, or the other claim, is for a single request that does not share it
     */
    boolean precludesAnother(int weight, boolean standsApart) {
        return true;
    }

    /** Whether a grant of this weight is more than readers need. */
    boolean exceedsShares(int weight) {
        return false;
    }

    /** Whether another grant may serve the request for which a claim was made. */
    boolean claimsMayBecomeUnwanted() {
        return false;
    }

    private static final class ReadWrite extends KindPolicy {
        @Override
        boolean isShared() {
            return true;
        }

        @Override
        Sharing sharing(int weight, int capacity) {
            return weight < capacity ? Sharing.SHARED : Sharing.EXCLUSIVE;
        }

        @Override
        boolean hasReaders() {
            return true;
        }

        @Override
        HandOver handOver(long cohortBudgetNanos, StoreTraits traits) {
            return HandOver.BUDGETED;
        }

        @Override
        boolean suits(Claim grant, int weight, long number) {
            return weight <= grant.weight();
        }

        @Override
        boolean precludesAnother(int weight, boolean standsApart) {
            return weight > 1 || !standsApart;
        }

        @Override
        boolean exceedsShares(int weight) {
            return weight > 1;
        }
    }

    private static final class Semaphore extends KindPolicy {
        @Override
        boolean isCapacityDeclared() {
            return true;
        }

        @Override
        boolean hasSeveralGrants() {
            return true;
        }

        /** Each permit has a separate grant: none is kept while the store is asked. */
        @Override
        HandOver handOver(long cohortBudgetNanos, StoreTraits traits) {
            return cohortBudgetNanos > 0 ? HandOver.BUDGETED : HandOver.NEVER;
        }

        @Override
        boolean isBarging(Order order) {
            return order == Order.BARGING;
        }

        @Override
        boolean claimsMayBecomeUnwanted() {
            return true;
        }
    }

    private static final class Latch extends KindPolicy {
        @Override
        boolean isShared() {
            return true;
        }

        @Override
        Sharing sharing(int weight, int capacity) {
            return Sharing.SHARED;
        }

        @Override
        boolean hasSeveralGrants() {
            return true;
        }

        @Override
        boolean grantsPasses() {
            return true;
        }

        @Override
        HandOver handOver(long cohortBudgetNanos, StoreTraits traits) {
            return HandOver.BUDGETED;
        }

        @Override
        boolean suits(Claim grant, int weight, long number) {
            return grant.covers(number);
        }
    }

    private static final class Election extends KindPolicy {
        /** Each term is a grant of its own at the store; otherwise observers would not see it. */
        @Override
        HandOver handOver(long cohortBudgetNanos, StoreTraits traits) {
            return HandOver.NEVER;
        }
    }
}
