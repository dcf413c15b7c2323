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
import dev.holdfast.spi.support.Micros;
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
 * <p>One object is one client's connection; {@link #connect()} opens another one to the same store. It has no threads
 * and does no I/O: every command is answered before {@code execute} returns, and the next command, or
 * {@link #expire()}, notices a dead holder.
 *
 * <p>It forgets everything with the process. It remembers the newest token of the 65,536 most recently used idle
 * resources; a single floor, below which no token is issued, stands for all others.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class ReferenceStore implements LockStore {

    private static final StoreTraits TRAITS = StoreTraits.of("memory")
            .with(Feature.values())
            .admitsAll()
            .minSessionTtl(Micros.duration(State.MIN_TTL))
            .ttlGranularity(Micros.duration(1))
            .fixedLease(FixedLease.NATIVE)
            .tokenSource(TokenSource.CLOCKED)
            .build();

    private final Shared shared;
    private final Mailbox mailbox = new Mailbox();
    private final Runnable onClose;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Makes an empty store on a clock that starts at the system's time and never steps. */
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
     * Makes an empty store with partitioned sessions, like a store on several servers.
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

    /** Opens another connection to the same store, with separate listeners. */
    public ReferenceStore connect() {
        return connect(() -> {});
    }

    /** As {@link #connect()}; the action runs once, when the new connection is closed. */
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
                    "the memory store failed to execute " + command.getClass().getSimpleName(),
                    e));
        }
        return CompletableFuture.completedFuture(reply);
    }

    /**
     * Ends everything that has expired, as a store may do at any moment, then grants the claims that fit and signals
     * that.
     */
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

    /** The part shared by all connections. */
    private static final class Shared {
        private final LongSupplier clock;

        /** Guarded by this. */
        private final ReferenceMachine machine;

        /** Receives the signals of a session: the mailbox of the connection that opened it. Guarded by this. */
        private final Map<SessionId, Mailbox> owners = new HashMap<>();

        /** The machine's number of partitions, read without the lock to find the partition of a name. */
        private final int partitions;

        Shared(LongSupplier clock, int partitions) {
            this.clock = clock;
            this.machine = new ReferenceMachine(partitions);
            this.partitions = partitions;
        }

        Reply apply(Command command, Mailbox from) {
            Reply reply;
            Set<Mailbox> recipients = Set.of();
            synchronized (this) {
                ReferenceMachine.Outcome outcome = machine.apply(command, clock.getAsLong());
                reply = outcome.reply();
                if (reply instanceof Reply.SessionOpened opened) {
                    owners.put(opened.session(), from);
                }
                if (!outcome.signals().isEmpty()) {
                    recipients = post(outcome.signals());
                }
            }
            recipients.forEach(Mailbox::deliver);
            return reply;
        }

        void expire() {
            Set<Mailbox> recipients;
            synchronized (this) {
                recipients = post(machine.expire(clock.getAsLong()));
            }
            recipients.forEach(Mailbox::deliver);
        }

        // Called under the lock, so that each mailbox has its signals in the order of the steps.
        private Set<Mailbox> post(List<Signal> signals) {
            Set<Mailbox> recipients = new LinkedHashSet<>();
            for (Signal signal : signals) {
                SessionId session = sessionOf(signal);
                Mailbox owner = session == null ? null : owners.get(session);
                if (owner != null) {
                    owner.posted.add(signal);
                    recipients.add(owner);
                }
                if (signal instanceof Signal.SessionEnded ended) {
                    owners.remove(ended.session());
                }
            }
            return recipients;
        }

        private static @Nullable SessionId sessionOf(Signal signal) {
            if (signal instanceof Signal.SessionEnded ended) {
                return ended.session();
            }
            return signal instanceof Signal.OnClaim on ? on.claim().session() : null;
        }
    }

    /**
     * The undelivered signals of one connection. The thread that posts also delivers, unless another one is delivering.
     * So a listener that sends commands gets the resulting signals after it returns, never while it runs.
     */
    private static final class Mailbox {
        private final Queue<Signal> posted = new ConcurrentLinkedQueue<>();
        private final AtomicBoolean delivering = new AtomicBoolean();
        private final Listeners listeners = new Listeners();

        void deliver() {
            // A poster checks the flag after posting, and a deliverer checks the queue after clearing the flag, so no
            // signal is left behind.
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
