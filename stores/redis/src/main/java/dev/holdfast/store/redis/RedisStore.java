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
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.store.redis.connection.ConnectionFactory;
import dev.holdfast.store.redis.connection.ConnectionOptions;
import dev.holdfast.store.redis.connection.DriverVersion;
import dev.holdfast.store.redis.connection.InFlight;
import dev.holdfast.store.redis.connection.Passwords;
import dev.holdfast.store.redis.connection.RedisFailures;
import dev.holdfast.store.redis.connection.SystemTicks;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.script.Micros;
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
 * <p>What is special about it:
 *
 * <ul>
 *   <li>Every command is one step of a script on the server, by the server's clock; commands that come while others are
 *   under way leave together.
 *   <li>Who waits is told of its grant by a message on a channel of this client, in the step that released it.
 *   <li>It excludes while the server keeps its memory and its clock is not stepped. Its expiry follows the server's
 *   wall clock; after a crash the server knows what its persistence kept. Tokens rise even then.
 * </ul>
 *
 * <p>One instance has two connections: one for commands, one on which it is told. All instances of a process that are
 * given no threads of the program's share those of the driver, which the first starts and the last ends. What was under
 * way on a connection that breaks is never sent again by the store.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class RedisStore implements LockStore {

    /** How long replicas are waited for, if that is asked for by a URI that does not say how long. */
    static final Duration REPLICA_TIMEOUT = Duration.ofSeconds(1);

    static final Duration MIN_TTL = Duration.ofMillis(200);

    private static final Duration POLL_BEFORE_TOLD = Duration.ofMillis(500);

    private final Topology topology;
    private final ReplicaAcknowledgement acknowledgement;
    private final BucketLayout layout;
    private final Buckets buckets;
    private final StoreTraits traits;
    private final RedisCommands commands;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile @Nullable Future<?> ticks;

    private RedisStore(Builder options) {
        this.layout = new BucketLayout(options.namespace, options.buckets());
        Duration commandTimeout = options.commandTimeout;
        ServerMonitor watch = new ServerMonitor(new SystemTicks(), options.watchLog);
        String client = HexFormat.of().toHexDigits(Randomness.nextLong());
        List<RedisURI> servers = options.servers();
        ConnectionFactory driver = new ConnectionFactory(options.connectionOptions());
        InFlight inFlight = driver.inFlight();
        this.topology = options.isCluster()
                ? new ClusterTopology(driver, servers, layout, client, commandTimeout)
                : new SinglePrimary(driver, PrimaryLocator.of(driver, servers.get(0)), layout.channel(0, client));
        this.acknowledgement = new ReplicaAcknowledgement(options.replicas, topology.name());
        this.buckets = new Buckets(
                topology, layout, acknowledgement, commandTimeout, bucket -> pipeline(bucket, options, inFlight));
        this.commands = new RedisCommands(
                topology, buckets, layout, acknowledgement, options.replicas, watch, client, commandTimeout);
        try {
            ServerInfo facts = topology.open(options.connectTimeout);
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
            this.traits = traits(facts.product());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        long pause = commandTimeout.dividedBy(4).toNanos();
        this.ticks =
                topology.scheduler().scheduleWithFixedDelay(buckets::lookAround, pause, pause, TimeUnit.NANOSECONDS);
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
                left -> buckets.after(bucket, left));
    }

    /** For tests that look at what is kept in the client. */
    Buckets buckets() {
        return buckets;
    }

    private static StoreTraits traits(String product) {
        return traitsOfAny(product).with(Feature.PUSH).build();
    }

    /** What holds on every server. */
    private static StoreTraits.Builder traitsOfAny(String product) {
        return StoreTraits.of(product)
                .system("Redis")
                .with(Feature.FIFO, Feature.BARGING, Feature.ADVANCE, Feature.DETACHED_GRANTS)
                .with(Feature.KNOWN_WAITERS, Feature.PORTABLE_SESSIONS)
                .admitsAll()
                .minSessionTtl(MIN_TTL)
                .ttlGranularity(Micros.duration(1))
                .fixedLease(FixedLease.NATIVE)
                .tokenSource(TokenSource.CLOCKED);
    }

    /**
     * Opens the locks of a server with the default options.
     *
     * @throws StoreException as of {@link Builder#open()}
     */
    public static RedisStore open(RedisURI uri) {
        return builder(uri).open();
    }

    /** Begins to set up a store on a server, with the user, the database and the security that the URI names. */
    public static Builder builder(RedisURI uri) {
        return new Builder(List.of(uri), false);
    }

    /**
     * Begins to set up a store on what a URI names, as {@link RedisStoreProvider} knows them: a server, Sentinels or a
     * cluster; for what the URI does not say.
     *
     * @throws IllegalArgumentException if the URI is not of that form; nothing was touched
     */
    public static Builder builder(StoreUri uri) {
        if (!new RedisStoreProvider().schemes().contains(uri.scheme())) {
            throw new IllegalArgumentException("The URI '" + uri + "' names no Redis");
        }
        return RedisUris.builder(uri);
    }

    /**
     * Begins to set up a store on a Redis Cluster.
     *
     * @param nodes some of its nodes, by which the others are found; the user and the security of the first are those
     *     of all
     * @throws IllegalArgumentException if there are none, or one names a database, which clusters don't have
     */
    public static Builder clusterBuilder(Collection<RedisURI> nodes) {
        if (nodes.isEmpty() || nodes.stream().anyMatch(node -> node.getDatabase() != 0)) {
            throw new IllegalArgumentException(
                    "A Redis Cluster is named by one node at least, and has no databases but the first");
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
            Future<?> present = ticks;
            if (present != null) {
                present.cancel(false);
            }
            topology.signals().close();
            buckets.close();
            topology.close();
        }
    }

    /** Sets up a store on a server. Each option has a default. */
    public static final class Builder {

        /** The keys of a name are in one of so many buckets, each with a slot of its own. Never to be changed. */
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

        /** Where troubles of the server are told. */
        Logger watchLog = ServerMonitor.LOG;

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

        /** For tests that do something to each bucket. */
        @CanIgnoreReturnValue
        Builder buckets(int ofCluster) {
            this.bucketsOfCluster = ofCluster;
            return this;
        }

        /**
         * What the keys of the store begin with, so that several may share a database.
         *
         * @param namespace 1 to 64 letters, digits and {@code _ . : -}; {@code holdfast} by default
         */
        @CanIgnoreReturnValue
        public Builder namespace(String namespace) {
            this.namespace = namespace;
            return this;
        }

        /**
         * After which time a command that is not answered ends with an unknown outcome, and its connection is made
         * anew; five seconds by default. A keep-alive waits for a quarter of the session's ttl at most; then another
         * connection takes the place of one that does not answer.
         *
         * @throws IllegalArgumentException if it is below 10 ms or beyond an hour
         */
        @CanIgnoreReturnValue
        public Builder commandTimeout(Duration timeout) {
            this.commandTimeout = checked("The time-out of a command", timeout);
            return this;
        }

        /**
         * How long {@link #open()} waits for a connection; ten seconds by default.
         *
         * @throws IllegalArgumentException if it is below 10 ms or beyond an hour
         */
        @CanIgnoreReturnValue
        public Builder connectTimeout(Duration timeout) {
            this.connectTimeout = checked("The time-out of a connection", timeout);
            return this;
        }

        /**
         * Connects with the options (TLS, sockets, protocol) and the threads of a client that the program has already,
         * for a server or for a cluster. It is never closed here, and its own connections are left alone: the store
         * makes connections of its own, since theirs may repeat commands.
         */
        @CanIgnoreReturnValue
        public Builder client(AbstractRedisClient existing) {
            this.client = existing;
            return this;
        }

        /** Uses the threads that the program has already for its clients. They are never ended here. */
        @CanIgnoreReturnValue
        public Builder resources(ClientResources existing) {
            this.resources = existing;
            return this;
        }

        /**
         * Has the password asked for each time that a connection is made, so that it may change while the store is
         * open.
         *
         * @param user null for the default user
         * @param password is asked on a thread that may wait
         */
        @CanIgnoreReturnValue
        public Builder password(@Nullable String user, Supplier<char[]> password) {
            this.credentials = Passwords.from(user, password);
            return this;
        }

        /**
         * What to trust and what to show when the URI asks for TLS; by default the authorities that the JVM trusts, and
         * no certificate.
         */
        @CanIgnoreReturnValue
        public Builder tls(SslOptions options) {
            this.tls = options;
            return this;
        }

        /**
         * Lets a grant count only when so many replicas have it. A grant that they don't have in time is withdrawn, and
         * the request for it fails with a {@link dev.holdfast.StoreRefusedException} that says how many have it. This
         * makes it less likely that a fail-over forgets a grant; it does not rule it out, since a replica that lacks it
         * may be chosen. Off by default.
         *
         * <p>All commands of the client wait while replicas are waited for, so the time should be short. Clients whose
         * session ttl is less than four times as long are refused: a keep-alive can't wait that long.
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

        /** Where to connect to, with everything that was set. */
        List<RedisURI> servers() {
            if (replicas.areAsked() && replicas.timeout().compareTo(commandTimeout) >= 0) {
                throw new IllegalArgumentException("The time to wait for replicas, "
                        + DurationFormat.format(replicas.timeout()) + ", must be less than the time-out of a command, "
                        + DurationFormat.format(commandTimeout));
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

        /** For tests: what stands between the pipelines and their routes. */
        @CanIgnoreReturnValue
        Builder between(UnaryOperator<Route> other) {
            this.between = other;
            return this;
        }

        /** For tests: what stands between the store and its connections, but for those to Sentinels. */
        @CanIgnoreReturnValue
        Builder connections(ConnectionFactory.Between other) {
            this.connections = other;
            return this;
        }

        /** For tests: what the pipelines count time by. */
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
         * <p><b>Blocking:</b> for the time-out of the connection, at most.
         *
         * @throws IllegalArgumentException if the namespace is not of its form; nothing was touched
         * @throws StoreException if the server can't be reached, does not accept the user, lacks a permission, is too
         *     old, is not a primary or may evict locks, or has something else in their place; or if the versions of
         *     Lettuce and Netty do not work
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
         * Makes a store that connects when it is first used, and tries again with each command until it is connected,
         * as {@link #open()} does. For programs that start while their Redis is away; see {@link
         * dev.holdfast.Holdfast.Builder#startInBackground}. Does no I/O. Waiters look for themselves twice a second
         * though they are told.
         *
         * @throws IllegalArgumentException if the namespace is not of its form
         */
        public LockStore openLater() {
            BucketLayout keys = new BucketLayout(namespace, buckets());
            StoreTraits traits =
                    traitsOfAny("Redis").pollEvery(POLL_BEFORE_TOLD).build();
            return new DeferredStore(traits, buckets(), keys::bucketOf, this::open);
        }

        private static Duration checked(String what, Duration timeout) {
            if (timeout.compareTo(Duration.ofMillis(10)) < 0 || timeout.compareTo(Duration.ofHours(1)) > 0) {
                throw new IllegalArgumentException(
                        what + " is 10 ms to an hour, not " + DurationFormat.format(timeout));
            }
            return timeout;
        }
    }
}
