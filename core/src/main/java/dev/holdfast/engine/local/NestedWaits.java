package dev.holdfast.engine.local;

import dev.holdfast.Deadlock;
import dev.holdfast.LockDeadlockException;
import dev.holdfast.OnDeadlock;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.deadlock.CycleSearch;
import dev.holdfast.engine.deadlock.SearchSchedule;
import dev.holdfast.engine.deadlock.SearchSchedule.Next;
import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.engine.execution.Once;
import dev.holdfast.engine.execution.Slices;
import dev.holdfast.engine.local.WaitView.Blocker;
import dev.holdfast.spi.StoreTraits.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
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
import java.util.function.LongConsumer;

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
final class NestedWaits implements SearchSchedule.Steps<NestedWait> {

    /** How long a thread has waited when it is added: long compared to most waits, and short for a person. */
    static final long ADDED_AFTER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final String SEARCHING = "searching for deadlocks of threads";

    private final LocalResources resources;
    private final ClientContext context;
    private final CommonDeadlocks common;
    private final SearchSchedule<NestedWait> schedule;

    // Used by one search at a time.

    private final List<NestedWait> nested = new ArrayList<>();

    /** Those that the last search has left. */
    private volatile List<NestedWait> all = List.of();

    /** The members of each reported cycle that may still exist. Read also while the store is asked. */
    private final Set<Set<NestedWait>> reported = ConcurrentHashMap.newKeySet();

    NestedWaits(LocalResources resources) {
        this.resources = resources;
        this.context = resources.context;
        this.common = new CommonDeadlocks(resources);
        this.schedule = new SearchSchedule<>(context.environment(), this);
    }

    boolean isSearched() {
        return context.options().onDeadlock() != OnDeadlock.OFF;
    }

    // ---- When to search

    /** A thread has waited for a second. */
    void add(NestedWait wait) {
        schedule.add(wait);
    }

    /** The wait of a thread that was added has ended. */
    void ended(NestedWait wait) {
        common.ended(wait);
    }

    @Override
    public boolean isClosing() {
        return context.isClosing();
    }

    @Override
    public void searchHere(List<NestedWait> fresh, Runnable end) {
        // A search ends even if it fails. Without an end there would be no further search.
        Once then = new Once(() -> {
            Failsafe.run(SEARCHING, () -> searchHere(fresh));
            Failsafe.run(SEARCHING, () -> all = List.copyOf(nested));
            end.run();
        });
        if (Failsafe.run(SEARCHING, () -> addHolds(fresh, then)) != null) {
            then.run();
        }
    }

    @Override
    public Next next() {
        return all.isEmpty() ? Next.REST : context.traits().has(Feature.ANNOTATIONS) ? Next.STORE : Next.HERE;
    }

    @Override
    public void searchAtStore(LongConsumer end) {
        common.search(all, reported::contains, end);
    }

    @Override
    public void rest() {
        common.rest();
    }

    // ---- Threads of this process

    private void searchHere(List<NestedWait> fresh) {
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

    /**
     * Finds out what threads hold, in one pass over all locks of this client, a slice at a time: so it may run on the
     * thread of the timers, which no code of users blocks.
     */
    private void addHolds(List<NestedWait> fresh, Runnable then) {
        Map<Thread, List<LocalHold>> found = new HashMap<>();
        fresh.forEach(wait -> found.put(wait.thread, new ArrayList<>()));
        Collection<LocalSynchronizer> visited = fresh.isEmpty() ? List.of() : resources.resources();
        Slices.visit(
                context.environment(),
                "finding out what threads hold",
                visited.iterator(),
                resource -> resource.eachOwnedHold(hold -> {
                    List<LocalHold> ofThread = hold.owner == null ? null : found.get(hold.owner);
                    if (ofThread != null) {
                        ofThread.add(hold);
                    }
                }),
                () -> {
                    Failsafe.run(
                            SEARCHING,
                            () -> fresh.forEach(wait -> wait.add(found.getOrDefault(wait.thread, List.of()))));
                    then.run();
                });
    }

    private static Map<Thread, NestedWait> byThread(List<NestedWait> waits) {
        Map<Thread, NestedWait> byThread = new HashMap<>();
        waits.forEach(wait -> byThread.put(wait.thread, wait));
        return byThread;
    }

    /** For each wait the others that block it, with the hold by which they do. */
    private Map<NestedWait, Map<NestedWait, Blocker>> blockers() {
        Map<Thread, NestedWait> byThread = byThread(nested);
        Map<NestedWait, Map<NestedWait, Blocker>> blockers = new HashMap<>();
        for (NestedWait wait : nested) {
            Map<NestedWait, Blocker> ofWait = new LinkedHashMap<>();
            for (Blocker blocker : wait.blockers()) {
                LocalHold hold = blocker.hold();
                NestedWait owner = hold.owner == null ? null : byThread.get(hold.owner);
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
                    wait.awaits.value(),
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
        victim.fail(() -> new LockDeadlockException(victim.awaits.value(), context.product(), deadlock));
    }

    private static NestedWait youngest(List<NestedWait> cycle) {
        NestedWait first = cycle.get(0);
        return cycle.stream()
                .max(Comparator.comparingLong(wait -> wait.beganNanos - first.beganNanos))
                .orElseThrow();
    }
}
