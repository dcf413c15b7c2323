package dev.holdfast.engine;

import dev.holdfast.Loss;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What this client has to do with one part of its store: the way there, the session, the gates of its names, and what
 * looks after them. Most stores have one part. Where there are more, each is judged by itself: that one does not answer
 * says nothing of the others.
 *
 * <p>It stays for the life of the client once it was needed; the session does not, if nothing of the part is used.
 * Thread-safe.
 */
final class StorePart {

    /** What waits for a session: goes on when there is one, or when none could be had just now. */
    private record Wait(Runnable ready, Runnable failed) {}

    final Engine engine;
    final int number;
    final Wire wire;
    final Settler settler;
    final Keeper keeper;
    final Poller poller;
    private final Auditor auditor;
    private final ConcurrentMap<ResourceName, Gate> gates = new ConcurrentHashMap<>();
    private final Queue<Wait> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean closeEnded = new AtomicBoolean();

    /** Somebody has asked for the session since the last look whether it is needed. */
    private volatile boolean isWanted;

    StorePart(Engine engine, int number) {
        this.engine = engine;
        this.number = number;
        wire = new Wire(
                engine.store,
                engine.environment,
                engine.clock,
                engine.options.storeTimeout().dividedBy(2),
                Keeper.patience(engine.options.sessionTtl()));
        settler = new Settler(wire, engine.environment, engine.clock);
        keeper = new Keeper(this);
        poller = new Poller(this, engine.traits);
        auditor = new Auditor(this);
    }

    // ---- The session

    /**
     * The session that is alive, or null while there is none. Who asks is about to send something under it, so it is
     * not given up as idle.
     */
    @Nullable
    Session session() {
        if (!isWanted && engine.parts.areSeveral()) {
            isWanted = true;
        }
        return keeper.current();
    }

    void needSession(Caller caller) {
        if (!engine.isClosing()) {
            keeper.open(caller);
        }
    }

    /** Has one action run once there is a session, or the other if none can be had just now. */
    void awaitSession(Runnable ready, Runnable failed) {
        waiting.add(new Wait(ready, failed));
        needSession(Caller.GOES_ON);
        if (keeper.current() != null) {
            goOn(true);
        } else if (engine.isClosing()) {
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
     * A session that nothing needs costs the store a keep-alive now and then: where there are many parts, it is ended.
     */
    boolean mayRest() {
        boolean wasWanted = isWanted;
        isWanted = false;
        return engine.parts.areSeveral() && !wasWanted && isUnused();
    }

    /** Whether nothing of this part is held, waited for, or to be ended. */
    boolean isUnused() {
        return !isWanted
                && gates.isEmpty()
                && waiting.isEmpty()
                && wire.isIdle()
                && settler.isIdle()
                && !engine.turns.isUsing(this)
                && !engine.isClosing();
    }

    /**
     * How long to wait rather than so long, so that parts whose time has come at about the same moment are renewed at
     * the same, and their keep-alives leave together: up to a quarter less of an interval, and never more.
     */
    long together(long delay) {
        long grain = engine.options.keepAliveEvery().toNanos() / 4;
        if (!engine.parts.areSeveral() || delay <= grain) {
            return delay;
        }
        return delay - Math.floorMod(engine.clock.now() + delay, grain);
    }

    // ---- The gates

    /** The gate of a name, made if there is none. */
    Gate gateFor(ResourceName name, dev.holdfast.spi.ResourceSpec spec) {
        Gate gate = gates.get(name);
        if (gate == null) {
            gate = new Gate(this, name, spec);
            Gate other = gates.putIfAbsent(name, gate);
            gate = other == null ? gate : other;
        }
        return gate;
    }

    @Nullable
    Gate gate(ResourceName name) {
        return gates.get(name);
    }

    Collection<Gate> gates() {
        return gates.values();
    }

    void remove(Gate gate) {
        gates.remove(gate.name, gate);
    }

    /** This part could not be asked. If it has been silent for too long, what waits for it fails. */
    void troubled(StoreException failure) {
        if (isSilent()) {
            for (Gate gate : gates.values()) {
                Failsafe.run(
                        "the end of waiting",
                        () -> gate.failWaiting(() -> engine.storeFailure(gate.name.value(), failure)));
            }
        }
    }

    /** Whether it has answered nothing for as long as anybody waits. */
    boolean isSilent() {
        return wire.silentFor() >= engine.options.storeTimeout().toNanos();
    }

    // ---- What the keeper tells, without any lock

    /** A session is there: what waits for one may go on. */
    void opened(Session session) {
        engine.isReady();
        gates.values().forEach(gate -> Failsafe.run("a lock under a new session", gate::goOn));
        goOn(true);
        engine.turns.goOn(this);
    }

    /** All holds of a session are lost. */
    void over(Session session, Loss.Cause cause) {
        if (session.state == Session.State.ABANDONED) {
            settler.settle(
                    new Command.Retire(session.id), session, Caller.GOES_ON, (reply, isFirst) -> session.retired());
        } else {
            session.retired();
        }
        gates.values().forEach(gate -> Failsafe.run("the end of a session", () -> gate.sessionOver(session, cause)));
        engine.certainty.tell();
    }

    /**
     * A session could not be opened just now.
     *
     * @param attempt how many times one had been asked for, this one included
     */
    void notOpened(StoreException failure, long attempt) {
        boolean isHopeless = failure.reason() == Reason.DENIED || failure.reason() == Reason.CORRUPT;
        if (isHopeless) {
            engine.isHopeless(failure);
            for (Gate gate : gates.values()) {
                Failsafe.run(
                        "the end of waiting",
                        () -> gate.failThoseBefore(attempt, () -> engine.storeFailure(gate.name.value(), failure)));
            }
        }
        goOn(false);
        troubled(failure);
    }

    /** A keep-alive was acknowledged. */
    void renewed(Session session) {
        engine.certainty.tell();
        for (Gate gate : gates.values()) {
            Failsafe.run("a look after owners", () -> Oversight.checkOwners(gate));
            Failsafe.run("the end of a doubt", () -> Oversight.goOnAfterDoubt(gate));
        }
        auditor.runIfDue(session);
    }

    // ---- The end

    /**
     * No new session, no more renewals: all that waits fails, what is held is lost. Tells the session, if there is one
     * to end.
     */
    @Nullable
    Session shut() {
        Session session = keeper.close();
        for (Gate gate : List.copyOf(gates.values())) {
            Failsafe.run("the end of a lock", () -> Oversight.shut(gate, engine::closedException));
        }
        goOn(false);
        return session == null || session.state == Session.State.ENDED ? null : session;
    }

    /** Nothing is sent any more; whether that was the first time. */
    boolean endClose(Settler.Closing how) {
        boolean isFirst = closeEnded.compareAndSet(false, true);
        if (isFirst) {
            settler.stop(how);
            wire.close();
        }
        return isFirst;
    }
}
