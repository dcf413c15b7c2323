package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.admin.ClientState;
import dev.holdfast.admin.HealthReport;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockPage;
import dev.holdfast.admin.LockQuery;
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
 * A client of a lock store: hands out locks, keeps the session alive that everything it holds hangs on, and gives all
 * back when it is closed.
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
 * its store, however many locks there are. Two clients in one program are as strange to each other as two programs.
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
     * Connects with the default options.
     *
     * @param uri where the store is: {@code memory:} (a store of its own for each client), {@code memory:NAME} (one for
     *     all who name it in this JVM), {@code sqlite:} (a file under the user's state directory),
     *     {@code sqlite:/path/to/file}, and the schemes of the store modules that are on the class path
     * @throws IllegalArgumentException if the URI is malformed or no store on the class path serves its scheme;
     *     nothing was touched
     * @throws StoreUnavailableException if the store does not answer
     * @throws StoreRefusedException if the store can't be used
     */
    public static Holdfast connect(String uri) {
        return builder(uri).build();
    }

    /**
     * Begins to set up a client of the store at a URI, which {@link Builder#build()} opens and {@link #close()} closes.
     *
     * @throws IllegalArgumentException if the URI is malformed or no store on the class path serves its scheme
     */
    public static Builder builder(String uri) {
        StoreUri where = StoreUri.parse(Objects.requireNonNull(uri, "the URI of a store must not be null"));
        StoreProvider provider = StoreProvider.of(where);
        return new Builder(() -> provider.open(where), where.scheme(), true);
    }

    /**
     * Begins to set up a client of a store that is open already. It is the caller's: {@link #close()} leaves it open,
     * and it may be lent to any number of clients at a time, whose holds and waiters are as apart as those of any other
     * clients. Close the store after the last of them.
     */
    public static Builder builder(LockStore store) {
        Objects.requireNonNull(store, "a store must not be null");
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
     * The lock of a name. Does no I/O; that others declare the name otherwise is found by the first acquisition.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form, or the store has no barging locks and one
     *     is asked for
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
     * The read-write lock of a name. Does no I/O; that others declare the name otherwise is found by the first
     * acquisition.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form, or the store has no shared locks, or no barging
     *     ones and one is asked for
     * @throws ClientClosedException if this client was closed
     */
    public DistributedReadWriteLock readWriteLock(String name, LockOptions options) {
        return engine.primitives().readWriteLock(resource(name), orderOf(options));
    }

    /**
     * The fair semaphore of a name. Does no I/O.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @param permits how many there are; every program that uses the name says the same
     * @throws IllegalArgumentException if the name is not of that form, {@code permits} is not positive, or the store
     *     has no semaphores
     * @throws ClientClosedException if this client was closed
     */
    public DistributedSemaphore semaphore(String name, int permits) {
        return semaphore(name, permits, LockOptions.fair());
    }

    /**
     * The semaphore of a name. Does no I/O; that others declare the name otherwise is found by the first acquisition.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @param permits how many there are; every program that uses the name says the same
     * @throws IllegalArgumentException if the name is not of that form, {@code permits} is not positive, or the store
     *     has no semaphores, or no barging ones and one is asked for
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
     * @param parties how many enter together; every program that uses the name says the same
     * @throws IllegalArgumentException if the name is not of that form, {@code parties} is not positive, or the store
     *     has no semaphores, latches or leases of their own
     * @throws ClientClosedException if this client was closed
     */
    public DistributedDoubleBarrier barrier(String name, int parties) {
        return engine.primitives().barrier(resource(name), parties);
    }

    /** The resource of a name, which is checked before the prefix goes in front of it. */
    private ResourceName resource(String name) {
        ResourceName own = new ResourceName(name);
        return namePrefix.isEmpty() ? own : new ResourceName(namePrefix + own.value());
    }

    private static Order orderOf(LockOptions options) {
        return options.isBarging() ? Order.BARGING : Order.FAIR;
    }

    /**
     * The fair locks of several names, to be taken together. Does no I/O.
     *
     * @param names at least one, each once, in any order
     * @throws IllegalArgumentException if there is none, one is named twice, or one is not of the form that {@link
     *     #lock(String)} asks for
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
     * Locks, sides of read-write locks, and permits of semaphores, to be taken together. Does no I/O.
     *
     * @param parts at least one, in any order; every lock once, while permits of one semaphore that are listed several
     *     times are one claim of their sum
     * @throws IllegalArgumentException if there is none, a lock is listed twice (the two sides of a read-write lock are
     *     one resource), more permits are listed than there are, or a part is not of this client: between clients there
     *     is no order that all could keep to
     * @throws NullPointerException if one is null
     * @throws ClientClosedException if this client was closed
     */
    public MultiLock lockAll(Collection<? extends Lockable> parts) {
        return engine.primitives().lockAll(parts);
    }

    /**
     * The election of a name. Does no I/O; that others use the name otherwise is found by the first campaign.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form
     * @throws ClientClosedException if this client was closed
     */
    public LeaderElection election(String name) {
        return engine.primitives().election(resource(name));
    }

    /**
     * The guard of a job that several processes have on their schedule. Does no I/O; that others use the name otherwise
     * is found by the first run.
     *
     * @param name 1 to 512 bytes of UTF-8, not blank; compared byte for byte
     * @throws IllegalArgumentException if the name is not of that form, or the store has no leases that outlive their
     *     client
     * @throws ClientClosedException if this client was closed
     */
    public ScheduledTaskLock task(String name) {
        return engine.primitives().task(resource(name));
    }

    /** What stands before every name at the store, as {@link Builder#namePrefix} was told; empty if nothing does. */
    public String namePrefix() {
        return namePrefix;
    }

    // ---- Operating

    @Override
    public Optional<LockInfo> inspect(String name) {
        return engine.admin().inspect(name);
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
     * Tells what this client knows of itself: whether it is connected, when the store last acknowledged it, how much it
     * holds and how many requests wait. Sends nothing, does not block, and takes about 50 ns for each name in use. May
     * be called after {@link #close()}.
     */
    public ClientState state() {
        return engine.monitor().state();
    }

    /**
     * Makes one round trip to the store, which changes nothing there, and tells what became of it. On a store in
     * partitions, one to each that is in use, all at the same time.
     *
     * <p><b>Blocking:</b> until the store has answered, and for at most {@code bound}, whatever hangs: the store, its
     * pool, its name service. <b>Interruption:</b> has no effect, and the flag stays set. May be called after {@link
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
     * @return a stage that ends with the report when {@code bound} has passed at the latest, on the callback executor,
     *     and never exceptionally
     * @throws IllegalArgumentException if {@code bound} is not positive
     */
    public CompletionStage<HealthReport> checkHealthAsync(Duration bound) {
        return engine.probe().checkAsync(Durations.positive("bound", bound));
    }

    /**
     * Ends this client: nothing is granted any more, waiters end with {@link ClientClosedException}, holds that are
     * still open are lost with the cause {@link Loss.Cause#CLIENT_CLOSED}, and the session is closed at the store,
     * which frees all of them for others. A store that was opened by its URI is closed then, with its connections and
     * threads. Idempotent.
     *
     * <p><b>Blocking:</b> until the store has answered and is closed, at most for the store time-out and a second; what
     * it did not confirm ends with the session's lease. May be called from a listener. <b>Interruption:</b> has no
     * effect, and the flag stays set.
     */
    @Override
    public void close() {
        engine.close();
    }

    /**
     * Ends this client as {@link #close()} does, without blocking.
     *
     * @return a stage that ends, on the callback executor, when the store has confirmed, or has not within the store
     *     time-out, and is closed if it was opened by its URI
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
     * Sets up a client. Each setting is checked when it is given, and all together by {@link #build()}.
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
        private Optional<Environment> environment = Optional.empty();
        private final List<HoldfastListener> listeners = new ArrayList<>();

        private Builder(Supplier<LockStore> opening, String storeName, boolean closesStore) {
            this.opening = opening;
            this.storeName = storeName;
            this.closesStore = closesStore;
        }

        /**
         * How long everything that this client holds outlives it after a crash; 30 s if not set.
         *
         * <p>It also limits how long an outage of the store may last: holds survive one of 42 % of the ttl (12 s of
         * 30 s). One of more than 57 % that begins just before a keep-alive ends them, since up to a third of the ttl
         * has passed by then, and a tenth is the margin for clocks. A keep-alive that is not answered within a quarter
         * of the ttl is repeated on another connection, whatever the time-outs of the store are.
         *
         * @throws IllegalArgumentException if it is under 200 ms
         */
        @CanIgnoreReturnValue
        public Builder sessionTtl(Duration ttl) {
            this.sessionTtl = Durations.lease("sessionTtl", ttl);
            return this;
        }

        /**
         * How often the session is renewed; a third of the ttl if not set. Where the store lengthens the ttl, the
         * interval grows in proportion.
         *
         * @throws IllegalArgumentException if it is not positive
         */
        @CanIgnoreReturnValue
        public Builder keepAliveEvery(Duration interval) {
            this.keepAliveEvery = Optional.of(Durations.positive("keepAliveEvery", interval));
            return this;
        }

        /**
         * How long the threads of this client may pass a lock on among themselves while others wait for it; 10 ms if
         * not set. Zero is strict: whenever another process waits, a released lock goes to it in its turn.
         *
         * @throws IllegalArgumentException if it is negative
         */
        @CanIgnoreReturnValue
        public Builder cohortBudget(Duration budget) {
            this.cohortBudget = budget.isZero() ? budget : Durations.positive("cohortBudget", budget);
            return this;
        }

        /**
         * How long the store may take to answer a call, lost messages and their repetition included, before the call
         * fails with {@link StoreUnavailableException}; 10 s if not set. A maximum wait bounds only how long others may
         * keep a lock: a call whose wait is over still waits for the store's answer within this time. It may be longer
         * than the {@linkplain #sessionTtl ttl}: keep-alives don't wait for so long.
         *
         * @throws IllegalArgumentException if it is not positive
         */
        @CanIgnoreReturnValue
        public Builder storeTimeout(Duration timeout) {
            this.storeTimeout = Durations.positive("storeTimeout", timeout);
            return this;
        }

        /**
         * The name of the program, which stands before user, host and process where no {@linkplain #label label} is
         * set. What does not fit a label is cut off.
         */
        @CanIgnoreReturnValue
        public Builder program(String name) {
            this.program = name.strip();
            return this;
        }

        /**
         * Who this client is, for people who look at holders; if not set the program, user, host and process.
         *
         * @throws IllegalArgumentException if it is longer than 128 characters or 256 bytes of UTF-8, or holds control
         *     characters
         */
        @CanIgnoreReturnValue
        public Builder label(String text) {
            if (text.length() > 128
                    || text.getBytes(StandardCharsets.UTF_8).length > Command.OpenSession.MAX_LABEL_BYTES
                    || text.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException("A label has at most 128 characters and "
                        + Command.OpenSession.MAX_LABEL_BYTES
                        + " bytes of UTF-8, none of them a control character");
            }
            this.label = text;
            return this;
        }

        /**
         * What stands before every name at the store, so that several applications or tenants share one and never meet:
         * {@code "orders:"}; nothing if not set. All whose locks exclude each other have the same prefix. Holds, errors
         * and listeners tell whole names, and the operator's view, {@link LockAdmin}, takes them.
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
         * Lets {@link #build()} return before the store has answered. The session is opened in the background, and
         * tried again until there is one; what is acquired meanwhile waits for the {@linkplain #storeTimeout store
         * time-out} and then fails with {@link StoreUnavailableException}. {@link Holdfast#state()} tells when the
         * client is connected. A store that is named by a URI is opened before, and has to be there for that; so is
         * each that was not made to open later.
         */
        @CanIgnoreReturnValue
        public Builder startInBackground() {
            this.start = ClientOptions.Start.IN_BACKGROUND;
            return this;
        }

        /** Adds one who is told of every acquisition; may be called several times. */
        @CanIgnoreReturnValue
        public Builder listener(HoldfastListener listener) {
            listeners.add(listener);
            return this;
        }

        /** Time, threads and randomness; the system's if not set. */
        @CanIgnoreReturnValue
        public Builder environment(Environment surroundings) {
            this.environment = Optional.of(surroundings);
            return this;
        }

        /**
         * Opens the store if need be, and the session.
         *
         * <p><b>Blocking:</b> until the store has answered, at most for the {@linkplain #storeTimeout store time-out},
         * which covers connecting, a pool and the name service; a store that is open later is closed again. An
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
         * Opens the store if need be, which may block for at most the store time-out, and the session without blocking.
         *
         * @return a stage that ends with the client, or exceptionally with what {@link #build()} throws, on the
         *     callback executor; who cancels it before closes what was opened
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
                    sessionTtl, interval, cohortBudget, storeTimeout, shown, List.copyOf(listeners), start);
        }
    }
}
