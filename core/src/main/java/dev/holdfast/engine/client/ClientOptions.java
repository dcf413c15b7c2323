package dev.holdfast.engine.client;

import dev.holdfast.HoldfastListener;
import java.time.Duration;
import java.util.List;

/**
 * The settings of one client, checked.
 *
 * @param sessionTtl how long the session lives without a keep-alive
 * @param keepAliveEvery how often it is renewed
 * @param cohortBudget how long a lock is passed on locally while others wait
 * @param storeTimeout how long the store may be silent before waiting calls fail
 * @param label who this client is, for people
 * @param listeners who is told of acquisitions
 * @param start whether it begins with a session
 */
public record ClientOptions(
        Duration sessionTtl,
        Duration keepAliveEvery,
        Duration cohortBudget,
        Duration storeTimeout,
        String label,
        List<HoldfastListener> listeners,
        Start start) {

    /** When a client has begun. */
    public enum Start {
        /** When its session is there. */
        WITH_SESSION,
        /** At once: the session comes when the store can be reached. */
        IN_BACKGROUND
    }

    /** Settings of a client that nobody watches. */
    public ClientOptions(
            Duration sessionTtl, Duration keepAliveEvery, Duration cohortBudget, Duration storeTimeout, String label) {
        this(sessionTtl, keepAliveEvery, cohortBudget, storeTimeout, label, List.of(), Start.WITH_SESSION);
    }
}
