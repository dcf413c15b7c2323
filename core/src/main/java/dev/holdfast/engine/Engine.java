package dev.holdfast.engine;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.DistributedDoubleBarrier;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Environment;
import dev.holdfast.LeaderElection;
import dev.holdfast.LockMismatchException;
import dev.holdfast.Lockable;
import dev.holdfast.Loss;
import dev.holdfast.MultiLock;
import dev.holdfast.ScheduledTaskLock;
import dev.holdfast.spi.BoundedOpening;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.Tokens;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client: wires the parts together and is the door to them. Thread-safe.
 *
 * <p>It is long because it is the one place where the parts know of each other: each method is a step from one to
 * another, and none keeps a state of its own.
 */
public final class Engine {

    private static final Logger log = LoggerFactory.getLogger(Engine.class);

    /** The smallest block that is asked for once a lock is passed on locally. */
    private static final int MIN_BLOCK = 32;

    final Environment environment;
    final EngineOptions options;
    final SafetyRules rules;
    final ElapsedClock clock;
    final LockStore store;
    final StoreTraits traits;
    final StoreParts parts;
    final ClaimDriver driver;
    final Certainty certainty;
    final Failures failures;
    final Outcomes outcomes;
    final WakefulWait wakeful;
    final Watches watches;
    final Callbacks callbacks;
    final Elections elections;
    final TaskTurns turns;
    final long cohortBudgetNanos;

    private final boolean closesStore;

    /** Set once, before the first command. */
    private volatile LockStore.Subscription listening = () -> {};

    private final AtomicLong claims = new AtomicLong();

    private final AtomicLong callNumbers = new AtomicLong();

    /** What is to fail when the client is closed, beside requests at gates; by number, as it came. */
    private final ConcurrentMap<Long, CompletableFuture<?>> calls = new ConcurrentHashMap<>();

    private final AtomicBoolean isClosing = new AtomicBoolean();
    private final CompletableFuture<Engine> ready = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final UserStage<Void> toldOfClose = new UserStage<>();

    private Engine(
            LockStore store, boolean closesStore, EngineOptions options, Environment environment, SafetyRules rules) {
        this.store = store;
        this.closesStore = closesStore;
        this.options = options;
        this.environment = environment;
        this.rules = rules;
        this.traits = store.traits();
        this.cohortBudgetNanos = options.cohortBudget().toNanos();
        clock = new ElapsedClock(environment, options.sessionTtl());
        parts = new StoreParts(this, store);
        driver = new ClaimDriver(this);
        certainty = new Certainty(this);
        failures = new Failures(traits.product());
        outcomes = new Outcomes(this);
        wakeful = new WakefulWait(environment);
        callbacks = new Callbacks(environment);
        watches = new Watches(options.listeners(), traits.product());
        elections = new Elections(this);
        turns = new TaskTurns(this);
    }

    // ---- Life

    /**
     * Opens the store and the session; blocks until both are there. Where the store keeps sessions in parts, none is
     * needed before a name is.
     */
    public static Engine start(
            Supplier<LockStore> opening,
            String storeName,
            boolean closesStore,
            EngineOptions options,
            Optional<Environment> environment) {
        Engine engine = launch(opening, storeName, closesStore, options, environment, new SafetyRules(), Caller.WAITS);
        try {
            return Waits.uninterruptibly(engine.ready);
        } catch (ExecutionException e) {
            throw engine.failedToStart(e);
        }
    }

    /**
     * Opens the store, and the session in the background; does not wait for the session.
     *
     * @return the stage for users, completed on the callback executor; who cancels it closes the client
     */
    public static <T> CompletionStage<T> startAsync(
            Supplier<LockStore> opening,
            String storeName,
            boolean closesStore,
            EngineOptions options,
            Optional<Environment> environment,
            Function<Engine, T> client) {
        Engine engine =
                launch(opening, storeName, closesStore, options, environment, new SafetyRules(), Caller.GOES_ON);
        CompletableFuture<T> told = engine.callbacks.relay(engine.ready.thenApply(client));
        var unused = told.whenComplete((opened, failure) -> {
            if (failure != null) {
                // Nobody has it in hand to close it.
                engine.beginClose();
            }
        });
        return told;
    }

