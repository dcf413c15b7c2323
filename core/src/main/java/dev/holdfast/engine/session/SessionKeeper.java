package dev.holdfast.engine.session;

import dev.holdfast.Environment;
import dev.holdfast.HoldfastListener.SessionEvent;
import dev.holdfast.Loss;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.time.ElapsedClock;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the client's session: opens it, renews it, raises its epoch, notices its end, and opens the next.
 * Thread-safe; its lock is never held while it calls out, and callers hold no lock of a resource.
 */
public final class SessionKeeper {

    private static final Logger log = LoggerFactory.getLogger(SessionKeeper.class);

    private final Partition partition;
    private final CommandSender wire;
    private final Environment environment;
    private final ElapsedClock clock;
    private final SafetyRules rules;
    private final ClientOptions options;
    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by lock, but for the intervals, which never change. */
    private final KeepAliveTimers timers;

    // Guarded by lock; session and attempts are also read without it.
    private volatile @Nullable Session session;
    private boolean opening;
    private volatile long attempts;
    private boolean closed;

    /** It is looked whether the session is needed; until that is known, nobody gets it. Also read without the lock. */
    private volatile boolean resting;

    SessionKeeper(Partition partition) {
        this.partition = partition;
        this.wire = partition.wire;
        this.environment = partition.context.environment();
        this.clock = partition.context.clock();
        this.rules = partition.context.rules();
        this.options = partition.context.options();
        this.timers = new KeepAliveTimers(environment, options);
    }

    /** The session that is alive, or null while there is none. */
    @Nullable
    public Session current() {
        Session present = session;
        return present != null && present.isAlive() && !resting ? present : null;
    }

    /** How often a session was asked for so far. */
    public long attempts() {
        return attempts;
    }

    /** Opens a session unless there is one or one is being opened. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // under the lock
    public void open(CallerMode caller) {
        long attempt;
        lock.lock();
        try {
            if (closed || opening || timers.isPausing() || current() != null) {
                return;
            }
            opening = true;
            attempt = attempts + 1;
            attempts = attempt;
        } finally {
            lock.unlock();
        }
        long steps = clock.steps();
        wire.send(
                new Command.OpenSession(options.sessionTtl(), options.label(), partition.number),
                caller,
                new CommandSender.Answer() {
                    @Override
                    public void reply(Reply reply, long sentAt) {
                        if (reply instanceof Reply.SessionOpened opened) {
                            adopt(opened, sentAt, steps);
                        } else {
                            openFailed(ProtocolViolation.reply(reply), attempt);
                        }
                    }

                    @Override
                    public void failure(StoreException failure, long sentAt) {
                        openFailed(failure, attempt);
                    }

                    @Override
                    public void late(Reply reply, long sentAt) {
                        if (reply instanceof Reply.SessionOpened opened) {
                            // Nobody waits for it any more; without this it would stand at the store for one ttl.
                            partition.retrier.closeOrphan(opened.session());
                        }
                    }
                });
    }

    private void adopt(Reply.SessionOpened opened, long sentAt, long stepsWhenSent) {
        long now = clock.now();
        long ttl = opened.ttl().toNanos();
        long deadline = rules.deadline(sentAt, now, ttl, rules.margin(ttl, wire.p99RoundTrip()));
        Session fresh = new Session(opened.session(), ttl, sentAt, deadline, stepsWhenSent);
        boolean late;
        lock.lock();
        try {
            opening = false;
            late = closed || !rules.isGood(now, deadline);
            if (!late) {
                session = fresh;
                timers.succeeded();
            } else {
                timers.failed();
            }
        } finally {
            lock.unlock();
        }
        if (late) {
            partition.retrier.closeOrphan(opened.session());
            schedule(retryDelay(), () -> open(CallerMode.ASYNC));
            return;
        }
        scheduleRenewal(fresh, sentAt + timers.keepAliveNanos(ttl) - now);
        scheduleWatch(fresh, deadline - now);
        partition.observe(SessionEvent.Type.OPENED);
        partition.opened();
    }

    private void openFailed(StoreException failure, long attempt) {
        lock.lock();
        try {
            opening = false;
            timers.failed();
        } finally {
            lock.unlock();
        }
        partition.notOpened(failure, attempt);
        schedule(retryDelay(), () -> open(CallerMode.ASYNC));
    }

    /**
     * Ends a session that nothing needs; the next who does has another opened. First nobody gets it any more, and then
     * it is looked once more: so none that got it before is overlooked.
     */
    private boolean rest(Session of) {
        boolean isUnused;
        lock.lock();
        try {
            if (closed || opening || of != current() || of.isAwaitingRaise()) {
                return false;
            }
            resting = true;
            isUnused = partition.isUnused();
            if (isUnused) {
                of.state = Session.State.ENDED;
                timers.cancel();
            }
            resting = false;
        } finally {
            lock.unlock();
        }
        if (!isUnused) {
            // Who came meanwhile found none.
            partition.opened();
            return false;
        }
        partition.retrier.closeOrphan(of.id);
        partition.over(of, Loss.Cause.SESSION_ENDED);
        partition.observe(SessionEvent.Type.CLOSED);
        return true;
    }

