package dev.holdfast.engine.session;

import dev.holdfast.Environment;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.time.ElapsedClock;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/*
 * Releases, withdrawals and retirements are sent until they are answered, or until the session has certainly ended at
 * the store: a release that is not retried leaves a lock that its own live session renews for ever. These commands are
 * harmless when late, so retrying them is safe.
 */

/**
 * Retries the commands that end claims and sessions until they are settled. Thread-safe; callers hold no lock of the
 * engine.
 */
public final class ReleaseRetrier {

    /** Receives the end of a settlement. Called once, without any lock. */
    @FunctionalInterface
    public interface Done {
        /**
         * It is settled.
         *
         * @param reply the store's answer; null if the session has certainly ended without one
         * @param sending which sending it answers: an earlier one may have caused the answer to a repeated one
         */
        void settled(@Nullable Reply reply, Sending sending);

        /** A sending has failed, and is retried. */
        default void delayed(StoreException failure) {}
    }

    /** Ignores the end of a settlement. */
    public static final Done NOBODY = (reply, sending) -> {};

    private final CommandSender wire;
    private final Environment environment;
    private final ElapsedClock clock;
    private final Map<ClaimRef, Pending> pending = new ConcurrentHashMap<>();

    /**
     * A claim that is to be ended.
     *
     * @param movedAt when it was announced, sent or answered last
     */
    private record Pending(Command command, long movedAt) {}

    /** How the client's close ended; null before that. Afterwards nothing is sent. */
    private volatile @Nullable Closing closing;

    private final AtomicLong numbers = new AtomicLong();

    /** Retries that wait for their time, by number. */
    private final Map<Long, Runnable> waiting = new ConcurrentHashMap<>();

    /**
     * How a client's close ended.
     *
     * @param ended the session that the store has ended, and all that it held with it; null if the store has not
     *     answered, or there was none. Other claims that are left there end with their leases.
     */
    private record Closing(@Nullable Session ended) {}

    ReleaseRetrier(CommandSender wire, Environment environment, ElapsedClock clock) {
        this.wire = wire;
        this.environment = environment;
        this.clock = clock;
    }

    /** Whether the end of this claim is in flight, so its presence at the store is no surprise. */
    boolean isPending(ClaimRef claim) {
        return pending.containsKey(claim);
    }

    /** Whether a claim is to be ended, but no command was sent or answered since a time. */
    boolean isForgotten(ClaimRef claim, long since) {
        Pending present = pending.get(claim);
        return present != null && present.movedAt - since < 0;
    }

    /** Whether nothing is to be ended. */
    boolean isIdle() {
        return pending.isEmpty() && waiting.isEmpty();
    }

    /** Notes the end of a claim before the resource forgets it; {@link #settle} follows. */
    public void announce(Command.OnClaim command) {
        pending.put(command.claim(), new Pending(command, clock.now()));
    }

    /** An announced end is no longer needed: the claim was never made, or has ended with its session. */
    public void retract(ClaimRef claim) {
        pending.remove(claim);
    }

    public void settle(Command command, Session session, CallerMode caller, Done done) {
        settle(command, session, null, caller, done);
    }

    /**
     * As {@link #settle(Command, Session, CallerMode, Done)}.
     *
     * @param outliving the lease of a claim that may outlive its session; null for all others
     */
    public void settle(
            Command command, Session session, @Nullable FixedLeaseState outliving, CallerMode caller, Done done) {
        if (session.state() == Session.State.ABANDONED
                && command instanceof Command.Withdraw withdraw
                && withdraw.outcome() == Sending.REPEAT) {
            // Until the session is retired, the claim may still be in flight, and would arrive after its withdrawal.
            session.afterRetirement(() -> attempt(command, session, outliving, CallerMode.ASYNC, 0, done));
        } else {
            attempt(command, session, outliving, caller, 0, done);
        }
    }

    /**
     * The client is closed: nothing more is sent, and what is not settled yet ends now.
     *
     * @param ended the session that the store has ended for that; null if it has not answered, or there was none
     */
    void stop(@Nullable Session ended) {
        closing = new Closing(ended);
        waiting.keySet().forEach(this::retryNow);
    }

    /** Ends a session that is not used. Sent once: without an answer, the session ends with its ttl. */
    void closeOrphan(SessionId session) {
        if (closing != null) {
            return;
        }
        wire.send(new Command.CloseSession(session), CallerMode.ASYNC, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {}

            @Override
            public void failure(StoreException failure, long sentAt) {}
        });
    }

    private void attempt(
            Command command,
            Session session,
            @Nullable FixedLeaseState outliving,
            CallerMode caller,
            int failures,
            Done done) {
        Closing how = closing;
        if (how != null) {
            stopped(command, session, outliving, done, how);
            return;
        }
        if (command instanceof Command.OnClaim onClaim) {
            pending.computeIfPresent(onClaim.claim(), (claim, old) -> new Pending(old.command, clock.now()));
        }
        wire.send(command, caller, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                finish(command, done, reply, failures == 0 ? Sending.FIRST : Sending.REPEAT);
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                Closing ended = closing;
                if (ended != null) {
                    stopped(command, session, outliving, done, ended);
                    return;
                }
                if (isOver(session, outliving)) {
                    finish(command, done, null, Sending.REPEAT);
                    return;
                }
                Failsafe.run("reporting a delayed release", () -> done.delayed(failure));
                if (failure.reason() == StoreException.Reason.CLOSED) {
                    finish(command, done, null, Sending.REPEAT);
                    return;
                }
                later(
                        Backoff.RESEND.pause(environment, failures),
                        () -> attempt(command, session, outliving, CallerMode.ASYNC, failures + 1, done));
            }
        });
    }

    /** Retries after a delay, or when the client is closed if that is earlier: its timers end with it. */
    private void later(long delay, Runnable attempt) {
        Long number = numbers.incrementAndGet();
        waiting.put(number, attempt);
        environment.schedule(delay, () -> retryNow(number));
        if (closing != null) {
            retryNow(number);
        }
    }

    private void retryNow(Long number) {
        Runnable attempt = waiting.remove(number);
        if (attempt != null) {
            attempt.run();
        }
    }

    /** Whether nothing can be left at the store, by the clock alone. */
    private boolean isOver(Session session, @Nullable FixedLeaseState outliving) {
        long now = clock.now();
        return outliving == null ? session.isOverByNow(now) : outliving.isOverBy(now, session.goneAt());
    }

    private void stopped(
            Command command, Session session, @Nullable FixedLeaseState outliving, Done done, Closing how) {
        // The end of a session ends no claim of an earlier one, and none that outlives it.
        boolean hasEnded = outliving == null && session == how.ended;
        if (!hasEnded && !isOver(session, outliving)) {
            done.delayed(new StoreException(
                    StoreException.Reason.CLOSED,
                    StoreException.Effect.NONE,
                    "this client was closed before the store confirmed the release",
                    null));
        }
        finish(command, done, null, Sending.REPEAT);
    }

    private void finish(Command command, Done done, @Nullable Reply reply, Sending sending) {
        if (command instanceof Command.OnClaim onClaim) {
            // Nearly always the same object. The first comparison of records links code that a short command pays for.
            pending.computeIfPresent(
                    onClaim.claim(),
                    (claim, old) -> old.command == command || old.command.equals(command) ? null : old);
        }
        // An exception of the receiver does not put the answer in doubt.
        Failsafe.run("reporting the end of a claim", () -> done.settled(reply, sending));
    }
}
