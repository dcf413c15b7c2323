package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
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
import dev.holdfast.store.register.memory.MemoryAdapter;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection to a register, over a network that delays, loses and reorders messages: an abandoned request
 * may be executed much later, and pushes may never arrive.
 *
 * <p>The server does no more than it must: it keeps a session from the time when a keep-alive was sent, and returns
 * its time with replies to writes only. The client knows its clock within bounds, which late replies widen.
 */
final class SimRegister implements RegisterAdapter {

    /** Clocks of machines run apart by less than one part in this many. */
    private static final long MOST_DRIFT = 8;

    /** How coarse the clocks of a client are that run on while its machine sleeps. */
    private static final long CLOCK_GRAIN_MICROS = 11_000;

    private final RegisterRun run;
    private final SimProcess process;
    private final SeededRandom random;
    private final MemoryAdapter server;
    private final SimEnvironment environment;
    private final Map<SessionId, Renewal> sessions = new HashMap<>();
    private @Nullable RegisterListener listener;
    private Sample sample;

    /** The claims whose index entries this client wrote last. */
    private final Set<ClaimRef> written = new LinkedHashSet<>();

    /** Until when nothing that the client sends arrives, nor anything that it is sent. */
    private long lostUntil;

    private boolean isClosed;

    /**
     * A session of this client.
     *
     * @param newest when the newest keep-alive that has arrived was sent, by the server's clock
     * @param isShort whether the server keeps it for a quarter of its ttl
     */
    private record Renewal(long newest, boolean isShort) {}

    /** The clocks of the client's machine. */
    private record Clocks(long monotonic, long boot, long wallMillis) {}

    /** The server's time, from a reply. */
    private record Sample(long micros, Clocks sent, Clocks answered) {}

    SimRegister(RegisterRun run, SimProcess process, SimEnvironment environment, SeededRandom random) {
        this.run = run;
        this.process = process;
        this.environment = environment;
        this.random = random;
        this.server = run.server.connect();
        this.sample = new Sample(run.server.micros(), clocks(), clocks());
    }

    private Clocks clocks() {
        return new Clocks(environment.monotonicNanos(), environment.bootNanos(), environment.wallMillis());
    }

    /** Sends a request; {@code lost} is the effect that its sender assumes without a reply. */
    private <T> CompletionStage<T> send(Effect lost, Supplier<CompletionStage<T>> request) {
        CompletableFuture<T> future = new CheckedFuture<>(run.world);
        if (isClosed) {
            future.completeExceptionally(new StoreException(Reason.CLOSED, Effect.NONE, "it is closed", null));
            return future;
        }
        NetworkConditions network = run.network;
        process.after(
                run.patience,
                () -> future.completeExceptionally(
                        new StoreException(Reason.UNAVAILABLE, lost, "no answer within the time", null)));
        if (isLost() || random.chance(network.requestLoss())) {
            if (!isLost() && random.chance(network.lateCopy())) {
                // Outside the process: a message under way arrives, whatever happens to its sender.
                run.world.after(network.longDelay(random), () -> {
                    var unused = request.get();
                });
            }
            return future;
        }
        boolean isWrite = lost == Effect.UNKNOWN;
        Clocks sent = clocks();
        run.world.after(network.delay(random) + run.distance(process) + (isWrite ? run.writeTime() : 0), () -> {
            CompletableFuture<T> answer = request.get().toCompletableFuture();
            long micros = run.server.micros();
            if (!random.chance(network.replyLoss())) {
                run.world.after(
                        network.replyDelay(random) + run.distance(process) + (isWrite ? run.answerDelay() : 0),
                        process,
                        () -> answer.whenComplete((result, failure) -> {
                            if (failure == null && !isLost()) {
                                if (isWrite) {
                                    sample = new Sample(micros, sent, clocks());
                                }
                                future.complete(result);
                            }
                        }));
            }
        });
        return future;
    }

    private void push(Runnable what) {
        if (!random.chance(run.network.signalLoss())) {
            run.world.after(run.network.delay(random) + run.distance(process), process, () -> {
                if (!isLost()) {
                    what.run();
                }
            });
        }
    }

    private boolean isLost() {
        return !run.isCalm && run.world.now() < lostUntil;
    }

    private void lose(long nanos) {
        lostUntil = Math.max(lostUntil, run.world.now() + nanos);
    }

