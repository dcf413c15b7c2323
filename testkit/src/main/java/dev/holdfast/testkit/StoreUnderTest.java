package dev.holdfast.testkit;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.Optional;

/**
 * One store as the conformance kit sees it: two clients' connections to it and, where the store allows it, a hand on
 * its clock. Each test gets one of its own, which must be empty: a new database, or a part of a server that no other
 * test uses.
 */
public interface StoreUnderTest extends AutoCloseable {

    /** One client's connection; always the same. The kit subscribes to it. */
    LockStore first();

    /** The connection of another client to the same store; always the same. */
    LockStore second();

    /**
     * The clock of the store, if the test may move it. Then it stands still but for that. Without it, tests of what
     * happens in time use sessions of {@link #shortTtl()} and look again and again; those that need an exact moment are
     * skipped.
     */
    default Optional<ManualClock> clock() {
        return Optional.empty();
    }

    /**
     * The ttl of sessions and the length of leases that a test lets end, where the clock can't be moved: short, but
     * long enough for a handful of commands on a bad day.
     */
    default Duration shortTtl() {
        Duration least = first().traits().minSessionTtl();
        Duration usual = Duration.ofSeconds(2);
        return least.compareTo(usual) > 0 ? least : usual;
    }

    /** A store that has not answered a command, or pushed a signal, by then has failed the test. */
    default Duration patience() {
        return Duration.ofSeconds(60);
    }

    /**
     * Whether a grant may be told again with later tokens than it was given, which no other owner has had or can have:
     * where what was given is known to the store instance that gave it alone. Tokens of the next block, and of the next
     * owner, are above those that were told all the same.
     */
    default boolean retells() {
        return false;
    }

    /**
     * How many random runs of commands are compared with the reference: fewer where each command is a trip over a
     * network. A property of the kit overrides it.
     */
    default int randomRuns() {
        return clock().isPresent() ? 300 : 60;
    }

    /**
     * Makes the store forget of its idle resources what it will ever forget, as if their retention were over.
     *
     * @return false if the test can't bring that about; what depends on it is skipped then
     */
    default boolean forgetIdle() {
        return false;
    }

    /**
     * Damages what the store records of a resource, which is in use, so that it makes no sense.
     *
     * @return false if the test can't bring that about; what depends on it is skipped then
     */
    default boolean damage(ResourceName name) {
        return false;
    }

    /** Closes both connections and removes the store. */
    @Override
    void close();

    /** A clock that moves when it is told to. */
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
