package dev.holdfast.verification.world;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.ForwardingStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A client's link to a store. A test records what is sent over it and injects faults. */
public final class FaultyLink extends ForwardingStore {

    private final Queue<Command> sent = new ConcurrentLinkedQueue<>();

    /** Guarded by this; the first that fits decides. */
    private final List<Disturbance> disturbances = new ArrayList<>();

    private volatile Consumer<Signal> listener = signal -> {};
    private volatile boolean signalsAreLost;
    private volatile boolean isClosed;
    private volatile @Nullable Command lastCommand;

    /** Creates a link to a store. */
    public FaultyLink(LockStore store) {
        super(store);
    }

    // ---- Listening

    /** What was sent so far, oldest first, delivered or not. */
    public List<Command> sent() {
        return List.copyOf(sent);
    }

    /** What was sent so far of one kind, oldest first. */
    public <C extends Command> List<C> sent(Class<C> kind) {
        return sent.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    /** Forgets what was sent. */
    public void forget() {
        sent.clear();
    }

    /** Whether the client has closed it. */
    public boolean isClosed() {
        return isClosed;
    }

    // ---- Disturbing

    /** What happens to a command. */
    private interface Fate {
        CompletionStage<Reply> of(Command command, CallerMode caller);
    }

    private record Disturbance(Predicate<Command> of, boolean once, Fate fate) {}

    /** Loses the next command of this kind; no failure is reported. */
    public void loseNext(Class<? extends Command> kind) {
        disturb(new Disturbance(kind::isInstance, true, (command, caller) -> new CompletableFuture<>()));
    }

    /** Delivers the next command of this kind and loses its reply. */
    public void loseReplyToNext(Class<? extends Command> kind) {
        disturb(new Disturbance(kind::isInstance, true, (command, caller) -> {
            var unused = store().execute(command, caller);
            return new CompletableFuture<>();
        }));
    }

    /** Answers the next command of this kind without the store. */
    public void answerNext(Class<? extends Command> kind, Reply reply) {
        disturb(new Disturbance(kind::isInstance, true, (command, caller) -> CompletableFuture.completedFuture(reply)));
    }

    /** Answers all commands of this kind without the store, until the link is mended. */
    public void answerAll(Class<? extends Command> kind, Reply reply) {
        disturb(new Disturbance(
                kind::isInstance, false, (command, caller) -> CompletableFuture.completedFuture(reply)));
    }

    /** Fails the next command of this kind, which does not reach the store. */
    public void failNext(Class<? extends Command> kind, Reason reason, Effect effect) {
        disturb(new Disturbance(kind::isInstance, true, failing(reason, effect)));
    }

    /** Fails all commands of this kind, which don't reach the store, until the link is mended. */
    public void fail(Class<? extends Command> kind, Reason reason, Effect effect) {
        disturb(new Disturbance(kind::isInstance, false, failing(reason, effect)));
    }

    /** Loses everything, commands and signals, until the link is mended. */
    public void cut() {
        signalsAreLost = true;
        disturb(new Disturbance(command -> true, false, (command, caller) -> new CompletableFuture<>()));
    }

    /** Loses the commands that match, until the link is mended; no failure is reported. */
    public void cutFor(Predicate<Command> matching) {
        disturb(new Disturbance(matching, false, (command, caller) -> new CompletableFuture<>()));
    }

    /** Fails the commands that match, which don't reach the store, until the link is mended. */
    public void failFor(Predicate<Command> matching, Reason reason, Effect effect) {
        disturb(new Disturbance(matching, false, failing(reason, effect)));
    }

    /**
     * Loses everything, commands and signals, after a number of further commands, until the link is repaired.
     *
     * @param takesEffect whether the first command without a reply takes effect
     */
    public synchronized void cutAfter(int commands, boolean takesEffect) {
        AtomicInteger left = new AtomicInteger(commands);
        disturbances.add(new Disturbance(command -> left.getAndDecrement() <= 0, false, (command, caller) -> {
            signalsAreLost = true;
            if (takesEffect && lastCommand == null) {
                var unused = store().execute(command, caller);
            }
            if (lastCommand == null) {
                lastCommand = command;
            }
            return new CompletableFuture<>();
        }));
    }

    /** The first command without a reply, once the link {@linkplain #cutAfter is cut}. */
    public Optional<Command> lastCommand() {
        return Optional.ofNullable(lastCommand);
    }

    /** Loses all signals, until the link is mended. */
    public void loseSignals() {
        signalsAreLost = true;
    }

    /** Holds up the next command of this kind until the test lets it continue. */
    public HeldUp holdUpNext(Class<? extends Command> kind) {
        HeldUp heldUp = new HeldUp(store());
        disturb(new Disturbance(kind::isInstance, true, heldUp));
        return heldUp;
    }

    /**
     * Something happens when the next command of this kind is sent, on the thread that sends it, and before it arrives.
     */
    public void runBeforeNext(Class<? extends Command> kind, Runnable what) {
        disturb(new Disturbance(kind::isInstance, true, (command, caller) -> {
            what.run();
            return store().execute(command, caller);
        }));
    }

    /** Ends all disturbances. */
    public synchronized void mend() {
        signalsAreLost = false;
        disturbances.clear();
    }

    /** A signal that the store has not sent. */
    public void signal(Signal signal) {
        listener.accept(signal);
    }

    private static Fate failing(Reason reason, Effect effect) {
        return (command, caller) ->
                CompletableFuture.failedFuture(new StoreException(reason, effect, "the test says so", null));
    }

    private synchronized void disturb(Disturbance disturbance) {
        disturbances.add(disturbance);
    }

    private synchronized Fate fateOf(Command command) {
        for (Disturbance disturbance : disturbances) {
            if (disturbance.of.test(command)) {
                if (disturbance.once) {
                    disturbances.remove(disturbance);
                }
                return disturbance.fate;
            }
        }
        return store()::execute;
    }

    // ---- The store's part

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        sent.add(command);
        return fateOf(command).of(command, caller);
    }

    @Override
    public Subscription subscribe(Consumer<Signal> told) {
        listener = told;
        return store().subscribe(signal -> {
            if (!signalsAreLost) {
                told.accept(signal);
            }
        });
    }

    @Override
    public void close() {
        isClosed = true;
        super.close();
    }

    /** A command that is kept on its way. */
    public static final class HeldUp implements Fate {
        private final LockStore store;
        private final CompletableFuture<Command> command = new CompletableFuture<>();
        private final CompletableFuture<Reply> reply = new CompletableFuture<>();

        private HeldUp(LockStore store) {
            this.store = store;
        }

        @Override
        public CompletionStage<Reply> of(Command sent, CallerMode caller) {
            command.complete(sent);
            return reply;
        }

        /** Returns when the command is on its way. */
        public Command awaitCommand() {
            Eventually.holds("the command is sent", command::isDone);
            return command.join();
        }

        /** It arrives and takes effect; its reply stays on the way. */
        public Reply deliver() {
            return store.execute(awaitCommand(), CallerMode.ASYNC)
                    .toCompletableFuture()
                    .join();
        }

        /** It arrives, and its reply too. */
        public void proceed() {
            reply.complete(deliver());
        }

        /** The client gets this answer. */
        public void answer(Reply answer) {
            reply.complete(answer);
        }

        /** The client sees a failure. */
        public void fail(Reason reason, Effect effect) {
            reply.completeExceptionally(new StoreException(reason, effect, "the test says so", null));
        }
    }
}
