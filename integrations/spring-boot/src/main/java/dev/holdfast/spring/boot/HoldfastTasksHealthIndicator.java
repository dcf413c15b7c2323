package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.admin.RecordedRun.Outcome;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Health of scheduled tasks: out of service if one of them has not succeeded, in any process, for longer than its
 * property says. What has no recorded run yet counts from the start of this application. Times are compared by the
 * clocks of the machines, so the durations should be longer than these differ. Thread-safe.
 */
final class HoldfastTasksHealthIndicator extends AbstractHealthIndicator {

    static final String PROPERTY = "holdfast.health-tasks";

    /** Whether a task is named. */
    static final class AreNamed implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return Binder.get(context.getEnvironment())
                    .bind(PROPERTY, Bindable.mapOf(String.class, String.class))
                    .isBound();
        }
    }

    private final HoldfastClients clients;
    private final Map<String, Duration> limits;
    private final Duration bound;
    private final Clock clock;
    private final Instant begun;

    /** @param limits for each task, without the prefix of names, for how long it may not have run */
    HoldfastTasksHealthIndicator(HoldfastClients clients, Map<String, Duration> limits, Duration bound, Clock clock) {
        super("The health check of scheduled tasks failed");
        this.clients = clients;
        this.limits = Map.copyOf(limits);
        this.bound = bound;
        this.clock = clock;
        this.begun = clock.instant();
    }

    @Override
    protected void doHealthCheck(Health.Builder health) throws Exception {
        Optional<Holdfast> client = clients.present().values().stream().findFirst();
        health.status(client.isEmpty() ? Status.UNKNOWN : Status.UP);
        if (client.isPresent()) {
            Map<String, CompletableFuture<List<RecordedRun>>> asked = new LinkedHashMap<>();
            limits.forEach((task, limit) -> asked.put(
                    task,
                    client.get().runsAsync(client.get().namePrefix() + task).toCompletableFuture()));
            CompletableFuture.allOf(asked.values().toArray(CompletableFuture<?>[]::new))
                    .get(bound.toNanos(), TimeUnit.NANOSECONDS);
            asked.forEach((task, runs) -> check(health, task, runs.join()));
        }
    }

    private void check(Health.Builder health, String task, List<RecordedRun> runs) {
        Map<String, Object> details = new LinkedHashMap<>();
        Optional<Instant> last = runs.stream()
                .filter(run -> run.outcome() == Outcome.SUCCEEDED || run.outcome() == Outcome.CLOSED)
                .flatMap(run -> run.ended().stream())
                .max(Comparator.naturalOrder());
        last.ifPresent(end -> details.put("succeeded", end));
        if (!runs.isEmpty()) {
            details.put("lastOutcome", runs.get(0).outcome());
        }
        boolean isOverdue =
                Duration.between(last.orElse(begun), clock.instant()).compareTo(limitOf(task)) > 0;
        // Recorded by a newer version of the program, which may have succeeded.
        boolean isUnreadable = runs.stream().anyMatch(run -> run.outcome() == Outcome.UNKNOWN);
        if (isOverdue && !isUnreadable) {
            details.put("problem", "has not run for " + limitOf(task));
            health.outOfService();
        }
        health.withDetail(task, details);
    }

    private Duration limitOf(String task) {
        return limits.getOrDefault(task, Duration.ZERO);
    }
}