    /** As {@link #startAsync}, with the rules to keep; {@link #ready()} tells when the session is there. */
    static Engine launch(
            Supplier<LockStore> opening,
            String storeName,
            boolean closesStore,
            EngineOptions options,
            Optional<Environment> environment,
            SafetyRules rules,
            Caller caller) {
        Environment own = new FailsafeEnvironment(environment.orElseGet(SystemEnvironment::new));
        long deadline = own.monotonicNanos() + options.storeTimeout().toNanos();
        LockStore store;
        try {
            // One that the client does not close was open before.
            store = closesStore ? BoundedOpening.uninterruptibly(options.storeTimeout(), opening) : opening.get();
        } catch (StoreException e) {
            closeIfOurs(own);
            throw new Failures(storeName).ofStore("", e);
        } catch (RuntimeException | Error e) {
            closeIfOurs(own);
            throw e;
        }
        if (options.sessionTtl().compareTo(traitsMinimum(store)) < 0) {
            log.info(
                    "store={} sessions last at least {}, more than the {} asked for",
                    storeName,
                    traitsMinimum(store),
                    options.sessionTtl());
        }
        Engine engine = new Engine(store, closesStore, options, own, rules);
        engine.listening = store.subscribe(new SignalDesk(engine));
        engine.environment.schedule(deadline - own.monotonicNanos(), engine::giveUpStarting);
        if (engine.parts.areSeveral()) {
            engine.isReady();
        } else {
            engine.parts.at(0).keeper.open(caller);
        }
        return engine;
    }

    /** It may be used. */
    void isReady() {
        ready.complete(this);
    }

    /** The store refuses this client, and would refuse it again. */
    void isHopeless(StoreException failure) {
        ready.completeExceptionally(storeFailure("", failure));
    }

    CompletionStage<Engine> ready() {
        return ready;
    }

    private void giveUpStarting() {
        if (!ready.isDone()) {
            ready.completeExceptionally(failures.noSession(options.storeTimeout()));
        }
    }

    private RuntimeException failedToStart(ExecutionException e) {
        beginClose();
        Throwable cause = e.getCause();
        return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
    }

    /** Ends this client; blocks until the store is closed, or has not answered within its time-out. */
    public void close() {
        beginClose();
        try {
            Waits.uninterruptibly(closed, options.storeTimeout().toNanos() + TimeUnit.SECONDS.toNanos(1));
        } catch (ExecutionException | TimeoutException e) {
            log.debug("store={} closing was not confirmed", product(), e);
        }
    }

    /** Ends this client without blocking. Idempotent. */
    public CompletionStage<Void> closeAsync() {
        beginClose();
        return toldOfClose.of(closed, callbacks);
    }

    private void beginClose() {
        if (isClosing.compareAndSet(false, true)) {
            // First, for a call that finds its hold lost by the end of its client should say that the client is closed.
            for (CompletableFuture<?> call : calls.values()) {
                call.completeExceptionally(closedException());
            }
            List<StorePart> used = parts.used();
            List<@Nullable Session> sessions =
                    used.stream().<@Nullable Session>map(StorePart::shut).toList();
            elections.shut();
            turns.shut();
            ready.completeExceptionally(closedException());
            AtomicInteger open = new AtomicInteger(used.size() + 1);
            for (int i = 0; i < used.size(); i++) {
                endSession(used.get(i), sessions.get(i), open);
            }
            countClosed(open);
        }
    }

    private void endSession(StorePart part, @Nullable Session session, AtomicInteger open) {
        if (session == null) {
            endClose(part, Settler.Closing.CONFIRMED, open);
            return;
        }
        environment.schedule(options.storeTimeout().toNanos(), () -> endClose(part, Settler.Closing.UNCONFIRMED, open));
        part.settler.settle(
                new Command.CloseSession(session.id),
                session,
                Caller.GOES_ON,
                (reply, isFirst) -> endClose(part, Settler.Closing.CONFIRMED, open));
    }

