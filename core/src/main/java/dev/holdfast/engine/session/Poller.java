package dev.holdfast.engine.session;

import dev.holdfast.Environment;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.time.Jitter;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/*
 * Asks after the claims that wait in the store's queue, all in one command. A store that pushes is asked only when an
 * expiry may have let a claim in, for nothing runs in a passive store when a holder dies, and a push may be lost;
 * another at an interval that grows while nothing happens.
 */

/** Polls the waiting claims of a partition. Thread-safe; callers hold no lock of the engine. */
public final class Poller {

    /** More claims than this are asked for in several commands, so that none is too large for a store. */
    private static final int MAX_CLAIMS = 256;

    /** How far the interval grows, as a multiple of the shortest. */
    private static final int MAX_GROWTH = 4;

    private final Partition partition;
    private final ClientContext context;
    private final boolean isPushed;
    private final long shortest;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private final Set<Claim> waiting = new LinkedHashSet<>();
    private long interval;
    private boolean isScheduled;
    private long wakeAt;
    private Environment.Timer timer = () -> {};

    Poller(Partition partition) {
        this.partition = partition;
        this.context = partition.context;
        this.isPushed = context.traits().has(Feature.PUSH);
        this.shortest = Math.max(1, context.traits().pollEvery().toNanos());
        this.interval = shortest;
    }

    /** Takes a claim that waits in the store's queue. */
    void add(Claim claim, Duration recheckIn) {
        long now = context.clock().now();
        lock.lock();
        try {
            if (claim.pollBy == 0) {
                // New in the queue: what it waits for may be short.
                interval = shortest;
            }
            // A poll for its own sake never comes before the expiry that it waits for, nor with those of all clients.
            long recheck = recheckIn.toNanos() + Jitter.upTo(context.environment(), recheckIn.toNanos() / 8);
            long regular = Jitter.spread(context.environment(), interval);
            claim.pollBy = now + Math.max(isPushed ? recheck : Math.min(recheck, regular), shortest / 2);
            claim.pollFrom = now + recheckIn.toNanos() / 2;
            waiting.add(claim);
            schedule(claim.pollBy, now);
        } finally {
            lock.unlock();
        }
    }

    /** Sees to it that a claim is polled that waits in the store's queue, whatever has come in between. */
    public void keep(Claim claim) {
        lock.lock();
        try {
            if (waiting.contains(claim)) {
                return;
            }
        } finally {
            lock.unlock();
        }
        add(claim, Duration.ofNanos(shortest * MAX_GROWTH));
    }

    /** Polls all at once: pushes may have been missed. */
    void pollAll() {
        tick(true);
    }

    private void schedule(long at, long now) {
        if (isScheduled && wakeAt - at <= 0) {
            return;
        }
        timer.cancel();
        isScheduled = true;
        wakeAt = at;
        timer = context.environment().schedule(at - now, () -> tick(false));
    }

    private void tick(boolean isAll) {
        List<Claim> due = new ArrayList<>();
        lock.lock();
        try {
            isScheduled = false;
            long now = context.clock().now();
            // One command costs as much as many claims in it, so without pushes all go together. With pushes those go
            // along that would be due before long: from then on they are due together.
            waiting.removeIf(claim -> {
                if (claim.state != Claim.State.QUEUED) {
                    return true;
                }
                boolean isDue = isAll || !isPushed || claim.pollFrom - now <= 0;
                if (isDue) {
                    due.add(claim);
                }
                return isDue;
            });
            interval = Math.min(interval + interval / 2 + 1, shortest * MAX_GROWTH);
            waiting.stream().mapToLong(claim -> claim.pollBy - now).min().ifPresent(in -> schedule(now + in, now));
        } finally {
            lock.unlock();
        }
        for (int from = 0; from < due.size(); from += MAX_CLAIMS) {
            poll(due.subList(from, Math.min(due.size(), from + MAX_CLAIMS)));
        }
    }

    private void poll(List<Claim> claims) {
        long steps = context.clock().steps();
        Command command =
                new Command.Poll(claims.stream().map(claim -> claim.ref).toList());
        partition.wire.send(command, CallerMode.ASYNC, new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                if (!(reply instanceof Reply.Polled polled) || polled.states().size() != claims.size()) {
                    failure(ProtocolViolation.reply(reply), sentAt);
                    return;
                }
                for (int i = 0; i < claims.size(); i++) {
                    Claim claim = claims.get(i);
                    Reply.ClaimReply state = polled.states().get(i);
                    if (Failsafe.run("a poll", () -> partition.driver.take(claim, state, sentAt, steps)) != null) {
                        add(claim, Duration.ofNanos(shortest * MAX_GROWTH));
                    }
                }
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                boolean isDamage = failure.reason() == StoreException.Reason.CORRUPT;
                if (isDamage && claims.size() > 1) {
                    // One of them is to blame, and the others shall not wait for it.
                    claims.forEach(claim -> poll(List.of(claim)));
                    return;
                }
                Duration later = Duration.ofNanos(shortest * MAX_GROWTH);
                for (Claim claim : claims) {
                    if (isDamage) {
                        Failsafe.run("the end of waiting", () -> partition.driver.deny(claim, failure));
                    }
                    add(claim, later);
                }
                partition.troubled(failure);
            }
        });
    }
}
