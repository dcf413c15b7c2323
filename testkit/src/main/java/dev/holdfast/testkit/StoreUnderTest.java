package dev.holdfast.testkit;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.Optional;

/**
 * One store as the conformance kit uses it: the connections of two clients and, where possible, control of its clock.
 * Each test gets its own, which must be empty: a new database, or a part of a server that no other test uses.
 */
public interface StoreUnderTest extends AutoCloseable {

    /** The connection of one client; always the same. The kit subscribes to it. */
    LockStore first();

    /** The connection of another client to the same store; always the same. */
    LockStore second();

    /**
     * The clock of the store, if the test may move it; then it stands still otherwise. Without it, tests of time use
     * sessions of {@link #shortTtl()} and poll, and tests of an exact moment are skipped.
     */
    default Optional<ManualClock> clock() {
        return Optional.empty();
    }

    /**
     * The ttl of sessions and the length of leases that a test lets end, where the clock can't be moved: short, but
     * long enough for a handful of commands on a slow machine.
     */
    default Duration shortTtl() {
        Duration least = first().traits().minSessionTtl();
        Duration usual = Duration.ofSeconds(2);
        return least.compareTo(usual) > 0 ? least : usual;
    }

    /** A store that has not replied or pushed a signal by then has failed the test. */
    default Duration timeout() {
        return Duration.ofSeconds(60);
    }

    /**
     * Whether a repeated grant may have later tokens than the first reply, which no other owner has had or can have:
     * where only the store instance that granted a block knows it. Tokens of the next block, and of the next owner,
     * are higher than all of these.
     */
    default boolean retells() {
        return false;
    }

    /**
     * How many random runs are compared with the reference: fewer where each command is a round trip over a network. A
     * property of the kit overrides it.
     */
    default int randomRuns() {
        return clock().isPresent() ? 300 : 60;
    }

    /**
     * Makes the store forget what it may forget about idle resources, as after their retention.
     *
     * @return false if the test can't do that; the rules that need it are then skipped
     */
    default boolean forgetIdle() {
        return false;
    }

    /**
     * Corrupts the store's record of a resource that is in use.
     *
     * @return false if the test can't do that; the rules that need it are then skipped
     */
    default boolean damage(ResourceName name) {
        return false;
    }

    /** Closes both connections and removes the store. */
    @Override
    void close();

    /** A clock that the test moves. */
    @FunctionalInterface
    interface ManualClock {
        /**
         * Moves the store's clock.
         *
         * @param by how far; negative is a step back
         */
        void advance(Duration by);
    }
}
