package dev.holdfast.engine.local;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.Deadlock;
import dev.holdfast.Environment;
import dev.holdfast.LockDeadlockException;
import dev.holdfast.OnDeadlock;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.deadlock.CycleSearch;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.local.WaitView.Blocker;
import dev.holdfast.spi.StoreTraits.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/*
 * A thread is added when it has waited for a second, so that short waits cost nothing. The search keeps it only if it
 * holds something, until its wait ends: a thread acquires nothing while it waits, so it need not be checked again.
 *
 * Cycles of threads of this process are found here, without the store. Why a reported one existed: each edge of it, a
 * request that waits for a hold, is read twice, without a common lock: all edges once, then all of them again. A
 * request object waits once, and a hold object is held once. So an edge that was there both times was there in
 * between, and all of them were there between the two rounds. Why none is missed: the last member of a cycle to be
 * added finds all others here, and all edges, since a cycle ends only with a wait or a hold of its members.
 *
 * Cycles with threads of other processes are left to CommonDeadlocks.
 */

/** The threads of this process that wait while they hold something, and the search for deadlocks. Thread-safe. */
public final class NestedWaits {

    /** How long a thread has waited when it is added: long compared to most waits, and short for a person. */
    static final long ADDED_AFTER_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The pause after a search, however many threads are added. */
    private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** A search without the store is repeated while there are nested waits: a hold in doubt may have hidden a cycle. */
    private static final long USUAL_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final LocalResources resources;
    private final ClientContext context;
    private final CommonDeadlocks common;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private List<NestedWait> added = new ArrayList<>();

    @GuardedBy("lock")
    private Environment.@Nullable Timer timer;

    @GuardedBy("lock")
    private long dueAt;

    @GuardedBy("lock")
    private boolean isSearching;

    /** Whether a search with the store's help is under way, which takes as long as the store does. */
    @GuardedBy("lock")
    private boolean isAsking;

    /** When the last search ended. */
    @GuardedBy("lock")
    private long searchedAt;

    // Used by one search at a time.

    private final List<NestedWait> nested = new ArrayList<>();

    /** The members of each reported cycle that may still exist. Read also while the store is asked. */
    private final Set<Set<NestedWait>> reported = ConcurrentHashMap.newKeySet();

    NestedWaits(LocalResources resources) {
        this.resources = resources;
        this.context = resources.context;
        this.common = new CommonDeadlocks(resources);
        this.searchedAt = context.environment().monotonicNanos() - LEAST_PAUSE_NANOS;
    }

    boolean isSearched() {
        return context.options().onDeadlock() != OnDeadlock.OFF;
    }

    // ---- When to search

    /** A thread has waited for a second. */
    void add(Request request, LocalSynchronizer resource, Thread thread, long beganNanos) {
        long now = context.environment().monotonicNanos();
        lock.lock();
        try {
            added.add(new NestedWait(request, resource, thread, beganNanos));
            schedule(Math.max(0, searchedAt + LEAST_PAUSE_NANOS - now), now);
        } finally {
            lock.unlock();
        }
    }

    /** The wait of a thread that was added has ended. */
    void ended(Request request) {
        common.ended(request);
    }

    @GuardedBy("lock")
    private void schedule(long delayNanos, long now) {
        long at = now + delayNanos;
        if (isSearching || context.isClosing() || (timer != null && dueAt - at <= 0)) {
            return;
        }
        if (timer != null) {
            timer.cancel();
        }
        dueAt = at;
        timer = context.environment().schedule(delayNanos, this::begin);
    }

    private void begin() {
        List<NestedWait> fresh;
        lock.lock();
        try {
            timer = null;
            if (isSearching || context.isClosing()) {
                return;
            }
            isSearching = true;
            fresh = added;
            added = new ArrayList<>();
        } finally {
            lock.unlock();
        }
        if (fresh.isEmpty()) {
            search(fresh);
        } else {
            // A pass over all locks of the client: too long for the thread of the timers.
            context.callbacks().runListener(() -> search(fresh));
        }
    }

    private void search(List<NestedWait> fresh) {
        Failsafe.run("searching for deadlocks of threads", () -> searchHere(fresh));
        List<NestedWait> all = List.copyOf(nested);
        boolean needsStore = !all.isEmpty() && context.traits().has(Feature.ANNOTATIONS);
        boolean wasAsking = end(!all.isEmpty(), needsStore);
        if (wasAsking) {
            return; // its end begins the next search
        }
        if (needsStore) {
            common.search(all, reported::contains, this::asked);
        } else {
            common.rest();
        }
    }

    /** Ends a search in this process; returns whether one with the store's help was under way. */
    private boolean end(boolean isNested, boolean needsStore) {
        lock.lock();
        try {
            boolean wasAsking = isAsking;
            isAsking |= needsStore;
            isSearching = false;
            searchedAt = context.environment().monotonicNanos();
            if (!added.isEmpty()) {
                schedule(LEAST_PAUSE_NANOS, searchedAt);
            } else if (isNested && !isAsking) {
                schedule(USUAL_PAUSE_NANOS, searchedAt);
            }
            return wasAsking;
        } finally {
            lock.unlock();
        }
    }

