package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.spi.Kind;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who waits behind whom, over all locks. Each claim that waits is behind one holder of its lock: one that waits itself
 * if there is one, otherwise the oldest. A hold and a wait have one thread only if its client states so: the session
 * alone doesn't join them, since it has many threads.
 *
 * <p>A cycle is a deadlock if all its waits acknowledge each other. Others may be due to records that were read at
 * different times; they are cut open.
 *
 * <p>Immutable after construction, which reads {@link SeenLock}s and so happens inside of {@link SeenStore#read}.
 */
final class BlockingForest {

    /** What holds, waits, or both: a thread of a process, as far as the store shows it. */
    static final class Actor {
        final String label;

        /** Its holds, beginning with those that others wait for. */
        final List<Held> holds = new ArrayList<>();

        /** The name that it waits for; null if it waits for nothing that is known. */
        final @Nullable String awaits;

        /** What its client states about the wait; null if nothing. */
        final LockInfo.@Nullable Wait stated;

        /** Since when it waits, or holds. */
        final Instant since;

        /** Those that wait directly for what this one holds, in the order of their queues. */
        final List<Actor> behind = new ArrayList<>();

        /** What it is behind, in the forest; null for a root, and in a cycle. */
        private @Nullable Actor blocker;

        /** Claims directly behind it that the store counts and does not list. */
        private long unlisted;

        private long allBehind;
        private Instant oldestWait = Instant.MAX;

        Actor(String label, @Nullable String awaits, LockInfo.@Nullable Wait stated, Instant since) {
            this.label = label;
            this.awaits = awaits;
            this.stated = stated;
            this.since = since;
        }

        /** The name of its thread; empty if it is unknown. */
        String thread() {
            return stated == null ? "" : stated.thread();
        }

        /** The sessions of its client that it holds something with. */
        private Set<String> sessions() {
            return holds.stream().map(hold -> hold.holder().session()).collect(Collectors.toSet());
        }

        long unlisted() {
            return unlisted;
        }

        /** The number of claims behind it, directly or not. */
        long countBehind() {
            return allBehind;
        }

        /** Since when the one behind it waits that has waited longest. */
        Instant oldestWait() {
            return oldestWait;
        }

        /** Its hold of a name; null if it has none. */
        @Nullable
        Held hold(@Nullable String name) {
            return holds.stream()
                    .filter(hold -> hold.lock().name().equals(name))
                    .findFirst()
                    .orElse(null);
        }
    }

    /** A hold of an actor. */
    record Held(SeenLock lock, LockInfo.Holder holder, boolean isWrite) {}

    /** Actors that wait for each other: each for the next one, and the last for the first. */
    record Cycle(List<Actor> actors) {

        long countBehind() {
            return actors.stream().mapToLong(Actor::countBehind).sum();
        }

        /** The one that began to wait last, and so closed the cycle. */
        Actor youngest() {
            return actors.stream()
                    .max(Comparator.comparing(actor -> actor.since))
                    .orElseThrow();
        }

        /** What an actor holds that the one before it waits for. */
        @Nullable
        Held hold(Actor actor) {
            int before = (actors.indexOf(actor) + actors.size() - 1) % actors.size();
            return actor.hold(actors.get(before).awaits);
        }
    }

    /** The waits that clients state, by their ids. */
    private final Map<Long, Actor> stated = new LinkedHashMap<>();

    /** Those that wait with a claim. */
    private final Map<ClaimKey, Actor> claims = new HashMap<>();

    /** Those that wait, by name, in the order of the queue. */
    private final Map<String, List<Actor>> waiting = new HashMap<>();

    /** Those that hold a name that is waited for. */
    private final Map<String, List<Actor>> holding = new LinkedHashMap<>();

    private final List<Cycle> cycles = new ArrayList<>();
    private final Map<Actor, Actor> nextInCycle = new HashMap<>();
    private final List<Actor> roots;

    BlockingForest(Collection<SeenLock> locks) {
        List<SeenLock> inUse = locks.stream()
                .filter(lock -> lock.info().isInUse() && !lock.standsBy())
                .sorted(Comparator.comparing(SeenLock::name))
                .toList();
        inUse.forEach(this::addStated);
        addWaiters(inUse);
        inUse.forEach(this::addHolders);
        for (Actor actor : stated.values()) {
            actor.holds.sort(Comparator.comparing(
                    hold -> !waiting.containsKey(hold.lock().name())));
        }
        findCycles();
        inUse.forEach(this::connect);
        roots = Stream.concat(holding.values().stream().flatMap(List::stream), stated.values().stream())
                .distinct()
                .filter(actor -> actor.blocker == null && !nextInCycle.containsKey(actor))
                .filter(actor -> !actor.behind.isEmpty() || actor.unlisted > 0)
                .toList();
        count();
    }

    private void addStated(SeenLock lock) {
        for (LockInfo.Holder holder : lock.info().holders()) {
            for (LockInfo.Wait wait : holder.waits()) {
                stated.computeIfAbsent(
                                wait.id(), id -> new Actor(holder.label(), wait.awaits(), wait, lock.since(wait)))
                        .holds
                        .add(new Held(lock, holder, wait.isWriteHold()));
            }
        }
    }

    private void addWaiters(List<SeenLock> locks) {
        Map<String, List<Actor>> threads = new LinkedHashMap<>();
        for (Actor actor : stated.values()) {
            threads.computeIfAbsent(Objects.requireNonNull(actor.awaits), name -> new ArrayList<>())
                    .add(actor);
        }
        Set<Actor> withClaim = new HashSet<>();
        for (SeenLock lock : locks) {
            Map<ClaimKey, Actor> owners = owners(lock.info(), threads.getOrDefault(lock.name(), List.of()));
            for (LockInfo.Waiter waiter : lock.info().waiters()) {
                ClaimKey key = ClaimKey.of(waiter);
                Actor actor = owners.get(key);
                if (actor == null) {
                    actor = new Actor(waiter.label(), lock.name(), null, lock.since(waiter));
                }
                claims.put(key, actor);
                waiting.computeIfAbsent(lock.name(), name -> new ArrayList<>()).add(actor);
            }
            withClaim.addAll(owners.values());
        }
        // The others wait in the queues of their processes.
        threads.values().stream()
                .flatMap(List::stream)
                .filter(actor -> !withClaim.contains(actor))
                .forEach(actor -> waiting.computeIfAbsent(
                                Objects.requireNonNull(actor.awaits), name -> new ArrayList<>())
                        .add(actor));
    }

    /** The threads that wait with the claims on a lock, of those that state to wait for it. */
    private static Map<ClaimKey, Actor> owners(LockInfo info, List<Actor> threads) {
        if (threads.isEmpty()) {
            return Map.of();
        }
        Map<ClaimKey, Actor> owners = new HashMap<>();
        addOwners(owners, info, LockInfo.Waiter::session, threads, Actor::sessions);
        // A client has a session for each partition of a store. One that is seen here is of this lock's partition: its
        // other threads are in the queue of its process, and a claim with its label may be that of another process.
        Set<String> present = Stream.concat(
                        info.holders().stream().map(LockInfo.Holder::session),
                        info.waiters().stream().map(LockInfo.Waiter::session))
                .collect(Collectors.toSet());
        List<Actor> elsewhere = threads.stream()
                .filter(actor -> !actor.label.isBlank() && Collections.disjoint(actor.sessions(), present))
                .toList();
        addOwners(owners, info, LockInfo.Waiter::label, elsewhere, actor -> Set.of(actor.label));
        return owners;
    }

    /** Gives each claim that has no owner yet the first thread of its client that has no claim. */
    private static void addOwners(
            Map<ClaimKey, Actor> owners,
            LockInfo info,
            Function<LockInfo.Waiter, String> client,
            List<Actor> threads,
            Function<Actor, Set<String>> clients) {
        Map<String, Deque<Actor>> pending = new HashMap<>();
        for (Actor actor : threads) {
            for (String each : clients.apply(actor)) {
                pending.computeIfAbsent(each, any -> new ArrayDeque<>()).add(actor);
            }
        }
        Set<Actor> free = new HashSet<>(threads);
        for (LockInfo.Waiter waiter : info.waiters()) {
            Deque<Actor> own = pending.getOrDefault(client.apply(waiter), new ArrayDeque<>());
            while (!own.isEmpty() && !owners.containsKey(ClaimKey.of(waiter))) {
                Actor actor = own.remove();
                if (free.remove(actor)) {
                    owners.put(ClaimKey.of(waiter), actor);
                }
            }
        }
    }

    private void addHolders(SeenLock lock) {
        if (!waiting.containsKey(lock.name())) {
            return;
        }
        List<Actor> holders = new ArrayList<>();
        for (LockInfo.Holder holder : lock.info().holders()) {
            holder.waits().forEach(wait -> holders.add(Objects.requireNonNull(stated.get(wait.id()))));
            if (holder.waits().isEmpty()) {
                Actor actor = new Actor(holder.label(), null, null, lock.since(holder));
                actor.holds.add(new Held(lock, holder, true));
                holders.add(actor);
            }
        }
        holding.put(lock.name(), holders);
    }

    private void findCycles() {
        Set<Set<Actor>> found = new HashSet<>();
        for (Actor start : stated.values()) {
            List<Actor> path = shortestCycle(start);
            if (!path.isEmpty()
                    && path.stream().allMatch(one -> path.stream().allMatch(other -> acknowledges(one, other)))
                    && found.add(Set.copyOf(path))) {
                cycles.add(new Cycle(path));
                for (int i = 0; i < path.size(); i++) {
                    nextInCycle.putIfAbsent(path.get(i), path.get((i + 1) % path.size()));
                }
            }
        }
        cycles.sort(Comparator.comparing(cycle -> cycle.youngest().since));
    }

    private static boolean acknowledges(Actor one, Actor other) {
        return one == other
                || (one.stated != null
                        && other.stated != null
                        && one.stated.acknowledged().contains(other.stated.id()));
    }

    /** The shortest cycle through an actor, of those that it acknowledges and that acknowledge it; empty if none. */
    private List<Actor> shortestCycle(Actor start) {
        Map<Actor, Actor> previous = new HashMap<>();
        Deque<Actor> pending = new ArrayDeque<>(List.of(start));
        while (!pending.isEmpty()) {
            Actor actor = pending.remove();
            for (Actor next : statedBlockers(actor)) {
                if (next == start) {
                    Deque<Actor> path = new ArrayDeque<>();
                    for (Actor each = actor; each != start; each = Objects.requireNonNull(previous.get(each))) {
                        path.addFirst(each);
                    }
                    path.addFirst(start);
                    return List.copyOf(path);
                }
                if (acknowledges(start, next)
                        && acknowledges(next, start)
                        && previous.putIfAbsent(next, actor) == null) {
                    pending.add(next);
                }
            }
        }
        return List.of();
    }

    /** Those that hold what a thread waits for, block it, and wait themselves. */
    private List<Actor> statedBlockers(Actor actor) {
        LockInfo.Wait wait = Objects.requireNonNull(actor.stated);
        return holding.getOrDefault(wait.awaits(), List.of()).stream()
                .filter(holder -> holder != actor && holder.stated != null)
                .filter(holder -> wait.isBlockedByReaders()
                        || Objects.requireNonNull(holder.hold(wait.awaits())).isWrite())
                .toList();
    }

    private void connect(SeenLock lock) {
        List<Actor> holders = holding.getOrDefault(lock.name(), List.of());
        if (holders.isEmpty()) {
            return;
        }
        Actor blocker = blocker(lock, holders);
        for (Actor actor : waiting.getOrDefault(lock.name(), List.of())) {
            if (!nextInCycle.containsKey(actor) && !isBehind(blocker, actor)) {
                actor.blocker = blocker;
                blocker.behind.add(actor);
            }
        }
        blocker.unlisted += Math.max(0, lock.waiting() - lock.info().waiters().size());
    }

    private Actor blocker(SeenLock lock, List<Actor> holders) {
        // Any permit that is returned helps a semaphore's queue; a writer needs all readers to leave.
        boolean isAnyEnough = lock.info().kind() == Kind.SEMAPHORE;
        return holders.stream()
                .filter(nextInCycle::containsKey)
                .filter(holder -> !isAnyEnough)
                .findFirst()
                .or(() -> holders.stream()
                        .filter(holder -> (holder.awaits == null) == isAnyEnough)
                        .findFirst())
                .orElse(holders.get(0));
    }

    private static boolean isBehind(Actor actor, Actor other) {
        for (Actor each = actor; each != null; each = each.blocker) {
            if (each == other) {
                return true;
            }
        }
        return false;
    }

    /** Counts those behind each, without recursion: a chain of waits may be long. */
    private void count() {
        Deque<Actor> pending = new ArrayDeque<>(roots);
        pending.addAll(nextInCycle.keySet());
        Deque<Actor> order = new ArrayDeque<>();
        while (!pending.isEmpty()) {
            Actor actor = pending.remove();
            order.push(actor);
            pending.addAll(actor.behind);
        }
        for (Actor actor : order) {
            actor.allBehind += actor.unlisted;
            Actor blocker = actor.blocker;
            if (blocker != null) {
                blocker.allBehind += 1 + actor.allBehind;
                Instant oldest = actor.since.isBefore(actor.oldestWait) ? actor.since : actor.oldestWait;
                blocker.oldestWait = oldest.isBefore(blocker.oldestWait) ? oldest : blocker.oldestWait;
            }
        }
    }

    List<Cycle> cycles() {
        return cycles;
    }

    /** Those that are behind no other, with others behind them; those with the most claims behind first. */
    List<Actor> roots() {
        return roots.stream()
                .sorted(Comparator.comparing(Actor::countBehind).reversed())
                .toList();
    }

    /** The thread that holds with a grant and waits; null if none is known. */
    @Nullable
    Actor waitingOwner(LockInfo.Holder holder) {
        return holder.waits().isEmpty()
                ? null
                : stated.get(holder.waits().get(0).id());
    }

    /** What an actor is behind: the next one in its cycle, or in its tree. */
    @Nullable
    Actor next(Actor actor) {
        Actor next = nextInCycle.get(actor);
        return next == null ? actor.blocker : next;
    }

    /** The actor that waits with a claim; null if the lock only stands by. */
    @Nullable
    Actor waiter(LockInfo.Waiter waiter) {
        return claims.get(ClaimKey.of(waiter));
    }

    /** Whether a member of a cycle waits for a name. */
    boolean isInCycle(SeenLock lock) {
        return nextInCycle.keySet().stream().anyMatch(actor -> lock.name().equals(actor.awaits));
    }
}