    private void endClose(StorePart part, Settler.Closing how, AtomicInteger open) {
        if (part.endClose(how)) {
            countClosed(open);
        }
    }

    private void countClosed(AtomicInteger open) {
        if (open.decrementAndGet() > 0) {
            return;
        }
        Failsafe.run("the end of listening to the store", listening::close);
        Once ending = new Once(this::endStore);
        if (!closesStore) {
            ending.run();
        } else if (Failsafe.run(
                        "a thread to close the store", () -> SystemEnvironment.startThread("holdfast-close", ending))
                != null) {
            // The store may have to wait for its threads, of which this may be one; it knows.
            ending.run();
        }
    }

    private void endStore() {
        if (closesStore) {
            Failsafe.run("closing the store", store::close);
        }
        closeIfOurs(environment);
        closed.complete(null);
    }

    private static void closeIfOurs(Environment environment) {
        if (environment instanceof FailsafeEnvironment safe && safe.real() instanceof SystemEnvironment own) {
            own.close();
        }
    }

    boolean isClosing() {
        return isClosing.get();
    }

    RuntimeException closedException() {
        return failures.closed();
    }

    // ---- The door for locks

    /** The lock of a name. */
    public DistributedLock lock(ResourceName name, Order order) {
        requireOrder(order);
        return new EngineLock(new Door(this, name, order == Order.FAIR ? Mode.FAIR_MUTEX : Mode.BARGING_MUTEX));
    }