    /** A search with the store's help has ended. */
    private void asked(long pauseNanos) {
        lock.lock();
        try {
            isAsking = false;
            schedule(pauseNanos, context.environment().monotonicNanos());
        } finally {
            lock.unlock();
        }
    }

    // ---- Threads of this process

    private void searchHere(List<NestedWait> fresh) {
        addHolds(fresh);
        nested.addAll(fresh);
        nested.removeIf(wait -> !wait.isNested());
        reported.removeIf(cycle -> !nested.containsAll(cycle));
        Map<NestedWait, Map<NestedWait, Blocker>> blockers = blockers();
        Map<NestedWait, Set<NestedWait>> components = CycleSearch.components(
                nested, wait -> blockersOf(wait, blockers).keySet());
        components.forEach((wait, component) -> {
            List<NestedWait> cycle = CycleSearch.shortest(
                    wait, each -> blockersOf(each, blockers).keySet(), component::contains);
            Set<NestedWait> members = Set.copyOf(cycle);
            if (!reported.contains(members) && isStillThere(cycle, blockers)) {
                reported.add(members);
                report(cycle, blockers);
            }
        });
    }

    /** Finds out what threads hold, in one pass over all locks of this client. */
    private void addHolds(List<NestedWait> fresh) {
        if (fresh.isEmpty()) {
            return;
        }
        Map<Thread, NestedWait> byThread = new HashMap<>();
        fresh.forEach(wait -> byThread.put(wait.thread, wait));
        for (LocalSynchronizer resource : resources.resources()) {
            resource.eachOwnedHold(hold -> {
                NestedWait wait = hold.owner == null ? null : byThread.get(hold.owner);
                if (wait != null) {
                    wait.add(hold);
                }
            });
        }
    }

    /** For each wait the others that block it, with the hold by which they do. */
    private Map<NestedWait, Map<NestedWait, Blocker>> blockers() {
        Map<Thread, NestedWait> byThread = new HashMap<>();
        nested.forEach(wait -> byThread.put(wait.thread, wait));
        Map<NestedWait, Map<NestedWait, Blocker>> blockers = new HashMap<>();
        for (NestedWait wait : nested) {
            Map<NestedWait, Blocker> ofWait = new LinkedHashMap<>();
            for (Blocker blocker : wait.blockers()) {
                NestedWait owner = blocker.hold().owner == null ? null : byThread.get(blocker.hold().owner);
                if (owner != null) {
                    ofWait.put(owner, blocker);
                }
            }
            blockers.put(wait, ofWait);
        }
        return blockers;
    }

    private static Map<NestedWait, Blocker> blockersOf(
            NestedWait wait, Map<NestedWait, Map<NestedWait, Blocker>> blockers) {
        return blockers.getOrDefault(wait, Map.of());
    }

    private static boolean isStillThere(List<NestedWait> cycle, Map<NestedWait, Map<NestedWait, Blocker>> blockers) {
        for (int i = 0; i < cycle.size(); i++) {
            NestedWait wait = cycle.get(i);
            if (!wait.blockers().contains(blocker(cycle, i, blockers))) {
                return false;
            }
        }
        return true;
    }

    /** What a member waits for: the hold of the next one. */
    private static Blocker blocker(
            List<NestedWait> cycle, int index, Map<NestedWait, Map<NestedWait, Blocker>> blockers) {
        NestedWait next = cycle.get((index + 1) % cycle.size());
        return Objects.requireNonNull(blockersOf(cycle.get(index), blockers).get(next));
    }

    private void report(List<NestedWait> found, Map<NestedWait, Map<NestedWait, Blocker>> blockers) {
        NestedWait youngest = youngest(found);
        NestedWait victim = context.options().onDeadlock() == OnDeadlock.FAIL ? youngest : null;
        // The owner that closed the cycle is named first.
        List<NestedWait> cycle = new ArrayList<>(found);
        Collections.rotate(cycle, -found.indexOf(youngest));
        long now = context.environment().monotonicNanos();
        List<Deadlock.Member> members = new ArrayList<>();
        for (int i = 0; i < cycle.size(); i++) {
            NestedWait wait = cycle.get(i);
            LocalHold hold = blocker(cycle, (i + cycle.size() - 1) % cycle.size(), blockers)
                    .hold();
            members.add(new Deadlock.Member(
                    context.options().label(),
                    hold.claim().session.id.value(),
                    wait.threadName(),
                    hold.name(),
                    hold.rawToken(),
                    hold.message(),
                    wait.request.name.value(),
                    blocker(cycle, i, blockers).isBehindWriter(),
                    Duration.ofNanos(now - wait.beganNanos),
                    wait == victim));
        }
        Deadlock deadlock = new Deadlock(members);
        context.noteDeadlock(deadlock);
        if (victim != null) {
            fail(victim, deadlock);
        }
    }

    private void fail(NestedWait victim, Deadlock deadlock) {
        var unused = victim.resource.fail(
                victim.request,
                () -> new LockDeadlockException(victim.request.name.value(), context.product(), deadlock));
    }

    private static NestedWait youngest(List<NestedWait> cycle) {
        NestedWait first = cycle.get(0);
        return cycle.stream()
                .max(Comparator.comparingLong(wait -> wait.beganNanos - first.beganNanos))
                .orElseThrow();
    }
}
