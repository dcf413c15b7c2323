package dev.holdfast.store.register.client;

import dev.holdfast.Environment;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.CommandHandler;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterListener;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.machine.MailCodec;
import dev.holdfast.store.register.machine.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store on a server that can replace a record if it has not changed, keep sessions, and little else.
 *
 * <p>The whole state of a resource is one record. A command is a step: it applies the rules of all stores to the
 * present record, and the result replaces the record if that is still the same. A client that grants a claim notifies
 * its session in the same write, by its mailbox.
 *
 * <p>An acquire and a release without contention are one write each. A command that changes nothing is a read. If
 * clients write one record at the same time, all but one must retry. Threads of one client never compete: it has one
 * write in flight for each record, and the next one executes all commands that have come since.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread; none blocks but {@link #close}.
 */
public final class RegisterStore implements LockStore {

    private static final Logger LOG = LoggerFactory.getLogger(RegisterStore.class);

    /** The shortest time for which the record of an unused name is kept. */
    private static final Duration RETENTION = Duration.ofHours(1);

    private final RegisterAdapter adapter;
    private final Context context;
    private final Sweeper sweeper;
    private final StoreTraits traits;
    private final Router router;
    private final @Nullable SystemTime time;
    private final Map<Long, CompletableFuture<Reply>> underWay = new ConcurrentHashMap<>();
    private final AtomicLong numbers = new AtomicLong();
    private volatile boolean isClosed;

    private RegisterStore(
            RegisterAdapter adapter, Environment environment, @Nullable SystemTime time, ContentionRules rules) {
        this.adapter = adapter;
        this.time = time;
        Lanes lanes = new Lanes();
        this.context = Context.of(adapter, environment, lanes, rules);
        this.sweeper = new Sweeper(context, RETENTION);
        this.traits = traits(adapter.traits());
        this.router = new Router(context, sweeper);
        adapter.listen(new PushListener(context, lanes));
    }

    /**
     * Makes a store on an open adapter, with the system's clock. Closing the store closes the adapter.
     */
    public static RegisterStore over(RegisterAdapter adapter) {
        SystemTime time = new SystemTime("holdfast-register-timer");
        return new RegisterStore(adapter, time, time, new ContentionRules());
    }

    /** Makes a store on an open adapter. Closing the store closes the adapter, but not the environment. */
    public static RegisterStore over(RegisterAdapter adapter, Environment environment) {
        return over(adapter, environment, new ContentionRules());
    }

    /** The same with rules that a test may have broken. */
    static RegisterStore over(RegisterAdapter adapter, Environment environment, ContentionRules rules) {
        return new RegisterStore(adapter, environment, null, rules);
    }

    private static StoreTraits traits(RegisterTraits server) {
        return StoreTraits.of(server.product())
                .system(server.system())
                .with(
                        Feature.PUSH,
                        Feature.FIFO,
                        Feature.BARGING,
                        Feature.ADVANCE,
                        Feature.DETACHED_GRANTS,
                        Feature.KNOWN_WAITERS,
                        Feature.ANNOTATIONS,
                        Feature.RUNS)
                .withIf(server.orderedListing(), Feature.ORDERED_INSPECTION)
                .withIf(server.portableSessions(), Feature.PORTABLE_SESSIONS)
                .withIf(server.callerRuns(), Feature.CALLER_RUNS)
                .admitsAll()
                .minSessionTtl(server.minSessionTtl())
                .maxSessionTtl(server.maxSessionTtl())
                .ttlGranularity(server.ttlGranularity())
                .fixedLease(StoreTraits.FixedLease.NATIVE)
                .tokenSource(server.clock().tokenSource())
                .build();
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    /** Blocks no caller, because there is no limit to that. */
    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        return execute(command, CallerMode.ASYNC, Command.MAX_DURATION);
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller, Duration timeout) {
        if (isClosed) {
            return CompletableFuture.failedFuture(RegisterFailures.closed(Effect.NONE));
        }
        CompletableFuture<Reply> future = new CompletableFuture<>();
        long number = numbers.incrementAndGet();
        underWay.put(number, future);
        boolean mayBlock = traits.has(Feature.CALLER_RUNS) && caller.unlessVirtual() == CallerMode.BLOCKING;
        var unused = command.accept(mayBlock ? router.blockingFor(timeout) : router)
                .whenComplete((reply, failure) -> {
                    underWay.remove(number);
                    if (failure != null) {
                        future.completeExceptionally(RegisterFailures.of(failure));
                    } else {
                        future.complete(reply);
                    }
                });
        if (isClosed) {
            future.completeExceptionally(RegisterFailures.closed(Effect.UNKNOWN));
        }
        return future;
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        return context.listeners().add(listener);
    }

    /** As {@link Sweeper#sweep()}. */
    CompletionStage<Void> sweep() {
        return sweeper.sweep();
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        sweeper.close();
        adapter.close();
        underWay.values().forEach(future -> future.completeExceptionally(RegisterFailures.closed(Effect.UNKNOWN)));
        if (time != null) {
            time.close();
        }
    }

    /**
     * Passes each command to the part that executes it.
     *
     * @param mayBlockFor how long the calling thread may block; zero if it must not
     */
    private record Router(
            Context context, SessionCommands sessions, Reports reports, Sweeper sweeper, Duration mayBlockFor)
            implements CommandHandler.PerResource<CompletionStage<Reply>, RuntimeException> {

        Router(Context context, Sweeper sweeper) {
            this(context, new SessionCommands(context), new Reports(context), sweeper, Duration.ZERO);
        }

        /** The same for a thread that waits for the reply. */
        Router blockingFor(Duration time) {
            return new Router(context, sessions, reports, sweeper, time);
        }

        @Override
        public CompletionStage<Reply> openSession(Command.OpenSession command) {
            sweeper.start();
            return sessions.open(command);
        }

        @Override
        public CompletionStage<Reply> keepAlive(Command.KeepAlive command) {
            return sessions.keepAlive(command);
        }

        @Override
        public CompletionStage<Reply> retire(Command.Retire command) {
            return sessions.retire(command);
        }

        @Override
        public CompletionStage<Reply> closeSession(Command.CloseSession command) {
            return sessions.close(command);
        }

        @Override
        public CompletionStage<Reply> audit(Command.Audit command) {
            return reports.audit(command);
        }

        @Override
        public CompletionStage<Reply> onResource(Command.OnResource command) {
            return context.submit(command.resource(), LaneCall.of(command, mayBlockFor));
        }

        @Override
        public CompletionStage<Reply> release(Command.Release command) {
            return thenDropped(onResource(command), command.claim(), command.isAnnotated());
        }

        @Override
        public CompletionStage<Reply> yieldFor(Command.Yield command) {
            return thenDropped(onResource(command), command.claim(), command.isAnnotated());
        }

        /** What stays of an annotation counts no more without its grant, and ends with the session. */
        private CompletionStage<Reply> thenDropped(CompletionStage<Reply> ended, ClaimRef claim, boolean isAnnotated) {
            if (isAnnotated) {
                ended.thenAccept(reply -> {
                    if (!(reply instanceof Reply.Stale || reply instanceof Reply.Refused)) {
                        var unused = context.adapter().dropAnnotation(claim);
                    }
                });
            }
            return ended;
        }

        /** Not in the record, which earlier versions would refuse to read with it. */
        @Override
        public CompletionStage<Reply> annotate(Command.Annotate command) {
            ClaimRef claim = command.claim();
            return context.submit(claim.resource(), LaneCall.poll(claim)).thenCompose(state -> {
                if (!(state instanceof Reply.Granted)) {
                    return CompletableFuture.completedFuture(new Reply.Absent());
                }
                return context.adapter()
                        .annotate(claim, command.seq(), command.text())
                        .thenApply(isDone -> isDone ? new Reply.Done() : new Reply.Absent());
            });
        }

        @Override
        public CompletionStage<Reply> poll(Command.Poll command) {
            List<CompletableFuture<Reply>> states = new ArrayList<>();
            for (ClaimRef claim : command.claims()) {
                states.add(
                        context.submit(claim.resource(), LaneCall.poll(claim)).toCompletableFuture());
            }
            return CompletableFuture.allOf(states.toArray(CompletableFuture<?>[]::new))
                    .thenApply(all -> new Reply.Polled(states.stream()
                            .map(state -> (Reply.ClaimReply) state.join())
                            .toList()));
        }

        @Override
        public CompletionStage<Reply> recordRun(Command.RecordRun command) {
            return new Histories(context.adapter()).record(command);
        }

        @Override
        public CompletionStage<Reply> listRuns(Command.ListRuns command) {
            return new Histories(context.adapter()).list(command);
        }

        @Override
        public CompletionStage<Reply> inspect(Command.Inspect command) {
            return reports.inspect(command);
        }
    }

    /** Receives what the server pushes. */
    private record PushListener(Context context, Lanes lanes) implements RegisterListener {

        @Override
        public void delivered(SessionId session, byte[] mail, RecordVersion record) {
            try {
                MailCodec.Mail news = MailCodec.decode(session, mail);
                if (news.arrival().isPresent()) {
                    lanes.announced(news.arrival().get(), news.oldest(), context.now());
                    return;
                }
                // First, because the receivers of the signals use it.
                lanes.written(news.resource(), record, news.state());
                long base = Step.base(context.adapter().traits(), record);
                news.signals(base).forEach(context.listeners());
                lanes.mailed(news.resource());
            } catch (RuntimeException e) {
                // The claim is polled later anyway.
                LOG.warn("mail of session {} was discarded", session, e);
            }
        }

        @Override
        public void gone(SessionId session) {
            context.gone(session);
        }

        @Override
        public void resubscribed() {
            context.listeners().accept(new Signal.Resubscribed());
        }
    }
}
