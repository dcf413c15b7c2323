package dev.holdfast.store.redis.topology;

import dev.holdfast.store.redis.script.BucketLayout;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This client's subscriptions in a cluster: one channel for each bucket in use, at the node that serves the bucket.
 * From Redis 7 on the channels are sharded, and a message stays at that node; before that each message reaches all
 * nodes, but is still received once.
 *
 * <p>A subscription that ends, with its connection or because the slot moves, is made again at the slot's new
 * node. Messages in between are lost, so the waiters in that bucket poll. Thread-safe.
 */
final class ClusterSubscriptions {

    private static final Logger LOG = LoggerFactory.getLogger(ClusterSubscriptions.class);
    private static final Duration RETRY_PAUSE = Duration.ofMillis(25);

    private final ClusterTopology cluster;
    private final BucketLayout layout;
    private final String client;
    private final RedisSignals signals;

    /** The number of this client's sessions in each bucket. */
    private final Map<Integer, Integer> sessions = new ConcurrentHashMap<>();

    /** The connection on which each bucket is subscribed, or is being subscribed. */
    private final Map<Integer, StatefulRedisPubSubConnection<byte[], byte[]>> connections = new ConcurrentHashMap<>();

    /** Completed when a bucket is subscribed for the first time. */
    private final Map<Integer, CompletableFuture<@Nullable Void>> firstSubscribed = new ConcurrentHashMap<>();

    private final Map<String, Integer> buckets = new ConcurrentHashMap<>();
    private volatile boolean closed;

    ClusterSubscriptions(ClusterTopology cluster, BucketLayout layout, String client, RedisSignals signals) {
        this.cluster = cluster;
        this.layout = layout;
        this.client = client;
        this.signals = signals;
    }

    /**
     * The channel of a bucket: the script publishes to all nodes unless the client's name says that its channels are
     * sharded.
     */
    private byte[] channel(int bucket) {
        String name = layout.channel(bucket, cluster.nameOf(client));
        buckets.put(name, bucket);
        return name.getBytes(StandardCharsets.US_ASCII);
    }

    /** Subscribes to a bucket; the stage completes when that is done. */
    CompletionStage<?> add(int bucket) {
        CompletableFuture<@Nullable Void> subscribed =
                firstSubscribed.computeIfAbsent(bucket, none -> new CompletableFuture<>());
        if (sessions.merge(bucket, 1, Integer::sum) == 1) {
            follow(bucket);
        }
        return subscribed;
    }

    void remove(int bucket) {
        if (sessions.computeIfPresent(bucket, (same, count) -> count > 1 ? count - 1 : null) == null) {
            firstSubscribed.remove(bucket);
            StatefulRedisPubSubConnection<byte[], byte[]> at = connections.remove(bucket);
            if (at != null) {
                end(at, bucket);
            }
            buckets.remove(layout.channel(bucket, cluster.nameOf(client)));
        }
    }

    void close() {
        closed = true;
        sessions.clear();
    }

    private boolean isNeeded(int bucket) {
        return !closed && sessions.containsKey(bucket);
    }

    /** Subscribes to a bucket at the node that serves it, if it is needed and not subscribed there. */
    void follow(int bucket) {
        ClusterNode owner = isNeeded(bucket) ? cluster.ownerOf(bucket) : null;
        if (owner == null) {
            return;
        }
        StatefulRedisPubSubConnection<byte[], byte[]> at = owner.messages().current();
        if (at != null) {
            var unused = subscribeOn(at, bucket);
        } else {
            owner.messages().start();
            // The connection may have started with the subscriptions needed before this one.
            cluster.schedule(RETRY_PAUSE, () -> follow(bucket));
        }
    }

    /** Makes all subscriptions of a node on a new connection to it. */
    CompletionStage<?> prepare(Slots.Place place, StatefulRedisPubSubConnection<byte[], byte[]> fresh) {
        fresh.addListener(new Listener(fresh));
        List<CompletableFuture<?>> pending = new ArrayList<>();
        for (int bucket : sessions.keySet()) {
            ClusterNode owner = cluster.ownerOf(bucket);
            if (owner != null && owner.place().equals(place)) {
                pending.add(subscribeOn(fresh, bucket));
            }
        }
        // Each fails separately: a slot that moved doesn't affect the other subscriptions.
        return CompletableFuture.allOf(pending.toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<?> subscribeOn(StatefulRedisPubSubConnection<byte[], byte[]> at, int bucket) {
        StatefulRedisPubSubConnection<byte[], byte[]> before = connections.put(bucket, at);
        if (before == at) {
            return CompletableFuture.completedFuture(null);
        }
        if (before != null) {
            end(before, bucket);
        }
        CompletableFuture<@Nullable Void> pending = new CompletableFuture<>();
        subscribe(at, channel(bucket)).whenComplete((done, failure) -> {
            if (failure == null) {
                signals.subscribed(bucket);
                CompletableFuture<@Nullable Void> subscribed = firstSubscribed.get(bucket);
                if (subscribed != null) {
                    subscribed.complete(null);
                }
            } else {
                LOG.debug("bucket={} can't be subscribed to yet", bucket, failure);
                resubscribeLater(at, bucket);
            }
            pending.complete(null);
        });
        return pending;
    }

    private CompletionStage<?> subscribe(StatefulRedisPubSubConnection<byte[], byte[]> at, byte[] channel) {
        try {
            return cluster.isSharded()
                    ? at.async().ssubscribe(channel)
                    : at.async().subscribe(channel);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void end(StatefulRedisPubSubConnection<byte[], byte[]> at, int bucket) {
        if (at.isOpen()) {
            byte[] channel = channel(bucket);
            try {
                var unused = cluster.isSharded()
                        ? at.async().sunsubscribe(channel)
                        : at.async().unsubscribe(channel);
            } catch (RuntimeException e) {
                LOG.debug("bucket={} was subscribed to on a closed connection", bucket, e);
            } catch (Error e) {
                // If thrown, it would prevent the subscription at the slot's new node.
                LOG.error("bucket={} could not be unsubscribed; the old subscription remains", bucket, e);
            }
        }
    }

    /** Subscribes at the slot's current node, after a subscription ended or failed. */
    private void resubscribeLater(StatefulRedisPubSubConnection<byte[], byte[]> at, int bucket) {
        if (connections.remove(bucket, at) && isNeeded(bucket)) {
            cluster.refresh();
            cluster.schedule(RETRY_PAUSE, () -> follow(bucket));
        }
    }

    private final class Listener extends RedisPubSubAdapter<byte[], byte[]> {
        private final StatefulRedisPubSubConnection<byte[], byte[]> at;

        Listener(StatefulRedisPubSubConnection<byte[], byte[]> at) {
            this.at = at;
        }

        @Override
        public void message(byte[] channel, byte[] message) {
            signals.receive(message);
        }

        @Override
        public void smessage(byte[] channel, byte[] message) {
            signals.receive(message);
        }

        @Override
        public void sunsubscribed(byte[] channel, long left) {
            Integer bucket = buckets.get(new String(channel, StandardCharsets.US_ASCII));
            if (bucket != null) {
                // Unless this client unsubscribed, another node serves the slot now.
                resubscribeLater(at, bucket);
            }
        }
    }
}
