package dev.holdfast.engine.client;

import dev.holdfast.HoldfastListener;
import dev.holdfast.OnDeadlock;
import java.time.Duration;
import java.util.List;

/**
 * The settings of one client, checked.
 *
 * @param sessionTtl how long the session lives without a keep-alive
 * @param keepAliveEvery how often it is renewed
 * @param cohortBudget how long a lock is handed over locally while others wait
 * @param storeTimeout how long the store may be silent before waiting calls fail
 * @param label the description of this client, for people
 * @param listeners the listeners for acquisitions
 * @param start when the client counts as started
 * @param onDeadlock what happens when threads wait for each other
 */
public record ClientOptions(
        Duration sessionTtl,
        Duration keepAliveEvery,
        Duration cohortBudget,
        Duration storeTimeout,
        String label,
        List<HoldfastListener> listeners,
        Start start,
        OnDeadlock onDeadlock) {

    /** When a client counts as started. */
    public enum Start {
        /** When its session is open. */
        WITH_SESSION,
        /** At once: the session is opened when the store can be reached. */
        IN_BACKGROUND
    }

    /** The settings of a client without listeners. */
    public ClientOptions(
            Duration sessionTtl, Duration keepAliveEvery, Duration cohortBudget, Duration storeTimeout, String label) {
        this(
                sessionTtl,
                keepAliveEvery,
                cohortBudget,
                storeTimeout,
                label,
                List.of(),
                Start.WITH_SESSION,
                OnDeadlock.REPORT);
    }
}
