package dev.holdfast.micrometer;

import dev.holdfast.HoldfastListener.SessionEvent;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Gauges of what a client holds and waits for, and of its sessions, from its listeners' events. The registry keeps the
 * gauges alive, and so these numbers. Thread-safe.
 */
final class ClientGauges {

    /** Requests that have begun. */
    final LongAdder requested = new LongAdder();
    /** Holds that are released or lost. */
    final LongAdder ended = new LongAdder();

    /** The state of a session. */
    private enum State {
        /** The store acknowledges the session. */
        LIVE,
        /** Its holds are in doubt until the store replies. */
        IN_DOUBT,
        /** The session is lost, and no other is open yet. */
        LOST
    }

    /**
     * A session.
     *
     * @param acknowledgedAt the time of the store's last acknowledgement
     */
    private record Session(State state, long acknowledgedAt) {}

    private final Clock clock;
    /** By partition, without closed sessions. */
    private final ConcurrentMap<Integer, Session> sessions = new ConcurrentHashMap<>();

    private final MeterCatalog catalog;

    ClientGauges(MeterRegistry registry, String client, Clock clock, MeterCatalog catalog) {
        this.clock = clock;
        this.catalog = catalog;
        Gauge.builder("holdfast.held", this, ClientGauges::holding)
                .description("Current holds")
                .tag("client", client)
                .strongReference(true)
                .register(registry);
        Gauge.builder("holdfast.waiting", this, ClientGauges::waiting)
                .description("Requests waiting for a lock")
                .tag("client", client)
                .strongReference(true)
                .register(registry);
        for (State state : State.values()) {
            Gauge.builder("holdfast.sessions", this, own -> own.count(state))
                    .description("Sessions at the store by state: live, in doubt, or lost and not reopened")
                    .tags("client", client, "state", TagValue.of(state))
                    .strongReference(true)
                    .register(registry);
        }
        TimeGauge.builder("holdfast.session.age", this, TimeUnit.NANOSECONDS, ClientGauges::age)
                .description("Time since the store last acknowledged a session (the longest, if there are several)")
                .tag("client", client)
                .strongReference(true)
                .register(registry);
    }

    void session(SessionEvent event) {
        switch (event.type()) {
            case OPENED, RENEWED -> acknowledged(event);
            case IN_DOUBT -> becomes(event, State.IN_DOUBT);
            case SETTLED -> becomes(event, State.LIVE);
            case LOST -> becomes(event, State.LOST);
            case CLOSED -> sessions.remove(event.partition());
        }
    }

    private void acknowledged(SessionEvent event) {
        long now = clock.monotonicTime();
        sessions.compute(event.partition(), (partition, before) -> {
            // A renewal sent before the doubt does not settle it; SETTLED does.
            boolean isDoubt =
                    event.type() == SessionEvent.Type.RENEWED && before != null && before.state() == State.IN_DOUBT;
            return new Session(isDoubt ? State.IN_DOUBT : State.LIVE, now);
        });
    }

    private void becomes(SessionEvent event, State state) {
        sessions.computeIfPresent(
                event.partition(), (partition, before) -> new Session(state, before.acknowledgedAt()));
    }

    /** Reads the ended ones first, so that concurrent events make neither number negative. */
    private long holding() {
        long endedHolds = ended.sum();
        return Math.max(0, catalog.granted() - endedHolds);
    }

    private long waiting() {
        long endedWaits = catalog.ended();
        return Math.max(0, requested.sum() - endedWaits);
    }

    private long count(State state) {
        return sessions.values().stream()
                .filter(session -> session.state() == state)
                .count();
    }

    private double age() {
        long now = clock.monotonicTime();
        return sessions.values().stream()
                .mapToLong(session -> now - session.acknowledgedAt())
                .max()
                .orElse(0);
    }
}
