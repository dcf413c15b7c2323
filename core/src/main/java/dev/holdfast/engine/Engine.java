package dev.holdfast.engine;

import dev.holdfast.Environment;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.engine.admin.ClientMonitor;
import dev.holdfast.engine.admin.HealthProbe;
import dev.holdfast.engine.admin.StoreAdmin;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.client.Failures;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.execution.FailsafeEnvironment;
import dev.holdfast.engine.execution.Once;
import dev.holdfast.engine.execution.SystemEnvironment;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.execution.UserStage;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.session.Partitions;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.engine.session.SignalReceiver;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.BoundedOpening;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.OpeningTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One client: opens its store and its session, and closes them. Thread-safe. */
public final class Engine {
    private static final Logger log = LoggerFactory.getLogger(Engine.class);

    private final ClientContext context;
    private final LockStore store;
    private final boolean closesStore;
    private final Partitions partitions;
    private final Primitives primitives;
    /** Sends operators' inspections, whose failures don't count as failures of the partitions, or vice versa. */
    private final CommandSender questions;

    private final StoreAdmin admin;
    private final ClientMonitor monitor;
    private final HealthProbe probe;
    /** Set once, before the first command. */
    private volatile LockStore.Subscription listening = () -> {};

    private final CompletableFuture<Engine> ready = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final UserStage<Void> toldOfClose = new UserStage<>();

    private Engine(
            LockStore store, boolean closesStore, ClientOptions options, Environment environment, SafetyRules rules) {
        this.store = store;
        this.closesStore = closesStore;
        context = ClientContext.of(environment, options, rules, store.traits());
        partitions = new Partitions(context, store);
        primitives = new Primitives(partitions);
        partitions.serve(new Starting(), primitives.local, primitives.tasks);
        questions = new CommandSender(
                store,
                environment,
                context.clock(),
                context.observers(),
                options.storeTimeout(),
                options.storeTimeout());
        admin = StoreAdmin.of(context, questions);
        monitor = new ClientMonitor(
                partitions, primitives.local, () -> store.traits().product());
        probe = new HealthProbe(partitions, questions, monitor);
    }

    /** Waits for the first session. */
    private final class Starting implements SessionUser {

        @Override
        public void opened(Partition partition) {
            ready.complete(Engine.this);
        }

        @Override
        public void refused(Partition partition, StoreException failure, long attempt) {
            ready.completeExceptionally(context.storeFailure("", failure));
        }
    }

    // ---- Life cycle

    /**
     * Opens the store and the session; blocks until both are open. On a store with partitions, sessions are opened when
     * names are first used.
     */
    public static Engine start(
            Supplier<LockStore> opening,
            String storeName,
            boolean closesStore,
            ClientOptions options,
            Optional<Environment> environment) {
        Engine engine =
                launch(opening, storeName, closesStore, options, environment, new SafetyRules(), CallerMode.BLOCKING);
        try {
            return Uninterruptibles.uninterruptibly(engine.ready);
        } catch (ExecutionException e) {
            throw engine.failedToStart(e);
        }
    }

    /**
     * Opens the store, and the session in the background; does not wait for the session.
     *
     * @return the stage for users, completed on the callback executor; cancelling it closes the client
     */
    public static <T> CompletionStage<T> startAsync(
            Supplier<LockStore> opening,
            String storeName,
            boolean closesStore,
            ClientOptions options,
            Optional<Environment> environment,
            Function<Engine, T> client) {
        Engine engine =
                launch(opening, storeName, closesStore, options, environment, new SafetyRules(), CallerMode.ASYNC);
        CompletableFuture<T> userStage = engine.context.callbacks().relay(engine.ready.thenApply(client));
        var unused = userStage.whenComplete((opened, failure) -> {
            if (failure != null) {
                // No caller has a reference by which to close it.
                engine.beginClose();
            }
        });
        return userStage;
    }

