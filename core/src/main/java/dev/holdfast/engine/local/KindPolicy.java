package dev.holdfast.engine.local;

import dev.holdfast.engine.session.Claim;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;

/**
 * What a kind of resource asks of the local tier: whose holds share a grant, which requests a grant serves, and when it
 * goes back to the store. Stateless. The base is the policy of a mutex; other kinds override where they differ.
 */
class KindPolicy {
    private static final KindPolicy MUTEX = new KindPolicy();
    private static final KindPolicy READ_WRITE = new ReadWrite();
    private static final KindPolicy SEMAPHORE = new Semaphore();
    private static final KindPolicy LATCH = new Latch();
    private static final KindPolicy ELECTION = new Election();

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

    /** Whether users say how much there is of such a resource. */
    boolean isCapacityDeclared() {
        return false;
    }

    /** Whether local holds may stand beside each other under one grant. */
    boolean isShared() {
        return false;
    }

    /** Whether holds of a weight stand beside others under one grant. */
    boolean isShare(int weight, int capacity) {
        return false;
    }

    /** Whether threads share a grant as readers, and a hold that excludes all others is that of a writer. */
    boolean hasReaders() {
        return false;
    }

    /** Whether this process may have several grants at a time that others may use. */
    boolean hasSeveralGrants() {
        return false;
    }

    /** Whether a grant is a pass: it serves only the requests that waited here while it waited at the store. */
    boolean grantsPasses() {
        return false;
    }

    /** Whether a request may go past those that wait here for more. */
    boolean isBarging(Order order) {
        return false;
    }

    /** Whether a grant goes back to the store after it has served one request, whatever its budget. */
    boolean servesOnce(long cohortBudgetNanos) {
        return cohortBudgetNanos == 0;
    }

    /**
     * Whether a grant that serves no single request serves one of this weight.
     *
     * @param number the place of the request among all that were queued here
     */
    boolean suits(Claim grant, int weight, long number) {
        return weight == grant.weight;
    }

    /**
     * Whether a grant keeps this process from asking for another: it will serve who asks, or has to go first.
     *
     * @param weight what the grant has of the capacity
     * @param standsApart whether the grant, or what is asked for, is for a single request that shares with nobody here
     */
    boolean precludesAnother(int weight, boolean standsApart) {
        return true;
    }

    /** Whether a grant of this weight allows for more than those who share it need. */
    boolean exceedsShares(int weight) {
        return false;
    }

    /** Whether the request for which a claim was made may be served by another grant before. */
    boolean claimsMayBecomeUnwanted() {
        return false;
    }

    private static final class ReadWrite extends KindPolicy {
        @Override
        boolean isShared() {
            return true;
        }

        @Override
        boolean isShare(int weight, int capacity) {
            return weight < capacity;
        }

        @Override
        boolean hasReaders() {
            return true;
        }

        @Override
        boolean servesOnce(long cohortBudgetNanos) {
            return false;
        }

        @Override
        boolean suits(Claim grant, int weight, long number) {
            return weight <= grant.weight;
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
        boolean isShare(int weight, int capacity) {
            return true;
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
        boolean servesOnce(long cohortBudgetNanos) {
            return false;
        }

        @Override
        boolean suits(Claim grant, int weight, long number) {
            return grant.covers(number);
        }
    }

    private static final class Election extends KindPolicy {
        /** Each term is a grant of its own at the store: else observers would not know of it. */
        @Override
        boolean servesOnce(long cohortBudgetNanos) {
            return true;
        }
    }
}