    /** Sends a keep-alive now: the regular one, one that raises the epoch, or one that ends a doubt. */
    private void renew(Session of) {
        if (partition.mayRest() && rest(of)) {
            return;
        }
        long epoch;
        long steps = clock.steps();
        long heard = of.contradiction.heard();
        lock.lock();
        try {
            if (closed || !of.isAlive()) {
                return;
            }
            epoch = Math.max(of.wantedEpoch, of.epoch);
            of.raisingTo = epoch;
            of.lastSent = clock.now();
        } finally {
            lock.unlock();
        }
        scheduleRenewal(of, timers.keepAliveNanos(of.ttlNanos));
        Duration patience = KeepAliveTimers.patience(Duration.ofNanos(of.ttlNanos));
        Command keepAlive = new Command.KeepAlive(of.id, epoch, patience);
        wire.sendRenewal(keepAlive, CallerMode.ASYNC, patience.toNanos(), new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                if (reply instanceof Reply.SessionAlive) {
                    of.contradiction.settle(heard);
                    acknowledged(of, epoch, sentAt, steps);
                } else if (reply instanceof Reply.SessionEnded) {
                    end(of, Session.State.ENDED, Loss.Cause.SESSION_ENDED);
                } else if (reply instanceof Reply.Stale) {
                    // A later one overtook it, and its answer may have been lost.
                    scheduleRenewal(of, retryDelay());
                } else {
                    renewalFailed(of, ProtocolViolation.reply(reply));
                }
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                renewalFailed(of, failure);
            }

            @Override
            public void late(Reply reply, long sentAt) {
                // The store renewed the session all the same: a slow answer is as good as a prompt one until the
                // deadline.
                if (reply instanceof Reply.SessionAlive || reply instanceof Reply.SessionEnded) {
                    reply(reply, sentAt);
                }
            }
        });
    }

    private void acknowledged(Session of, long epoch, long sentAt, long stepsWhenSent) {
        Runnable raised;
        boolean expired;
        boolean isSettled = false;
        lock.lock();
        try {
            long now = clock.now();
            expired = of.isAlive() && !rules.mayRenew(now, of.deadline);
            if (!of.isAlive() || expired) {
                raised = () -> {};
            } else {
                timers.succeeded();
                long deadline =
                        rules.deadline(sentAt, now, of.ttlNanos, rules.margin(of.ttlNanos, wire.p99RoundTrip()));
                of.acknowledge(sentAt, deadline, epoch, stepsWhenSent);
                raised = of.takeRaised();
                isSettled = of.isDoubtTold && !inDoubt(of);
                of.isDoubtTold &= !isSettled;
            }
        } finally {
            lock.unlock();
        }
        if (expired) {
            end(of, Session.State.ABANDONED, Loss.Cause.EXPIRED);
            return;
        }
        raised.run();
        partition.renewed(of);
        if (isSettled) {
            partition.observe(SessionEvent.Type.SETTLED);
        }
    }

    private void renewalFailed(Session of, StoreException failure) {
        lock.lock();
        try {
            timers.failed();
            of.raisingTo = 0;
        } finally {
            lock.unlock();
        }
        if (of.isAlive()) {
            log.debug("session={} a keep-alive failed; it is repeated until the deadline", of.id, failure);
            scheduleRenewal(of, retryDelay());
        }
        partition.troubled(failure);
    }

    /**
     * As {@link #afterRaise(Session, long, Runnable)}, for what sends a command again: at once after the first failure,
     * and then after pauses that grow. A store that answers keep-alives and nothing else would be asked without end.
     *
     * @param failures how often in a row the command was sent for nothing before this time
     */
    public void afterRaise(Session of, long above, int failures, Runnable again) {
        afterRaise(of, above, failures == 0 ? again : () -> Backoff.RESEND.retry(environment, failures, again));
    }

    /**
     * Runs an action once the store has acknowledged an epoch above the given one, after which nothing that was sent
     * under the old one can take effect; also, when the session is not alive any more.
     */
    public void afterRaise(Session of, long above, Runnable action) {
        boolean now;
        boolean ask;
        lock.lock();
        try {
            now = !of.isAlive() || of.epoch > above || closed;
            if (!now) {
                of.addRaise(above, action);
            }
            ask = !now && of.raisingTo <= above;
        } finally {
            lock.unlock();
        }
        if (now) {
            action.run();
        } else if (ask) {
            renew(of);
        }
    }

    /**
     * Whether holds of this session may not be relied on until the store was asked. A look at the clock must come
     * before.
     */
    boolean inDoubt(Session of) {
        return (rules.stepsRaiseDoubt() && of.clearedSteps != clock.steps()) || of.contradiction.isOpen();
    }

    /**
     * Asks the store because holds of this session are in doubt; once for each doubt, since a failed request is
     * repeated.
     */
    void askInDoubt(Session of) {
        tellDoubt(of);
        lock.lock();
        try {
            if (!of.askOnce(clock.steps())) {
                return;
            }
        } finally {
            lock.unlock();
        }
        renew(of);
    }

    /** A signal of the store speaks against a session: asks the store. */
    void contradict(Session of) {
        of.contradiction.hear();
        tellDoubt(of);
        renew(of);
    }

    /** Tells listeners of a doubt, once until it is settled. */
    private void tellDoubt(Session of) {
        boolean isNew;
        lock.lock();
        try {
            isNew = !closed && of.isAlive() && !of.isDoubtTold;
            of.isDoubtTold |= isNew;
        } finally {
            lock.unlock();
        }
        if (isNew) {
            partition.observe(SessionEvent.Type.IN_DOUBT);
        }
    }

    /** Looks whether the deadline has passed, and tells the loss if so. */
    void check(Session of) {
        if (of.isAlive() && !rules.isGood(clock.now(), of.deadline)) {
            end(of, Session.State.ABANDONED, Loss.Cause.EXPIRED);
        }
    }

    /** The store said that this session has ended. */
    public void endedAtStore(Session of) {
        end(of, Session.State.ENDED, Loss.Cause.SESSION_ENDED);
    }

    private void end(Session of, Session.State state, Loss.Cause cause) {
        Runnable raised;
        long pause;
        boolean isLoss;
        lock.lock();
        try {
            if (!of.isAlive()) {
                return;
            }
            of.state = state;
            raised = of.takeRaised();
            pause = timers.beginPause(clock.now() - of.openedAt);
            isLoss = !closed;
        } finally {
            lock.unlock();
        }
        if (!isLoss) {
            // The client ends it, or its holds have been given up already.
            raised.run();
            return;
        }
        log.warn("session={} ended: {}", of.id, cause.words());
        partition.over(of, cause);
        partition.context.observers().sessionLost(partition.number, cause);
        raised.run();
        if (pause == 0) {
            open(CallerMode.ASYNC);
        } else {
            schedule(pause, this::endPause);
        }
    }

    private void endPause() {
        lock.lock();
        try {
            timers.endPause();
        } finally {
            lock.unlock();
        }
        open(CallerMode.ASYNC);
    }

    /** No new session, no more renewals. */
    @Nullable
    Session close() {
        lock.lock();
        try {
            closed = true;
            timers.cancel();
            return session;
        } finally {
            lock.unlock();
        }
    }

    private void watch(Session of) {
        try {
            check(of);
            if (!of.isAlive()) {
                return;
            }
            if (clock.now() - of.lastSent >= timers.keepAliveNanos(of.ttlNanos)) {
                // The timer of the renewal slept with the machine.
                renew(of);
            } else if (inDoubt(of)) {
                askInDoubt(of);
            }
        } finally {
            scheduleWatch(of, of.deadline - clock.now());
        }
    }

    private void scheduleRenewal(Session of, long delay) {
        lock.lock();
        try {
            if (!closed && of.isAlive()) {
                timers.renewIn(partition.together(delay), () -> renew(of));
            }
        } finally {
            lock.unlock();
        }
    }

    private void scheduleWatch(Session of, long left) {
        lock.lock();
        try {
            if (!closed && of.isAlive()) {
                timers.watchIn(left, () -> watch(of));
            }
        } finally {
            lock.unlock();
        }
    }

    private void schedule(long delay, Runnable task) {
        lock.lock();
        try {
            if (!closed) {
                environment.schedule(delay, task);
            }
        } finally {
            lock.unlock();
        }
    }

    private long retryDelay() {
        lock.lock();
        try {
            return timers.retryDelay();
        } finally {
            lock.unlock();
        }
    }
}
