package dev.holdfast.testkit.sim;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.support.Listeners;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** The link of one process in a {@link DeadlockRun}: it delays, and loses everything while it is cut. */
final class DeadlockLink implements LockStore {

    private static final int LANES = 3;

    private final DeadlockRun run;
    private final SimProcess process;
    private final SeededRandom random;
    private final Listeners listeners = new Listeners();
    private final long[] newestArrival = new long[LANES];
    private final long[] newestReply = new long[LANES];
    private long cutUntil;

    DeadlockLink(DeadlockRun run, SimProcess process, SeededRandom random) {
        this.run = run;
        this.process = process;
        this.random = random;
    }

    void cut(long nanos) {
        cutUntil = Math.max(cutUntil, run.world.now() + nanos);
    }

    private boolean isCut() {
        return run.world.now() < cutUntil;
    }

    @Override
    public StoreTraits traits() {
        return run.store.traits();
    }

    @Override
    public int partitions() {
        return 1;
    }

    @Override
    public int partitionOf(ResourceName name) {
        return 0;
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        CompletableFuture<Reply> future = new CompletableFuture<>();
        if (process.isDead()) {
            return future;
        }
        run.sent(command);
        int lane = command instanceof Command.OnResource on
                ? 1 + Math.floorMod(on.resource().value().hashCode(), LANES - 1)
                : 0;
        newestArrival[lane] = Math.max(newestArrival[lane] + 1, run.world.now() + run.travel(random));
        run.world.after(newestArrival[lane] - run.world.now(), () -> {
            if (isCut()) {
                return;
            }
            Reply reply = run.apply(command, this);
            newestReply[lane] = Math.max(newestReply[lane] + 1, run.world.now() + run.travel(random));
            run.world.after(newestReply[lane] - run.world.now(), process, () -> {
                if (!isCut()) {
                    future.complete(reply);
                }
            });
        });
        return future;
    }

    /** Delivers a signal, unless it is lost. */
    void push(Signal signal, boolean isLost) {
        run.world.after(run.travel(random), process, () -> {
            if (!isLost && !isCut() && !listeners.isEmpty()) {
                listeners.accept(signal);
            }
        });
    }

    @Override
    public Subscription subscribe(Consumer<Signal> consumer) {
        return listeners.add(consumer);
    }

    @Override
    public void close() {}
}
