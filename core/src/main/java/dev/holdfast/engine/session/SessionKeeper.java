package dev.holdfast.engine.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.HoldfastListener.SessionEvent;
import dev.holdfast.Loss;
import dev.holdfast.engine.client.ClientContext;
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
 * Thread-safe. Its lock and that of a resource are never held together: callers hold no lock of a resource, unless they
 * only read, which takes no lock here; and nothing is called under its lock that takes the lock of a resource.
 */
public final class SessionKeeper {

    private static final Logger log = LoggerFactory.getLogger(SessionKeeper.class);

    private final SessionEvents events;
    private final int partition; // its number
    private final CommandSender sender;
    private final ReleaseRetrier retrier;
    private final ClientContext context;
    private final ElapsedClock clock;
    private final SafetyRules rules;
    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by lock, but for the intervals, which never change. */
    private final KeepAliveTimers timers;

    /** Written under the lock, read by any thread; so are the attempts. */
    private volatile @Nullable Session session;

    private volatile long attempts;

    @GuardedBy("lock")
    private boolean opening;

    @GuardedBy("lock")
    private boolean closed;

    /**
     * The keeper checks whether the session is still needed; until then no caller gets it. Also read without the lock.
     */
    private volatile boolean resting;

    SessionKeeper(
            ClientContext context, int partition, CommandSender sender, ReleaseRetrier retrier, SessionEvents events) {
        this.events = events;
        this.partition = partition;
        this.sender = sender;
        this.retrier = retrier;
        this.context = context;
        this.clock = context.clock();
        this.rules = context.rules();
        this.timers = new KeepAliveTimers(context.environment(), context.options());
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
        sender.send(
                new Command.OpenSession(
                        context.options().sessionTtl(), context.options().label(), partition),
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
                            // No caller waits for it; without this it would stay at the store for one ttl.
                            retrier.closeOrphan(opened.session());
                        }
                    }
                });
    }

    private void adopt(Reply.SessionOpened opened, long sentAt, long stepsWhenSent) {
        long now = clock.now();
        long ttl = opened.ttl().toNanos();
        long deadline = rules.deadline(sentAt, now, ttl, rules.margin(ttl, sender.p99RoundTrip()));
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
            retrier.closeOrphan(opened.session());
            schedule(retryDelay(), () -> open(CallerMode.ASYNC));
            return;
        }
        scheduleRenewal(fresh, sentAt + timers.keepAliveNanos(ttl) - now);
        scheduleCheck(fresh, deadline - now);
        events.observe(SessionEvent.Type.OPENED);
        events.opened();
    }

    private void openFailed(StoreException failure, long attempt) {
        lock.lock();
        try {
            opening = false;
            timers.failed();
        } finally {
            lock.unlock();
        }
        events.notOpened(failure, attempt);
        schedule(retryDelay(), () -> open(CallerMode.ASYNC));
    }

    /**
     * Ends a session that nothing needs; the next caller has another opened. Hides the session first, then checks for
     * use, so a caller that already obtained it is counted.
     */
    private boolean rest(Session session) {
        boolean isUnused;
        lock.lock();
        try {
            if (closed || opening || session != current() || session.isAwaitingRaise()) {
                return false;
            }
            resting = true;
            isUnused = events.isUnused();
            if (isUnused) {
                session.end(Session.State.ENDED);
                timers.cancel();
            }
            resting = false;
        } finally {
            lock.unlock();
        }
        if (!isUnused) {
            // Callers that came meanwhile found no session.
            events.opened();
            return false;
        }
        retrier.closeOrphan(session.id);
        events.over(session, Loss.Cause.SESSION_ENDED);
        events.observe(SessionEvent.Type.CLOSED);
        return true;
    }

    /** Sends a keep-alive now: the regular one, one that raises the epoch, or one that ends a doubt. */
    private void renew(Session session) {
        if (events.mayRest() && rest(session)) {
            return;
        }
        long epoch;
        long steps = clock.steps();
        long revocations = session.revocation.count();
        lock.lock();
        try {
            if (closed || !session.isAlive()) {
                return;
            }
            epoch = session.beginKeepAlive(clock.now());
        } finally {
            lock.unlock();
        }
        scheduleRenewal(session, timers.keepAliveNanos(session.ttlNanos));
        Duration timeout = KeepAliveTimers.responseTimeout(Duration.ofNanos(session.ttlNanos));
        Command keepAlive = new Command.KeepAlive(session.id, epoch, timeout);
        sender.sendRenewal(keepAlive, CallerMode.ASYNC, timeout.toNanos(), new CommandSender.Answer() {
            @Override
            public void reply(Reply reply, long sentAt) {
                if (reply instanceof Reply.SessionAlive) {
                    session.revocation.settle(revocations);
                    acknowledged(session, epoch, sentAt, steps);
                } else if (reply instanceof Reply.SessionEnded) {
                    end(session, Session.State.ENDED, Loss.Cause.SESSION_ENDED);
                } else if (reply instanceof Reply.Stale) {
                    // A later keep-alive overtook it, and its answer may have been lost.
                    scheduleRenewal(session, retryDelay());
                } else {
                    renewalFailed(session, ProtocolViolation.reply(reply));
                }
            }

            @Override
            public void failure(StoreException failure, long sentAt) {
                renewalFailed(session, failure);
            }

            @Override
            public void late(Reply reply, long sentAt) {
                // The store has renewed the session: until the deadline, a slow answer counts like a prompt one.
                if (reply instanceof Reply.SessionAlive || reply instanceof Reply.SessionEnded) {
                    reply(reply, sentAt);
                }
            }
        });
    }

    private void acknowledged(Session session, long epoch, long sentAt, long stepsWhenSent) {
        Runnable raised;
        boolean expired;
        boolean isSettled = false;
        lock.lock();
        try {
            long now = clock.now();
            expired = session.isAlive() && !rules.mayRenew(now, session.deadline());
            if (!session.isAlive() || expired) {
                raised = () -> {};
            } else {
                timers.succeeded();
                long deadline = rules.deadline(
                        sentAt, now, session.ttlNanos, rules.margin(session.ttlNanos, sender.p99RoundTrip()));
                session.acknowledge(sentAt, deadline, epoch, stepsWhenSent);
                raised = session.takeRaised();
                isSettled = !inDoubt(session) && session.endDoubt();
            }
        } finally {
            lock.unlock();
        }
        if (expired) {
            end(session, Session.State.ABANDONED, Loss.Cause.EXPIRED);
            return;
        }
        raised.run();
        events.renewed(session);
        if (isSettled) {
            events.observe(SessionEvent.Type.SETTLED);
        }
    }

    private void renewalFailed(Session session, StoreException failure) {
        lock.lock();
        try {
            timers.failed();
            session.keepAliveFailed();
        } finally {
            lock.unlock();
        }
        if (session.isAlive()) {
            log.debug("session={} a keep-alive failed; it is retried until the deadline", session.id, failure);
            scheduleRenewal(session, retryDelay());
        }
        events.notRenewed(failure);
    }

    /**
     * As {@link #afterRaise(Session, long, Runnable)}, to retry a command: at once after the first failure, then with
     * back-off. Otherwise a store that answers only keep-alives would be asked without a pause.
     *
     * @param failures how often in a row the command failed before this time
     */
    public void afterRaise(Session session, long above, int failures, Runnable again) {
        Runnable next = failures == 0 ? again : () -> Backoff.RESEND.retry(context.environment(), failures, again);
        afterRaise(session, above, next);
    }

    /**
     * Runs an action once the store has acknowledged an epoch above the given one: then nothing that was sent under the
     * old one can take effect. Also runs it when the session is no longer alive.
     */
    public void afterRaise(Session session, long above, Runnable action) {
        boolean now;
        boolean ask;
        lock.lock();
        try {
            now = !session.isAlive() || session.epoch() > above || closed;
            if (!now) {
                session.addRaise(above, action);
            }
            ask = !now && !session.isRaising(above);
        } finally {
            lock.unlock();
        }
        if (now) {
            action.run();
        } else if (ask) {
            renew(session);
        }
    }

    /**
     * Whether holds of this session can't be relied on until the store has answered. The caller must have read the
     * clock before.
     */
    boolean inDoubt(Session session) {
        return (rules.stepsRaiseDoubt() && session.inDoubt(clock.steps())) || session.revocation.isOpen();
    }

    /**
     * Asks the store because holds of this session are in doubt; once for each doubt, since a failed request is
     * retried.
     */
    void askInDoubt(Session session) {
        reportDoubt(session);
        lock.lock();
        try {
            if (!session.askOnce(clock.steps())) {
                return;
            }
        } finally {
            lock.unlock();
        }
        renew(session);
    }

    /** A signal says that a session has ended: asks the store. */
    void endSignalled(Session session) {
        session.revocation.add();
        reportDoubt(session);
        renew(session);
    }

    /** Reports a doubt to listeners, once until it is settled. */
    private void reportDoubt(Session session) {
        boolean isNew;
        lock.lock();
        try {
            isNew = !closed && session.beginDoubt();
        } finally {
            lock.unlock();
        }
        if (isNew) {
            events.observe(SessionEvent.Type.IN_DOUBT);
        }
    }

    /** Ends the session if its deadline has passed. */
    void check(Session session) {
        if (session.isAlive() && !rules.isGood(clock.now(), session.deadline())) {
            end(session, Session.State.ABANDONED, Loss.Cause.EXPIRED);
        }
    }

    /** The store said that this session has ended. */
    public void endedAtStore(Session session) {
        end(session, Session.State.ENDED, Loss.Cause.SESSION_ENDED);
    }

    private void end(Session session, Session.State state, Loss.Cause cause) {
        Runnable raised;
        long pause;
        boolean isLoss;
        lock.lock();
        try {
            if (!session.isAlive()) {
                return;
            }
            session.end(state);
            raised = session.takeRaised();
            pause = timers.beginPause(clock.now() - session.openedAt);
            isLoss = !closed;
        } finally {
            lock.unlock();
        }
        if (!isLoss) {
            // The client ends it, or its holds have ended already.
            raised.run();
            return;
        }
        log.warn("session={} ended: {}", session.id, cause.words());
        events.over(session, cause);
        context.observers().sessionLost(partition, cause);
        raised.run();
        if (pause == 0) {
            open(CallerMode.ASYNC);
        } else {
            schedule(pause, this::endPause);
        }
    }

    private void endPause() {
        unlessClosed(timers::endPause);
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

    private void checkRegularly(Session session) {
        try {
            check(session);
            if (!session.isAlive()) {
                return;
            }
            if (session.sinceKeepAlive(clock.now()) >= timers.keepAliveNanos(session.ttlNanos)) {
                // The renewal timer stopped while the machine was suspended.
                renew(session);
            } else if (inDoubt(session)) {
                askInDoubt(session);
            }
        } finally {
            scheduleCheck(session, session.leftNanos(clock.now()));
        }
    }

    private void scheduleRenewal(Session session, long delay) {
        unlessClosed(() -> {
            if (session.isAlive()) {
                timers.renewIn(events.alignedDelay(delay), () -> renew(session));
            }
        });
    }

    private void scheduleCheck(Session session, long left) {
        unlessClosed(() -> {
            if (session.isAlive()) {
                timers.checkIn(left, () -> checkRegularly(session));
            }
        });
    }

    private void schedule(long delay, Runnable task) {
        unlessClosed(() -> context.environment().schedule(delay, task));
    }

    private void unlessClosed(Runnable change) {
        lock.lock();
        try {
            if (!closed) {
                change.run();
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
