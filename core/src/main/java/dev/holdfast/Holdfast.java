package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.admin.ClientState;
import dev.holdfast.admin.HealthReport;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockPage;
import dev.holdfast.admin.LockQuery;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.engine.Engine;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.execution.SystemEnvironment;
import dev.holdfast.engine.time.Durations;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.task.ScheduledTaskLock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A client of a lock store: creates locks, renews the session on which its holds depend, and ends its holds when it is
 * closed.
 *
 * <pre>{@code
 * try (Holdfast holdfast = Holdfast.connect("sqlite:")) {
 *     try (Hold hold = holdfast.lock("nightly-report").acquire()) {
 *         archive.write(report, hold.fencingToken());
 *     }
 * }
 * }</pre>
 *
 * <p>One client serves a whole program: it has one session, a thread that renews it, a timer thread and the threads of
 * its store, for any number of locks. Two clients in one program are as separate as two programs.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class Holdfast implements AutoCloseable, LockAdmin {

    private final Engine engine;
    private final String namePrefix;

    private Holdfast(Engine engine, String namePrefix) {
        this.engine = engine;
        this.namePrefix = namePrefix;
    }

    /**
     * Opens a client with the default options, as {@link Builder#build()}, which describes blocking and interruption.
     *
     * @param uri where the store is: {@code memory:} (a separate store for each client), {@code memory:NAME} (one for
     *     all clients in this JVM that use the name), {@code sqlite:} (a file under the user's state directory),
     *     {@code sqlite:/path/to/file}, and the schemes of the store modules that are on the class path
     * @throws IllegalArgumentException if the URI is malformed or no store on the class path supports its scheme;
     *     nothing was changed
     * @throws StoreUnavailableException if the store does not answer
     * @throws StoreRefusedException if the store can't be used
     */
    public static Holdfast connect(String uri) {
        return builder(uri).build();
    }

    /**
     * Returns a builder for a client of the store at a URI, which {@link Builder#build()} opens and {@link #close()}
     * closes.
     *
     * @throws IllegalArgumentException if the URI is malformed or no store on the class path supports its scheme
     */
    public static Builder builder(String uri) {
        StoreUri where = StoreUri.parse(Objects.requireNonNull(uri, "the store URI must not be null"));
        StoreProvider provider = StoreProvider.of(where);
        return new Builder(() -> provider.open(where), where.scheme(), true);
    }

    /**
     * Returns a builder for a client of an open store, which still belongs to the caller: {@link #close()} leaves it
     * open. Any number of clients, with separate holds and waiters, may share a store at the same time. Close the store
     * after the last of them.
     */
    public static Builder builder(LockStore store) {
        Objects.requireNonNull(store, "the store must not be null");
        return new Builder(() -> store, store.traits().product(), false);
    }

    /**
     * The fair lock of a name. Does no I/O.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form
     * @throws ClientClosedException if this client was closed
     */
    public DistributedLock lock(String name) {
        return lock(name, LockOptions.fair());
    }

    /**
     * The lock of a name. Does no I/O; the first acquisition fails if others declare the name differently.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form, or a barging lock is requested and the
     *     store has none
     * @throws ClientClosedException if this client was closed
     */
    public DistributedLock lock(String name, LockOptions options) {
        return engine.primitives().lock(resource(name), orderOf(options));
    }

    /**
     * The fair read-write lock of a name. Does no I/O.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form, or the store has no shared locks
     * @throws ClientClosedException if this client was closed
     */
    public DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(name, LockOptions.fair());
    }

    /**
     * The read-write lock of a name. Does no I/O; the first acquisition fails if others declare the name
     * differently.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form, or the store has no shared locks, or a barging
     *     one is requested and the store has none
     * @throws ClientClosedException if this client was closed
     */
    public DistributedReadWriteLock readWriteLock(String name, LockOptions options) {
        return engine.primitives().readWriteLock(resource(name), orderOf(options));
    }

    /**
     * The fair semaphore of a name. Does no I/O.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @param permits the number of permits; every program that uses the name must declare the same number
     * @throws IllegalArgumentException if the name is not of that form, {@code permits} is not positive, or the store
     *     has no semaphores
     * @throws ClientClosedException if this client was closed
     */
    public DistributedSemaphore semaphore(String name, int permits) {
        return semaphore(name, permits, LockOptions.fair());
    }

    /**
     * The semaphore of a name. Does no I/O; the first acquisition fails if others declare the name differently.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @param permits the number of permits; every program that uses the name must declare the same number
     * @throws IllegalArgumentException if the name is not of that form, {@code permits} is not positive, or the store
     *     has no semaphores, or a barging one is requested and the store has none
     * @throws ClientClosedException if this client was closed
     */
    public DistributedSemaphore semaphore(String name, int permits, LockOptions options) {
        return engine.primitives().semaphore(resource(name), permits, orderOf(options));
    }

    /**
     * The count-down latch of a name. Does no I/O.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form, or the store has no latches
     * @throws ClientClosedException if this client was closed
     */
    public DistributedCountDownLatch latch(String name) {
        return engine.primitives().latch(resource(name));
    }

    /**
     * The double barrier of a name. Does no I/O.
     *
     * @param name 1 to 505 bytes of UTF-8, not blank; compared byte for byte
     * @param parties how many enter together; every program that uses the name must declare the same number
     * @throws IllegalArgumentException if the name is not of that form, {@code parties} is not positive, or the store
     *     does not support semaphores, latches or bounded leases
     * @throws ClientClosedException if this client was closed
     */
    public DistributedDoubleBarrier barrier(String name, int parties) {
        return engine.primitives().barrier(resource(name), parties);
    }

    /** The resource of a name, which is checked before the prefix is added. */
    private ResourceName resource(String name) {
        ResourceName own = new ResourceName(name);
        return namePrefix.isEmpty() ? own : new ResourceName(namePrefix + own.value());
    }

    private static Order orderOf(LockOptions options) {
        return options.isBarging() ? Order.BARGING : Order.FAIR;
    }

    /**
     * The fair locks of several names, to be acquired together. Does no I/O.
     *
     * @param names at least one, each once, in any order
     * @throws IllegalArgumentException if the list is empty, one is named twice, or one is not of the form that {@link
     *     #lock(String)} requires
     * @throws NullPointerException if one is null
     * @throws ClientClosedException if this client was closed
     */
    public MultiLock lockAll(String... names) {
        return lockAll(Stream.of(names).map(this::lock).toList());
    }

    /** As {@link #lockAll(Collection)}. */
    public MultiLock lockAll(Lockable... parts) {
        return lockAll(List.of(parts));
    }

    /**
     * Locks, sides of read-write locks, and permits of semaphores, to be acquired together. Does no I/O.
     *
     * @param parts at least one, in any order; every lock once, while permits of one semaphore that are listed several
     *     times are added up
     * @throws IllegalArgumentException if the list is empty, a lock is listed twice (the two sides of a read-write lock
     *     are one resource), more permits are listed than exist, or a part belongs to another client: there is no order
     *     of acquisition that all clients could share
     * @throws NullPointerException if one is null
     * @throws ClientClosedException if this client was closed
     */
    public MultiLock lockAll(Collection<? extends Lockable> parts) {
        return engine.primitives().lockAll(parts);
    }

    /**
     * The election of a name. Does no I/O; the first campaign fails if others use the name differently.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form
     * @throws ClientClosedException if this client was closed
     */
    public LeaderElection election(String name) {
        return engine.primitives().election(resource(name));
    }

    /**
     * The guard of a job that is scheduled in several processes. Does no I/O; the first run fails if others use the
     * name differently.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form, or the store has no leases that outlive their
     *     client
     * @throws ClientClosedException if this client was closed
     */
    public ScheduledTaskLock task(String name) {
        return engine.primitives().task(resource(name));
    }

    /** The prefix of every name at the store, as set by {@link Builder#namePrefix}; empty for none. */
    public String namePrefix() {
        return namePrefix;
    }

    // ---- Operating

    @Override
    public Optional<LockInfo> inspect(String name) {
        return engine.admin().inspect(name);
    }

    @Override
    public List<RecordedRun> runs(String task) {
        return engine.admin().runs(task);
    }

    @Override
    public CompletionStage<List<RecordedRun>> runsAsync(String task) {
        return engine.admin().runsAsync(task);
    }

    @Override
    public CompletionStage<Optional<LockInfo>> inspectAsync(String name) {
        return engine.admin().inspectAsync(name);
    }

    @Override
    public LockPage inspect(LockQuery query) {
        return engine.admin().inspect(query);
    }

    @Override
    public CompletionStage<LockPage> inspectAsync(LockQuery query) {
        return engine.admin().inspectAsync(query);
    }

    @Override
    @CanIgnoreReturnValue
    public boolean forceRelease(String name, long token) {
        return engine.admin().forceRelease(name, token);
    }

    @Override
    public CompletionStage<Boolean> forceReleaseAsync(String name, long token) {
        return engine.admin().forceReleaseAsync(name, token);
    }

    /**
     * The state of this client: whether it is connected, when the store last acknowledged it, how much it holds and how
     * many requests wait. Sends nothing, does not block, and takes about 50 ns for each name in use. May be called
     * after {@link #close()}.
     */
    public ClientState state() {
        return engine.monitor().state();
    }

    /**
     * Makes one round trip to the store, which changes nothing there, and reports the result. On a store with
     * partitions, makes one to each that is in use, all at the same time.
     *
     * <p><b>Blocking:</b> until the store has answered, and for at most {@code bound}, even if the store, its pool or
     * its name service hangs. <b>Interruption:</b> has no effect, and the flag stays set. May be called after {@link
     * #close()}.
     *
     * @param bound how long the check may take
     * @return whether the store answered in time, never an exception
     * @throws IllegalArgumentException if {@code bound} is not positive
     */
    public HealthReport checkHealth(Duration bound) {
        return engine.probe().check(Durations.positive("bound", bound));
    }

    /**
     * As {@link #checkHealth}, without blocking.
     *
     * @return a stage that completes with the report within {@code bound}, on the callback executor, and never
     *     exceptionally
     * @throws IllegalArgumentException if {@code bound} is not positive
     */
    public CompletionStage<HealthReport> checkHealthAsync(Duration bound) {
        return engine.probe().checkAsync(Durations.positive("bound", bound));
    }

    /**
     * Closes this client: nothing is granted from now on, waiters fail with {@link ClientClosedException}, open holds
     * are lost with the cause {@link Loss.Cause#CLIENT_CLOSED}, and the session is closed at the store, which frees
     * their resources for others. A store that was opened by its URI is closed too, with its connections and threads.
     * Idempotent.
     *
     * <p><b>Blocking:</b> until the store has answered and is closed, at most for the store time-out and a second. What
     * it did not confirm ends with the session's lease. May be called from a listener. <b>Interruption:</b> has no
     * effect, and the flag stays set.
     */
    @Override
    public void close() {
        engine.close();
    }

    /**
     * As {@link #close()}, without blocking.
     *
     * @return a stage that completes, on the callback executor, when the store has confirmed or the store time-out has
     *     passed, and the store is closed if it was opened by its URI
     */
    public CompletionStage<Void> closeAsync() {
        return engine.closeAsync();
    }

    /** As {@code Holdfast[PostgreSQL 16.4, label 'web1 pid 12']}. */
    @Override
    public String toString() {
        return engine.toString();
    }

    /**
     * Configures a client. Each setting is checked when it is set, and their combination by {@link #build()}.
     *
     * <p><b>Thread-safety:</b> none; a builder is used by one thread.
     */
    public static final class Builder {

        private static final Duration DEFAULT_TTL = Duration.ofSeconds(30);

        private final Supplier<LockStore> opening;
        private final String storeName;
        private final boolean closesStore;
        private Duration sessionTtl = DEFAULT_TTL;
        private Optional<Duration> keepAliveEvery = Optional.empty();
        private Duration cohortBudget = Duration.ofMillis(10);
        private Duration storeTimeout = Duration.ofSeconds(10);
        private String program = "";
        private @Nullable String label;
        private String namePrefix = "";
        private ClientOptions.Start start = ClientOptions.Start.WITH_SESSION;
        private OnDeadlock onDeadlock = OnDeadlock.REPORT;
        private Optional<Environment> environment = Optional.empty();
        private final List<HoldfastListener> listeners = new ArrayList<>();

        private Builder(Supplier<LockStore> opening, String storeName, boolean closesStore) {
            this.opening = opening;
            this.storeName = storeName;
            this.closesStore = closesStore;
        }

        /**
         * How long the holds of this client outlive it after a crash; 30 s by default.
         *
         * <p>It also limits outages of the store: holds survive one of 42 % of the ttl (12 s of 30 s). An outage of
         * more than 57 % that begins just before a keep-alive ends them, because up to a third of the ttl has passed by
         * then, and a tenth is the margin for clocks. A keep-alive that is not answered within a quarter of the ttl is
         * repeated on another connection, even if the time-outs of the store are longer.
         *
         * @throws IllegalArgumentException if it is under 200 ms
         */
        @CanIgnoreReturnValue
        public Builder sessionTtl(Duration ttl) {
            this.sessionTtl = Durations.lease("sessionTtl", ttl);
            return this;
        }

        /**
         * The interval at which the session is renewed; a third of the ttl by default. Where the store lengthens the
         * ttl, the interval grows in proportion.
         *
         * @throws IllegalArgumentException if it is not positive
         */
        @CanIgnoreReturnValue
        public Builder keepAliveEvery(Duration interval) {
            this.keepAliveEvery = Optional.of(Durations.positive("keepAliveEvery", interval));
            return this;
        }

        /**
         * How long the threads of this client may hand over a lock among themselves while other processes wait for it;
         * 10 ms by default. Zero is strict: threads get a lock in the order in which they asked. Once another
         * process waits, this one serves the requests that waited when it asked the store for the lock, and later ones
         * for at most one and a half round trips to the store more.
         *
         * @throws IllegalArgumentException if it is negative
         */
        @CanIgnoreReturnValue
        public Builder cohortBudget(Duration budget) {
            this.cohortBudget = budget.isZero() ? budget : Durations.positive("cohortBudget", budget);
            return this;
        }

        /**
         * How long the store may take to answer a call, including repetitions of lost messages, before the call fails
         * with {@link StoreUnavailableException}; 10 s by default. A maximum wait only limits how long others may keep
         * a lock: a call whose wait has ended still waits for the store's reply within this time. It may be longer than
         * the {@linkplain #sessionTtl ttl}: keep-alives have shorter time-outs.
         *
         * @throws IllegalArgumentException if it is not positive
         */
        @CanIgnoreReturnValue
        public Builder storeTimeout(Duration timeout) {
            this.storeTimeout = Durations.positive("storeTimeout", timeout);
            return this;
        }

        /**
         * The name of the program, which precedes user, host and process id if no {@linkplain #label label} is set. It
         * is shortened to fit a label.
         */
        @CanIgnoreReturnValue
        public Builder program(String name) {
            this.program = name.strip();
            return this;
        }

        /**
         * The description of this client that people see in lists of holders; by default the program, user, host and
         * process id.
         *
         * @throws IllegalArgumentException if it is longer than 128 characters or 256 bytes of UTF-8, or holds control
         *     characters
         */
        @CanIgnoreReturnValue
        public Builder label(String text) {
            if (text.length() > 128
                    || text.getBytes(StandardCharsets.UTF_8).length > Command.OpenSession.MAX_LABEL_BYTES
                    || text.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException("A label may have at most 128 characters and "
                        + Command.OpenSession.MAX_LABEL_BYTES
                        + " bytes of UTF-8, without control characters");
            }
            this.label = text;
            return this;
        }

        /**
         * The prefix of every name at the store, for example {@code "orders:"}, which separates applications or tenants
         * that share a store; none by default. Clients exclude each other only if they have the same prefix. Holds,
         * errors and listeners report names with their prefix, and {@link LockAdmin} expects it.
         *
         * @throws IllegalArgumentException if it leaves no room for a name
         */
        @CanIgnoreReturnValue
        public Builder namePrefix(String prefix) {
            var unused = new ResourceName(prefix + "x");
            this.namePrefix = prefix;
            return this;
        }

        /**
         * Lets {@link #build()} return before the store has answered. The session is opened in the background, with
         * retries. Acquisitions meanwhile wait for the {@linkplain #storeTimeout store time-out} and then fail with
         * {@link StoreUnavailableException}. {@link Holdfast#state()} shows when the client is connected. A store with
         * a URI is still opened by {@link #build()} and must be available then, unless the store itself supports
         * opening later.
         */
        @CanIgnoreReturnValue
        public Builder startInBackground() {
            this.start = ClientOptions.Start.IN_BACKGROUND;
            return this;
        }

        /**
         * What happens when threads wait for each other's locks in a circle; {@link OnDeadlock#REPORT} by default. The
         * search begins when a thread that holds a lock has waited for another one for a second. Before that, and for
         * all other waits, it costs nothing. Only locks and read-write locks count that a thread holds, without a lease
         * of their own.
         */
        @CanIgnoreReturnValue
        public Builder onDeadlock(OnDeadlock reaction) {
            this.onDeadlock = Objects.requireNonNull(reaction, "reaction");
            return this;
        }

        /** Adds a listener for every acquisition; may be called several times. */
        @CanIgnoreReturnValue
        public Builder listener(HoldfastListener listener) {
            listeners.add(listener);
            return this;
        }

        /** Time, threads and randomness; the system's by default. */
        @CanIgnoreReturnValue
        public Builder environment(Environment surroundings) {
            this.environment = Optional.of(surroundings);
            return this;
        }

        /**
         * Opens the store, if it was named by a URI, and the session.
         *
         * <p><b>Blocking:</b> until the store has answered, at most for the {@linkplain #storeTimeout store time-out},
         * which includes connecting, a pool and the name service; a store that opens later is closed again. An
         * interrupt has no effect.
         *
         * @throws IllegalArgumentException if settings contradict each other
         * @throws StoreUnavailableException if the store does not answer
         * @throws StoreRefusedException if the store can't be used, or not with these settings
         */
        public Holdfast build() {
            return client(Engine.start(opening, storeName, closesStore, options(), environment));
        }

        /**
         * Opens the store, if it was named by a URI, which may block for at most the store time-out, and the session
         * without blocking.
         *
         * @return a stage that completes with the client, or exceptionally with what {@link #build()} throws, on the
         *     callback executor; cancelling it before closes what was opened
         * @throws IllegalArgumentException if settings contradict each other
         * @throws StoreUnavailableException if the store does not answer
         * @throws StoreRefusedException if the store can't be used
         */
        public CompletionStage<Holdfast> buildAsync() {
            return Engine.startAsync(opening, storeName, closesStore, options(), environment, this::client);
        }

        private Holdfast client(Engine engine) {
            return new Holdfast(engine, namePrefix);
        }

        private ClientOptions options() {
            Duration interval = keepAliveEvery.orElse(sessionTtl.dividedBy(3));
            if (interval.compareTo(sessionTtl.dividedBy(3)) > 0) {
                throw new IllegalArgumentException("keepAliveEvery (" + DurationFormat.format(interval)
                        + ") must be at most a third of sessionTtl (" + DurationFormat.format(sessionTtl)
                        + "), so that one lost keep-alive leaves time for another");
            }
            String shown = label == null ? SystemEnvironment.processLabel(program) : label;
            return new ClientOptions(
                    sessionTtl, interval, cohortBudget, storeTimeout, shown, List.copyOf(listeners), start, onDeadlock);
        }
    }
}
