package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.Arrivals;
import dev.holdfast.store.register.ConditionalWrite;
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
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * A client's connection to a register, over a network that delays, loses and reorders what is sent: a request that its
 * sender has given up on may be carried out much later, and pushes may never come.
 */
final class SimRegister implements RegisterAdapter {

    private final RegisterRun run;
    private final SimProcess process;
    private final Dice dice;
    private final MemoryAdapter server;
    private boolean isClosed;

    SimRegister(RegisterRun run, SimProcess process, Dice dice) {
        this.run = run;
        this.process = process;
        this.dice = dice;
        this.server = run.server.connect();
    }

    /** Sends a request; {@code lost} is what its sender is told of its effect if no answer comes. */
    private <T> CompletionStage<T> send(Effect lost, Supplier<CompletionStage<T>> request) {
        CompletableFuture<T> future = new Heard<>(run.world);
        if (isClosed) {
            future.completeExceptionally(new StoreException(Reason.CLOSED, Effect.NONE, "it is closed", null));
            return future;
        }
        Weather weather = run.weather;
        process.after(
                run.patience,
                () -> future.completeExceptionally(
                        new StoreException(Reason.UNAVAILABLE, lost, "no answer within the time", null)));
        if (dice.chance(weather.requestLoss())) {
            if (dice.chance(weather.lateCopy())) {
                // Outside of the process: what is on its way arrives, whatever becomes of its sender.
                run.world.after(weather.longDelay(dice), () -> {
                    var unused = request.get();
                });
            }
            return future;
        }
        long work = lost == Effect.NONE ? 0 : run.writeTime();
        run.world.after(weather.delay(dice) + run.distance(process) + work, () -> {
            CompletableFuture<T> answer = request.get().toCompletableFuture();
            if (!dice.chance(weather.replyLoss())) {
                run.world.after(
                        weather.replyDelay(dice) + run.distance(process),
                        process,
                        () -> answer.whenComplete((result, failure) -> {
                            if (failure == null) {
                                future.complete(result);
                            }
                        }));
            }
        });
        return future;
    }

    private void push(Runnable what) {
        if (!dice.chance(run.weather.signalLoss())) {
            run.world.after(run.weather.delay(dice) + run.distance(process), process, what);
        }
    }

    @Override
    public RegisterTraits traits() {
        return server.traits();
    }

    @Override
    public void listen(RegisterListener listener) {
        server.listen(new RegisterListener() {
            @Override
            public void delivered(SessionId session, byte[] mail, RecordVersion record) {
                push(() -> listener.delivered(session, mail, record));
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
        return server.time();
    }

    @Override
    public Optional<RegisterRecord> guess(ResourceName resource) {
        return server.guess(resource);
    }

    @Override
    public CompletionStage<RegisterRecord> read(ResourceName resource) {
        return send(Effect.NONE, () -> server.read(resource).thenApply(run.rules::told));
    }

    @Override
    public CompletionStage<WriteResult> write(ConditionalWrite write) {
        return send(Effect.UNKNOWN, () -> {
            run.server.expire();
            return CompletableFuture.completedFuture(run.rules.told(run.rules.write(run.server, write)));
        });
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
                        .thenApply(seen -> new Arrivals(seen.waiting(), run.rules.told(seen.record()))));
    }

    @Override
    public CompletionStage<Void> retract(Arrival arrival) {
        return send(Effect.UNKNOWN, () -> server.retract(arrival));
    }

    @Override
    public CompletionStage<OpenedSession> openSession(Duration ttl, String label) {
        return send(Effect.UNKNOWN, () -> server.openSession(ttl, label));
    }

    @Override
    public CompletionStage<OpenedSession> openLease(Duration length) {
        return send(Effect.UNKNOWN, () -> server.openLease(length));
    }

    @Override
    public CompletionStage<Optional<Long>> keepAlive(SessionId session, long epoch, Duration patience) {
        return send(Effect.UNKNOWN, () -> server.keepAlive(session, epoch, patience));
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
    public void watch(Set<SessionId> sessions) {
        run.world.after(run.weather.delay(dice), () -> server.watch(sessions));
    }

    @Override
    public CompletionStage<Optional<IndexPage>> claims(SessionId session, Optional<String> cursor, int limit) {
        return send(Effect.NONE, () -> server.claims(session, cursor, limit));
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
