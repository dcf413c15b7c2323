package dev.holdfast.store.redis;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.FixedLease;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.DeferredStore;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.store.redis.connection.ConnectionFactory;
import dev.holdfast.store.redis.connection.ConnectionOptions;
import dev.holdfast.store.redis.connection.DriverVersion;
import dev.holdfast.store.redis.connection.InFlight;
import dev.holdfast.store.redis.connection.Passwords;
import dev.holdfast.store.redis.connection.RedisFailures;
import dev.holdfast.store.redis.connection.SystemTicks;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.script.Script;
import dev.holdfast.store.redis.topology.ClusterTopology;
import dev.holdfast.store.redis.topology.PrimaryLocator;
import dev.holdfast.store.redis.topology.Route;
import dev.holdfast.store.redis.topology.ServerInfo;
import dev.holdfast.store.redis.topology.SinglePrimary;
import dev.holdfast.store.redis.topology.Topology;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Locks on one Redis server, from 6.2 on, or on Valkey.
 *
 * <pre>{@code
 * try (Holdfast holdfast = Holdfast.connect("redis://localhost:6379")) { … }
 * }</pre>
 *
 * <p>Its properties:
 *
 * <ul>
 *   <li>Every command is one atomic step of a script on the server, by the server's clock. Commands that arrive while
 *   others are in flight are sent together.
 *   <li>The step that grants a queued claim also publishes that on its client's channel.
 *   <li>Mutual exclusion holds while the server keeps its data and its clock is not stepped. Leases follow the server's
 *   wall clock; after a crash the server has what its persistence kept. Tokens only increase, even then.
 * </ul>
 *
 * <p>One instance has two connections: one for commands and one for messages. All instances in a process for which the
 * program provides no threads share those of the driver; the first instance starts them, and the last ends them. The
 * store never repeats requests in flight on a lost connection.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class RedisStore implements LockStore {

    /** How long to wait for replicas, if a URI asks for that without a time. */
    static final Duration REPLICA_TIMEOUT = Duration.ofSeconds(1);

    static final Duration MIN_TTL = Duration.ofMillis(200);

    private static final Duration DEFERRED_POLL = Duration.ofMillis(500);

    private final Topology topology;
    private final ReplicaAcknowledgement acknowledgement;
    private final BucketLayout layout;
    private final Buckets buckets;
    private final StoreTraits traits;
    private final RedisCommands commands;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile @Nullable Future<?> maintenance;

    private RedisStore(Builder options) {
        this.layout = new BucketLayout(options.namespace, options.buckets());
        Duration commandTimeout = options.commandTimeout;
        ServerMonitor monitor = new ServerMonitor(new SystemTicks(), options.monitorLog);
        String client = HexFormat.of().toHexDigits(Randomness.nextLong());
        List<RedisURI> servers = options.servers();
        ConnectionFactory connectionFactory = new ConnectionFactory(options.connectionOptions());
        InFlight inFlight = connectionFactory.inFlight();
        this.topology = options.isCluster()
                ? new ClusterTopology(connectionFactory, servers, layout, client, commandTimeout)
                : new SinglePrimary(
                        connectionFactory,
                        PrimaryLocator.of(connectionFactory, servers.get(0)),
                        layout.channel(0, client));
        this.acknowledgement = new ReplicaAcknowledgement(options.replicas, topology.name());
        this.buckets = new Buckets(
                topology, layout, acknowledgement, commandTimeout, bucket -> pipeline(bucket, options, inFlight));
        this.commands = new RedisCommands(
                topology, buckets, layout, acknowledgement, options.replicas, monitor, client, commandTimeout);
        try {
            ServerInfo serverInfo = topology.open(options.connectTimeout);
            for (int bucket : topology.samples()) {
                BucketProbe.run(
                        topology.route(bucket),
                        options.script,
                        layout,
                        bucket,
                        topology.nameOf("nobody"),
                        options.replicas,
                        options.connectTimeout);
            }
            this.traits = traits(serverInfo.product());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        long pause = commandTimeout.dividedBy(4).toNanos();
        this.maintenance =
                topology.scheduler().scheduleWithFixedDelay(buckets::maintain, pause, pause, TimeUnit.NANOSECONDS);
    }

    private CommandPipeline pipeline(int bucket, Builder options, InFlight inFlight) {
        return new CommandPipeline(
                options.between.apply(topology.route(bucket)),
                options.script,
                layout,
                bucket,
                options.replicas,
                inFlight,
                options.ticks,
                abandoned -> buckets.after(bucket, abandoned));
    }

    /** For tests that check the client's state. */
    Buckets buckets() {
        return buckets;
    }

    private static StoreTraits traits(String product) {
        return traitsOfAny(product).with(Feature.PUSH).build();
    }

    /** The traits on every server. */
    private static StoreTraits.Builder traitsOfAny(String product) {
        return StoreTraits.of(product)
                .system("Redis")
                .with(Feature.FIFO, Feature.BARGING, Feature.ADVANCE, Feature.DETACHED_GRANTS)
                .with(Feature.KNOWN_WAITERS, Feature.PORTABLE_SESSIONS, Feature.ANNOTATIONS, Feature.RUNS)
                .admitsAll()
                .minSessionTtl(MIN_TTL)
                .ttlGranularity(Micros.duration(1))
                .fixedLease(FixedLease.NATIVE)
                .tokenSource(TokenSource.CLOCKED);
    }

    /**
     * Opens a store on a server with the default options.
     *
     * @throws StoreException as in {@link Builder#open()}
     */
    public static RedisStore open(RedisURI uri) {
        return builder(uri).open();
    }

    /** Starts to configure a store on a server, with the user, the database and the TLS settings of the URI. */
    public static Builder builder(RedisURI uri) {
        return new Builder(List.of(uri), false);
    }

    /**
     * Starts to configure a store on a server, Sentinels or a cluster, by a URI as for {@link RedisStoreProvider}; for
     * options that the URI doesn't have.
     *
     * @throws IllegalArgumentException if the URI has another form; nothing was opened
     */
    public static Builder builder(StoreUri uri) {
        if (!new RedisStoreProvider().schemes().contains(uri.scheme())) {
            throw new IllegalArgumentException("The URI '" + uri + "' is not a Redis URI");
        }
        return RedisUris.builder(uri);
    }

    /**
     * Starts to configure a store on a Redis Cluster.
     *
     * @param nodes some of its nodes, by which the others are found; the user and the TLS settings of the first apply
     *     to all
     * @throws IllegalArgumentException if there are none, or one names a database, which clusters don't have
     */
    public static Builder clusterBuilder(Collection<RedisURI> nodes) {
        if (nodes.isEmpty() || nodes.stream().anyMatch(node -> node.getDatabase() != 0)) {
            throw new IllegalArgumentException("A Redis Cluster needs at least one node, and has only database 0");
        }
        return new Builder(List.copyOf(nodes), true);
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        return closed.get()
                ? CompletableFuture.failedFuture(RedisFailures.closed(StoreException.Effect.NONE))
                : commands.send(command);
    }

    @Override
    public int partitions() {
        return buckets.count();
    }

    @Override
    public int partitionOf(ResourceName name) {
        return buckets.of(name);
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        return topology.signals().subscribe(acknowledgement.hints(listener));
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            Future<?> present = maintenance;
            if (present != null) {
                present.cancel(false);
            }
            topology.signals().close();
            buckets.close();
            topology.close();
        }
    }

    /** Configures a store. Each option has a default. */
    public static final class Builder {

        /** The number of buckets in a cluster, each in a separate slot. Must never change. */
        private static final int BUCKETS_OF_CLUSTER = 1_024;

        private final List<RedisURI> uris;
        private final boolean isCluster;
        private int bucketsOfCluster = BUCKETS_OF_CLUSTER;
        String namespace = BucketLayout.DEFAULT_NAMESPACE;
        Duration commandTimeout = Duration.ofSeconds(5);
        Duration connectTimeout = Duration.ofSeconds(10);

        @Nullable
        AbstractRedisClient client;

        @Nullable
        ClientResources resources;

        @Nullable
        SslOptions tls;

        Replicas replicas = Replicas.NONE;
        Script script = Script.COMMANDS;

        private UnaryOperator<Route> between = UnaryOperator.identity();
        private LongSupplier ticks = new SystemTicks();
        ConnectionFactory.Between connections = ConnectionFactory.Between.NOTHING;

        /** The log for warnings about the server. */
        Logger monitorLog = ServerMonitor.LOG;

        private @Nullable RedisCredentialsProvider credentials;

        private Builder(List<RedisURI> uris, boolean isCluster) {
            this.uris = uris;
            this.isCluster = isCluster;
        }

        boolean isCluster() {
            return isCluster;
        }

        int buckets() {
            return isCluster ? bucketsOfCluster : 1;
        }

        /** For tests that act on each bucket. */
        @CanIgnoreReturnValue
        Builder buckets(int ofCluster) {
            this.bucketsOfCluster = ofCluster;
            return this;
        }

        /**
         * The prefix of the store's keys, so that several stores can share a database.
         *
         * @param namespace 1 to 64 letters, digits and {@code _ . : -}; {@code holdfast} by default
         */
        @CanIgnoreReturnValue
        public Builder namespace(String namespace) {
            this.namespace = namespace;
            return this;
        }

        /**
         * How long to wait for the reply to a command before it fails with an unknown outcome and its connection is
         * replaced; five seconds by default. A keep-alive waits for at most a quarter of the session's ttl; then
         * another connection replaces the silent one.
         *
         * @throws IllegalArgumentException if it is below 10 ms or above an hour
         */
        @CanIgnoreReturnValue
        public Builder commandTimeout(Duration timeout) {
            this.commandTimeout = checked("The command time-out", timeout);
            return this;
        }

        /**
         * How long {@link #open()} waits for a connection; ten seconds by default.
         *
         * @throws IllegalArgumentException if it is below 10 ms or above an hour
         */
        @CanIgnoreReturnValue
        public Builder connectTimeout(Duration timeout) {
            this.connectTimeout = checked("The connect time-out", timeout);
            return this;
        }

        /**
         * Uses the options (TLS, sockets, protocol) and threads of an existing client, for a server or a cluster. The
         * store never closes it and doesn't use its connections, which may repeat commands, but opens its own.
         */
        @CanIgnoreReturnValue
        public Builder client(AbstractRedisClient existing) {
            this.client = existing;
            return this;
        }

        /** Uses existing client resources. The store never shuts them down. */
        @CanIgnoreReturnValue
        public Builder resources(ClientResources existing) {
            this.resources = existing;
            return this;
        }

        /**
         * Fetches the password for each new connection, so that it can change while the store is open.
         *
         * @param user null for the default user
         * @param password called on a thread that may block
         */
        @CanIgnoreReturnValue
        public Builder password(@Nullable String user, Supplier<char[]> password) {
            this.credentials = Passwords.from(user, password);
            return this;
        }

        /**
         * The trusted authorities and the client certificate if the URI asks for TLS; by default the authorities that
         * the JVM trusts, and no certificate.
         */
        @CanIgnoreReturnValue
        public Builder tls(SslOptions options) {
            this.tls = options;
            return this;
        }

        /**
         * Lets a grant count only when this many replicas have it. A grant that they don't acknowledge in time is
         * withdrawn, and the request fails with a {@link dev.holdfast.StoreRefusedException} that says how many did.
         * This makes it less likely that a fail-over loses a grant, but doesn't rule it out, since a replica without it
         * may be promoted. Off by default.
         *
         * <p>All commands of the client wait meanwhile, so the time should be short. Clients whose session ttl is less
         * than four times as long are refused: a keep-alive can't wait that long.
         *
         * @param count 0 to wait for none
         * @param timeout 1 ms to a minute, and less than {@link #commandTimeout}
         * @throws IllegalArgumentException if one is out of its range
         */
        @CanIgnoreReturnValue
        public Builder waitForReplicas(int count, Duration timeout) {
            this.replicas = new Replicas(count, timeout);
            return this;
        }

        /** The servers to connect to, with all settings. */
        List<RedisURI> servers() {
            if (replicas.areAsked() && replicas.timeout().compareTo(commandTimeout) >= 0) {
                throw new IllegalArgumentException("The wait for replicas (" + DurationFormat.format(replicas.timeout())
                        + ") must be shorter than the command time-out (" + DurationFormat.format(commandTimeout)
                        + ")");
            }
            RedisCredentialsProvider provider = credentials;
            return provider == null
                    ? uris
                    : uris.stream()
                            .map(uri -> RedisURI.builder(uri)
                                    .withAuthentication(provider)
                                    .build())
                            .toList();
        }

        ConnectionOptions connectionOptions() {
            return new ConnectionOptions(client, resources, tls, connectTimeout, isCluster, connections);
        }

        /** For tests: wraps the pipelines' routes. */
        @CanIgnoreReturnValue
        Builder between(UnaryOperator<Route> other) {
            this.between = other;
            return this;
        }

        /** For tests: wraps the store's connections, except those to Sentinels. */
        @CanIgnoreReturnValue
        Builder connections(ConnectionFactory.Between other) {
            this.connections = other;
            return this;
        }

        /** For tests: the clock of the pipelines. */
        @CanIgnoreReturnValue
        Builder ticks(LongSupplier other) {
            this.ticks = other;
            return this;
        }

        /** For tests that move the store's clock. */
        @CanIgnoreReturnValue
        Builder script(Script other) {
            this.script = other;
            return this;
        }

        /**
         * Connects.
         *
         * <p><b>Blocking:</b> for at most the connect time-out.
         *
         * @throws IllegalArgumentException if the namespace has another form; nothing was opened
         * @throws StoreException if the server can't be reached, rejects the user, lacks a permission, is too old, is
         *     not a primary, may evict locks or has other data under the store's keys; or if the versions of Lettuce
         *     and Netty don't work
         */
        public RedisStore open() {
            DriverVersion.require();
            try {
                return new RedisStore(this);
            } catch (LinkageError e) {
                throw DriverVersion.unfit(e);
            }
        }

        /**
         * Creates a store that connects when first used, and retries with each command until {@link #open()} succeeds.
         * For programs that start while their Redis is away; see
         * {@link dev.holdfast.Holdfast.Builder#startInBackground}. Does no I/O. Waiters poll twice a second, in
         * addition to signals.
         *
         * @throws IllegalArgumentException if the namespace has another form
         */
        public LockStore openLater() {
            BucketLayout keys = new BucketLayout(namespace, buckets());
            StoreTraits traits = traitsOfAny("Redis").pollEvery(DEFERRED_POLL).build();
            return new DeferredStore(traits, buckets(), keys::bucketOf, this::open);
        }

        private static Duration checked(String what, Duration timeout) {
            if (timeout.compareTo(Duration.ofMillis(10)) < 0 || timeout.compareTo(Duration.ofHours(1)) > 0) {
                throw new IllegalArgumentException(
                        what + " must be 10 ms to 1 h, not " + DurationFormat.format(timeout));
            }
            return timeout;
        }
    }
}
