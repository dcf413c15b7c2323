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
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What this client has to do with one partition of its store: the way there, the session, and what looks after its
 * claims. Most stores have one partition. Where there are more, each is judged by itself: that one does not answer says
 * nothing of the others.
 *
 * <p>It stays for the life of the client once it was needed; the session does not, if nothing of the partition is used.
 * Thread-safe.
 */
public final class Partition {
    /** What waits for a session: goes on when there is one, or when none could be had just now. */
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
    /** Somebody has asked for the session since the last look whether it is needed. */
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
                KeepAliveTimers.patience(context.options().sessionTtl()));
        retrier = new ReleaseRetrier(wire, context.environment(), context.clock());
        keeper = new SessionKeeper(this);
        driver = new ClaimDriver(this);
        validity = new GrantValidity(this);
        poller = new Poller(this);
        auditor = new Auditor(this);
    }

    // ---- The session

    /**
     * The session that is alive, or null while there is none. Who asks is about to send something under it, so it is
     * not given up as idle.
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

    /** Has one action run once there is a session, or the other if none can be had just now. */
    public void awaitSession(Runnable ready, Runnable failed) {
        waiting.add(new Wait(ready, failed));
        needSession(CallerMode.ASYNC);
        if (keeper.current() != null) {
            goOn(true);
        } else if (context.isClosing()) {
            goOn(false);
        }
    }

    private void goOn(boolean isReady) {
        // Who has to wait again comes later.
        List<Wait> present = new ArrayList<>();
        for (Wait wait = waiting.poll(); wait != null; wait = waiting.poll()) {
            present.add(wait);
        }
        present.forEach(wait -> Failsafe.run("what waited for a session", isReady ? wait.ready : wait.failed));
    }

    /**
     * A session that nothing needs costs the store a keep-alive now and then: where there are many partitions, it is
     * ended.
     */
    boolean mayRest() {
        boolean wasWanted = isWanted;
        isWanted = false;
        return isOneOfSeveral && !wasWanted && isUnused();
    }

    /** Whether nothing of this partition is held, waited for, or to be ended. */
    boolean isUnused() {
        return !isWanted
                && waiting.isEmpty()
                && wire.isIdle()
                && retrier.isIdle()
                && users.get().stream().noneMatch(user -> user.isUsing(this))
                && !context.isClosing();
    }

    /**
     * How long to wait rather than so long, so that partitions whose time has come at about the same moment are renewed
     * at the same, and their keep-alives leave together: up to a quarter less of an interval, and never more.
     */
    long together(long delay) {
        long grain = context.options().keepAliveEvery().toNanos() / 4;
        if (!isOneOfSeveral || delay <= grain) {
            return delay;
        }
        return delay - Math.floorMod(context.clock().now() + delay, grain);
    }

    /** Whether it answers as far as is known, and holds of its session may be relied on. */
    public boolean isUndisturbed(Session session) {
        return wire.silentFor() == 0 && !keeper.inDoubt(session);
    }

    // ---- Claims

    /** The identity of a new claim under a session of this partition. */
    public ClaimRef nextRef(ResourceName name, Session session) {
        return new ClaimRef(name, session.id, claims.incrementAndGet());
    }

    long newestClaim() {
        return claims.get();
    }

    /** Whether a claim is believed by anybody here, or its end is on its way. */
    boolean isKnown(ClaimRef ref) {
        return retrier.isPending(ref) || users.get().stream().anyMatch(user -> user.knows(ref));
    }

    /** A number that no other client draws, for all that can be known: not even one with the same randomness. */
    public long uniqueLong() {
        Session present = keeper.current();
        long own = present == null ? 0 : present.id.value().hashCode() * 0x9e3779b97f4a7c15L;
        return context.environment().randomLong() ^ own;
    }

    /** What the store has acknowledged may be missing: audits the session as soon as possible. */
    void auditNow() {
        auditor.runNow();
    }

    // ---- Trouble

    /** This partition could not be asked. If it has been silent for too long, what waits for it fails. */
    public void troubled(StoreException failure) {
        if (isSilent()) {
            tell(user -> user.silent(this, failure));
        }
    }

    /** Whether it has answered nothing for as long as anybody waits. */
    public boolean isSilent() {
        return wire.silentFor() >= context.options().storeTimeout().toNanos();
    }

    /** Tells the users of the sessions something; what one of them throws does not keep it from the others. */
    void tell(Consumer<SessionUser> news) {
        users.get().forEach(user -> Failsafe.run("news of a session", () -> news.accept(user)));
    }

    /** Tells listeners what becomes of the session. */
    void observe(SessionEvent.Type what) {
        context.observers().session(what, number);
    }

    // ---- What the keeper tells, without any lock

    /** A session is there: what waits for one may go on. */
    void opened() {
        tell(user -> user.opened(this));
        goOn(true);
    }

    /** All holds of a session are lost. */
    void over(Session session, Loss.Cause cause) {
        if (session.state == Session.State.ABANDONED) {
            retrier.settle(
                    new Command.Retire(session.id), session, CallerMode.ASYNC, (reply, isFirst) -> session.retired());
        } else {
            session.retired();
        }
        tell(user -> user.over(this, session, cause));
        context.doubts().signalNews();
    }

    /**
     * A session could not be opened just now.
     *
     * @param attempt how many times one had been asked for, this one included
     */
    void notOpened(StoreException failure, long attempt) {
        if (failure.reason() == Reason.DENIED || failure.reason() == Reason.CORRUPT) {
            tell(user -> user.refused(this, failure, attempt));
        }
        goOn(false);
        troubled(failure);
    }

    /** A keep-alive was acknowledged. */
    void renewed(Session session) {
        context.doubts().signalNews();
        tell(user -> user.renewed(this));
        auditor.runIfDue(session);
        observe(SessionEvent.Type.RENEWED);
    }

    // ---- The end

    /**
     * No new session, no more renewals: all that waits fails, what is held is lost. Tells the session, if there is one
     * to end.
     */
    @Nullable
    public Session shut() {
        Session session = keeper.close();
        tell(user -> user.shut(this));
        goOn(false);
        if (session != null && session.isAlive()) {
            observe(SessionEvent.Type.CLOSED);
        }
        return session == null || session.state == Session.State.ENDED ? null : session;
    }

    /** Nothing is sent any more; whether that was the first time. */
    public boolean endClose(ReleaseRetrier.Closing how) {
        boolean isFirst = closeEnded.compareAndSet(false, true);
        if (isFirst) {
            retrier.stop(how);
            wire.close();
        }
        return isFirst;
    }
}
