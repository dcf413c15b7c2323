package dev.holdfast.engine.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

/*
 * Polls all claims that wait in the store's queue in one command. A store with signals is polled only when an expiry
 * may have admitted a claim: a passive store does nothing when a holder dies, and a signal may be lost. Other stores
 * are polled at an interval that grows while nothing changes.
 */

/** Polls the waiting claims of a partition. Thread-safe; callers hold no lock of the engine. */
public final class Poller {

    /** The most claims in one command, so that none is too large for a store. */
    private static final int MAX_CLAIMS = 256;

    /** How far the interval grows, as a multiple of the shortest. */
    private static final int MAX_GROWTH = 4;

    private final Partition partition;
    private final ClientContext context;
    private final boolean isPushed;
    private final long shortest;
    private final ReentrantLock lock = new ReentrantLock();

    /**
     * When a claim is polled at the latest.
     *
     * @param from from when on it is polled along with others
     */
    private record Due(long by, long from) {}

    @GuardedBy("lock")
    private final Map<Claim, Due> waiting = new LinkedHashMap<>();

    @GuardedBy("lock")
    private long interval;

    @GuardedBy("lock")
    private boolean isScheduled;

    @GuardedBy("lock")
    private long wakeAt;

    @GuardedBy("lock")
    private Environment.Timer timer = () -> {};

    Poller(Partition partition) {
        this.partition = partition;
        this.context = partition.context;
        this.isPushed = context.traits().has(Feature.PUSH);
        this.shortest = Math.max(1, context.traits().pollEvery().toNanos());
        this.interval = shortest;
    }

    /** Polls a claim that waits in the store's queue. */
    void add(Claim claim, Duration recheckIn) {
        long now = context.clock().now();
        lock.lock();
        try {
            if (claim.beginWaiting()) {
                // A new claim may have to wait only briefly.
                interval = shortest;
            }
            // A recheck never comes before the expiry that it waits for, nor at the same time in all clients.
            long recheck = recheckIn.toNanos() + Jitter.upTo(context.environment(), recheckIn.toNanos() / 8);
            long regular = Jitter.spread(context.environment(), interval);
            long by = now + Math.max(isPushed ? recheck : Math.min(recheck, regular), shortest / 2);
            waiting.put(claim, new Due(by, now + recheckIn.toNanos() / 2));
            schedule(by, now);
        } finally {
            lock.unlock();
        }
    }

    /** Polls a claim that waits in the store's queue, unless it is polled already. */
    public void keep(Claim claim) {
        lock.lock();
        try {
            if (waiting.containsKey(claim)) {
                return;
            }
        } finally {
            lock.unlock();
        }
        add(claim, Duration.ofNanos(shortest * MAX_GROWTH));
    }

    /** Polls all claims now: signals may have been lost. */
    void pollAll() {
        tick(true);
    }

    @GuardedBy("lock")
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
            // A command costs more than the claims in it, so without signals all claims are polled together. With
            // signals, those that would be due soon are polled along, and are due together from then on.
            waiting.entrySet().removeIf(entry -> {
                Claim claim = entry.getKey();
                if (!claim.isQueued()) {
                    return true;
                }
                boolean isDue = isAll || !isPushed || entry.getValue().from() - now <= 0;
                if (isDue) {
                    due.add(claim);
                }
                return isDue;
            });
            interval = Math.min(interval + interval / 2 + 1, shortest * MAX_GROWTH);
            OptionalLong in =
                    waiting.values().stream().mapToLong(each -> each.by() - now).min();
            if (in.isPresent()) {
                schedule(now + in.getAsLong(), now);
            }
        } finally {
            lock.unlock();
        }
        for (int from = 0; from < due.size(); from += MAX_CLAIMS) {
            poll(due.subList(from, Math.min(due.size(), from + MAX_CLAIMS)));
        }
    }

    private void poll(List<Claim> claims) {
        long steps = context.clock().steps();
        Command command = new Command.Poll(claims.stream().map(Claim::ref).toList());
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
                    // One of them is damaged; the others must not wait for it.
                    claims.forEach(claim -> poll(List.of(claim)));
                    return;
                }
                Duration later = Duration.ofNanos(shortest * MAX_GROWTH);
                for (Claim claim : claims) {
                    if (isDamage) {
                        Failsafe.run("ending a wait", () -> partition.driver.deny(claim, failure));
                    }
                    add(claim, later);
                }
                partition.troubled(failure);
            }
        });
    }
}