    @Override
    public RegisterTraits traits() {
        return server.traits();
    }

    @Override
    public void listen(RegisterListener listener) {
        this.listener = listener;
        server.listen(new RegisterListener() {
            @Override
            public void delivered(SessionId session, byte[] mail, RecordVersion record) {
                push(() -> listener.delivered(session, mail, run.rules.mailed(record)));
            }

            @Override
            public void gone(SessionId session) {
                push(() -> listener.gone(session));
            }

            @Override
            public void resubscribed() {
                push(listener::resubscribed);
            }
        });
    }

    @Override
    public ServerTime time() {
        if (traits().clock() == RegisterTraits.Clock.REVISIONS) {
            return ServerTime.NONE;
        }
        Clocks now = clocks();
        long least = (now.monotonic() - sample.answered().monotonic()) / 1_000;
        long most = Math.max(
                Math.max(
                                now.monotonic() - sample.sent().monotonic(),
                                now.boot() - sample.sent().boot())
                        / 1_000,
                1_000 * (now.wallMillis() - sample.sent().wallMillis()));
        return run.rules.altered(new ServerTime(
                sample.micros() + least - least / MOST_DRIFT,
                sample.micros() + most + most / MOST_DRIFT + CLOCK_GRAIN_MICROS));
    }

    /**
     * The client has another connection, by which the server keeps its sessions for a quarter of what it had said: they
     * have to end before that.
     */
    void shorten() {
        if (!process.isRunning()) {
            return;
        }
        for (SessionId id : List.copyOf(sessions.keySet())) {
            if (run.rules.endsShortened()) {
                sessions.remove(id);
                run.server.close(id);
                if (listener != null) {
                    listener.gone(id);
                }
            } else {
                sessions.computeIfPresent(id, (same, renewal) -> new Renewal(renewal.newest(), true));
                run.server.shorten(id);
            }
        }
        lose(2 * run.plan.ttl);
    }

    @Override
    public Optional<RegisterRecord> guess(ResourceName resource) {
        return server.guess(resource);
    }

    /** As on the server with this kind of clock. */
    @Override
    public Optional<CompletionStage<RegisterRecord>> peek(ResourceName resource) {
        return traits().clock() == RegisterTraits.Clock.WALL ? Optional.of(read(resource)) : Optional.empty();
    }

    @Override
    public CompletionStage<RegisterRecord> read(ResourceName resource) {
        return send(Effect.NONE, () -> server.read(resource).thenApply(run.rules::altered));
    }

    @Override
    public CompletionStage<WriteResult> write(ConditionalWrite write) {
        return send(Effect.UNKNOWN, () -> {
            run.server.expire();
            boolean isOld = isOld(write);
            WriteResult result = run.rules.write(run.server, write);
            if (isOld && result instanceof WriteResult.Written) {
                run.world.fail(Rule.NOTHING_OLD, process + " wrote " + write.resource() + " under an old epoch");
            }
            if (result instanceof WriteResult.Written) {
                write.index().forEach(change -> run.wroteEntry(this, change.claim()));
            }
            return CompletableFuture.completedFuture(run.rules.altered(result));
        });
    }

    /** Notes which client wrote the index entry of a claim last. */
    void wroteEntry(ClaimRef claim, boolean isThis) {
        if (isThis) {
            written.add(claim);
        } else {
            written.remove(claim);
        }
    }

    /** Its client has ended for the server, if it is dead: what it owns there goes. */
    void endIfDead() {
        if (process.isDead()) {
            written.forEach(run.server::removeEntry);
            written.clear();
        }
    }

    /** Whether a session has a higher epoch than a write of its commands. */
    private boolean isOld(ConditionalWrite write) {
        Map<SessionId, SessionRecord> living =
                server.sessions(write.writers().keySet()).toCompletableFuture().join();
        return living.entrySet().stream()
                .anyMatch(session ->
                        session.getValue().epoch() > write.writers().getOrDefault(session.getKey(), Long.MAX_VALUE));
    }

    @Override
    public CompletionStage<Optional<Long>> announce(Arrival arrival, Map<SessionId, byte[]> mail) {
        return send(Effect.UNKNOWN, () -> server.announce(arrival, mail));
    }

    @Override
    public CompletionStage<Arrivals> arrivals(ResourceName resource) {
        return send(
                Effect.NONE,
                () -> server.arrivals(resource)
                        .thenApply(seen -> new Arrivals(seen.waiting(), run.rules.altered(seen.record()))));
    }

