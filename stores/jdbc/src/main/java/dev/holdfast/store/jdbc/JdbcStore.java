package dev.holdfast.store.jdbc;

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
import dev.holdfast.spi.support.BoundedOpening;
import dev.holdfast.spi.support.DeferredStore;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.OpeningTime;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.sql.database.Identifiers;
import dev.holdfast.sql.database.UnproxiedDataSource;
import dev.holdfast.store.jdbc.server.BusyRowsLane;
import dev.holdfast.store.jdbc.server.FailoverDetector;
import dev.holdfast.store.jdbc.server.IdlePolicy;
import dev.holdfast.store.jdbc.server.NotificationListener;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.jdbc.server.ServerConnections;
import dev.holdfast.store.jdbc.server.ServerConnections.Use;
import dev.holdfast.store.jdbc.server.ServerHousekeeping;
import dev.holdfast.store.jdbc.server.ServerLane;
import dev.holdfast.store.jdbc.server.ServerSchema;
import dev.holdfast.store.jdbc.server.SessionLane;
import dev.holdfast.store.ledger.Transaction;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.runtime.SignalDispatcher;
import dev.holdfast.store.ledger.runtime.StoreThreads;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Locks in the tables of a PostgreSQL, MySQL or MariaDB server.
 *
 * <p>What is special about it:
 *
 * <ul>
 *   <li>Locks are as durable as a committed transaction on the primary. Tables, not the server's own locks, hold them;
 *   so neither a pooler nor a lost connection ends them.
 *   <li>Only the server's clock decides when a lease ends.
 *   <li>Who waits is told of its grant: on PostgreSQL with the commit that released it, on MySQL and MariaDB right
 *   after. No waiter has a connection of its own.
 *   <li>What many threads ask for while one transaction is under way goes together in the next.
 * </ul>
 *
 * <p>An instance uses one connection for locks and one that renews sessions, one or two more of these while that does
 * not answer, another while rows that it needs are locked by transactions of others, and one on which it is told: on
 * PostgreSQL always, elsewhere while something waits. Commands never take part in a transaction of the program.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class JdbcStore implements LockStore {

    /** Where nobody tells. */
    private static final Duration POLL = Duration.ofMillis(10);

    /** What is told is found all the same if it was missed. */
    private static final Duration POLL_WHEN_TOLD = Duration.ofMillis(500);

    private static final Logger LOG = LoggerFactory.getLogger(JdbcStore.class);

    private final StoreTraits traits;

    /** Zero where a silent connection does not keep a thread waiting. */
    private final Duration longestWait;

    private final SignalDispatcher listener = new SignalDispatcher();
    private final StoreThreads threads;
    private final ServerConnections connections;
    private final ExecutorService executor;
    private final CommandLanes lanes;
    private final ServerHousekeeping housekeeping;
    private final @Nullable NotificationListener listening;
    private final long client;

    private JdbcStore(Builder options) {
        SplittableRandom random = new SplittableRandom(Randomness.nextLong());
        this.client = 1 + (random.nextLong() >>> 2);
        this.threads = new StoreThreads(options.threads);
        DataSource source = UnproxiedDataSource.of(options.source);
        this.connections = new ServerConnections(source, options.isPool, options.isLent);
        Product product;
        SqlTemplates templates;
        try {
            Connection first = connections.get(Use.LOCKS);
            product = Products.of(first, options.clock, options.prefix);
            FailoverDetector failovers = new FailoverDetector(product, listener);
            connections.know(product, failovers);
            templates = prepare(product, first, options);
            this.longestWait = options.isPool ? longestWait(first) : Duration.ZERO;
            this.listening =
                    options.listens ? product.listening(source, templates, threads, client, failovers, listener) : null;
            if (listening != null) {
                listening.start();
                connections.whenReplaced(listening::reconnect);
            }
        } catch (SQLException e) {
            connections.close();
            throw Products.failedToOpen(e);
        } catch (RuntimeException | Error e) {
            connections.close();
            throw e;
        }
        connections.rest(Use.LOCKS, new StatementCache(templates));
        this.traits = traits(product, templates.schema(), listening != null, options.callersRun());
        LOG.info("store={} is open, with tables {}*", traits.product(), options.prefix);
        ServerLane lane = new ServerLane(product, templates, connections, client, this::tell);
        this.executor = threads.executor("holdfast-jdbc");
        this.lanes = new CommandLanes(
                connections,
                options.isPool,
                options.callersRun(),
                executor,
                lane,
                new BusyRowsLane(product, templates, connections, client, this::tell),
                use -> new SessionLane(product, templates, connections, use, random.split(), client));
        this.housekeeping = new ServerHousekeeping(lane, options.idle, executor);
    }

    /** Makes the tables if that is wanted, and gives the texts of statements on them. */
    private static SqlTemplates prepare(Product product, Connection first, Builder options) {
        try {
            boolean mayCreate = options.initialize.creation != ServerSchema.Creation.NONE;
            String schema = options.schema.isEmpty()
                    ? product.searchPath(first, options.prefix + "meta").schema(mayCreate)
                    : options.schema;
            SqlTemplates templates = new SqlTemplates(Product.TEXTS, schema, options.prefix, product.quote());
            product.schema(templates).prepare(first, options.initialize.creation, options.versions);
            return templates;
        } catch (SQLException e) {
            throw product.translated(e, StoreException.Effect.NONE);
        }
    }

    private static StoreTraits traits(Product product, String schema, boolean isTold, boolean callersRun) {
        return traits(product.title() + ", schema " + ResourceName.printable(schema), isTold)
                .system(product.system())
                .withIf(isTold && product.tellsAll(), Feature.PUSH)
                .withIf(callersRun, Feature.CALLER_RUNS)
                .build();
    }

    /** What holds on every server. */
    private static StoreTraits.Builder traits(String title, boolean isTold) {
        return StoreTraits.of(title)
                .with(Feature.FIFO, Feature.BARGING, Feature.ADVANCE, Feature.DETACHED_GRANTS, Feature.KNOWN_WAITERS)
                .with(Feature.ORDERED_INSPECTION, Feature.PORTABLE_SESSIONS)
                .admitsAll()
                .minSessionTtl(Duration.ofMillis(200))
                .ttlGranularity(Duration.ofNanos(1_000))
                .fixedLease(FixedLease.NATIVE)
                .tokenSource(TokenSource.CLOCKED)
                .pollEvery(isTold ? POLL_WHEN_TOLD : POLL);
    }

    /**
     * Begins to set up a store on connections of the program's own pool or driver: PostgreSQL, MySQL or MariaDB, which
     * it finds out by itself. Connections are taken for a moment and given back, but for the one on which the database
     * tells of grants; see {@link Builder#listens}. The pool is never closed.
     *
     * <p>A proxy that would give the connection of a transaction of the program's, as Spring has them, is passed by:
     * what is behind it is used.
     */
    public static Builder builder(DataSource source) {
        return new Builder(source);
    }

    /**
     * Begins to set up a store on the database that a URI names, as {@link JdbcStoreProvider} knows them, for what the
     * URI does not say.
     *
     * @throws IllegalArgumentException if the URI is not of that form; nothing was touched
     */
    public static Builder builder(StoreUri uri) {
        if (!new JdbcStoreProvider().schemes().contains(uri.scheme())) {
            throw new IllegalArgumentException("The URI '" + uri + "' names no database");
        }
        return DatabaseUris.builder(uri);
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    /** On a thread of the store: nobody says for how long a caller may be kept. */
    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        return execute(command, CallerMode.ASYNC, Command.MAX_DURATION);
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller, Duration patience) {
        if (command instanceof Command.KeepAlive) {
            housekeeping.consider();
        } else if (command instanceof Command.OpenSession open) {
            warnIfTooShort(open.ttl());
        }
        CallerMode mode = isVirtual(Thread.currentThread()) ? CallerMode.ASYNC : caller;
        return listening == null
                ? lanes.submit(command, mode, patience)
                : listening.follow(command, () -> lanes.submit(command, mode, patience));
    }

    /**
     * A virtual thread makes no trip: an interrupt would end the connection on which it waits, and a driver may pin its
     * carrier meanwhile. All have the one group, the name of which is specified.
     */
    private static boolean isVirtual(Thread current) {
        return current.getThreadGroup().getName().equals("VirtualThreads");
    }

    /**
     * How long a thread may wait for an answer on a connection of a pool that nobody can end meanwhile; zero where its
     * driver can.
     */
    static Duration longestWait(Connection connection) throws SQLException {
        if (!connection.getMetaData().getDriverName().startsWith("MariaDB")) {
            return Duration.ZERO;
        }
        int millis = connection.getNetworkTimeout();
        return millis == 0 ? Command.MAX_DURATION : Duration.ofMillis(millis);
    }

    private void warnIfTooShort(Duration ttl) {
        String warning = tooLong(longestWait, ttl);
        if (warning != null) {
            LOG.warn(warning);
        }
    }

    /** What is to be said of a pool whose connections may keep a thread waiting for so long; null if it is nothing. */
    static @Nullable String tooLong(Duration wait, Duration ttl) {
        if (wait.multipliedBy(3).compareTo(ttl) <= 0) {
            return null;
        }
        return "a connection of this pool that goes silent may cost the holds of a client with a ttl of "
                + DurationFormat.format(ttl)
                + ": its driver waits "
                + (wait.equals(Command.MAX_DURATION) ? "for ever" : "for " + DurationFormat.format(wait))
                + " for an answer, more than a third of that, and can't be told to stop; set its socketTimeout to a"
                + " quarter of the ttl";
    }

    @Override
    public Subscription subscribe(Consumer<Signal> told) {
        return listener.subscribe(told);
    }

    @Override
    public void close() {
        listener.unsubscribe();
        lanes.close();
        if (listening != null) {
            listening.close();
        }
        connections.close();
        executor.shutdown();
        threads.awaitEnd();
    }

    /** What this client is called in the database. */
    long client() {
        return client;
    }

    /** Does the housekeeping now. */
    ServerHousekeeping housekeeping() {
        return housekeeping;
    }

    private void tell(List<Transaction.Notification> told) {
        for (Transaction.Notification one : told) {
            if (one.client() == client) {
                listener.accept(one.signal());
            }
        }
    }

    /** When the store makes its tables. */
    public enum Initialize {
        /** At each start, what is missing. */
        ALWAYS(ServerSchema.Creation.ALL),

        /** If the first of them is not there. The default. */
        IF_MISSING(ServerSchema.Creation.MISSING),

        /**
         * Not at all: whoever looks after the database has made them, and the user of the store needs no permission to.
         */
        NEVER(ServerSchema.Creation.NONE);

        private final ServerSchema.Creation creation;

        Initialize(ServerSchema.Creation creation) {
            this.creation = creation;
        }
    }

    /** Sets up a store. Not thread-safe. */
    public static final class Builder {
        private final DataSource source;
        private boolean isPool = true;
        private boolean isLent = true;
        private boolean listens;
        private Duration openTimeout = Duration.ofSeconds(30);
        private Initialize initialize = Initialize.IF_MISSING;
        private String schema = "";
        private String prefix = "holdfast_";
        private IdlePolicy idle = IdlePolicy.USUAL;
        private List<String> versions = ServerSchema.VERSIONS;
        private @Nullable String clock;
        private NamedThreadFactory threads = NamedThreadFactory.DAEMONS;
        private Runnable before = () -> {};

        private Builder(DataSource source) {
            this.source = source;
        }

        /** Connections are ours alone: they stay open. */
        @CanIgnoreReturnValue
        Builder keepsConnections() {
            isPool = false;
            isLent = false;
            listens = true;
            return this;
        }

        /**
         * Connections stay open, but what stands behind them is another's session with each transaction: nothing may be
         * set there, and nothing is told.
         */
        @CanIgnoreReturnValue
        Builder sharesSessions() {
            isPool = false;
            isLent = true;
            listens = false;
            return this;
        }

        /**
         * Whether a caller that waits may make a trip. On connections of our own alone: a pool keeps who asks for one,
         * and a pooler who uses one, for as long as it likes.
         */
        private boolean callersRun() {
            return !isPool && !isLent;
        }

        /** What has to be so before there can be a connection, or throws. */
        @CanIgnoreReturnValue
        Builder before(Runnable check) {
            before = check;
            return this;
        }

        /** For tests: an expression for another clock. */
        @CanIgnoreReturnValue
        Builder clock(String expression) {
            clock = expression;
            return this;
        }

        /** For tests: where threads come from. */
        @CanIgnoreReturnValue
        Builder threads(NamedThreadFactory from) {
            threads = from;
            return this;
        }

        /** For tests: the versions of the tables that this program knows. */
        @CanIgnoreReturnValue
        Builder versions(String... known) {
            versions = List.of(known);
            return this;
        }

        /**
         * Whether one connection is kept on which the database tells of grants, on MySQL and MariaDB only while
         * something waits; false if not set, since it would be the only one of a pool of one. Without it waiters look
         * for themselves. It must be a session of its own: not one of a pooler that gives each transaction another.
         */
        @CanIgnoreReturnValue
        public Builder listens(boolean one) {
            listens = one;
            return this;
        }

        /**
         * How long {@link #open} may take; 30 s if not set.
         *
         * @throws IllegalArgumentException if it is not positive
         */
        @CanIgnoreReturnValue
        public Builder openTimeout(Duration timeout) {
            if (timeout.isNegative() || timeout.isZero()) {
                throw new IllegalArgumentException(
                        "openTimeout must be positive, but was " + DurationFormat.format(timeout));
            }
            openTimeout = timeout;
            return this;
        }

        /** When the store makes its tables; {@link Initialize#IF_MISSING} if not set. */
        @CanIgnoreReturnValue
        public Builder initialize(Initialize when) {
            initialize = when;
            return this;
        }

        /**
         * What the names of the tables begin with; {@code holdfast_} if not set.
         *
         * @param other a lower-case letter or {@code _}, and up to 39 lower-case letters, digits and {@code _}
         * @throws IllegalArgumentException if it is not of that form
         */
        @CanIgnoreReturnValue
        public Builder tablePrefix(String other) {
            prefix = Identifiers.checkedPrefix(other);
            return this;
        }

        /**
         * The schema that the tables are in, on MySQL and MariaDB the database. It has to be there.
         *
         * <p>If not set, it is resolved once, when the store opens: where names without a schema lead to tables of
         * locks, or else would make them. Every statement names it from there on, whatever a program sets on the
         * connections of its pool. The store does not open where that is not certain: where tables would have to be
         * made and a connection is no longer set as it was opened, where tables are found in two schemas by that, or
         * where they would be made in a schema that has the user's name. It is logged when the store opens, and is
         * part of what the store is called.
         *
         * @param name up to 63 letters, digits and {@code _}, no digit first; taken as it is, with the case of its
         *     letters
         * @throws IllegalArgumentException if it is not of that form
         */
        @CanIgnoreReturnValue
        public Builder schema(String name) {
            schema = Identifiers.checked(name);
            return this;
        }

        /**
         * For how long names are remembered that nobody uses, with their token counters; for a day if no pattern fits.
         * Of several patterns that fit the first one counts. What follows in the tokens of a name goes on above all
         * that went before, also when it was forgotten; a latch begins anew.
         *
         * <p>All clients of a database clean for all of them in turn, each by what it was told: tell them the same.
         *
         * @param pattern names, with {@code *} for any characters; all else stands for itself
         * @param time since the newest grant; a minute or longer, and never from a hundred years on
         * @throws IllegalArgumentException if the pattern is empty or the time too short
         */
        @CanIgnoreReturnValue
        public Builder keepIdle(String pattern, Duration time) {
            idle = idle.with(pattern, time);
            return this;
        }

        /**
         * Opens the store.
         *
         * <p><b>Blocking:</b> until there is a connection, for at most the {@linkplain #openTimeout time-out}, whatever
         * the source does; a store that is open later is closed again. An interrupt has no effect.
         *
         * @throws StoreException if the database can't be reached in time, is none that this store knows, does not
         *     permit what it needs, or its tables are missing or of another version
         */
        public JdbcStore open() {
            return BoundedOpening.uninterruptibly(new OpeningTime(openTimeout), this::openHere);
        }

        /**
         * Makes a store that is opened when it is first used, and tried again with each command until it is open, as
         * {@link #open()} does. For programs that start while their database is away; see {@link
         * dev.holdfast.Holdfast.Builder#startInBackground}. Does no I/O. Waiters look for themselves twice a second
         * even if they are told, for which database it is is not known yet.
         */
        public LockStore openLater() {
            return new DeferredStore(traits("database", listens).build(), this::open);
        }

        /** Opens the store for as long as the source lets it, on this thread. */
        JdbcStore openHere() {
            before.run();
            return new JdbcStore(this);
        }
    }
}
