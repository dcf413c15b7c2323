package dev.holdfast.testkit;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * A store like one on a coordination service: no session lasts for more than two hours, and each belongs to the
 * connection that opened it. It may break the first, or claim not to do the second.
 */
final class LimitedSubject extends TwoConnections {

    static final Duration LONGEST = Duration.ofHours(2);

    private final ReferenceSubject subject;

    LimitedSubject(boolean refusesLonger, boolean saysPortable) {
        this(new ReferenceSubject(), refusesLonger, saysPortable);
    }

    private LimitedSubject(ReferenceSubject subject, boolean refusesLonger, boolean saysPortable) {
        super(
                new Limited(subject.first(), refusesLonger, saysPortable, ConcurrentHashMap.newKeySet()),
                new Limited(subject.second(), refusesLonger, saysPortable, ConcurrentHashMap.newKeySet()));
        this.subject = subject;
    }

    @Override
    public Optional<ManualClock> clock() {
        return subject.clock();
    }

    @Override
    public boolean forgetIdle() {
        return subject.forgetIdle();
    }

    private record Limited(LockStore store, boolean refusesLonger, boolean saysPortable, Set<SessionId> sessions)
            implements LockStore {

        @Override
        public StoreTraits traits() {
            return store.traits().toBuilder()
                    .maxSessionTtl(LONGEST)
                    .without(Feature.PORTABLE_SESSIONS)
                    .withIf(saysPortable, Feature.PORTABLE_SESSIONS)
                    .build();
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            if (refusesLonger
                    && command instanceof Command.OpenSession open
                    && open.ttl().compareTo(LONGEST) > 0) {
                return CompletableFuture.failedFuture(new StoreException(
                        StoreException.Reason.DENIED,
                        StoreException.Effect.NONE,
                        "no session lasts for more than " + DurationFormat.format(LONGEST),
                        null));
            }
            if (command instanceof Command.KeepAlive keepAlive && !sessions.contains(keepAlive.session())) {
                return CompletableFuture.completedFuture(new Reply.SessionEnded());
            }
            CompletionStage<Reply> reply = store.execute(command, caller);
            return reply.thenApply(answer -> {
                if (answer instanceof Reply.SessionOpened opened) {
                    sessions.add(opened.session());
                }
                return answer;
            });
        }

        @Override
        public Subscription subscribe(Consumer<Signal> listener) {
            return store.subscribe(listener);
        }

        @Override
        public void close() {
            store.close();
        }
    }
}
