package dev.holdfast.engine.local;

import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.FixedLeaseState;
import dev.holdfast.engine.session.Partition;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Changes the fixed lease of a hold. */
public final class LeaseExtension {

    public static final Duration SHORTEST = Duration.ofMillis(200);

    private LeaseExtension() {}

    /** Extends a lease. Waits for the store's answer, and for the end of a doubt. */
    public static void extend(LocalHold hold, Duration lease) {
        check(lease);
        hold.ensureLive();
        Reply reply;
        try {
            reply = Uninterruptibles.uninterruptibly(ask(hold, lease, CallerMode.BLOCKING));
        } catch (ExecutionException e) {
            throw failed(hold, e.getCause());
        }
        noteRemoval(hold, reply);
        hold.ensureLive();
        throwIfLost(hold);
    }

    /** As {@link #extend}, without waiting: a doubt counts as a failure to answer. */
    public static CompletionStage<Void> extendAsync(LocalHold hold, Duration lease) {
        check(lease);
        hold.resource().partition.validity.expireIfDue(hold.claim());
        throwIfLost(hold);
        if (!hold.isLive()) {
            throw unanswered(hold, null);
        }
        return ask(hold, lease, CallerMode.ASYNC).handle((reply, failure) -> {
            if (failure != null) {
                throw failed(hold, failure);
            }
            noteRemoval(hold, reply);
            hold.resource().partition.validity.expireIfDue(hold.claim());
            throwIfLost(hold);
            return null;
        });
    }

    private static void check(Duration lease) {
        if (lease.compareTo(SHORTEST) < 0 || lease.compareTo(Command.MAX_DURATION) > 0) {
            throw new IllegalArgumentException("A lease must be " + DurationFormat.format(SHORTEST) + " to "
                    + DurationFormat.format(Command.MAX_DURATION) + ", but was " + DurationFormat.format(lease));
        }
    }

    private static CompletableFuture<Reply> ask(LocalHold hold, Duration lease, CallerMode caller) {
        Claim grant = hold.claim();
        Partition partition = hold.resource().partition;
        FixedLeaseState fixedLease =
                Objects.requireNonNull(grant.fixedLease, "only a hold with a fixed lease can be extended");
        ClientContext context = partition.context;
        long margin = context.rules().margin(lease.toNanos(), partition.wire.p99RoundTrip());
        long seq;
        grant.lock().lock();
        try {
            // Before the command is sent: from then on the store may count the shorter lease.
            fixedLease.endBy(context.clock().now() + lease.toNanos() - margin);
            seq = fixedLease.beginExtension(lease.toNanos());
        } finally {
            grant.lock().unlock();
        }
        partition.validity.watchLease(grant, fixedLease);
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        long steps = context.clock().steps();
        // A retry has the same number, so it takes effect once, and has the same answer.
        long within = context.options().storeTimeout().toNanos();
        Command extend = new Command.Extend(grant.ref(), seq, lease);
        partition.wire.sendWithin(extend, caller, within, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                if (reply instanceof Reply.Extended extended && extended.seq() == seq) {
                    extended(
                            partition,
                            grant,
                            fixedLease,
                            seq,
                            lease,
                            context.rules()
                                    .deadline(
                                            sentAt,
                                            context.clock().now(),
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
            Partition partition,
            Claim grant,
            FixedLeaseState fixedLease,
            long seq,
            Duration lease,
            long deadline,
            long steps) {
        ClientContext context = partition.context;
        grant.lock().lock();
        try {
            // An answer after the deadline does not restore what was lost.
            if (fixedLease.isNewestExtension(seq)
                    && grant.isHeld()
                    && context.rules().mayRenew(context.clock().now(), fixedLease.deadline())) {
                fixedLease.endAt(deadline);
                fixedLease.endExtension(lease.toNanos(), context.clock().now(), grant.session.goneAt());
                fixedLease.clearDoubt(steps);
            }
        } finally {
            grant.lock().unlock();
        }
        partition.validity.watchLease(grant, fixedLease);
    }

    private static void noteRemoval(LocalHold hold, Reply reply) {
        if (reply instanceof Reply.Absent) {
            hold.claim().expire(Loss.Cause.REMOVED);
        }
    }

    private static void throwIfLost(LocalHold hold) {
        Loss loss = hold.loss();
        if (loss != null) {
            throw new LockLostException(loss);
        }
    }

    private static RuntimeException failed(LocalHold hold, @Nullable Throwable cause) {
        ClientContext context = hold.resource().partition.context;
        if (context.isClosing()) {
            throwIfLost(hold);
            return context.failures().closed();
        }
        return unanswered(hold, cause);
    }

    private static StoreUnavailableException unanswered(LocalHold hold, @Nullable Throwable cause) {
        String store = hold.resource().partition.context.product();
        return new StoreUnavailableException(
                "The lease of '" + hold.name() + "' (token " + hold.rawToken()
                        + ") may or may not have been changed: the store " + store
                        + " did not answer. Rely on the earlier of the two ends.",
                hold.name(),
                store,
                cause);
    }
}
