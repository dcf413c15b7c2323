package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.StoreException;
import dev.holdfast.store.redis.connection.RedisFailures;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The route to the cluster node that currently serves one bucket. */
final class ClusterRoute implements Route {

    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(100);

    /** How often a missing connection to a node is checked for, with the shortest pause, before the route fails. */
    private static final int MAX_POLLS = 40;

    private final ClusterTopology cluster;
    private final int bucket;

    ClusterRoute(ClusterTopology cluster, int bucket) {
        this.cluster = cluster;
        this.bucket = bucket;
    }

    @Override
    public @Nullable StatefulRedisConnection<byte[], byte[]> current() {
        ClusterNode owner = cluster.ownerOf(bucket);
        StatefulRedisConnection<byte[], byte[]> connection =
                owner == null ? null : owner.commands().current();
        if (connection == null) {
            cluster.refresh();
        }
        return connection;
    }

    @Override
    public void giveUp(StatefulRedisConnection<byte[], byte[]> broken) {
        cluster.giveUp(broken);
    }

    @Override
    public void replace(StatefulRedisConnection<byte[], byte[]> silent, BooleanSupplier isSilent) {
        cluster.replace(silent, isSilent);
    }

    @Override
    public void refused(StatefulRedisConnection<byte[], byte[]> connection, StoreException why) {
        if (RedisFailures.isFromReplica(why)) {
            cluster.refresh();
        }
    }

    @Override
    public StoreException missing() {
        ClusterNode owner = cluster.ownerOf(bucket);
        return RedisFailures.notConnected(
                server(), owner == null ? null : owner.commands().failure());
    }

    @Override
    public String server() {
        ClusterNode owner = cluster.ownerOf(bucket);
        return owner == null ? cluster.name() : ClusterTopology.nameOf(owner);
    }

    @Override
    public @Nullable CompletionStage<Onward> onward(
            StatefulRedisConnection<byte[], byte[]> connection, Throwable failure, int times, long nanos) {
        Redirection redirection = Redirection.of(failure);
        if (redirection == null || nanos > cluster.longestSearch().toNanos()) {
            return null;
        }
        CompletableFuture<Onward> onward = new CompletableFuture<>();
        Slots.Place place = redirection.place();
        if (place == null) {
            cluster.refresh();
            cluster.schedule(pause(times), () -> await(cluster.ownerOf(bucket), false, MAX_POLLS, onward));
            return onward;
        }
        ClusterNode owner = cluster.ownerOf(bucket);
        Slots.Place full = place.host().isEmpty() && owner != null
                ? new Slots.Place(owner.place().host(), place.port())
                : place;
        boolean isAsking = redirection.kind() == Redirection.Kind.ASK;
        ClusterNode next = isAsking ? cluster.nodeAt(full) : cluster.moved(bucket, full);
        // Nodes that redirect to each other don't agree yet, so this waits.
        Duration pause = times < 2 ? Duration.ZERO : pause(times);
        cluster.schedule(pause, () -> await(next, isAsking, MAX_POLLS, onward));
        return onward;
    }

    private static Duration pause(int times) {
        Duration pause = SHORTEST_PAUSE.multipliedBy(1L << Math.min(times, 10));
        return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }

    private void await(@Nullable ClusterNode node, boolean isAsking, int pollsLeft, CompletableFuture<Onward> onward) {
        StatefulRedisConnection<byte[], byte[]> connection =
                node == null ? null : node.commands().current();
        if (connection != null) {
            onward.complete(new Onward(connection, isAsking));
        } else if (pollsLeft == 0 || node == null) {
            onward.completeExceptionally(missing());
        } else {
            node.commands().start();
            cluster.schedule(SHORTEST_PAUSE, () -> await(node, isAsking, pollsLeft - 1, onward));
        }
    }
}
