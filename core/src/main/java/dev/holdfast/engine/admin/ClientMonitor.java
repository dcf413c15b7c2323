package dev.holdfast.engine.admin;

import dev.holdfast.admin.ClientState;
import dev.holdfast.admin.ClientState.Status;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.LocalSynchronizer;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Partitions;
import dev.holdfast.engine.session.Session;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reports the state of a client. Sends nothing. Thread-safe. */
public final class ClientMonitor {

    private final ClientContext context;
    private final Partitions partitions;
    private final LocalResources resources;
    private final Supplier<String> store;

    /**
     * Makes the monitor of a client.
     *
     * @param store the store, for people
     */
    public ClientMonitor(Partitions partitions, LocalResources resources, Supplier<String> store) {
        this.context = partitions.context;
        this.store = store;
        this.partitions = partitions;
        this.resources = resources;
    }

    /** The current state. */
    public ClientState state() {
        int holds = 0;
        int waiting = 0;
        for (LocalSynchronizer resource : resources.resources()) {
            holds += resource.holds();
            waiting += resource.waiting();
        }
        long now = context.clock().now();
        Status status = context.isClosing() ? Status.CLOSED : Status.CONNECTED;
        Optional<Duration> since = Optional.empty();
        Optional<Duration> left = Optional.empty();
        for (Partition partition : partitions.used()) {
            Session session = partition.keeper.current();
            status = worse(status, statusOf(partition, session, now));
            if (session != null && status != Status.CLOSED) {
                since = Optional.of(longer(since, Duration.ofNanos(Math.max(0, session.sinceAcknowledged(now)))));
                left = Optional.of(shorter(left, Duration.ofNanos(Math.max(0, session.leftNanos(now)))));
            }
        }
        return new ClientState(store.get(), status, since, left, holds, waiting);
    }

    private Status statusOf(Partition partition, @Nullable Session session, long now) {
        if (session == null || session.leftNanos(now) <= 0) {
            return partitions.areSeveral() && !resources.isUsing(partition) ? Status.CONNECTED : Status.DISCONNECTED;
        }
        return partition.isUndisturbed(session) ? Status.CONNECTED : Status.TROUBLED;
    }

    private static Status worse(Status one, Status other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    private static Duration longer(Optional<Duration> before, Duration other) {
        return before.filter(one -> one.compareTo(other) > 0).orElse(other);
    }

    private static Duration shorter(Optional<Duration> before, Duration other) {
        return before.filter(one -> one.compareTo(other) < 0).orElse(other);
    }
}
