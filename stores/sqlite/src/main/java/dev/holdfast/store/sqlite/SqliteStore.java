package dev.holdfast.store.sqlite;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.FixedLease;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.spi.support.Batcher;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.runtime.JoinableThreads;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.runtime.SignalDispatcher;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.sqlite.process.HostIdentity;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteJDBCLoader;

/**
 * Locks in one local SQLite file, for the processes of one machine.
 *
 * <pre>{@code
 * try (Holdfast holdfast = Holdfast.connect("sqlite:/var/lib/shop/locks.db")) { … }
 * }</pre>
 *
 * <p>Properties of this store:
 *
 * <ul>
 *   <li>Waiters detect within milliseconds that a holder's process has ended, not only when its lease expires; see
 *   {@link Presence} for holds of child processes.
 *   <li>Deadlines use the clock since boot that all processes of the host share, so nothing ends early or late when the
 *   time of day is set.
 *   <li>The file survives the end of every process, and a reboot ends all locks except detached grants.
 *   <li>It works only for the processes of one host: a file on a network file system is refused if it can be detected.
 * </ul>
 *
 * <p>One instance has one connection, one thread that listens for other processes, and a short-lived one for
 * asynchronous commands.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class SqliteStore implements LockStore {

    private static final int MAX_BATCH = 256;

    private final StoreTraits traits;
    private final SignalDispatcher listener = new SignalDispatcher();
    private final JoinableThreads threads;
    private final ExecutorService executor;
    private final WakeupFiles wakeupFiles;
    private final SqliteLane lane;
    private final Batcher batcher;
    private final Presence presence;
    private final SqliteHousekeeping housekeeping;
    private final long client;

    private SqliteStore(Builder options) {
        SqliteConnections.loadNativeCode();
        this.threads = new JoinableThreads(options.threads);
        HostIdentity host = options.host == null ? HostIdentity.of(ProcFs.ROOT, SystemClock.nanoTime()) : options.host;
        StoreClock clock = options.clock == null ? HostClock.of(host) : options.clock;
        SplittableRandom random = new SplittableRandom(Randomness.nextLong());
        ProcFs proc = new ProcFs(ProcFs.ROOT);
        SqliteFile file = SqliteFile.prepare(options.file, options.makesDirectory, ProcFs.ROOT);
        SqliteSchema schema = new SqliteSchema(options.versions);
        SqliteDatabase database = new SqliteConnections(file, schema, host, clock)
                .open(new SqliteOptions(options.synchronous, options.busyTimeout, options.pragmas, options.between));
        this.client = 1 + (random.nextLong() >>> 2);
        this.traits = traits(host);
        SqliteClients clients = new SqliteClients(database.statements(), host, proc, client);
        this.wakeupFiles = new WakeupFiles(file, client, clients.owner(), host.observes(), threads, listener);
        this.lane = new SqliteLane(
                new SqliteDialect(database, clients, random, client, wakeupFiles::isListening), this::deliver);
        this.executor = threads.executor("holdfast-sqlite");
        this.batcher = new Batcher(1, (command, lanes) -> 0, MAX_BATCH, true, executor, lane);
        this.presence = new Presence(lane, clients, proc, client);
        this.housekeeping = new SqliteHousekeeping(lane, database, clients, executor, wakeupFiles);
    }

    private static StoreTraits traits(HostIdentity host) {
        return StoreTraits.of("SQLite " + SQLiteJDBCLoader.getVersion())
                .system("SQLite")
                .with(Feature.FIFO, Feature.BARGING, Feature.ADVANCE, Feature.DETACHED_GRANTS, Feature.KNOWN_WAITERS)
                .with(
                        Feature.ORDERED_INSPECTION,
                        Feature.PORTABLE_SESSIONS,
                        Feature.CALLER_RUNS,
                        Feature.ANNOTATIONS,
                        Feature.RUNS)
                .withIf(host.observes(), Feature.PUSH)
                .admitsAll()
                .minSessionTtl(Duration.ofMillis(200))
                .ttlGranularity(Duration.ofNanos(1_000))
                .fixedLease(FixedLease.NATIVE)
                .tokenSource(TokenSource.CLOCKED)
                .pollEvery(Duration.ofMillis(2))
                .build();
    }

    /**
     * Opens a file with the default options, and creates it if it is missing.
     *
     * @throws StoreException as for {@link Builder#open()}
     */
    public static SqliteStore open(Path file) {
        return builder(file).open();
    }

    /** A builder for a store in a file. */
    public static Builder builder(Path file) {
        return new Builder(file);
    }

    /** How other processes decide whether the holder behind this store is still alive. */
    public Presence presence() {
        return presence;
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        if (command instanceof Command.OpenSession || command instanceof Command.KeepAlive) {
            wakeupFiles.listen();
            housekeeping.consider();
        }
        return batcher.submit(command, caller);
    }

    @Override
    public Subscription subscribe(Consumer<Signal> subscriber) {
        return listener.subscribe(subscriber);
    }

    @Override
    public void close() {
        listener.unsubscribe();
        batcher.close();
        wakeupFiles.close();
        lane.close();
        executor.shutdown();
        threads.awaitEnd();
    }

    /** The housekeeping, for tests. */
    SqliteHousekeeping housekeeping() {
        return housekeeping;
    }

    private void deliver(List<LedgerTransaction.Notification> notifications) {
        for (LedgerTransaction.Notification one : notifications) {
            if (one.client() == client) {
                listener.accept(one.signal());
            } else {
                wakeupFiles.send(one.client(), one.signal());
            }
        }
    }

    /**
     * How durable a commit is. In both cases, everything that must survive a reboot is on the disk before it is
     * acknowledged.
     */
    public enum Synchronous {
        /** Every commit is flushed to the disk. */
        FULL,

        /**
         * A commit survives the end of every process. A power failure or a system crash may undo the last ones; all
         * their grants would end with a reboot anyway. The default.
         */
        NORMAL
    }

    /** Builder of a store. Not thread-safe. */
    public static final class Builder {
        private final Path file;
        private Synchronous synchronous = Synchronous.NORMAL;
        private boolean makesDirectory;
        private List<List<String>> versions = SqliteSchema.VERSIONS;
        private Duration busyTimeout = Duration.ofSeconds(5);
        private List<String> pragmas = List.of();
        private @Nullable HostIdentity host;
        private @Nullable StoreClock clock;
        private NamedThreadFactory threads = NamedThreadFactory.DAEMONS;
        private UnaryOperator<Connection> between = UnaryOperator.identity();

        private Builder(Path file) {
            this.file = file;
        }

        /** How durable a commit is; {@link Synchronous#NORMAL} by default. */
        @CanIgnoreReturnValue
        public Builder synchronous(Synchronous hardness) {
            synchronous = hardness;
            return this;
        }

        /** Also creates the directory of the file if it is missing, for this user only. */
        @CanIgnoreReturnValue
        public Builder makeDirectory() {
            makesDirectory = true;
            return this;
        }

        /** For tests: the thread factory. */
        @CanIgnoreReturnValue
        Builder threads(NamedThreadFactory from) {
            threads = from;
            return this;
        }

        /** For tests: wraps the connection. */
        @CanIgnoreReturnValue
        Builder between(UnaryOperator<Connection> other) {
            between = other;
            return this;
        }

        /** For tests: another host. */
        @CanIgnoreReturnValue
        Builder host(HostIdentity other) {
            host = other;
            return this;
        }

        /** For tests: another clock. */
        @CanIgnoreReturnValue
        Builder clock(StoreClock other) {
            clock = other;
            return this;
        }

        /** For tests: further settings of the connection. */
        @CanIgnoreReturnValue
        Builder pragmas(String... more) {
            pragmas = List.of(more);
            return this;
        }

        /** For tests: how long a command waits for a busy database. */
        @CanIgnoreReturnValue
        Builder busyTimeout(Duration other) {
            busyTimeout = other;
            return this;
        }

        /** For tests: other versions of the tables. */
        @CanIgnoreReturnValue
        Builder versions(List<List<String>> other) {
            versions = other;
            return this;
        }

        /**
         * Opens the store.
         *
         * <p><b>Blocking:</b> for a few reads of the file, and one write if it is new or this is its first use since
         * the host's boot; for some seconds if it is busy.
         *
         * @throws StoreException if the file cannot be used: it is not a database, it belongs to another program or
         *     version, it cannot be written, or it is on a network file system; the message says which, and nothing was
         *     changed
         */
        public SqliteStore open() {
            return new SqliteStore(this);
        }
    }
}
