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
 * What this client listens to in a cluster: one channel for each bucket that it uses, at the node that serves the
 * bucket. From Redis 7 on the channels are sharded, and a message stays at that node; before that it goes to all nodes,
 * and is told here once all the same.
 *
 * <p>A subscription that ends, with its connection or because the slot moves, is made again where the slot is then;
 * what was told in between nobody has heard, so what waits in that bucket is polled. Thread-safe.
 */
final class ClusterSubscriptions {

    private static final Logger LOG = LoggerFactory.getLogger(ClusterSubscriptions.class);
    private static final Duration AGAIN = Duration.ofMillis(25);

    private final ClusterTopology cluster;
    private final BucketLayout layout;
    private final String client;
    private final RedisSignals signals;

    /** How many sessions of this client each bucket has. */
    private final Map<Integer, Integer> wanted = new ConcurrentHashMap<>();

    /** On which connection each bucket is listened to, or is about to be. */
    private final Map<Integer, StatefulRedisPubSubConnection<byte[], byte[]>> made = new ConcurrentHashMap<>();

    /** Ends when a bucket is listened to for the first time. */
    private final Map<Integer, CompletableFuture<@Nullable Void>> listening = new ConcurrentHashMap<>();

    private final Map<String, Integer> buckets = new ConcurrentHashMap<>();
    private volatile boolean closed;

    ClusterSubscriptions(ClusterTopology cluster, BucketLayout layout, String client, RedisSignals signals) {
        this.cluster = cluster;
        this.layout = layout;
        this.client = client;
        this.signals = signals;
    }

    /**
     * The channel of a bucket: the script publishes to all nodes unless the name of the client says that it need not.
     */
    private byte[] channel(int bucket) {
        String name = layout.channel(bucket, cluster.nameOf(client));
        buckets.put(name, bucket);
        return name.getBytes(StandardCharsets.US_ASCII);
    }

    /** Listens to a bucket; the stage ends when that is so. */
    CompletionStage<?> add(int bucket) {
        CompletableFuture<@Nullable Void> heard = listening.computeIfAbsent(bucket, none -> new CompletableFuture<>());
        if (wanted.merge(bucket, 1, Integer::sum) == 1) {
            follow(bucket);
        }
        return heard;
    }

    void remove(int bucket) {
        if (wanted.computeIfPresent(bucket, (same, sessions) -> sessions > 1 ? sessions - 1 : null) == null) {
            listening.remove(bucket);
            StatefulRedisPubSubConnection<byte[], byte[]> at = made.remove(bucket);
            if (at != null) {
                end(at, bucket);
            }
            buckets.remove(layout.channel(bucket, cluster.nameOf(client)));
        }
    }

    void close() {
        closed = true;
        wanted.clear();
    }

    private boolean isWanted(int bucket) {
        return !closed && wanted.containsKey(bucket);
    }

    /** Listens to a bucket where it is served, if it is wanted and not listened to there. */
    void follow(int bucket) {
        ClusterNode owner = isWanted(bucket) ? cluster.ownerOf(bucket) : null;
        if (owner == null) {
            return;
        }
        StatefulRedisPubSubConnection<byte[], byte[]> at = owner.messages().current();
        if (at != null) {
            var unused = begin(at, bucket);
        } else {
            owner.messages().start();
            // The connection may have begun to subscribe to what was wanted before.
            cluster.later(AGAIN, () -> follow(bucket));
        }
    }

    /** A new connection to a node: listens to all that is wanted there. */
    CompletionStage<?> prepare(Slots.Place place, StatefulRedisPubSubConnection<byte[], byte[]> fresh) {
        fresh.addListener(new Listener(fresh));
        List<CompletableFuture<?>> begun = new ArrayList<>();
        for (int bucket : wanted.keySet()) {
            ClusterNode owner = cluster.ownerOf(bucket);
            if (owner != null && owner.place().equals(place)) {
                begun.add(begin(fresh, bucket));
            }
        }
        // Each fails by itself: a slot that has gone elsewhere does not keep the rest from being listened to.
        return CompletableFuture.allOf(begun.toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<?> begin(StatefulRedisPubSubConnection<byte[], byte[]> at, int bucket) {
        StatefulRedisPubSubConnection<byte[], byte[]> before = made.put(bucket, at);
        if (before == at) {
            return CompletableFuture.completedFuture(null);
        }
        if (before != null) {
            end(before, bucket);
        }
        CompletableFuture<@Nullable Void> begun = new CompletableFuture<>();
        subscribe(at, channel(bucket)).whenComplete((done, failure) -> {
            if (failure == null) {
                signals.subscribed(bucket);
                CompletableFuture<@Nullable Void> heard = listening.get(bucket);
                if (heard != null) {
                    heard.complete(null);
                }
            } else {
                LOG.debug("bucket={} can't be listened to yet", bucket, failure);
                again(at, bucket);
            }
            begun.complete(null);
        });
        return begun;
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
                LOG.debug("bucket={} was listened to on a connection that is gone", bucket, e);
            } catch (Error e) {
                // Thrown, it would keep the bucket from being listened to where it is now.
                LOG.error("bucket={} could not be left; it is listened to where it was, too", bucket, e);
            }
        }
    }

    /** A subscription has ended, or could not be made: looks where the slot is now. */
    private void again(StatefulRedisPubSubConnection<byte[], byte[]> at, int bucket) {
        if (made.remove(bucket, at) && isWanted(bucket)) {
            cluster.refresh();
            cluster.later(AGAIN, () -> follow(bucket));
        }
    }

    private final class Listener extends RedisPubSubAdapter<byte[], byte[]> {
        private final StatefulRedisPubSubConnection<byte[], byte[]> at;

        Listener(StatefulRedisPubSubConnection<byte[], byte[]> at) {
            this.at = at;
        }

        @Override
        public void message(byte[] channel, byte[] message) {
            signals.heard(message);
        }

        @Override
        public void smessage(byte[] channel, byte[] message) {
            signals.heard(message);
        }

        @Override
        public void sunsubscribed(byte[] channel, long left) {
            Integer bucket = buckets.get(new String(channel, StandardCharsets.US_ASCII));
            if (bucket != null) {
                // Unless this client has ended it: the slot is served by another node now.
                again(at, bucket);
            }
        }
    }
}
