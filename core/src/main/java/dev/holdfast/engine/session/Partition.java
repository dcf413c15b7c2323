package dev.holdfast.engine.session;

import dev.holdfast.HoldfastListener.SessionEvent;
import dev.holdfast.Loss;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One partition of the store as this client uses it: the sender of its commands, its session, and the parts that manage
 * its claims. Most stores have one partition. The state of one says nothing about the others.
 *
 * <p>Once created, it lasts as long as the client. Its session ends when nothing of the partition is used.
 * Thread-safe.
 */
public final class Partition {
    /** A wait for a session: one action runs when there is a session, the other when none could be opened. */
    private record Wait(Runnable ready, Runnable failed) {}

    public final ClientContext context;
    public final int number;
    public final CommandSender wire;
    public final ReleaseRetrier retrier;
    public final SessionKeeper keeper;
    public final ClaimDriver driver;
    public final GrantValidity validity;
    public final Poller poller;
    private final boolean isOneOfSeveral;
    private final Supplier<List<SessionUser>> users;
    private final Auditor auditor;
    private final Queue<Wait> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicLong claims = new AtomicLong();
    private final AtomicBoolean closeEnded = new AtomicBoolean();
    /** The session was requested since the last check whether it is needed. */
    private volatile boolean isWanted;

    /**
     * Makes a partition.
     *
     * @param users the users of its sessions
     */
    Partition(
            ClientContext context,
            LockStore store,
            int number,
            boolean isOneOfSeveral,
            Supplier<List<SessionUser>> users) {
        this.context = context;
        this.number = number;
        this.isOneOfSeveral = isOneOfSeveral;
        this.users = users;
        wire = new CommandSender(
                store,
                context.environment(),
                context.clock(),
                context.observers(),
                context.options().storeTimeout().dividedBy(2),
                KeepAliveTimers.responseTimeout(context.options().sessionTtl()));
        retrier = new ReleaseRetrier(wire, context.environment(), context.clock());
        keeper = new SessionKeeper(context, number, wire, retrier, new Keeping());
        driver = new ClaimDriver(this);
        validity = new GrantValidity(context, keeper, driver::poll);
        poller = new Poller(this);
        auditor = new Auditor(this);
    }

    // ---- The session

    /**
     * The session that is alive, or null while there is none. The caller is about to send a command under it, so it
     * does not count as idle.
     */
    @Nullable
    public Session session() {
        if (!isWanted && isOneOfSeveral) {
            isWanted = true;
        }
        return keeper.current();
    }

    public void needSession(CallerMode caller) {
        if (!context.isClosing()) {
            keeper.open(caller);
        }
    }

    /** Runs one action once there is a session, or the other if none can be opened now. */
    public void awaitSession(Runnable ready, Runnable failed) {
        waiting.add(new Wait(ready, failed));
        needSession(CallerMode.ASYNC);
        if (keeper.current() != null) {
            resumeWaiters(Wait::ready);
        } else if (context.isClosing()) {
            resumeWaiters(Wait::failed);
        }
    }

    private void resumeWaiters(Function<Wait, Runnable> how) {
        // Those that have to wait again are added to the queue, and are not resumed twice.
        List<Wait> present = new ArrayList<>();
        for (Wait wait = waiting.poll(); wait != null; wait = waiting.poll()) {
            present.add(wait);
        }
        present.forEach(wait -> Failsafe.run("an action that waited for a session", how.apply(wait)));
    }

    /** Whether its newest commands were answered, and holds of its session are not in doubt. */
    public boolean isUndisturbed(Session session) {
        return wire.silentFor() == 0 && !keeper.inDoubt(session);
    }

    // ---- Claims

    /** The number of a new claim under a session of this partition. */
    public long nextClaim() {
        return claims.incrementAndGet();
    }

    long newestClaim() {
        return claims.get();
    }

    /** Whether a claim is one of this client's, or its end is in flight. */
    boolean isKnown(ClaimRef ref) {
        return retrier.isPending(ref) || users.get().stream().anyMatch(user -> user.knows(ref));
    }

    /** A number that no other client draws, as far as can be known: not even one with the same randomness. */
    public long uniqueLong() {
        Session present = keeper.current();
        long own = present == null ? 0 : present.id.value().hashCode() * 0x9e3779b97f4a7c15L;
        return context.environment().randomLong() ^ own;
    }

