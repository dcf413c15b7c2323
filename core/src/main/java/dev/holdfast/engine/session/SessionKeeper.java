package dev.holdfast.engine.session;

import dev.holdfast.Environment;
import dev.holdfast.HoldfastListener.SessionEvent;
import dev.holdfast.Loss;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.observe.ClientObservers;
import dev.holdfast.engine.time.Backoff;
import dev.holdfast.engine.time.ElapsedClock;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.engine.wire.ProtocolViolation;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

    /** The pauses before a session is opened or renewed again, up to {@link #MAX_RETRY_NANOS}. */
    private static final Backoff RENEWALS = Backoff.from(Duration.ofMillis(20), 6);

    private static final long MAX_RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    public static final int LOOKS_PER_KEEP_ALIVE = 3;

    /**
     * A keep-alive without an answer is repeated after this part of the ttl: less than a third, also when it is noticed
     * late by a quarter of that. After the regular interval, this leaves a quarter of the ttl for the repetition, or a
     * tenth if slow round trips make the margin as large as it can be.
     */
    private static final int PATIENCES_PER_TTL = 4;

    private final Partition partition;
    private final CommandSender wire;
    private final Environment environment;
    private final ElapsedClock clock;
    private final SafetyRules rules;
    private final ClientOptions options;
    private final ReleaseRetrier retrier;
    private final ClientObservers observers;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock; session and attempts are also read without it.
    private volatile @Nullable Session session;
    private boolean opening;
    private volatile long attempts;
    private boolean closed;

    /** It is looked whether the session is needed; until that is known, nobody gets it. Also read without the lock. */
    private volatile boolean resting;

    private int failures;

    /** How many sessions in a row the store has ended as soon as they were there. */
    private int briefInRow;

    /** The next session is opened after a pause. */
    private boolean isPausing;

    private Environment.@Nullable Timer renewal;
    private Environment.@Nullable Timer watch;

    SessionKeeper(Partition partition) {
        this.partition = partition;
        this.wire = partition.wire;
        this.environment = partition.context.environment();
        this.clock = partition.context.clock();
        this.rules = partition.context.rules();
        this.options = partition.context.options();
        this.retrier = partition.retrier;
        this.observers = partition.context.observers();
    }

    /** How long a keep-alive of a session waits for its answer, unless all commands wait for less. */
    static Duration patience(Duration ttl) {
        return ttl.dividedBy(PATIENCES_PER_TTL);
    }

    /**
     * The interval between keep-alives of a session with this ttl. A store that lengthens the ttl is asked less often,
     * in proportion.
     */
    private long keepAliveNanos(long grantedTtl) {
        long interval = options.keepAliveEvery().toNanos();
        long wanted = options.sessionTtl().toNanos();
        return grantedTtl == wanted ? interval : (long) (interval * ((double) grantedTtl / wanted));
    }

    /** The session that is alive, or null while there is none. */
    @Nullable
    public Session current() {
        Session present = session;
        return present != null && present.isAlive() && !resting ? present : null;
    }

    /** Whether the store answers as far as is known, and holds of the session may be relied on. */
    public boolean isUndisturbed(Session of) {
        return wire.silentFor() == 0 && !inDoubt(of);
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
            if (closed || opening || isPausing || current() != null) {
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
                            retrier.closeOrphan(opened.session());
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
                failures = 0;
            } else {
                failures++;
            }
        } finally {
            lock.unlock();
        }
        if (late) {
            retrier.closeOrphan(opened.session());
            schedule(retryDelay(), () -> open(CallerMode.ASYNC));
            return;
        }
        scheduleRenewal(fresh, sentAt + keepAliveNanos(ttl) - now);
        scheduleWatch(fresh, deadline - now);
        observers.session(SessionEvent.Type.OPENED, partition.number);
        partition.opened();
    }

    private void openFailed(StoreException failure, long attempt) {
        lock.lock();
        try {
            opening = false;
            failures++;
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
                cancel(renewal);
                cancel(watch);
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
        retrier.closeOrphan(of.id);
        partition.over(of, Loss.Cause.SESSION_ENDED);
        observers.session(SessionEvent.Type.CLOSED, partition.number);
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
        scheduleRenewal(of, keepAliveNanos(of.ttlNanos));
        Duration patience = patience(Duration.ofNanos(of.ttlNanos));
        Command keepAlive = new Command.KeepAlive(of.id, epoch, patience);
        wire.send(keepAlive, CallerMode.ASYNC, patience.toNanos(), new CommandSender.Answer() {
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
        List<Runnable> raised;
        boolean expired;
        boolean isSettled = false;
        lock.lock();
        try {
            long now = clock.now();
            expired = of.isAlive() && !rules.mayRenew(now, of.deadline);
            if (!of.isAlive() || expired) {
                raised = List.of();
            } else {
                failures = 0;
                long deadline =
                        rules.deadline(sentAt, now, of.ttlNanos, rules.margin(of.ttlNanos, wire.p99RoundTrip()));
                if (deadline - of.deadline > 0) {
                    of.deadline = deadline;
                }
                of.acknowledge(sentAt);
                of.epoch = Math.max(of.epoch, epoch);
                of.clearedSteps = Math.max(of.clearedSteps, stepsWhenSent);
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
        runAll(raised);
        partition.renewed(of);
        if (isSettled) {
            observers.session(SessionEvent.Type.SETTLED, partition.number);
        }
    }

    private void renewalFailed(Session of, StoreException failure) {
        lock.lock();
        try {
            failures++;
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
        if (failures == 0) {
            afterRaise(of, above, again);
            return;
        }
        afterRaise(of, above, () -> Backoff.RESEND.retry(environment, failures, again));
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
                of.wantedEpoch = Math.max(of.wantedEpoch, above + 1);
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
            if (of.askedSteps == clock.steps()) {
                return;
            }
            of.askedSteps = clock.steps();
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
            observers.session(SessionEvent.Type.IN_DOUBT, partition.number);
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
        List<Runnable> raised;
        long pause;
        boolean isLoss;
        lock.lock();
        try {
            if (!of.isAlive()) {
                return;
            }
            of.state = state;
            raised = of.takeRaised();
            pause = pauseAfter(of);
            isLoss = !closed;
        } finally {
            lock.unlock();
        }
        if (!isLoss) {
            // The client ends it, or its holds have been given up already.
            runAll(raised);
            return;
        }
        log.warn("session={} ended: {}", of.id, cause.words());
        partition.over(of, cause);
        observers.sessionLost(partition.number, cause);
        runAll(raised);
        if (pause == 0) {
            open(CallerMode.ASYNC);
        } else {
            schedule(pause, this::endPause);
        }
    }

    private static void runAll(List<Runnable> raised) {
        raised.forEach(action -> Failsafe.run("what waited for a raise of the epoch", action));
    }

    /**
     * How long to wait before the next session is opened: not at all, or longer and longer where the store ends each as
     * soon as it is used. Called under the lock.
     */
    private long pauseAfter(Session ended) {
        boolean wasBrief = clock.now() - ended.openedAt < Backoff.RESEND.nanosAfter(briefInRow + 1);
        briefInRow = wasBrief ? briefInRow + 1 : 0;
        isPausing = briefInRow > 1;
        return isPausing ? Backoff.RESEND.pause(environment, briefInRow - 1) : 0;
    }

    private void endPause() {
        lock.lock();
        try {
            isPausing = false;
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
            cancel(renewal);
            cancel(watch);
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
            if (clock.now() - of.lastSent >= keepAliveNanos(of.ttlNanos)) {
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
                cancel(renewal);
                renewal = environment.schedule(partition.together(delay), () -> renew(of));
            }
        } finally {
            lock.unlock();
        }
    }

    private void scheduleWatch(Session of, long delay) {
        lock.lock();
        try {
            if (!closed && of.isAlive()) {
                cancel(watch);
                // Timers stand still while the machine is suspended: a look in between finds soon after it that time
                // has passed.
                long soon = options.keepAliveEvery().toNanos() / LOOKS_PER_KEEP_ALIVE;
                watch = environment.schedule(Math.min(delay, soon), () -> watch(of));
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

    /** The pause before the session is opened or renewed again: at most a third of the interval. */
    private long retryDelay() {
        long most = Math.min(MAX_RETRY_NANOS, options.keepAliveEvery().toNanos() / 3);
        lock.lock();
        try {
            return RENEWALS.pauseAtMost(environment, failures, Math.max(RENEWALS.firstNanos(), most));
        } finally {
            lock.unlock();
        }
    }

    private static void cancel(Environment.@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }
}
