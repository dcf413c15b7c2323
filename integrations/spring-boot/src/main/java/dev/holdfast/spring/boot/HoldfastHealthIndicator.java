package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.admin.ClientState;
import dev.holdfast.admin.HealthReport;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Health of the lock stores, checked by one bounded round trip of each client. A client that has not been used yet is
 * skipped, so that a health check opens no store. If the last attempt to create the client failed, the status is down.
 * Thread-safe.
 */
final class HoldfastHealthIndicator extends AbstractHealthIndicator {

    private final HoldfastClients clients;
    private final Duration bound;

    HoldfastHealthIndicator(HoldfastClients clients, Duration bound) {
        super("The health check of the lock store failed");
        this.clients = clients;
        this.bound = bound;
    }

    /** Blocks no longer than the time-out, for any number of clients. */
    @Override
    protected void doHealthCheck(Health.Builder health) {
        Map<String, CompletableFuture<HealthReport>> asked = new LinkedHashMap<>();
        Map<String, Holdfast> present = clients.present();
        present.forEach(
                (name, client) -> asked.put(name, client.checkHealthAsync(bound).toCompletableFuture()));
        health.status(asked.isEmpty() ? Status.UNKNOWN : Status.UP);
        clients.failure()
                .ifPresent(failure -> health.down().withDetail("problem", String.valueOf(failure.getMessage())));
        asked.forEach((name, report) -> {
            HealthReport current = report.join();
            if (!current.isHealthy()) {
                health.down();
            }
            health.withDetail(name, details(current));
        });
    }

    private static Map<String, Object> details(HealthReport report) {
        ClientState client = report.client();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("status", client.status());
        report.problem().ifPresent(problem -> details.put("problem", problem));
        report.roundTrip().ifPresent(time -> details.put("roundTrip", time));
        client.sinceKeepAlive().ifPresent(time -> details.put("sinceKeepAlive", time));
        client.sessionLeft().ifPresent(time -> details.put("sessionLeft", time));
        details.put("holds", client.holds());
        details.put("waiting", client.waiting());
        return details;
    }
}