    /** The store may have lost what it has acknowledged: audits the session as soon as possible. */
    void auditNow() {
        auditor.runNow();
    }

    // ---- Trouble

    /** A command of this partition failed. If the partition has been silent for too long, its waiters fail. */
    public void troubled(StoreException failure) {
        if (isSilent()) {
            notifyUsers(user -> user.silent(this, failure));
        }
    }

    /** Whether it has answered nothing for the store time-out. */
    public boolean isSilent() {
        return wire.silentFor() >= context.options().storeTimeout().toNanos();
    }

    /** Notifies the users of the sessions; an exception of one does not affect the others. */
    void notifyUsers(Consumer<SessionUser> news) {
        users.get().forEach(user -> Failsafe.run("notifying a user of a session", () -> news.accept(user)));
    }

    /** Has each user of the sessions compare its claims with those of the store. */
    void auditUsers(SessionUser.Audit audit, Runnable then) {
        audit(users.get().iterator(), audit, then);
    }

    private void audit(Iterator<SessionUser> left, SessionUser.Audit audit, Runnable then) {
        if (left.hasNext()) {
            left.next().audit(this, audit, () -> audit(left, audit, then));
        } else {
            then.run();
        }
    }

    /** What follows from the events of the session. */
    private final class Keeping implements SessionEvents {

        @Override
        public boolean mayRest() {
            boolean wasWanted = isWanted;
            isWanted = false;
            return isOneOfSeveral && !wasWanted && isUnused();
        }

        @Override
        public boolean isUnused() {
            return !isWanted
                    && waiting.isEmpty()
                    && wire.isIdle()
                    && retrier.isIdle()
                    && users.get().stream().noneMatch(user -> user.isUsing(Partition.this))
                    && !context.isClosing();
        }

        @Override
        public long alignedDelay(long delay) {
            long grain = context.options().keepAliveEvery().toNanos() / 4;
            if (!isOneOfSeveral || delay <= grain) {
                return delay;
            }
            return delay - Math.floorMod(context.clock().now() + delay, grain);
        }

        @Override
        public void opened() {
            notifyUsers(user -> user.opened(Partition.this));
            resumeWaiters(Wait::ready);
        }

        @Override
        public void notOpened(StoreException failure, long attempt) {
            if (failure.reason() == Reason.DENIED || failure.reason() == Reason.CORRUPT) {
                notifyUsers(user -> user.refused(Partition.this, failure, attempt));
            }
            resumeWaiters(Wait::failed);
            troubled(failure);
        }

        @Override
        public void renewed(Session session) {
            context.doubts().signalNews();
            notifyUsers(user -> user.renewed(Partition.this));
            auditor.runIfDue(session);
            observe(SessionEvent.Type.RENEWED);
        }

        @Override
        public void notRenewed(StoreException failure) {
            troubled(failure);
        }

        @Override
        public void over(Session session, Loss.Cause cause) {
            if (session.state() == Session.State.ABANDONED) {
                Command retire = new Command.Retire(session.id);
                retrier.settle(retire, session, CallerMode.ASYNC, (reply, sending) -> session.retired());
            } else {
                session.retired();
            }
            notifyUsers(user -> user.over(Partition.this, session, cause));
            context.doubts().signalNews();
        }

        @Override
        public void observe(SessionEvent.Type what) {
            context.observers().session(what, number);
        }
    }

    // ---- The end

    /**
     * Stops opening and renewing sessions: waiters fail, holds are lost.
     *
     * @return the session to end; null if there is none
     */
    @Nullable
    public Session shut() {
        Session session = keeper.close();
        notifyUsers(user -> user.shut(this));
        resumeWaiters(Wait::failed);
        if (session != null && session.isAlive()) {
            context.observers().session(SessionEvent.Type.CLOSED, number);
        }
        return session == null || session.state() == Session.State.ENDED ? null : session;
    }

    /**
     * Stops sending commands.
     *
     * @param ended the session that the store has ended for that; null if it has not answered, or there was none
     * @return whether it was called for the first time
     */
    public boolean endClose(@Nullable Session ended) {
        boolean isFirst = closeEnded.compareAndSet(false, true);
        if (isFirst) {
            retrier.stop(ended);
            wire.close();
        }
        return isFirst;
    }
}
