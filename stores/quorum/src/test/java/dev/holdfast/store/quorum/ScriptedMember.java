package dev.holdfast.store.quorum;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** A member that a test controls: it can delay commands or replies until the test releases them, and lose its data. */
final class ScriptedMember implements LockStore {

    private static final Predicate<Command> NONE = command -> false;

    private LongSupplier clock;
    private ReferenceStore server;
    private Predicate<Command> commandsKept = NONE;
    private Predicate<Command> answersKept = NONE;
    private Predicate<Command> replaced = NONE;
    private CompletionStage<Reply> replacement = new CompletableFuture<>();
    private UnaryOperator<StoreTraits> traits = UnaryOperator.identity();
    private final List<Runnable> kept = new ArrayList<>();
    private final List<Consumer<Signal>> signalListeners = new ArrayList<>();
    private Consumer<Command> listener = command -> {};

    ScriptedMember(LongSupplier clock) {
        this.clock = clock;
        this.server = new ReferenceStore(clock);
    }

    /** Nothing gets there. */
    void cutOff() {
        keepsCommands(command -> true);
    }

    /** Such commands don't get there. */
    void keepsCommands(Predicate<Command> which) {
        commandsKept = which;
    }

    /** The commands take effect, but their replies are lost. */
    void keepsAnswers(Predicate<Command> which) {
        answersKept = which;
    }

    /** Such commands have no effect, and get this reply. */
    void answers(Predicate<Command> which, Reply reply) {
        replaced = which;
        replacement = CompletableFuture.completedFuture(reply);
    }

    /** Such commands fail at once, certainly without an effect; a stage of the driver wraps the failure. */
    void failsInAStage(Predicate<Command> which) {
        fails(which);
        replacement = replacement.thenApply(reply -> reply);
    }

    /** Such commands fail at once, certainly without an effect. */
    void fails(Predicate<Command> which) {
        fails(which, StoreException.Reason.UNAVAILABLE);
    }

    void fails(Predicate<Command> which, StoreException.Reason reason) {
        replaced = which;
        replacement = CompletableFuture.failedFuture(
                new StoreException(reason, StoreException.Effect.NONE, "it is shutting down", null));
    }

    /** Calls back with each command that is sent there, before it is done. */
    void listen(Consumer<Command> by) {
        listener = by;
    }

    /** From now on everything goes through. What was kept stays where it is. */
    void comeBack() {
        commandsKept = NONE;
        answersKept = NONE;
        replaced = NONE;
    }

    /** Releases what was delayed, in order. */
    void letGo() {
        List<Runnable> due = List.copyOf(kept);
        kept.clear();
        due.forEach(Runnable::run);
    }

    /** What was kept is never heard of again. */
    void dropKept() {
        kept.clear();
    }

    /** From now on it has the clock of another. */
    void setClock(ScriptedMember other) {
        clock = other.clock;
    }

    /** Ends there, by force, what one client holds. */
    void forcesRelease(String name) {
        long token = info(name).holders().get(0).tokens().orElseThrow().last();
        var unused = now(new Command.ForceRelease(new ResourceName(name), token));
    }

    /** What is left there of the one lease on a name. */
    Duration remaining(String name) {
        return info(name).holders().get(0).remaining();
    }

    private ResourceInfo info(String name) {
        return ((Reply.Inspected) now(new Command.Inspect(name, Optional.empty(), 1)))
                .resources()
                .get(0);
    }

    void losesItsData() {
        server = new ReferenceStore(clock);
    }

    /** The names in use there, without that of the marker. */
    List<String> names() {
        Reply reply = now(new Command.Inspect("", Optional.empty(), 100));
        return ((Reply.Inspected) reply)
                .resources().stream()
                        .map(info -> info.name().value())
                        .filter(name -> name.charAt(0) > ' ')
                        .toList();
    }

    /** Changes the traits that it reports. */
    void declares(UnaryOperator<StoreTraits> change) {
        traits = change;
    }

    @Override
    public StoreTraits traits() {
        return traits.apply(server.traits());
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        listener.accept(command);
        if (replaced.test(command)) {
            return replacement;
        }
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        if (commandsKept.test(command)) {
            kept.add(() -> answer.complete(now(command)));
        } else if (answersKept.test(command)) {
            Reply reply = now(command);
            kept.add(() -> answer.complete(reply));
        } else {
            answer.complete(now(command));
        }
        return answer;
    }

    private Reply now(Command command) {
        return server.execute(command, CallerMode.BLOCKING)
                .toCompletableFuture()
                .join();
    }

    /** Pushes a signal. The member pushes none of its own accord. */
    void pushes(Signal signal) {
        signalListeners.forEach(each -> each.accept(signal));
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        signalListeners.add(listener);
        return () -> signalListeners.remove(listener);
    }

    @Override
    public void close() {
        server.close();
    }
}
