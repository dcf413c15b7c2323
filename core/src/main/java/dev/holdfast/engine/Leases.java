package dev.holdfast.engine;

import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Changes the lease of a hold that has one of its own. */
final class Leases {

    static final Duration SHORTEST = Duration.ofMillis(200);

    private Leases() {}

    /** Waits for the store's answer, and for the end of a doubt. */
    static void extend(Engine engine, LocalHold hold, Duration lease) {
        check(lease);
        hold.ensureLive();
        Reply reply;
        try {
            reply = Waits.uninterruptibly(ask(engine, hold, lease, Caller.WAITS));
        } catch (ExecutionException e) {
            throw failed(engine, hold, e.getCause());
        }
        noteRemoval(hold, reply);
        hold.ensureLive();
        throwIfLost(hold);
    }

    /** As {@link #extend}, for who can't wait: a doubt counts as a failure to answer. */
    static CompletionStage<Void> extendAsync(Engine engine, LocalHold hold, Duration lease) {
        check(lease);
        engine.lookAt(hold.grant);
        throwIfLost(hold);
        if (!hold.isLive()) {
            throw unanswered(engine, hold, null);
        }
        return ask(engine, hold, lease, Caller.GOES_ON).handle((reply, failure) -> {
            if (failure != null) {
                throw failed(engine, hold, failure);
            }
            noteRemoval(hold, reply);
            engine.lookAt(hold.grant);
            throwIfLost(hold);
            return null;
        });
    }

    private static void check(Duration lease) {
        if (lease.compareTo(SHORTEST) < 0 || lease.compareTo(Command.MAX_DURATION) > 0) {
            throw new IllegalArgumentException(
                    "A lease must be " + SHORTEST + " to " + Command.MAX_DURATION + ", but was " + lease);
        }
    }

    private static CompletableFuture<Reply> ask(Engine engine, LocalHold hold, Duration lease, Caller caller) {
        Claim grant = hold.grant;
        OwnLease own = Objects.requireNonNull(grant.own, "only a hold with a lease of its own is extendable");
        long margin = engine.rules.margin(lease.toNanos(), grant.gate.part.wire.p99RoundTrip());
        long seq;
        grant.gate.lock.lock();
        try {
            seq = ++own.extensions;
            // Before it is sent: from then on the store may count the shorter lease.
            long shortened = engine.clock.now() + lease.toNanos() - margin;
            if (shortened - own.deadline < 0) {
                own.deadline = shortened;
            }
            own.extend(lease.toNanos());
        } finally {
            grant.gate.lock.unlock();
        }
        engine.watchLease(grant, own);
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        long steps = engine.clock.steps();
        grant.gate.part.wire.send(new Command.Extend(grant.ref, seq, lease), caller, new Wire.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                if (reply instanceof Reply.Extended extended && extended.seq() == seq) {
                    extended(
                            engine,
                            grant,
                            own,
                            seq,
                            lease,
                            engine.rules.deadline(
                                    sentAt,
                                    engine.clock.now(),
                                    extended.remaining().toNanos(),
                                    margin),
                            steps);
                }
                answer.complete(reply);
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                answer.completeExceptionally(failure);
            }
        });
        return answer;
    }

    private static void extended(
            Engine engine, Claim grant, OwnLease own, long seq, Duration lease, long deadline, long steps) {
        grant.gate.lock.lock();
        try {
            boolean isNewest = seq == own.extensions;
            // An answer that comes after the deadline does not bring back what was lost.
            if (isNewest
                    && grant.state == Claim.State.HELD
                    && engine.rules.mayRenew(engine.clock.now(), own.deadline)) {
                own.deadline = deadline;
                own.extended(lease.toNanos(), engine.clock.now(), grant.session);
                own.clearedSteps = Math.max(own.clearedSteps, steps);
            }
        } finally {
            grant.gate.lock.unlock();
        }
        engine.watchLease(grant, own);
    }

    private static void noteRemoval(LocalHold hold, Reply reply) {
        if (reply instanceof Reply.Absent) {
            hold.gate.end(hold.grant, Loss.Cause.REMOVED);
        }
    }

    private static void throwIfLost(LocalHold hold) {
        Loss loss = hold.loss();
        if (loss != null) {
            throw new LockLostException(loss);
        }
    }

    private static RuntimeException failed(Engine engine, LocalHold hold, @Nullable Throwable cause) {
        if (engine.isClosing()) {
            throwIfLost(hold);
            return engine.failures.closed();
        }
        return unanswered(engine, hold, cause);
    }

    private static StoreUnavailableException unanswered(Engine engine, LocalHold hold, @Nullable Throwable cause) {
        return new StoreUnavailableException(
                "The lease of '" + hold.name() + "' (token " + hold.rawToken()
                        + ") may or may not have been changed: the store " + engine.product()
                        + " did not answer. The earlier of both ends counts.",
                hold.name(),
                engine.product(),
                cause);
    }
}
