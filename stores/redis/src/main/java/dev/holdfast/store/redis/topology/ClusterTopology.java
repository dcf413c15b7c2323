package dev.holdfast.store.redis.topology;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.redis.connection.ConnectionFactory;
import dev.holdfast.store.redis.connection.ReconnectingConnection;
import dev.holdfast.store.redis.connection.RedisFailures;
import dev.holdfast.store.redis.connection.SystemTicks;
import dev.holdfast.store.redis.script.BucketLayout;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Nodes share no queue: each has its own connections, and if the node of a bucket is away, only that bucket fails.
 *
 * A redirecting answer corrects the owner of its bucket at once. The list of slots is requested whenever something
 * contradicts it (a redirection, a node without a connection, one that does not answer, an ended subscription), and
 * periodically. Any node may be asked: an outdated one only names the wrong node, which then redirects.
 */

/** The nodes of a Redis Cluster. Thread-safe. */
public final class ClusterTopology implements Topology {

    private static final Logger LOG = LoggerFactory.getLogger(ClusterTopology.class);

    private static final Duration REFRESH_PAUSE = Duration.ofMillis(100);
    private static final Duration REFRESH_EVERY = Duration.ofSeconds(30);

    /** How long a node may take to list the slots before another is asked. */
    private static final Duration SLOTS_TIMEOUT = Duration.ofSeconds(1);

    private final ConnectionFactory connectionFactory;
    private final LongSupplier ticks = new SystemTicks();
    private final List<RedisURI> seeds;
    private final BucketLayout layout;
    private final Duration longestSearch;
    private final RedisSignals signals = new RedisSignals();
    private final ClusterSubscriptions subscriptions;
    private final Map<Slots.Place, ClusterNode> nodes = new ConcurrentHashMap<>();

    /** The node that serves each bucket. */
    private final AtomicReferenceArray<@Nullable ClusterNode> owners;

    private final Route[] routes;
    private final AtomicBoolean refreshing = new AtomicBoolean();
    private volatile @Nullable Future<?> refreshTask;
    private volatile @Nullable ServerInfo serverInfo;

    /** Whether all known nodes support sharded channels. */
    private volatile boolean isSharded = true;

    private volatile boolean closed;

    public ClusterTopology(
            ConnectionFactory connectionFactory,
            List<RedisURI> seeds,
            BucketLayout layout,
            String client,
            Duration commandTimeout) {
        this.connectionFactory = connectionFactory;
        this.seeds = List.copyOf(seeds);
        this.longestSearch = commandTimeout.multipliedBy(3).dividedBy(4);
        this.layout = layout;
        this.owners = new AtomicReferenceArray<>(layout.buckets());
        this.subscriptions = new ClusterSubscriptions(this, layout, client, signals);
        this.routes = new Route[layout.buckets()];
        for (int bucket = 0; bucket < routes.length; bucket++) {
            routes[bucket] = new ClusterRoute(this, bucket);
        }
    }

    // ---- Beginning and end

    @Override
    public String name() {
        return "the Redis Cluster at " + ConnectionFactory.place(seeds.get(0));
    }

    @Override
    public ServerInfo open(Duration timeout) {
        long end = ticks.getAsLong() + timeout.toNanos();
        ClusterNode first = first(end);
        StatefulRedisConnection<byte[], byte[]> connection = first.commands().current();
        if (connection == null) {
            throw RedisFailures.notConnected(nameOf(first), first.commands().failure());
        }
        List<?> slots = RedisFailures.awaitOpening(
                connection.async().clusterSlots(), Duration.ofNanos(end - ticks.getAsLong()), nameOf(first));
        try {
            adopt(Slots.read(slots, first.place()));
        } catch (IllegalArgumentException e) {
            throw RedisFailures.ofOpening(e, nameOf(first));
        }
        awaitPrimaries(end);
        long every = REFRESH_EVERY.toNanos();
        refreshTask =
                connectionFactory.scheduler().scheduleWithFixedDelay(this::refresh, every, every, TimeUnit.NANOSECONDS);
        ServerInfo found = serverInfo;
        if (found == null) {
            throw RedisFailures.notConnected(name(), null);
        }
        return found;
    }

    /** The first configured node that can be reached; throws why the last one couldn't. */
    private ClusterNode first(long end) {
        StoreException why = RedisFailures.notConnected(name(), null);
        for (int i = 0; i < seeds.size(); i++) {
            ClusterNode node =
                    nodeAt(new Slots.Place(seeds.get(i).getHost(), seeds.get(i).getPort()));
            // A node that does not answer leaves the other nodes their share of the time.
            Duration share = Duration.ofNanos(Math.max(1, (end - ticks.getAsLong()) / (seeds.size() - i)));
            try {
                RedisFailures.awaitOpening(
                        node.commands().opening(share, failure -> false),
                        share.plus(ReconnectingConnection.GRACE),
                        nameOf(node));
                return node;
            } catch (StoreException e) {
                if (e.getCause() instanceof InterruptedException) {
                    throw e;
                }
                why = e;
            }
        }
        throw why;
    }

