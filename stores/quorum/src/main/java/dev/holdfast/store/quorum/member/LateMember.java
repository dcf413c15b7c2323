package dev.holdfast.store.quorum.member;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.Listeners;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member that may not be reachable when the quorum is opened. Its own threads open it, since that may take long, and
 * retry until it succeeds. Until then every command fails without effect.
 *
 * <p>Thread-safe.
 */
final class LateMember implements LockStore {

    private static final Logger log = LoggerFactory.getLogger(LateMember.class);
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final StoreTraits UNKNOWN = StoreTraits.of("not reached yet")
            .with(Feature.BARGING, Feature.ADVANCE, Feature.DETACHED_GRANTS)
            .admitsAll()
            .fixedLease(StoreTraits.FixedLease.NATIVE)
            .pollEvery(QuorumTraits.POLL_EVERY)
            .build();

    private final StoreUri uri;
    private final StoreProvider provider;

    // Guarded by this; the store is also read without it, and set once.
    private volatile @Nullable LockStore store;
    private volatile @Nullable String problem;
    private final Listeners listeners = new Listeners();
    private volatile boolean isClosed;
    private boolean isOpening;
    private long triedAt;

    /**
     * Creates a member without opening it.
     *
     * @throws IllegalArgumentException if no store serves its scheme
     */
    LateMember(StoreUri uri) {
        this.uri = uri;
        this.provider = StoreProvider.of(uri);
    }

    /** Whether a member's traits are not known yet. */
    static boolean isMissing(LockStore member) {
        return member instanceof LateMember late && late.store == null;
    }

    String name() {
        return uri.toString();
    }

    /** Why it is not open; empty if it is. */
    Optional<String> problem() {
        return Optional.ofNullable(store == null ? problem : null);
    }

    /** Tries once to open it; completes exceptionally only if a retry would be useless. */
    CompletableFuture<Void> open() {
        CompletableFuture<Void> tried = new CompletableFuture<>();
        Thread thread = new Thread(() -> tryOnce(tried), "holdfast-quorum-member");
        thread.setDaemon(true);
        thread.start();
        return tried;
    }

    private void tryOnce(CompletableFuture<Void> tried) {
        try {
            openOnce();
            tried.complete(null);
        } catch (StoreException e) {
            problem = e.getMessage();
            log.debug("member={} can't be opened; the attempt is repeated", uri, e);
            tried.complete(null);
        } catch (RuntimeException e) {
            problem = e.getMessage();
            tried.completeExceptionally(e);
        } finally {
            synchronized (this) {
                isOpening = false;
                triedAt = System.nanoTime();
            }
        }
    }

    private void openOnce() {
        LockStore fresh = provider.open(uri);
        boolean isAdopted = false;
        try {
            isAdopted = adopt(fresh);
        } finally {
            // Otherwise each attempt would leave connections of a store that can't be a member.
            if (!isAdopted) {
                fresh.close();
            }
        }
    }

    private synchronized boolean adopt(LockStore fresh) {
        if (isClosed) {
            return false;
        }
        if (!listeners.isEmpty()) {
            // Its traits were not known when those of the quorum were determined.
            StoreTraits unused = QuorumTraits.of(List.of(fresh));
        }
        fresh.subscribe(listeners);
        store = fresh;
        problem = null;
        return true;
    }

    @Override
    public StoreTraits traits() {
        LockStore present = store;
        return present == null ? UNKNOWN : present.traits();
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        LockStore present = store;
        if (present != null) {
            return present.execute(command, caller);
        }
        retry();
        String why = problem;
        return CompletableFuture.failedFuture(new StoreException(
                isClosed ? Reason.CLOSED : Reason.UNAVAILABLE,
                Effect.NONE,
                "it has not been reached yet" + (why == null ? "" : ": " + why),
                null));
    }

    private synchronized void retry() {
        if (!isClosed && !isOpening && System.nanoTime() - triedAt > RETRY_NANOS) {
            isOpening = true;
            var unused = open();
        }
    }

    @Override
    public Subscription subscribe(Consumer<Signal> to) {
        return listeners.add(to);
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        LockStore present = store;
        if (present != null) {
            present.close();
        }
    }
}
