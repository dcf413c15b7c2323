package dev.holdfast.micrometer;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.AcquisitionListener;
import dev.holdfast.Deadlock;
import dev.holdfast.HoldfastListener;
import dev.holdfast.admin.RecordedRun;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.Set;

/**
 * The meters of one client: waits and holds by outcome, losses by cause, deadlocks, renewals, round trips to the store
 * by command, runs of scheduled tasks, and gauges of what is held, waited for and alive.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.builder("postgresql://db/orders")
 *         .listener(HoldfastMetrics.of(registry))
 *         .build();
 * }</pre>
 *
 * <p>All names begin with {@code holdfast.}; {@code docs/observing.md} lists them. Names of locks are data of the
 * program, so no meter is tagged with one unless it is {@linkplain Builder#lockNames listed}. Meters of scheduled tasks
 * are tagged with the names of the first hundred that the client runs; all others share the value {@code other}.
 *
 * <p>Clients that share a registry are distinguished by the tag {@code client}: each has its own listener, with its own
 * {@linkplain Builder#client name}.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class HoldfastMetrics implements HoldfastListener {

    private final Clock clock;
    private final MeterCatalog catalog;
    private final ClientGauges gauges;
    private final TaskMeters tasks;

    /** Registered at the start: a counter that appears with its first deadlock would hide it from rates. */
    private final Counter deadlocks;

    private HoldfastMetrics(Builder builder) {
        MeterRegistry registry = builder.registry;
        clock = registry.config().clock();
        catalog = new MeterCatalog(registry, builder.client, builder.lockNames);
        gauges = new ClientGauges(registry, builder.client, clock, catalog);
        tasks = new TaskMeters(registry, builder.client, Builder.MAX_TASKS);
        deadlocks = catalog.deadlocks();
    }

    /** The meters of the only client that has them in a registry. */
    public static HoldfastMetrics of(MeterRegistry registry) {
        return builder(registry).build();
    }

    /** Begins to set up the meters of a client. */
    public static Builder builder(MeterRegistry registry) {
        return new Builder(registry);
    }

    @Override
    public AcquisitionListener onRequested(AcquireRequest request) {
        return new AcquisitionMeters(clock, gauges, catalog.of(request));
    }

    @Override
    public void onSession(SessionEvent event) {
        gauges.session(event);
        catalog.of(event).increment();
    }

    @Override
    public void onDeadlock(Deadlock deadlock) {
        deadlocks.increment();
    }

    @Override
    public void onTaskRun(String task, RecordedRun run) {
        tasks.ended(task, run);
    }

    @Override
    public void onStoreCall(StoreCall call) {
        catalog.of(call).record(call.duration());
    }

    /**
     * Sets up meters.
     *
     * <p><b>Thread-safety:</b> none; a builder is used by one thread.
     */
    public static final class Builder {

        /** A bound, since each name is a dozen time series for each kind of lock. */
        private static final int MAX_NAMES = 1_000;

        /** The most scheduled tasks with a tag of their own. */
        private static final int MAX_TASKS = 100;

        private final MeterRegistry registry;
        private String client = "holdfast";
        private Set<String> lockNames = Set.of();

        private Builder(MeterRegistry registry) {
            this.registry = registry;
        }

        /**
         * The value of the tag {@code client}; {@code holdfast} if not set.
         *
         * @throws IllegalArgumentException if it is blank
         */
        @CanIgnoreReturnValue
        public Builder client(String name) {
            if (name.isBlank()) {
                throw new IllegalArgumentException("The client name for metrics must not be blank");
            }
            client = name;
            return this;
        }

        /**
         * The names of locks that are values of the tag {@code lock} of waits, holds and losses; all others share the
         * value {@code other}. If not set, there is no such tag. Clients that share a registry must all have a list or
         * none, since Prometheus rejects meters with the same name and different tags.
         *
         * @throws IllegalArgumentException if there are more than a thousand
         */
        @CanIgnoreReturnValue
        public Builder lockNames(Collection<String> names) {
            Set<String> distinct = Set.copyOf(names);
            if (distinct.size() > MAX_NAMES) {
                throw new IllegalArgumentException(
                        "Metrics can be tagged with at most " + MAX_NAMES + " lock names, but " + distinct.size()
                                + " were listed: each name creates its own time series");
            }
            lockNames = distinct;
            return this;
        }

        /** The listener for {@link dev.holdfast.Holdfast.Builder#listener}; registers the gauges. */
        public HoldfastMetrics build() {
            return new HoldfastMetrics(this);
        }
    }
}