    /** Waits until each of the other primaries is connected or known to be away. */
    private void awaitPrimaries(long end) {
        for (ClusterNode node : primaries()) {
            node.commands().start();
        }
        for (ClusterNode node : primaries()) {
            while (node.commands().current() == null
                    && node.commands().failure() == null
                    && end - ticks.getAsLong() > 0) {
                RedisFailures.awaitOpening(
                        new CompletableFuture<String>().completeOnTimeout("", 1, TimeUnit.MILLISECONDS),
                        Duration.ofMinutes(1),
                        nameOf(node));
            }
            if (node.commands().failure() instanceof StoreException refused && refused.reason() != Reason.UNAVAILABLE) {
                throw refused;
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        Future<?> present = refreshTask;
        if (present != null) {
            present.cancel(false);
        }
        subscriptions.close();
        nodes.values().forEach(ClusterNode::close);
        connectionFactory.close();
    }

    @Override
    public RedisSignals signals() {
        return signals;
    }

    @Override
    public ScheduledExecutorService scheduler() {
        return connectionFactory.scheduler();
    }

    // ---- Nodes

    public static String nameOf(ClusterNode node) {
        return "the Redis Cluster node at " + node.place();
    }

    ClusterNode nodeAt(Slots.Place place) {
        return nodes.computeIfAbsent(place, this::make);
    }

    private ClusterNode make(Slots.Place place) {
        RedisURI uri = connectionFactory.at(seeds.get(0), place.host(), place.port());
        String name = "the Redis Cluster node at " + place;
        ReconnectingConnection<StatefulRedisConnection<byte[], byte[]>> commands = new ReconnectingConnection<>(
                () -> connectionFactory.connect(uri),
                made -> made.async()
                        .info()
                        .exceptionally(failure -> "")
                        .thenAccept(info -> check(new ServerInfo(info), name)),
                connectionFactory,
                name);
        ReconnectingConnection<StatefulRedisPubSubConnection<byte[], byte[]>> messages = new ReconnectingConnection<>(
                () -> connectionFactory.listen(uri),
                made -> subscriptions.prepare(place, made),
                connectionFactory,
                name);
        return new ClusterNode(place, commands, messages);
    }

    private void check(ServerInfo found, String name) {
        found.checkOfCluster(name);
        // A node that hides its version may be old, and plain channels work everywhere. But once sessions use sharded
        // channels, a hidden version is no reason to leave them.
        if (!found.isAtLeast(7, 0) || (serverInfo == null && !found.reportsVersion())) {
            isSharded = false;
        }
        serverInfo = found;
    }

    /** Whether channels are sharded; known once this is open. */
    boolean isSharded() {
        return isSharded;
    }

    private List<ClusterNode> primaries() {
        List<ClusterNode> primaries = new ArrayList<>();
        for (int bucket = 0; bucket < owners.length(); bucket++) {
            ClusterNode owner = owners.get(bucket);
            if (owner != null && !primaries.contains(owner)) {
                primaries.add(owner);
            }
        }
        return primaries;
    }

    // ---- Buckets

    @Override
    public Route route(int bucket) {
        return routes[bucket];
    }

    /** One bucket of each reachable primary. */
    @Override
    public List<Integer> samples() {
        List<Integer> samples = new ArrayList<>();
        Set<ClusterNode> seen = new HashSet<>();
        for (int bucket = 0; bucket < owners.length(); bucket++) {
            ClusterNode owner = owners.get(bucket);
            if (owner != null && owner.commands().current() != null && seen.add(owner)) {
                samples.add(bucket);
            }
        }
        return samples;
    }

    @Override
    public String nameOf(String client) {
        return isSharded ? BucketLayout.sharded(client) : client;
    }

    @Override
    public CompletionStage<?> listen(int bucket) {
        return subscriptions.add(bucket);
    }

    @Override
    public void ignore(int bucket) {
        subscriptions.remove(bucket);
    }

    @Nullable
    public ClusterNode ownerOf(int bucket) {
        return owners.get(bucket);
    }

    /** Follows a redirection of a bucket to another node. */
    public ClusterNode moved(int bucket, Slots.Place place) {
        ClusterNode node = nodeAt(place);
        ClusterNode before = owners.getAndSet(bucket, node);
        if (!node.equals(before)) {
            node.commands().start();
            subscriptions.follow(bucket);
            refresh();
        }
        return node;
    }

    /** Gives up a connection that no longer answers. */
    public void giveUp(StatefulRedisConnection<byte[], byte[]> broken) {
        nodes.values().forEach(node -> node.giveUp(broken));
        refresh();
    }

    /** As {@link Route#replace}. */
    public void replace(StatefulRedisConnection<byte[], byte[]> silent, BooleanSupplier isSilent) {
        nodes.values().forEach(node -> node.replace(silent, isSilent));
    }

    /** How long a command follows redirections before it fails: less than its caller's time-out. */
    Duration longestSearch() {
        return longestSearch;
    }

    // ---- Who serves what

    /** Requests the list of slots soon, unless a request is already under way. */
    public void refresh() {
        if (!closed && refreshing.compareAndSet(false, true)) {
            schedule(REFRESH_PAUSE, this::ask);
        }
    }

    public void schedule(Duration pause, Runnable what) {
        try {
            var unused = scheduler().schedule(what, pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RuntimeException | Error e) {
            if (closed) {
                LOG.debug("store={} the topology is no longer refreshed: the client is shutting down", name(), e);
                return;
            }
            LOG.error("store={} the driver's timer failed; the JDK's is used for the next refresh", name(), e);
            CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS)
                    .execute(what);
        }
    }

    private void ask() {
        List<ClusterNode> candidates = new ArrayList<>(nodes.values());
        Collections.shuffle(candidates);
        ask(candidates.iterator());
    }

    private void ask(Iterator<ClusterNode> candidates) {
        while (!closed && candidates.hasNext()) {
            ClusterNode node = candidates.next();
            StatefulRedisConnection<byte[], byte[]> connection = node.commands().current();
            if (connection != null) {
                slots(connection).whenComplete((answer, failure) -> {
                    if (failure != null || !adopted(answer, node)) {
                        ask(candidates);
                    }
                });
                return;
            }
        }
        refreshing.set(false);
        if (!closed && primaries().stream().allMatch(node -> node.commands().current() == null)) {
            // No connected node is left to ask: the configured host names may have new addresses by now.
            seeds.forEach(seed -> nodeAt(new Slots.Place(seed.getHost(), seed.getPort()))
                    .commands()
                    .start());
        }
    }

    private static CompletionStage<List<Object>> slots(StatefulRedisConnection<byte[], byte[]> connection) {
        CompletableFuture<List<Object>> slots = new CompletableFuture<>();
        try {
            connection.async().clusterSlots().whenComplete((answer, failure) -> {
                if (failure != null) {
                    slots.completeExceptionally(failure);
                } else {
                    slots.complete(answer);
                }
            });
        } catch (RuntimeException | Error e) {
            slots.completeExceptionally(e);
        }
        return slots.orTimeout(SLOTS_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    }

    private boolean adopted(List<Object> answer, ClusterNode node) {
        try {
            adopt(Slots.read(answer, node.place()));
        } catch (IllegalArgumentException | StoreException e) {
            LOG.warn("server={} described its cluster in an unknown form", nameOf(node), e);
            return false;
        } catch (RuntimeException | Error e) {
            // If thrown, it would stop all refreshes for as long as this store is open.
            LOG.error(
                    "server={} its description of the cluster could not be processed; another node is " + "queried",
                    nameOf(node),
                    e);
            return false;
        }
        refreshing.set(false);
        return true;
    }

    /** Slots that no node serves at present keep their last node. */
    private void adopt(Slots slots) {
        if (slots.ranges().isEmpty()) {
            throw RedisFailures.unavailable(name() + " serves no slots yet: the cluster is not set up", null);
        }
        for (int bucket = 0; bucket < owners.length(); bucket++) {
            Slots.Place place = slots.primaryOf(SlotHash.getSlot(layout.keys(bucket)[0]));
            if (place != null) {
                ClusterNode node = nodeAt(place);
                if (!node.equals(owners.getAndSet(bucket, node))) {
                    node.commands().start();
                    subscriptions.follow(bucket);
                }
            }
        }
        List<ClusterNode> owning = primaries();
        nodes.values().removeIf(node -> {
            boolean isGone = !slots.nodes().contains(node.place()) && !owning.contains(node) && !isSeed(node);
            if (isGone) {
                node.leave();
            }
            return isGone;
        });
    }

    private boolean isSeed(ClusterNode node) {
        return seeds.stream().anyMatch(seed -> new Slots.Place(seed.getHost(), seed.getPort()).equals(node.place()));
    }
}
