package dev.holdfast.spi.support;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreTraits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store that is opened by the first command, and again by a later one if that failed, so that a program can start
 * while its store is unavailable. A command waits for the attempt that is under way; if that fails, it fails without
 * effect.
 *
 * <p>The traits must be known before. The opened store must have each of them, and may have more.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class DeferredStore implements LockStore {

    private static final Logger LOG = LoggerFactory.getLogger(DeferredStore.class);

    /** The given traits; {@link StoreTraits#product} is that of the opened store once it is open. */
    private volatile StoreTraits traits;

    private final int partitions;
    private final ToIntFunction<ResourceName> partitionOf;
    private final Supplier<? extends LockStore> opening;
    private final Listeners listeners = new Listeners();
    private final Object lock = new Object();

    /** The attempt that is under way, or that succeeded. */
    @GuardedBy("lock")
    private @Nullable CompletableFuture<LockStore> attempt;

    /** Attempts that failed in a row. */
    @GuardedBy("lock")
    private int failures;

    @GuardedBy("lock")
    private boolean closed;

    /**
     * Makes a store with one partition.
     *
     * @param traits what the store promises in any case
     * @param opening opens it; may block, and throws a {@link StoreException} if it can't
     */
    public DeferredStore(StoreTraits traits, Supplier<? extends LockStore> opening) {
        this(traits, 1, name -> 0, opening);
    }

    /**
     * Makes a store with partitions.
     *
     * @param traits what the store promises in any case
     * @param partitions as of {@link LockStore#partitions()}
     * @param partitionOf as of {@link LockStore#partitionOf}
     * @param opening opens it; may block, and throws a {@link StoreException} if it can't
     */
    public DeferredStore(
            StoreTraits traits,
            int partitions,
            ToIntFunction<ResourceName> partitionOf,
            Supplier<? extends LockStore> opening) {
        this.traits = traits;
        this.partitions = partitions;
        this.partitionOf = partitionOf;
        this.opening = opening;
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public int partitions() {
        return partitions;
    }

    @Override
    public int partitionOf(ResourceName name) {
        return partitionOf.applyAsInt(name);
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        return execute(command, store -> store.execute(command, caller));
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller, Duration timeout) {
        return execute(command, store -> store.execute(command, caller, timeout));
    }

    private CompletionStage<Reply> execute(Command command, Function<LockStore, CompletionStage<Reply>> atOnce) {
        CompletableFuture<LockStore> present = present();
        if (present.isDone() && !present.isCompletedExceptionally()) {
            return atOnce.apply(present.join());
        }
        CompletableFuture<Reply> result = new CompletableFuture<>();
        var unused = present.thenCompose(store -> store.execute(command, CallerMode.ASYNC))
                .whenComplete((reply, failure) -> {
                    if (failure == null) {
                        result.complete(reply);
                    } else {
                        result.completeExceptionally(Stages.causeOf(failure));
                    }
                });
        return result;
    }

    private CompletableFuture<LockStore> present() {
        CompletableFuture<LockStore> fresh;
        synchronized (lock) {
            if (closed) {
                return CompletableFuture.failedFuture(
                        new StoreException(Reason.CLOSED, Effect.NONE, "the store is closed", null));
            } else if (attempt != null) {
                return attempt;
            }
            fresh = new CompletableFuture<>();
            attempt = fresh;
        }
        Thread thread = new Thread(() -> open(fresh), "holdfast-open");
        thread.setDaemon(true);
        thread.start();
        return fresh;
    }

    private void open(CompletableFuture<LockStore> result) {
        LockStore opened;
        try {
            opened = opening.get();
        } catch (Throwable t) {
            failed(result, t);
            return;
        }
        opened.subscribe(listeners);
        traits = traits.toBuilder().product(opened.traits().product()).build();
        boolean isLate;
        synchronized (lock) {
            isLate = closed;
            if (failures > 0) {
                LOG.info("store={} is open, after {} failed attempts", traits.product(), failures);
            }
        }
        if (isLate) {
            opened.close();
            result.completeExceptionally(
                    new StoreException(Reason.CLOSED, Effect.NONE, "the store was closed in the meantime", null));
        } else {
            result.complete(opened);
        }
    }

    private void failed(CompletableFuture<LockStore> result, Throwable failure) {
        boolean isFirst;
        synchronized (lock) {
            attempt = null;
            failures++;
            isFirst = failures == 1;
        }
        if (isFirst) {
            LOG.warn(
                    "store={} can't be opened yet; the attempt is repeated until it succeeds: {}",
                    traits.product(),
                    failure.getMessage());
        }
        result.completeExceptionally(
                failure instanceof StoreException
                        ? failure
                        : new StoreException(
                                Reason.UNAVAILABLE, Effect.NONE, "the store can't be opened: " + failure, failure));
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        return listeners.add(listener);
    }

    @Override
    public void close() {
        CompletableFuture<LockStore> present;
        synchronized (lock) {
            closed = true;
            present = attempt;
        }
        listeners.clear();
        if (present != null && present.isDone() && !present.isCompletedExceptionally()) {
            present.join().close();
        }
    }
}
