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
 * Cleans up records that no one uses: drops the claims of dead sessions, and removes unused records. All clients share
 * the work. One client at a time has the turn. It cleans a slice of the records, and stores at the server where the
 * next turn begins. So a pass needs no long-lived client, and its cost does not depend on their number. Thread-safe.
 */
final class Sweeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);

    /** How many records are cleaned in one turn. */
    private static final int SLICE = 250;

    /** For how long no other client gets the turn. */
    private static final Duration TURN = Duration.ofSeconds(10);

    /** The shortest time between two turns of a client; the longest is twice that. */
    private static final long INTERVAL_NANOS = 60_000_000_000L;

    private final Context context;
    private final Duration retention;

    @GuardedBy("this")
    private boolean isStarted;

    @GuardedBy("this")
    private boolean isClosed;

    @GuardedBy("this")
    private Environment.@Nullable Timer timer;

    /** @param retention the shortest time for which an unused record is kept, where the server has a clock */
    Sweeper(Context context, Duration retention) {
        this.context = context;
        this.retention = retention;
    }

    /** Requests the first turn at once, when the client opens its first session. Idempotent. */
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
            LOG.debug("records were not cleaned up; the clean-up is retried later", failure);
        }
        if (!isClosed) {
            // A random delay separates clients that were started together.
            long delay = INTERVAL_NANOS + context.upTo(INTERVAL_NANOS);
            timer = context.environment().schedule(delay, this::askForTurn);
        }
    }

    /** Cleans all records at once, and removes the unused ones without a retention. */
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
                // One after another: no one waits for this.
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

    /** Finds out which of the sessions that hold or wait have ended. */
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
            return context.submit(entry.resource(), LaneCall.maintain());
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
        facts.wallMillis(context.environment().wallMillis());
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
