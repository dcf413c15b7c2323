package dev.holdfast.store.register.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.Environment;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.RegisterPage;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.Step;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cleans up records that nobody asks for: it drops what has died from them, and removes those that are not in use. All
 * clients share the work. One at a time has the turn, goes through a slice of the records, and leaves at the server
 * where the next one continues. So a pass needs no client that lives for long, and costs the same whatever their
 * number. Thread-safe.
 */
final class Sweeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);

    /** The records that are gone through in one turn. */
    private static final int SLICE = 250;

    /** For how long nobody else has the turn. */
    private static final Duration TURN = Duration.ofSeconds(10);

    /** How long a client waits until it asks for the turn again, at least; at most it is twice as long. */
    private static final long INTERVAL_NANOS = 60_000_000_000L;

    private final Context context;
    private final Duration retention;

    @GuardedBy("this")
    private boolean isStarted;

    @GuardedBy("this")
    private boolean isClosed;

    @GuardedBy("this")
    private Environment.@Nullable Timer timer;

    /** @param retention how long a record is kept at least that nobody uses, where the server tells the time */
    Sweeper(Context context, Duration retention) {
        this.context = context;
        this.retention = retention;
    }

    /** Begins with a turn at once; a client that has opened no session sweeps nothing. Idempotent. */
    void start() {
        synchronized (this) {
            if (isStarted || isClosed) {
                return;
            }
            isStarted = true;
        }
        askForTurn();
    }

    private void askForTurn() {
        var unused = context.adapter()
                .takeTurn(TURN)
                .thenCompose(cursor -> cursor.isPresent()
                        ? slice(cursor.filter(text -> !text.isEmpty()))
                        : CompletableFuture.completedFuture(null))
                .whenComplete((done, failure) -> again(failure));
    }

    private CompletionStage<Void> slice(Optional<String> cursor) {
        return page(cursor, retention).thenCompose(next -> context.adapter().endTurn(next.orElse("")));
    }

    private synchronized void again(@Nullable Throwable failure) {
        if (failure != null) {
            LOG.debug("records were not cleaned up, which is tried again later", failure);
        }
        if (!isClosed) {
            // Clients that were started together don't ask together.
            long delay = INTERVAL_NANOS + context.upTo(INTERVAL_NANOS);
            timer = context.environment().schedule(delay, this::askForTurn);
        }
    }

    /** Goes through all records at once, and removes those that are not in use, however lately they were. */
    CompletionStage<Void> sweep() {
        return sweep(Optional.empty());
    }

    private CompletionStage<Void> sweep(Optional<String> cursor) {
        return page(cursor, Duration.ZERO)
                .thenCompose(next -> next.isPresent() ? sweep(next) : CompletableFuture.completedFuture(null));
    }

    private CompletionStage<Optional<String>> page(Optional<String> cursor, Duration kept) {
        return context.adapter().list("", cursor, SLICE).thenCompose(page -> {
            List<RegisterPage.Entry> sound =
                    page.entries().stream().filter(this::isSound).toList();
            CompletionStage<?> cleaned = findDead(sound);
            for (RegisterPage.Entry entry : sound) {
                // One after another: nobody waits for this.
                cleaned = cleaned.thenCompose(before -> clean(entry, kept));
            }
            return cleaned.thenApply(all -> page.cursor());
        });
    }

    /** Whether a record can be read; a damaged one is left alone. */
    private boolean isSound(RegisterPage.Entry entry) {
        try {
            return step(entry).partiesBefore() >= 0;
        } catch (StoreException e) {
            LOG.debug("the record of {} is not cleaned up", entry.resource(), e);
            return false;
        }
    }

    /** Has it noted which of the sessions have ended that hold or wait. */
    private CompletionStage<?> findDead(List<RegisterPage.Entry> entries) {
        Set<SessionId> parties = new HashSet<>();
        entries.forEach(entry -> parties.addAll(step(entry).parties(Integer.MAX_VALUE)));
        if (parties.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return context.adapter()
                .sessions(parties)
                .thenAccept(living ->
                        parties.stream().filter(id -> !living.containsKey(id)).forEach(context::gone));
    }

    private CompletionStage<?> clean(RegisterPage.Entry entry, Duration kept) {
        Step step = step(entry);
        if (step.isChange()) {
            return context.submit(entry.resource(), Call.look());
        }
        boolean isOld = context.adapter().traits().clock() == RegisterTraits.Clock.REVISIONS
                || entry.age().compareTo(kept) >= 0;
        return step.isIdle() && isOld
                ? context.adapter().write(step.removal())
                : CompletableFuture.completedFuture(null);
    }

    private Step step(RegisterPage.Entry entry) {
        Facts facts = new Facts(context.sessions());
        facts.time(context.adapter().time());
        return new Step(
                entry.resource(), entry.record(), facts, context.adapter().traits());
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        if (timer != null) {
            timer.cancel();
        }
    }
}
