package com.example.adapter;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.Arrivals;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.History;
import dev.holdfast.store.register.IndexPage;
import dev.holdfast.store.register.OpenedSession;
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
import java.util.concurrent.CompletionStage;

/** An adapter that leaves it to another to talk to a server. */
public final class OurAdapter implements RegisterAdapter {

    private final RegisterAdapter server;

    public OurAdapter(RegisterAdapter server) {
        this.server = server;
    }

    @Override
    public RegisterTraits traits() {
        return server.traits();
    }

    @Override
    public void listen(RegisterListener listener) {
        server.listen(listener);
    }

    @Override
    public ServerTime time() {
        return server.time();
    }

    @Override
    public Optional<RegisterRecord> guess(ResourceName resource) {
        return server.guess(resource);
    }

    @Override
    public CompletionStage<RegisterRecord> read(ResourceName resource) {
        return server.read(resource);
    }

    @Override
    public CompletionStage<WriteResult> write(ConditionalWrite write) {
        return server.write(write);
    }

    @Override
    public CompletionStage<Optional<Long>> announce(Arrival arrival, Map<SessionId, byte[]> mail) {
        return server.announce(arrival, mail);
    }

    @Override
    public CompletionStage<Arrivals> arrivals(ResourceName resource) {
        return server.arrivals(resource);
    }

    @Override
    public CompletionStage<Void> retract(Arrival arrival) {
        return server.retract(arrival);
    }

    @Override
    public CompletionStage<OpenedSession> openSession(Duration ttl, String label) {
        return server.openSession(ttl, label);
    }

    @Override
    public CompletionStage<OpenedSession> openLease(Duration length) {
        return server.openLease(length);
    }

    @Override
    public CompletionStage<Optional<Long>> keepAlive(SessionId session, long epoch, Duration responseTimeout) {
        return server.keepAlive(session, epoch, responseTimeout);
    }

    @Override
    public CompletionStage<Optional<Long>> raiseEpoch(SessionId session, long epoch) {
        return server.raiseEpoch(session, epoch);
    }

    @Override
    public CompletionStage<Void> closeSession(SessionId session) {
        return server.closeSession(session);
    }

    @Override
    public CompletionStage<Map<SessionId, SessionRecord>> sessions(Set<SessionId> sessions) {
        return server.sessions(sessions);
    }

    @Override
    public CompletionStage<Map<SessionId, Duration>> remaining(Set<SessionId> sessions) {
        return server.remaining(sessions);
    }

    @Override
    public void watchSessions(Set<SessionId> sessions) {
        server.watchSessions(sessions);
    }

    @Override
    public CompletionStage<Optional<IndexPage>> claims(SessionId session, Optional<String> cursor, int limit) {
        return server.claims(session, cursor, limit);
    }

    @Override
    public CompletionStage<Boolean> annotate(ClaimRef claim, long seq, String text) {
        return server.annotate(claim, seq, text);
    }

    @Override
    public CompletionStage<Void> dropAnnotation(ClaimRef claim) {
        return server.dropAnnotation(claim);
    }

    @Override
    public CompletionStage<Map<ClaimRef, String>> annotations(Set<ClaimRef> claims) {
        return server.annotations(claims);
    }

    @Override
    public CompletionStage<History> history(ResourceName resource) {
        return server.history(resource);
    }

    @Override
    public CompletionStage<Boolean> replaceHistory(ResourceName resource, History expected, byte[] content) {
        return server.replaceHistory(resource, expected, content);
    }

    @Override
    public CompletionStage<RegisterPage> list(String prefix, Optional<String> cursor, int limit) {
        return server.list(prefix, cursor, limit);
    }

    @Override
    public CompletionStage<Optional<String>> takeTurn(Duration pause) {
        return server.takeTurn(pause);
    }

    @Override
    public CompletionStage<Void> endTurn(String cursor) {
        return server.endTurn(cursor);
    }

    @Override
    public void close() {
        server.close();
    }
}
