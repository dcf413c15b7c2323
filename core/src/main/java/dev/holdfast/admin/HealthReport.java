package dev.holdfast.admin;

import java.time.Duration;
import java.util.Optional;

/**
 * The result of a health check: one round trip to the store, and the state of the client. Immutable.
 *
 * @param roundTrip how long the store took to answer; empty if it did not within the bound
 * @param client the client's own state at the end of the check
 * @param problem why the client is not healthy, in words without credentials; empty if it is
 */
public record HealthReport(Optional<Duration> roundTrip, ClientState client, Optional<String> problem) {

    /** Whether the store answered within the bound, and the client is connected to it. */
    public boolean isHealthy() {
        return problem.isEmpty();
    }
}
