package dev.holdfast.store.register.client;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.machine.Facts;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Queries the {@linkplain Facts facts} that the steps of a round need in addition to the record, and notes the answers
 * for these steps and for the client.
 *
 * <p>Not thread-safe, like the round; but the answers to several queries may come at the same time.
 */
final class FactQueries {

    private final Context context;
    private final RegisterAdapter adapter;
    private final Facts facts;

    /** Sessions that were seen to live in this round. */
    private final Set<SessionId> verified = new HashSet<>();

    FactQueries(Context context, Facts facts) {
        this.context = context;
        this.adapter = context.adapter();
        this.facts = facts;
    }

    /** Opens the leases that are to begin, and queries the unknown sessions. */
    CompletionStage<Void> complete() {
        List<CompletableFuture<?>> requests = new ArrayList<>();
        facts.missingLeases()
                .forEach(key -> requests.add(adapter.openLease(key.length())
                        .thenAccept(lease -> {
                            synchronized (facts) {
                                facts.lease(key, lease);
                            }
                        })
                        .toCompletableFuture()));
        Set<SessionId> sessions = facts.missingSessions();
        if (!sessions.isEmpty()) {
            requests.add(verify(sessions).toCompletableFuture());
        }
        return CompletableFuture.allOf(requests.toArray(CompletableFuture<?>[]::new));
    }

    /** Ends leases that no claim has. */
    void endLeases(Set<SessionId> leases) {
        leases.forEach(lease -> {
            var unused = adapter.closeSession(lease);
        });
    }

    /** Queries which of some sessions live. */
    CompletionStage<Void> verify(Set<SessionId> ids) {
        if (ids.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return adapter.sessions(ids).thenAccept(living -> {
            synchronized (facts) {
                living.forEach(facts::session);
                verified.addAll(living.keySet());
                ids.stream().filter(id -> !living.containsKey(id)).forEach(facts::gone);
            }
            living.forEach((id, record) -> context.sessions().epoch(id, record.epoch()));
            ids.stream().filter(id -> !living.containsKey(id)).forEach(context::gone);
        });
    }

    /** Whether this round has found out whether a session lives. */
    boolean isSettled(SessionId id) {
        return verified.contains(id) || facts.isGone(id);
    }

    /** Queries the remaining times that answers contain, unless they were queried recently. */
    CompletionStage<Void> remaining() {
        Set<SessionId> missing = facts.missingRemaining();
        if (missing.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        Set<SessionId> ids = new HashSet<>();
        for (SessionId id : missing) {
            context.sessions()
                    .left(id, context.now())
                    .ifPresentOrElse(left -> facts.remaining(id, left), () -> ids.add(id));
        }
        if (ids.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        long askedAt = context.now();
        return adapter.remaining(ids).thenAccept(left -> {
            context.remaining(left, askedAt);
            left.forEach(facts::remaining);
        });
    }
}
