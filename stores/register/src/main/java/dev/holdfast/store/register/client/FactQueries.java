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
 * Asks the server for the {@linkplain Facts facts} that the steps of a round need beside the record, and notes the
 * answers for these and for the client.
 *
 * <p>Not thread-safe, as the round is not; but the answers to several questions may come at the same time.
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

    /** Opens the leases that are to begin, and asks for the sessions of which nothing is known. */
    CompletionStage<Void> complete() {
        List<CompletableFuture<?>> trips = new ArrayList<>();
        facts.missingLeases()
                .forEach(key -> trips.add(adapter.openLease(key.length())
                        .thenAccept(lease -> {
                            synchronized (facts) {
                                facts.lease(key, lease);
                            }
                        })
                        .toCompletableFuture()));
        Set<SessionId> sessions = facts.missingSessions();
        if (!sessions.isEmpty()) {
            trips.add(verify(sessions).toCompletableFuture());
        }
        return CompletableFuture.allOf(trips.toArray(CompletableFuture<?>[]::new));
    }

    /** Asks which of some sessions live. */
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

    /** Whether it was found in this round whether a session lives. */
    boolean isSettled(SessionId id) {
        return verified.contains(id) || facts.isGone(id);
    }

    /** Asks what is left of the sessions of which an answer says it; of those that were asked lately it is known. */
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
