package dev.holdfast.micrometer;

import dev.holdfast.HoldfastListener.AcquireRequest;
import dev.holdfast.HoldfastListener.SessionEvent;
import dev.holdfast.HoldfastListener.StoreCall;
import dev.holdfast.spi.Kind;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;

/**
 * The meters of a client that have further tags, created when they are first needed and found without the registry
 * after that. Their number is limited by the kinds of locks, listed names and commands. Thread-safe.
 */
final class MeterCatalog {

    private static final String OTHER_LOCKS = "other";

    /** The key of the meters of a listed lock. */
    private record NamedLock(Kind kind, String lock) {}

    /** The key of the timer of a command. */
    private record Call(String command, StoreCall.Outcome outcome) {}

    private final MeterRegistry registry;
    private final String client;
    private final Set<String> lockNames;
    /** Used without listed names. */
    private final ConcurrentMap<Kind, LockMeters> kinds = new ConcurrentHashMap<>();

    /** Used with listed names. */
    private final ConcurrentMap<NamedLock, LockMeters> named = new ConcurrentHashMap<>();

    private final ConcurrentMap<Call, Timer> calls = new ConcurrentHashMap<>();

    MeterCatalog(MeterRegistry registry, String client, Set<String> lockNames) {
        this.registry = registry;
        this.client = client;
        this.lockNames = lockNames;
    }

    LockMeters of(AcquireRequest request) {
        if (!lockNames.isEmpty()) {
            String lock = lockNames.contains(request.name()) ? request.name() : OTHER_LOCKS;
            return named.computeIfAbsent(
                    new NamedLock(request.kind(), lock),
                    key -> new LockMeters(registry, tags(request).and("lock", lock)));
        }
        LockMeters present = kinds.get(request.kind());
        return present != null
                ? present
                : kinds.computeIfAbsent(request.kind(), key -> new LockMeters(registry, tags(request)));
    }

    private Tags tags(AcquireRequest request) {
        return Tags.of("client", client, "store", request.store(), "kind", TagValue.of(request.kind()));
    }

    /** The number of granted requests. */
    long granted() {
        return all().mapToLong(LockMeters::granted).sum();
    }

    /** The number of ended requests. */
    long ended() {
        return all().mapToLong(LockMeters::ended).sum();
    }

    private Stream<LockMeters> all() {
        return Stream.concat(kinds.values().stream(), named.values().stream());
    }

    Timer of(StoreCall call) {
        return calls.computeIfAbsent(
                new Call(call.command(), call.outcome()),
                key -> Timer.builder("holdfast.store.calls")
                        .description("Round trips to the store, by command")
                        .tags("client", client, "store", call.store())
                        .tags("command", call.command(), "outcome", TagValue.of(call.outcome()))
                        .register(registry));
    }

    Counter deadlocks() {
        return Counter.builder("holdfast.deadlocks")
                .description("Cycles of threads that waited for each other's locks")
                .tags("client", client)
                .register(registry);
    }

    Counter of(SessionEvent event) {
        // Rare: once in a keep-alive.
        return Counter.builder("holdfast.session.events")
                .description("Events of the client's sessions: opened, renewed, in doubt, settled, lost, closed")
                .tags("client", client, "store", event.store(), "event", TagValue.of(event.type()))
                .tags("cause", event.cause().map(TagValue::of).orElse("none"))
                .register(registry);
    }
}