    /** The read-write lock of a name. */
    public DistributedReadWriteLock readWriteLock(ResourceName name, Order order) {
        requireOrder(order);
        requireAdmission(StoreTraits.Admission.SHARED, "locks for readers and writers");
        return new EngineReadWriteLock(this, name, new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, order));
    }

    /** The semaphore of a name. */
    public DistributedSemaphore semaphore(ResourceName name, int permits, Order order) {
        requireOrder(order);
        if (permits < 1) {
            throw new IllegalArgumentException("A semaphore has at least one permit, not " + permits);
        }
        requireAdmission(StoreTraits.Admission.COUNTED, "semaphores");
        return new EngineSemaphore(this, name, new ResourceSpec(Kind.SEMAPHORE, permits, order));
    }

    private void requireOrder(Order order) {
        requireOpen();
        if (order == Order.BARGING && !traits.barging()) {
            throw new IllegalArgumentException(
                    "The store " + product() + " grants strictly in the order of the queue: it has no barging locks");
        }
    }

    private void requireAdmission(StoreTraits.Admission admission, String what) {
        if (!traits.admissions().contains(admission)) {
            throw new IllegalArgumentException("The store " + product() + " has no " + what);
        }
    }

    /** Locks and permits of this client, to be taken together. */
    public MultiLock lockAll(Collection<? extends Lockable> parts) {
        requireOpen();
        return new EngineMultiLock(this, parts.stream().map(Part::of).toList());
    }

    /** The count-down latch of a name. */
    public DistributedCountDownLatch latch(ResourceName name) {
        requireOpen();
        requireAdmission(StoreTraits.Admission.LATCH, "latches");
        return new EngineLatch(this, name);
    }

    /** The election of a name. */
    public LeaderElection election(ResourceName name) {
        requireOpen();
        return new EngineElection(this, name);
    }

    /** The guard of a job. */
    public ScheduledTaskLock task(ResourceName name) {
        requireSupported(Lease.detached(Leases.SHORTEST), name);
        return new EngineTaskLock(this, name);
    }

    /** The double barrier of a name. */
    public DistributedDoubleBarrier barrier(ResourceName name, int parties) {
        requireOpen();
        if (parties < 1) {
            throw new IllegalArgumentException("A barrier has at least one party, not " + parties);
        }
        requireAdmission(StoreTraits.Admission.COUNTED, "semaphores, and so no barriers");
        requireAdmission(StoreTraits.Admission.LATCH, "latches, and so no barriers");
        if (traits.fixedLease() == StoreTraits.FixedLease.NONE) {
            throw new IllegalArgumentException(
                    "The store " + product() + " has no leases of their own, and so no barriers");
        }
        return new EngineBarrier(this, name, parties);
    }

    void requireSupported(Lease lease, ResourceName name) {
        requireOpen();
        if (lease.binding() != Lease.Binding.SESSION && traits.fixedLease() == StoreTraits.FixedLease.NONE) {
            throw new IllegalArgumentException(
                    "The store " + product() + " has no leases of their own, so '" + name + "' can't have one");
        }
        if (lease.binding() == Lease.Binding.DETACHED && !traits.detached()) {
            throw new IllegalArgumentException("The store " + product()
                    + " has no leases that outlive their client, so '" + name + "' can't have one");
        }
    }

    void requireOpen() {
        if (isClosing()) {
            throw closedException();
        }
    }

    Gate enter(ResourceName name, ResourceSpec spec, Request request) {
        StorePart part = parts.of(name);
        while (true) {
            Gate gate = part.gateFor(name, spec);
            if (!gate.spec.equals(spec)) {
                throw usedOtherwise(gate);
            }
            if (gate.enter(request)) {
                return gate;
            }
        }
    }

    /** Another declaration of a name that this process uses already. */
    RuntimeException usedOtherwise(Gate gate) {
        return new LockMismatchException(gate.name.value(), product(), "this process uses it as " + words(gate.spec));
    }

    private static String words(ResourceSpec spec) {
        String words = spec.order() + " " + spec.kind();
        return spec.kind() == Kind.SEMAPHORE ? words + " of " + spec.capacity() : words;
    }

    /** As {@link Outcomes#complete}. */
    void complete(Request request) {
        outcomes.complete(request);
    }

    /** Fails what somebody waits for when this client is closed. */
    void endWithClient(CompletableFuture<?> call) {
        Long number = callNumbers.incrementAndGet();
        calls.put(number, call);
        var unused = call.whenComplete((done, failure) -> calls.remove(number));
        if (isClosing()) {
            call.completeExceptionally(closedException());
        }
    }

    // ---- What the parts ask

    @Override
    public String toString() {
        return "Holdfast[" + product() + ", label '" + options.label() + "'" + (isClosing() ? ", closed" : "") + "]";
    }

    String product() {
        return traits.product();
    }

    /** Whether a grant may be given more tokens. */
    boolean advances() {
        return traits.advance();
    }

    /** The part of the store to which a name belongs. */
    StorePart part(ResourceName name) {
        return parts.of(name);
    }

    @Nullable
    Gate gate(ResourceName name) {
        return parts.of(name).gate(name);
    }

    Collection<Gate> gates() {
        return parts.used().stream().flatMap(part -> part.gates().stream()).toList();
    }

    boolean isKnown(ClaimRef ref) {
        StorePart part = parts.of(ref.resource());
        Gate gate = part.gate(ref.resource());
        return part.settler.isPending(ref) || turns.isKnown(ref) || (gate != null && Oversight.knows(gate, ref));
    }

    ClaimRef nextRef(ResourceName name, Session session) {
        return new ClaimRef(name, session.id, claims.incrementAndGet());
    }

    /**
     * A number for a name that no other client draws, for all that can be known: not even one with the same randomness.
     */
    long uniqueLong(ResourceName name) {
        Session present = parts.of(name).keeper.current();
        long own = present == null ? 0 : present.id.value().hashCode() * 0x9e3779b97f4a7c15L;
        return environment.randomLong() ^ own;
    }

    long newestClaim() {
        return claims.get();
    }

    int blockFor(int used) {
        return (int) Math.min(Tokens.MAX_BLOCK, Math.max(MIN_BLOCK, 2L * used));
    }

    /** Whether a hold under this grant is good now; tells its loss if it finds it. Called without any lock. */
    boolean isGood(Claim grant) {
        long now = clock.now();
        if (!rules.isGood(now, grant.deadline())) {
            lookAt(grant);
            return false;
        }
        return isBacked(grant) && !inDoubt(grant);
    }

    /** Whether a grant can't be good any more, told or not. */
    boolean isPast(Claim grant) {
        return !isBacked(grant) || !rules.isGood(clock.now(), grant.deadline());
    }

    /** Whether the session that a grant hangs on is alive, if it hangs on one. */
    private static boolean isBacked(Claim grant) {
        return grant.session.isAlive() || (grant.isDetached() && grant.state == Claim.State.HELD);
    }

    /** Whether a local request may get this grant now. May be called under the lock of the gate. */
    boolean mayHandOn(Claim grant) {
        long now = clock.now();
        return isBacked(grant) && rules.mayHandOn(now, grant.deadline(), inDoubt(grant));
    }

    /** Whether a fresh grant is still worth a hold. May be called under the lock of the gate. */
    boolean mayBecomeHold(Claim grant) {
        return grant.session.isAlive() && rules.isGood(clock.now(), grant.deadline());
    }

    private boolean inDoubt(Claim grant) {
        return (!grant.isDetached() && keeperOf(grant).inDoubt(grant.session))
                || grant.isContradicted()
                || (grant.own != null && rules.stepsRaiseDoubt() && grant.own.clearedSteps != clock.steps());
    }

    private static Keeper keeperOf(Claim grant) {
        return grant.session.part.keeper;
    }

    /** Looks whether the deadlines of a grant have passed, and tells the loss if so. Called without any lock. */
    void lookAt(Claim grant) {
        keeperOf(grant).check(grant.session);
        OwnLease own = grant.own;
        if (own != null && grant.state == Claim.State.HELD && !rules.isGood(clock.now(), own.deadline)) {
            grant.gate.end(grant, Loss.Cause.LEASE_ENDED);
        }
    }

    /**
     * Looks again when the lease of a grant should have ended, and in between, for timers stand still while the machine
     * is suspended.
     */
    void watchLease(Claim grant, OwnLease own) {
        long soon = options.keepAliveEvery().toNanos() / Keeper.LOOKS_PER_KEEP_ALIVE;
        grant.gate.lock.lock();
        try {
            if (own.watch != null) {
                own.watch.cancel();
            }
            if (grant.state == Claim.State.HELD) {
                long left = own.deadline - clock.now();
                own.watch = environment.schedule(Math.min(left, soon), () -> {
                    lookAt(grant);
                    watchLease(grant, own);
                });
            }
        } finally {
            grant.gate.lock.unlock();
        }
    }

    /** Asks the store because a grant is in doubt. Called without any lock. */
    void doubt(Claim grant) {
        if (keeperOf(grant).inDoubt(grant.session)) {
            keeperOf(grant).askInDoubt(grant.session);
        }
        OwnLease own = grant.own;
        if (own != null && own.clearedSteps != clock.steps() && own.askedSteps != clock.steps()) {
            own.askedSteps = clock.steps();
            driver.poll(grant);
        }
    }

    void extend(LocalHold hold, Duration lease) {
        Leases.extend(this, hold, lease);
    }

    void noteLoss(Loss loss) {
        log.warn(
                "resource={} store={} token={} hold lost: {}",
                ResourceName.printable(loss.name()),
                loss.store(),
                loss.token(),
                loss.cause().words());
        certainty.tell();
    }

    void foundRemoved(LocalHold hold, Loss.Cause cause) {
        noteLoss(new Loss(hold.name(), product(), hold.rawToken(), cause));
    }

    RuntimeException storeFailure(String resource, StoreException failure) {
        return isClosing() ? failures.closed() : failures.ofStore(resource, failure);
    }

    private static Duration traitsMinimum(LockStore store) {
        return store.traits().minSessionTtl();
    }
}
