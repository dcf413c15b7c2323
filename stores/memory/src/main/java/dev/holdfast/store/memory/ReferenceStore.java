package dev.holdfast.store.memory;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.FixedLease;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.spi.support.Listeners;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The reference store: a {@link ReferenceMachine} behind a lock, in the memory of this process.
 *
 * <p>One object is one client's connection; {@link #connect()} gives another one to the same store. It has no threads
 * and does no I/O: every command is answered before {@code execute} returns, and a holder that dies is noticed by the
 * next command, or by {@link #expire()}.
 *
 * <p>It forgets everything with the process. Of the resources that nobody uses it remembers the newest token of the
 * last 65,536, and of all others one floor below which no token is given.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class ReferenceStore implements LockStore {

    private static final StoreTraits TRAITS = StoreTraits.of("memory")
            .with(Feature.values())
            .admitsAll()
            .minSessionTtl(State.duration(State.MIN_TTL))
            .ttlGranularity(State.duration(1))
            .fixedLease(FixedLease.NATIVE)
            .tokenSource(TokenSource.CLOCKED)
            .build();

    private final Shared shared;
    private final Mailbox mailbox = new Mailbox();
    private final Runnable onClose;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Makes an empty store on a clock that starts with the system's and never steps. */
    public ReferenceStore() {
        this(new SteadyClock());
    }

    /**
     * Makes an empty store.
     *
     * @param unixMicros the store's clock, in microseconds since 1970; called once for each command
     */
    public ReferenceStore(LongSupplier unixMicros) {
        this(unixMicros, 1);
    }

    /**
     * Makes an empty store that keeps sessions in partitions, as one that is spread over several servers does.
     *
     * @param unixMicros as above
     */
    public ReferenceStore(LongSupplier unixMicros, int partitions) {
        this(new Shared(unixMicros, partitions), () -> {});
    }

    private ReferenceStore(Shared shared, Runnable onClose) {
        this.shared = shared;
        this.onClose = onClose;
    }

    /** Another connection to the same store, with a listener of its own. */
    public ReferenceStore connect() {
        return connect(() -> {});
    }

    /** As {@link #connect()}; the action runs once, when that connection is closed. */
    ReferenceStore connect(Runnable whenClosed) {
        return new ReferenceStore(shared, whenClosed);
    }

    @Override
    public StoreTraits traits() {
        return TRAITS;
    }

    @Override
    public int partitions() {
        return shared.partitions;
    }

    @Override
    public int partitionOf(ResourceName name) {
        return State.partitionOf(name, shared.partitions);
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        if (closed.get()) {
            return CompletableFuture.failedFuture(new StoreException(
                    StoreException.Reason.CLOSED,
                    StoreException.Effect.NONE,
                    "the connection to the memory store is closed",
                    null));
        }
        Reply reply;
        try {
            reply = shared.apply(command, mailbox);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(new StoreException(
                    StoreException.Reason.CORRUPT,
                    StoreException.Effect.UNKNOWN,
                    "the memory store failed at " + command.getClass().getSimpleName(),
                    e));
        }
        return CompletableFuture.completedFuture(reply);
    }

    /** Ends everything whose time has come, as a store may do at any moment, and admits and tells who can go on. */
    public void expire() {
        shared.expire();
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        return mailbox.listeners.add(listener);
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            mailbox.listeners.clear();
            onClose.run();
        }
    }

    /** What all connections have in common. */
    private static final class Shared {
        private final LongSupplier clock;

        /** Guarded by this. */
        private final ReferenceMachine machine;

        /** Whom to tell about a session: the connection that opened it. Guarded by this. */
        private final Map<SessionId, Mailbox> owners = new HashMap<>();

        /**
         * In how many partitions the machine keeps sessions; it is asked for the partition of a name without a lock.
         */
        private final int partitions;

        Shared(LongSupplier clock, int partitions) {
            this.clock = clock;
            this.machine = new ReferenceMachine(partitions);
            this.partitions = partitions;
        }

        Reply apply(Command command, Mailbox from) {
            Reply reply;
            Set<Mailbox> told = Set.of();
            synchronized (this) {
                ReferenceMachine.Outcome outcome = machine.apply(command, clock.getAsLong());
                reply = outcome.reply();
                if (reply instanceof Reply.SessionOpened opened) {
                    owners.put(opened.session(), from);
                }
                if (!outcome.signals().isEmpty()) {
                    told = post(outcome.signals());
                }
            }
            told.forEach(Mailbox::deliver);
            return reply;
        }

        void expire() {
            Set<Mailbox> told;
            synchronized (this) {
                told = post(machine.expire(clock.getAsLong()));
            }
            told.forEach(Mailbox::deliver);
        }

        // Posted under the lock, so that each mailbox has its signals in the order of the steps.
        private Set<Mailbox> post(List<Signal> signals) {
            Set<Mailbox> told = new LinkedHashSet<>();
            for (Signal signal : signals) {
                SessionId session = sessionOf(signal);
                Mailbox owner = session == null ? null : owners.get(session);
                if (owner != null) {
                    owner.posted.add(signal);
                    told.add(owner);
                }
                if (signal instanceof Signal.SessionEnded ended) {
                    owners.remove(ended.session());
                }
            }
            return told;
        }

        private static @Nullable SessionId sessionOf(Signal signal) {
            if (signal instanceof Signal.SessionEnded ended) {
                return ended.session();
            }
            return signal instanceof Signal.OnClaim on ? on.claim().session() : null;
        }
    }

    /**
     * What one connection is to be told. Whoever posted something delivers what is there, unless somebody is at it: a
     * listener that sends commands finds its own signals after it has returned, and never inside itself.
     */
    private static final class Mailbox {
        private final Queue<Signal> posted = new ConcurrentLinkedQueue<>();
        private final AtomicBoolean delivering = new AtomicBoolean();
        private final Listeners listeners = new Listeners();

        void deliver() {
            // Who posts looks at the flag afterwards, and who lowers the flag looks at the mail afterwards: none is
            // left behind.
            while (!posted.isEmpty() && delivering.compareAndSet(false, true)) {
                try {
                    for (Signal signal = posted.poll(); signal != null; signal = posted.poll()) {
                        listeners.accept(signal);
                    }
                } finally {
                    delivering.set(false);
                }
            }
        }
    }
}
