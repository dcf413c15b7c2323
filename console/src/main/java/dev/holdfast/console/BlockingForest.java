package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.spi.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who waits behind whom, over all locks. Each claim that waits is behind one holder of its lock: one that waits itself
 * if there is one, otherwise the oldest. A holder and a claim belong to one actor only if the holder's annotation names
 * that claim, since a session has many threads.
 *
 * <p>Immutable after construction, which reads {@link SeenLock}s and so happens inside of {@link SeenStore#read}.
 */
final class BlockingForest {

    /** Something that holds, waits, or both: a thread of a process, as far as the store shows it. */
    static final class Actor {
        final String label;
        final List<Held> holds = new ArrayList<>();

        @Nullable
        SeenLock waitsFor;

        Instant waitsSince = Instant.EPOCH;

        /** The actors that wait directly for what this one holds, in the order of their queues. */
        final List<Actor> behind = new ArrayList<>();

        private int weight = -1;

        Actor(String label) {
            this.label = label;
        }

        /** The number of claims behind, directly or not. */
        int countBehind() {
            if (weight < 0) {
                weight = 0; // ends cycles
                for (Actor actor : behind) {
                    weight += 1 + actor.countBehind();
                }
            }
            return weight;
        }

        Duration longestWait(Instant now) {
            Duration longest = waitsFor == null ? Duration.ZERO : Duration.between(waitsSince, now);
            for (Actor actor : behind) {
                Duration theirs = actor.longestWait(now);
                longest = theirs.compareTo(longest) > 0 ? theirs : longest;
            }
            return longest;
        }
    }

    /** A hold of an actor. */
    record Held(SeenLock lock, LockInfo.Holder holder) {}

    /** Actors that wait for each other: each for the next one, and the last for the first. */
    record Cycle(List<Actor> actors) {

        int countBehind() {
            return actors.stream().mapToInt(Actor::countBehind).sum();
        }

        Instant since() {
            return actors.stream()
                    .map(actor -> actor.waitsSince)
                    .max(Comparator.naturalOrder())
                    .orElse(Instant.EPOCH);
        }
    }

    private final Map<ClaimKey, Actor> waiting = new LinkedHashMap<>();
    private final Map<ClaimKey, Actor> holding = new LinkedHashMap<>();
    private final List<Cycle> cycles = new ArrayList<>();
    private final List<Actor> roots;

    BlockingForest(Collection<SeenLock> locks) {
        List<SeenLock> contended = locks.stream()
                .filter(lock -> lock.waiting() > 0)
                .sorted(Comparator.comparing(SeenLock::name))
                .toList();
        for (SeenLock lock : contended) {
            for (LockInfo.Waiter waiter : lock.info().waiters()) {
                Actor actor = new Actor(waiter.label());
                actor.waitsFor = lock;
                actor.waitsSince = lock.since(waiter);
                waiting.put(ClaimKey.of(waiter), actor);
            }
        }
        for (SeenLock lock : contended) {
            for (LockInfo.Holder holder : lock.info().holders()) {
                Actor actor = ownerOf(holder);
                actor.holds.add(new Held(lock, holder));
                holding.put(ClaimKey.of(holder), actor);
            }
        }
        Map<Actor, Actor> blockers = new HashMap<>();
        for (SeenLock lock : contended) {
            Actor blocker = blockerOf(lock);
            if (blocker != null) {
                lock.info().waiters().forEach(waiter -> blockers.put(actorOf(waiter), blocker));
            }
        }
        findCycles(blockers);
        connect(contended, blockers);
        roots = holding.values().stream()
                .distinct()
                .filter(actor -> actor.waitsFor == null && !actor.behind.isEmpty())
                .sorted(Comparator.comparingInt(Actor::countBehind).reversed())
                .toList();
    }

    private Actor actorOf(LockInfo.Waiter waiter) {
        return java.util.Objects.requireNonNull(waiting.get(ClaimKey.of(waiter)));
    }

    /** The actor of a hold: the claim that its annotation names, or one of its own. */
    private Actor ownerOf(LockInfo.Holder holder) {
        for (ClaimKey claim : Annotations.waitsOf(holder)) {
            Actor actor = waiting.get(claim);
            if (actor != null) {
                return actor;
            }
        }
        return new Actor(holder.label());
    }

    private @Nullable Actor blockerOf(SeenLock lock) {
        List<Actor> holders = lock.info().holders().stream()
                .map(holder -> java.util.Objects.requireNonNull(holding.get(ClaimKey.of(holder))))
                .toList();
        // Any permit that is returned helps a semaphore's queue; a writer needs all readers to leave.
        boolean isAnyEnough = lock.info().kind() == Kind.SEMAPHORE;
        return holders.stream()
                .filter(actor -> actor.waitsFor == null == isAnyEnough)
                .findFirst()
                .orElse(holders.isEmpty() ? null : holders.get(0));
    }

    /** Each actor has at most one blocker, so a walk from blocker to blocker ends or meets itself. */
    private void findCycles(Map<Actor, Actor> blockers) {
        Set<Actor> visited = new HashSet<>();
        for (Actor start : blockers.keySet().stream()
                .sorted(Comparator.comparing(actor -> actor.label))
                .toList()) {
            Set<Actor> path = new LinkedHashSet<>();
            Actor actor = start;
            while (actor != null && visited.add(actor)) {
                path.add(actor);
                actor = blockers.get(actor);
            }
            if (actor != null && path.contains(actor)) {
                List<Actor> all = new ArrayList<>(path);
                cycles.add(new Cycle(List.copyOf(all.subList(all.indexOf(actor), all.size()))));
            }
        }
    }

    private void connect(List<SeenLock> contended, Map<Actor, Actor> blockers) {
        Set<Actor> circling = new HashSet<>();
        cycles.forEach(cycle -> circling.addAll(cycle.actors()));
        for (SeenLock lock : contended) {
            for (LockInfo.Waiter waiter : lock.info().waiters()) {
                Actor actor = actorOf(waiter);
                Actor blocker = blockers.get(actor);
                if (blocker != null && !circling.contains(actor)) {
                    blocker.behind.add(actor);
                }
            }
        }
    }

    List<Cycle> cycles() {
        return cycles;
    }

    /** The actors that wait for nothing while others wait behind them, those with the most claims behind first. */
    List<Actor> roots() {
        return roots;
    }

    int countWaiting() {
        return waiting.size();
    }

    /** What the owner of a hold waits for; null if nothing, or if it is unknown. */
    @Nullable
    Actor waitingOwner(LockInfo.Holder holder) {
        Actor actor = holding.get(ClaimKey.of(holder));
        if (actor == null) {
            actor = ownerOf(holder);
        }
        return actor.waitsFor == null ? null : actor;
    }

    /** The actor that waits with a claim. */
    @Nullable
    Actor waiter(LockInfo.Waiter waiter) {
        return waiting.get(ClaimKey.of(waiter));
    }

    boolean isInCycle(SeenLock lock) {
        return cycles.stream().flatMap(cycle -> cycle.actors().stream()).anyMatch(actor -> actor.waitsFor == lock);
    }
}