    @Override
    public CompletionStage<Void> retract(Arrival arrival) {
        return send(Effect.UNKNOWN, () -> server.retract(arrival));
    }

    @Override
    public CompletionStage<OpenedSession> openSession(Duration ttl, String label) {
        long sent = run.server.micros();
        return send(
                Effect.UNKNOWN,
                () -> server.openSession(ttl, label).thenApply(opened -> {
                    sessions.put(opened.id(), new Renewal(sent, false));
                    return opened;
                }));
    }

    @Override
    public CompletionStage<OpenedSession> openLease(Duration length) {
        return send(Effect.UNKNOWN, () -> server.openLease(length));
    }

    @Override
    public CompletionStage<Optional<Long>> keepAlive(SessionId session, long epoch, Duration responseTimeout) {
        long sent = run.server.micros();
        return send(Effect.UNKNOWN, () -> CompletableFuture.completedFuture(renew(session, epoch, sent)))
                .whenComplete((present, failure) -> {
                    if (failure == null) {
                        lose(run.followerLoss());
                    }
                });
    }

    private Optional<Long> renew(SessionId session, long epoch, long sent) {
        run.server.expire();
        Renewal before = sessions.getOrDefault(session, new Renewal(sent, false));
        sessions.put(session, new Renewal(Math.max(sent, before.newest()), before.isShort()));
        return run.server.renew(session, epoch, opened -> {
            long ttl = opened.ttl().toNanos() / 1_000;
            return run.rules.renewedFrom(sent, before.newest()) + (before.isShort() ? ttl / 4 : ttl);
        });
    }

    @Override
    public CompletionStage<Optional<Long>> raiseEpoch(SessionId session, long epoch) {
        return send(Effect.UNKNOWN, () -> server.raiseEpoch(session, epoch));
    }

    @Override
    public CompletionStage<Void> closeSession(SessionId session) {
        return send(Effect.UNKNOWN, () -> server.closeSession(session));
    }

    @Override
    public CompletionStage<Map<SessionId, SessionRecord>> sessions(Set<SessionId> sessions) {
        return send(Effect.NONE, () -> server.sessions(sessions));
    }

    @Override
    public CompletionStage<Map<SessionId, Duration>> remaining(Set<SessionId> sessions) {
        return send(Effect.NONE, () -> server.remaining(sessions));
    }

    @Override
    public void watchSessions(Set<SessionId> sessions) {
        run.world.after(run.network.delay(random), () -> server.watchSessions(sessions));
    }

    @Override
    public CompletionStage<Optional<IndexPage>> claims(SessionId session, Optional<String> cursor, int limit) {
        return send(Effect.NONE, () -> server.claims(session, cursor, limit));
    }

    @Override
    public CompletionStage<Boolean> annotate(ClaimRef claim, long seq, String text) {
        return send(Effect.UNKNOWN, () -> server.annotate(claim, seq, text));
    }

    @Override
    public CompletionStage<Void> dropAnnotation(ClaimRef claim) {
        return send(Effect.UNKNOWN, () -> server.dropAnnotation(claim));
    }

    @Override
    public CompletionStage<Map<ClaimRef, String>> annotations(Set<ClaimRef> claims) {
        return send(Effect.NONE, () -> server.annotations(claims));
    }

    @Override
    public CompletionStage<History> history(ResourceName resource) {
        return send(Effect.NONE, () -> server.history(resource));
    }

    @Override
    public CompletionStage<Boolean> replaceHistory(ResourceName resource, History expected, byte[] content) {
        return send(Effect.UNKNOWN, () -> server.replaceHistory(resource, expected, content));
    }

    @Override
    public CompletionStage<RegisterPage> list(String prefix, Optional<String> cursor, int limit) {
        return send(Effect.NONE, () -> server.list(prefix, cursor, limit));
    }

    @Override
    public CompletionStage<Optional<String>> takeTurn(Duration pause) {
        return send(Effect.UNKNOWN, () -> server.takeTurn(pause));
    }

    @Override
    public CompletionStage<Void> endTurn(String cursor) {
        return send(Effect.UNKNOWN, () -> server.endTurn(cursor));
    }

    @Override
    public void close() {
        isClosed = true;
        server.close();
    }
}
