package dev.holdfast.engine;

import java.time.Duration;

/**
 * The settings of one client, checked.
 *
 * @param sessionTtl how long the session lives without a keep-alive
 * @param keepAliveEvery how often it is renewed
 * @param cohortBudget how long a lock is passed on locally while others wait
 * @param storeTimeout how long the store may be silent before waiting calls fail
 * @param label who this client is, for people
 */
public record EngineOptions(
        Duration sessionTtl, Duration keepAliveEvery, Duration cohortBudget, Duration storeTimeout, String label) {}
