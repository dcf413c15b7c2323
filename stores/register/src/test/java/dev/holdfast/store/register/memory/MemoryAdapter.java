package dev.holdfast.store.register.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.Arrivals;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.History;
import dev.holdfast.store.register.IndexPage;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterListener;
import dev.holdfast.store.register.RegisterPage;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.WriteResult;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A connection to a {@link MemoryRegister}; answers before it returns. */
public final class MemoryAdapter implements RegisterAdapter {

    private final MemoryRegister server;
    private final Set<SessionId> opened = ConcurrentHashMap.newKeySet();
    private volatile Set<SessionId> watched = Set.of();
    private volatile @Nullable RegisterListener listener;
    private volatile boolean isClosed;

    MemoryAdapter(MemoryRegister server) {
        this.server = server;
    }

    private <T> CompletionStage<T> answer(Supplier<T> answer) {
        if (isClosed) {
            return CompletableFuture.failedFuture(new StoreException(
                    StoreException.Reason.CLOSED, StoreException.Effect.NONE, "the adapter is closed", null));
        }
        server.requested();
        server.expire();
        return CompletableFuture.completedFuture(answer.get());
    }

    @Override
    public RegisterTraits traits() {
        return server.traits();
    }

    @Override
    public void listen(RegisterListener all) {
        listener = all;
    }

    @Override
    public ServerTime time() {
        return server.time();
    }

    @Override
    public Optional<RegisterRecord> guess(ResourceName resource) {
        return Optional.of(server.missing());
    }

    @Override
    public Optional<CompletionStage<RegisterRecord>> peek(ResourceName resource) {
        return Optional.of(read(resource));
    }

    @Override
    public CompletionStage<RegisterRecord> read(ResourceName resource) {
        return answer(() -> server.read(resource));
    }

    @Override
    public CompletionStage<WriteResult> write(ConditionalWrite write) {
        return answer(() -> server.write(write));
    }

    @Override
    public CompletionStage<Optional<Long>> announce(Arrival arrival, Map<SessionId, byte[]> mail) {
        return answer(() -> server.announce(arrival, mail));
    }

    @Override
    public CompletionStage<Arrivals> arrivals(ResourceName resource) {
        return answer(() -> server.arrivals(resource));
    }

    @Override
    @SuppressWarnings("NullAway") // a stage of Void has no other value
    public CompletionStage<Void> retract(Arrival arrival) {
        return answer(() -> {
            server.retract(arrival);
            return null;
        });
    }

    @Override
    public CompletionStage<OpenedSession> openSession(Duration ttl, String label) {
        return answer(() -> open(ttl, label, false));
    }

    @Override
    public CompletionStage<OpenedSession> openLease(Duration length) {
        return answer(() -> open(length, "", true));
    }

    private OpenedSession open(Duration ttl, String label, boolean isLease) {
        OpenedSession session = server.open(ttl, label, isLease, this);
        opened.add(session.id());
        return session;
    }

    @Override
    public CompletionStage<Optional<Long>> keepAlive(SessionId session, long epoch, Duration responseTimeout) {
        return answer(() -> server.keepAlive(session, epoch));
    }

    @Override
    public CompletionStage<Optional<Long>> raiseEpoch(SessionId session, long epoch) {
        return answer(() -> server.raise(session, epoch));
    }

    @Override
    @SuppressWarnings("NullAway") // a stage of Void has no other value
    public CompletionStage<Void> closeSession(SessionId session) {
        return answer(() -> {
            server.close(session);
            return null;
        });
    }

    @Override
    public CompletionStage<Map<SessionId, SessionRecord>> sessions(Set<SessionId> sessions) {
        return answer(() -> server.living(sessions));
    }

    @Override
    public CompletionStage<Map<SessionId, Duration>> remaining(Set<SessionId> sessions) {
        return answer(() -> server.remaining(sessions));
    }

    @Override
    public void watchSessions(Set<SessionId> sessions) {
        watched = Set.copyOf(sessions);
        Map<SessionId, SessionRecord> living = server.living(sessions);
        sessions.stream().filter(id -> !living.containsKey(id)).forEach(this::ended);
    }

    @Override
    public CompletionStage<Optional<IndexPage>> claims(SessionId session, Optional<String> cursor, int limit) {
        return answer(() -> server.index(session, cursor, limit));
    }

    @Override
    public CompletionStage<Boolean> annotate(ClaimRef claim, long seq, String text) {
        return answer(() -> server.annotate(claim, seq, text));
    }

    @Override
    @SuppressWarnings("NullAway") // a stage of Void has no other value
    public CompletionStage<Void> dropAnnotation(ClaimRef claim) {
        return answer(() -> {
            server.dropAnnotation(claim);
            return null;
        });
    }

    @Override
    public CompletionStage<Map<ClaimRef, String>> annotations(Set<ClaimRef> claims) {
        return answer(() -> server.annotations(claims));
    }

    @Override
    public CompletionStage<History> history(ResourceName resource) {
        return answer(() -> server.history(resource));
    }

    @Override
    public CompletionStage<Boolean> replaceHistory(ResourceName resource, History expected, byte[] content) {
        return answer(() -> server.replaceHistory(resource, expected, content));
    }

    @Override
    public CompletionStage<RegisterPage> list(String prefix, Optional<String> cursor, int limit) {
        return answer(() -> server.list(prefix, cursor, limit));
    }

    @Override
    public CompletionStage<Optional<String>> takeTurn(Duration pause) {
        return answer(() -> server.takeTurn(pause));
    }

    @Override
    @SuppressWarnings("NullAway") // a stage of Void has no other value
    public CompletionStage<Void> endTurn(String cursor) {
        return answer(() -> {
            server.endTurn(cursor);
            return null;
        });
    }

    void delivered(SessionId session, byte[] mail, RecordVersion record) {
        RegisterListener all = listener;
        if (all != null && !isClosed) {
            all.delivered(session, mail, record);
        }
    }

    void ended(SessionId session) {
        RegisterListener all = listener;
        if (all != null && !isClosed && (opened.remove(session) || watched.contains(session))) {
            all.gone(session);
        }
    }

    @Override
    public void close() {
        isClosed = true;
        server.disconnect(this);
    }
}