    /** As {@link #startAsync}, with given safety rules; {@link #ready()} completes when the session is open. */
    static Engine launch(
            Supplier<LockStore> opening,
            String storeName,
            boolean closesStore,
            ClientOptions options,
            Optional<Environment> environment,
            SafetyRules rules,
            CallerMode caller) {
        Environment own = new FailsafeEnvironment(environment.orElseGet(SystemEnvironment::new));
        OpeningTime time = new OpeningTime(options.storeTimeout());
        LockStore store;
        try {
            // A store that the client does not close was open before.
            store = closesStore ? BoundedOpening.uninterruptibly(time, opening) : opening.get();
        } catch (StoreException e) {
            closeIfOurs(own);
            throw new Failures(storeName).ofStore("", e);
        } catch (RuntimeException | Error e) {
            closeIfOurs(own);
            throw e;
        }
        Duration longest = store.traits().maxSessionTtl();
        if (options.sessionTtl().compareTo(longest) > 0) {
            if (closesStore) {
                store.close();
            }
            closeIfOurs(own);
            throw new IllegalArgumentException("sessionTtl (" + DurationFormat.format(options.sessionTtl())
                    + ") must be at most " + DurationFormat.format(longest) + ", the longest session of "
                    + store.traits().product());
        }
        if (options.sessionTtl().compareTo(traitsMinimum(store)) < 0) {
            log.info(
                    "store={} sessions last at least {}, longer than the requested {}",
                    storeName,
                    traitsMinimum(store),
                    options.sessionTtl());
        }
        Engine engine = new Engine(store, closesStore, options, own, rules);
        engine.listening = store.subscribe(new SignalReceiver(engine.partitions));
        own.schedule(closesStore ? time.leftNanos() : options.storeTimeout().toNanos(), engine::giveUpStarting);
        if (engine.partitions.areSeveral()) {
            engine.ready.complete(engine);
        } else if (options.start() == ClientOptions.Start.IN_BACKGROUND) {
            engine.ready.complete(engine);
            engine.partitions.at(0).keeper.open(CallerMode.ASYNC);
        } else {
            engine.partitions.at(0).keeper.open(caller);
        }
        return engine;
    }

    CompletionStage<Engine> ready() {
        return ready;
    }

    private void giveUpStarting() {
        if (!ready.isDone()) {
            ready.completeExceptionally(
                    context.failures().noSession(context.options().storeTimeout()));
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
            Uninterruptibles.uninterruptibly(
                    closed, context.options().storeTimeout().toNanos() + TimeUnit.SECONDS.toNanos(1));
        } catch (ExecutionException | TimeoutException e) {
            log.debug("store={} the close was not confirmed", context.product(), e);
        }
    }

    /** Ends this client without blocking. Idempotent. */
    public CompletionStage<Void> closeAsync() {
        beginClose();
        return toldOfClose.of(closed, context.callbacks());
    }

    private void beginClose() {
        // First, so that a call that loses its hold by the end of its client reports that the client is closed.
        if (context.life().beginClose()) {
            List<Partition> used = partitions.used();
            List<@Nullable Session> sessions =
                    used.stream().<@Nullable Session>map(Partition::shut).toList();
            primitives.shut();
            ready.completeExceptionally(context.failures().closed());
            AtomicInteger open = new AtomicInteger(used.size() + 1);
            for (int i = 0; i < used.size(); i++) {
                endSession(used.get(i), sessions.get(i), open);
            }
            countClosed(open);
        }
    }

    private void endSession(Partition partition, @Nullable Session session, AtomicInteger open) {
        if (session == null) {
            endClose(partition, null, open);
            return;
        }
        context.environment()
                .schedule(context.options().storeTimeout().toNanos(), () -> endClose(partition, null, open));
        partition.retrier.settle(
                new Command.CloseSession(session.id),
                session,
                CallerMode.ASYNC,
                (reply, sending) -> endClose(partition, reply == null ? null : session, open));
    }

    private void endClose(Partition partition, @Nullable Session ended, AtomicInteger open) {
        if (partition.endClose(ended)) {
            countClosed(open);
        }
    }

    private void countClosed(AtomicInteger open) {
        if (open.decrementAndGet() > 0) {
            return;
        }
        questions.close();
        Failsafe.run("unsubscribing from the store", listening::close);
        Once ending = new Once(this::endStore);
        if (!closesStore) {
            ending.run();
        } else if (Failsafe.run(
                        "starting the thread that closes the store",
                        () -> SystemEnvironment.startThread("holdfast-close", ending))
                != null) {
            // The store waits for its threads, unless this is one of them.
            ending.run();
        }
    }

    private void endStore() {
        if (closesStore) {
            Failsafe.run("closing the store", store::close);
        }
        closeIfOurs(context.environment());
        closed.complete(null);
    }

    private static void closeIfOurs(Environment environment) {
        if (environment instanceof FailsafeEnvironment safe && safe.real() instanceof SystemEnvironment own) {
            own.close();
        }
    }

    // ---- Use

    /** The locks and other primitives of this client. */
    public Primitives primitives() {
        return primitives;
    }

    /** The operator's view of the store. */
    public LockAdmin admin() {
        return admin;
    }

    /** The client's own state. */
    public ClientMonitor monitor() {
        return monitor;
    }

    /** The check of the store's health. */
    public HealthProbe probe() {
        return probe;
    }

    ClientContext context() {
        return context;
    }

    /** The partition of the store to which a name belongs. */
    Partition partition(ResourceName name) {
        return partitions.of(name);
    }

    @Override
    public String toString() {
        return "Holdfast[" + context.product() + ", label '" + context.options().label() + "'"
                + (context.isClosing() ? ", closed" : "") + "]";
    }

    private static Duration traitsMinimum(LockStore store) {
        return store.traits().minSessionTtl();
    }
}
