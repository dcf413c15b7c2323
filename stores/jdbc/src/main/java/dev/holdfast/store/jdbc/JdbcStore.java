package dev.holdfast.store.jdbc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.BoundedOpening;
import dev.holdfast.spi.support.DeferredStore;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.OpeningTime;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.sql.database.Identifiers;
import dev.holdfast.sql.database.UnproxiedDataSource;
import dev.holdfast.store.jdbc.server.BusyRowsLane;
import dev.holdfast.store.jdbc.server.ConnectionOrigin;
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
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.runtime.JoinableThreads;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.runtime.SignalDispatcher;
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
 * <p>Properties of this store:
 *
 * <ul>
 *   <li>Locks are as durable as a committed transaction on the primary. They are rows in tables, not locks of the
 *   server, so neither a pooler nor a lost connection ends them.
 *   <li>Only the server's clock decides when a lease ends.
 *   <li>Waiters are notified of their grants: on PostgreSQL with the commit of the release, on MySQL and MariaDB right
 *   after it. A waiter needs no connection of its own.
 *   <li>Requests that many threads make during one transaction are combined in the next.
 * </ul>
 *
 * <p>An instance uses one connection for locks and one to renew sessions. It opens one or two more of the latter while
 * that one does not answer, another one while other transactions lock rows that it needs, and one for notifications: on
 * PostgreSQL always, elsewhere while claims wait. Commands never take part in a transaction of the program.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class JdbcStore implements LockStore {

    private static final Logger LOG = LoggerFactory.getLogger(JdbcStore.class);

    private final StoreTraits traits;

    private final ReadTimeout readTimeout;

    private final SignalDispatcher listener = new SignalDispatcher();
    private final JoinableThreads threads;
    private final ServerConnections connections;
    private final ExecutorService executor;
    private final CommandLanes lanes;
    private final ServerHousekeeping housekeeping;
    private final @Nullable NotificationListener listening;
    private final long client;

    private JdbcStore(Builder options) {
        SplittableRandom random = new SplittableRandom(Randomness.nextLong());
        this.client = 1 + (random.nextLong() >>> 2);
        this.threads = new JoinableThreads(options.threads);
        DataSource source = UnproxiedDataSource.of(options.source);
        this.connections = new ServerConnections(source, options.origin);
        Product product;
        SqlTemplates templates;
        try {
            Connection first = connections.get(Use.LOCKS);
            product = Products.of(first, options.clock, options.prefix);
            FailoverDetector failovers = new FailoverDetector(product, listener);
            connections.know(product, failovers);
            templates = prepare(product, first, options);
            this.readTimeout = options.origin == ConnectionOrigin.POOL ? ReadTimeout.of(first) : ReadTimeout.NONE;
            this.listening = options.listens
                    ? product.listener(
                            new NotificationListener.Settings(source, templates, threads, client, failovers, listener))
                    : null;
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
        this.traits = JdbcTraits.of(product, templates, listening != null, options.origin.callersRun());
        if (!templates.limitation().isEmpty()) {
            LOG.warn("store={} {}", traits.product(), templates.limitation());
        }
        LOG.info("store={} is open; its tables are {}*", traits.product(), options.prefix);
        ServerLane lane = new ServerLane(product, templates, connections, client, this::deliver);
        this.executor = threads.executor("holdfast-jdbc");
        this.lanes = new CommandLanes(
                connections,
                options.origin,
                executor,
                lane,
                new BusyRowsLane(product, templates, connections, client, this::deliver),
                use -> new SessionLane(product, templates, connections, use, random.split(), client));
        this.housekeeping = new ServerHousekeeping(lane, options.idle, executor);
    }

    /** Creates the tables if configured, and returns the statements on them. */
    private static SqlTemplates prepare(Product product, Connection first, Builder options) {
        try {
            boolean mayCreate = options.initialize.creation != ServerSchema.Creation.NONE;
            String schema = options.schema.isEmpty()
                    ? product.searchPath(first, options.prefix + "meta").schema(mayCreate)
                    : options.schema;
            SqlTemplates templates = new SqlTemplates(Product.TEXTS, schema, options.prefix, product.quote());
            return product.schema(templates).prepare(first, options.initialize.creation, options.versions);
        } catch (SQLException e) {
            throw product.translated(e, StoreException.Effect.NONE);
        }
    }

    /**
     * A builder for a store on the program's own connection pool or driver. The store detects whether the server is
     * PostgreSQL, MySQL or MariaDB. It borrows connections for a moment and returns them, except for the one that
     * receives notifications; see {@link Builder#listens}. The pool is never closed.
     *
     * <p>A proxy that returns the connection of the program's current transaction, as in Spring, is bypassed: the store
     * uses the data source behind it.
     */
    public static Builder builder(DataSource source) {
        return new Builder(source);
    }

    /**
     * A builder for a store on the database of a URI in the form of {@link JdbcStoreProvider}, for settings that the
     * URI does not have.
     *
     * @throws IllegalArgumentException if the URI does not have that form
     */
    public static Builder builder(StoreUri uri) {
        if (!new JdbcStoreProvider().schemes().contains(uri.scheme())) {
            throw new IllegalArgumentException("The URI '" + uri + "' is not a database URI");
        }
        return DatabaseUris.builder(uri);
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    /** Runs on a thread of the store, because there is no limit for how long the caller may block. */
    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        return execute(command, CallerMode.ASYNC, Command.MAX_DURATION);
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller, Duration timeout) {
        if (command instanceof Command.KeepAlive) {
            housekeeping.consider();
        } else if (command instanceof Command.OpenSession open) {
            warnIfTooShort(open.ttl());
        }
        // Besides, an interrupt of a virtual thread would end the connection.
        CallerMode mode = caller.unlessVirtual();
        return listening == null
                ? lanes.submit(command, mode, timeout)
                : listening.follow(command, () -> lanes.submit(command, mode, timeout));
    }

    private void warnIfTooShort(Duration ttl) {
        String warning = readTimeout.warning(ttl);
        if (warning != null) {
            LOG.warn(warning);
        }
    }

    @Override
    public Subscription subscribe(Consumer<Signal> subscriber) {
        return listener.subscribe(subscriber);
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

    /** The number of this client in the database. */
    long client() {
        return client;
    }

    /** The housekeeping, for tests. */
    ServerHousekeeping housekeeping() {
        return housekeeping;
    }

    private void deliver(List<LedgerTransaction.Notification> notifications) {
        for (LedgerTransaction.Notification one : notifications) {
            if (one.client() == client) {
                listener.accept(one.signal());
            }
        }
    }

    /** When the store creates its tables. */
    public enum Initialize {
        /** Creates missing tables at each start. */
        ALWAYS(ServerSchema.Creation.ALL),

        /** Creates the tables if the first of them does not exist. The default. */
        IF_MISSING(ServerSchema.Creation.MISSING),

        /** Never: an administrator has created them, and the store's user needs no permission to do so. */
        NEVER(ServerSchema.Creation.NONE);

        private final ServerSchema.Creation creation;

        Initialize(ServerSchema.Creation creation) {
            this.creation = creation;
        }
    }

    /** Builder of a store. Not thread-safe. */
    public static final class Builder {
        private final DataSource source;
        private ConnectionOrigin origin = ConnectionOrigin.POOL;
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

        /** Connections belong to the store alone and stay open. */
        @CanIgnoreReturnValue
        Builder keepsConnections() {
            origin = ConnectionOrigin.OWN;
            listens = true;
            return this;
        }

        /**
         * Connections stay open, but each transaction may run in another server session: no settings may be changed
         * there, and there are no notifications.
         */
        @CanIgnoreReturnValue
        Builder sharesSessions() {
            origin = ConnectionOrigin.POOLER;
            listens = false;
            return this;
        }

        /** Sets a check to run before the first connection, which throws if there can be none. */
        @CanIgnoreReturnValue
        Builder before(Runnable check) {
            before = check;
            return this;
        }

        /** For tests: the SQL expression of another clock. */
        @CanIgnoreReturnValue
        Builder clock(String expression) {
            clock = expression;
            return this;
        }

        /** For tests: the thread factory. */
        @CanIgnoreReturnValue
        Builder threads(NamedThreadFactory from) {
            threads = from;
            return this;
        }

        /** For tests: the table versions that this program knows. */
        @CanIgnoreReturnValue
        Builder versions(String... known) {
            versions = List.of(known);
            return this;
        }

        /**
         * Whether to keep one connection for notifications of grants, on MySQL and MariaDB only while claims wait.
         * False by default, because a pool of one would have no other connection left. Without it, waiters poll. It
         * must be a server session of its own, so it does not work through a pooler in transaction mode.
         */
        @CanIgnoreReturnValue
        public Builder listens(boolean one) {
            listens = one;
            return this;
        }

        /**
         * How long {@link #open} may take; 30 s by default.
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

        /** When the store creates its tables; {@link Initialize#IF_MISSING} by default. */
        @CanIgnoreReturnValue
        public Builder initialize(Initialize when) {
            initialize = when;
            return this;
        }

        /**
         * The prefix of the table names; {@code holdfast_} by default.
         *
         * @param other a lower-case letter or {@code _}, and up to 39 lower-case letters, digits and {@code _}
         * @throws IllegalArgumentException if it does not have that form
         */
        @CanIgnoreReturnValue
        public Builder tablePrefix(String other) {
            prefix = Identifiers.checkedPrefix(other);
            return this;
        }

        /**
         * The schema of the tables, on MySQL and MariaDB the database. It must exist.
         *
         * <p>By default it is resolved once, when the store opens: the schema in which unqualified names find tables of
         * locks, or otherwise would create them. All statements then name it, whatever a program sets on the
         * connections of its pool. The store does not open if the schema is ambiguous: if tables would have to be
         * created but the connection's settings have changed since it was opened, if this leads to tables in two
         * schemas, or if tables would be created in a schema with the user's name. The schema is logged when the store
         * opens, and is part of the store's title.
         *
         * @param name up to 63 letters, digits and {@code _}, not beginning with a digit; case-sensitive
         * @throws IllegalArgumentException if it does not have that form
         */
        @CanIgnoreReturnValue
        public Builder schema(String name) {
            schema = Identifiers.checked(name);
            return this;
        }

        /**
         * How long unused names are kept with their token counters; a day if no pattern matches. The first matching
         * pattern applies. Tokens of a name keep increasing even after it was dropped; a latch starts again.
         *
         * <p>The clients of a database take turns to clean up for all, each by its own settings, so give them the same
         * ones.
         *
         * @param pattern names, with {@code *} for any characters; all others are literal
         * @param time since the newest grant; at least a minute, and a hundred years or more mean forever
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
         * the data source does; a store that opens later is closed again. An interrupt has no effect.
         *
         * @throws StoreException if the database cannot be reached in time, is not supported, denies a permission, or
         *     its tables are missing or of another version
         */
        public JdbcStore open() {
            return BoundedOpening.uninterruptibly(new OpeningTime(openTimeout), this::openHere);
        }

        /**
         * A store that opens on first use, as {@link #open()} does, and retries with each command until it is open. For
         * programs that may start before their database; see {@link dev.holdfast.Holdfast.Builder#startInBackground}.
         * Does no I/O. Waiters poll twice a second even with notifications, because the product is not known yet.
         */
        public LockStore openLater() {
            return new DeferredStore(JdbcTraits.common("database", listens).build(), this::open);
        }

        /** Opens the store on this thread, without a time limit. */
        JdbcStore openHere() {
            before.run();
            return new JdbcStore(this);
        }
    }
}
