package dev.holdfast.console;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.admin.DamagedLock;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.spi.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The console's memory of a store: the newest record of each name, and what changed while it was polled. The store
 * keeps no history, so this begins with the console and ends with it.
 *
 * <p><b>Thread-safety:</b> a poller writes; views read inside of {@link #read}, which keeps the poller out.
 */
final class SeenStore {

    /** Names of which the history is kept although they are free. */
    private static final int MAX_FREE = 10_000;

    /** Beyond these, further names are not shown. */
    static final int MAX_NAMES = 50_000;

    /** Among very many names, fewer holds of each are kept, so that their memory stays at some tens of megabytes. */
    private static final int MAX_HOLDS = 100_000;

    /** Still enough to know a usual one. */
    private static final int LEAST_HOLDS = 5;

    /** Of tasks on a screen that were never read; others take turns with other requests. */
    private static final int HISTORIES_IN_A_ROW = 3;

    private static final int MAX_LOSSES = 200;
    private static final int SAMPLES = 60;
    private static final Duration SAMPLE_EVERY = Duration.ofSeconds(10);

    /** A hold that ended without a release. */
    record Lost(String name, SeenHold hold) {}

    /** Some figures of the past, for small charts. */
    record Sample(long holders, long waiting, long roundTripMicros) {}

    @GuardedBy("this")
    private final Map<String, SeenLock> locks = new HashMap<>();

    @GuardedBy("this")
    private final SeenTasks tasks = new SeenTasks();

    @GuardedBy("this")
    private final Set<String> swept = new HashSet<>();

    @GuardedBy("this")
    private List<DamagedLock> damaged = List.of();

    /** Names that were read apart from the polls since the request of the present poll. */
    @GuardedBy("this")
    private final Set<String> readApart = new HashSet<>();

    /** Those of the present walk. */
    @GuardedBy("this")
    private final List<DamagedLock> sweptDamaged = new ArrayList<>();

    @GuardedBy("this")
    private final Deque<Lost> losses = new ArrayDeque<>();

    @GuardedBy("this")
    private final Deque<Sample> samples = new ArrayDeque<>();

    @GuardedBy("this")
    private Instant sampledAt = Instant.EPOCH;

    @GuardedBy("this")
    private long sequence;

    @GuardedBy("this")
    private boolean complete;

    @GuardedBy("this")
    private @Nullable Instant startedAt;

    @GuardedBy("this")
    private Instant answeredAt = Instant.EPOCH;

    @GuardedBy("this")
    private @Nullable Instant awaySince;

    @GuardedBy("this")
    private String problem = "";

    @GuardedBy("this")
    private Duration nextTry = Duration.ZERO;

    @GuardedBy("this")
    private long roundTripMicros;

    /** Runs a view while nothing changes. */
    synchronized <T> T read(Supplier<T> view) {
        return view.get();
    }

    /** A poll is about to ask the store. */
    synchronized void asking() {
        readApart.clear();
    }

    /** A page of names was read in a walk over all of them. */
    synchronized void readPage(
            List<LockInfo> page, List<DamagedLock> unreadable, boolean isFirst, boolean isLast, Instant now) {
        if (isFirst) {
            swept.clear();
            sweptDamaged.clear();
        }
        sweptDamaged.addAll(unreadable);
        for (LockInfo info : page) {
            update(info, now);
        }
        if (isLast) {
            for (SeenLock lock : List.copyOf(locks.values())) {
                if (!swept.contains(lock.name()) && !readApart.contains(lock.name())) {
                    vanish(lock, now);
                }
            }
            damaged = List.copyOf(sweptDamaged);
            forgetFree();
            int holds = Math.max(LEAST_HOLDS, MAX_HOLDS / Math.max(1, locks.size()));
            locks.values().forEach(lock -> lock.keepHolds(holds));
            complete = true;
        }
    }

    /** Some names were read. */
    synchronized void readNames(List<LockInfo> infos, Instant now) {
        infos.forEach(info -> update(info, now));
    }

    /** The names with waiters, as far as they were read. */
    synchronized List<String> waited() {
        return locks.values().stream()
                .filter(lock -> lock.info().waiting() > 0)
                .map(SeenLock::name)
                .toList();
    }

    /** Whether claims waited for a name when it was read last. */
    synchronized boolean isWaited(String name) {
        SeenLock lock = locks.get(name);
        return lock != null && lock.info().waiting() > 0;
    }

    /** One name was read apart from the polls: what a poll that is under way says about it is older. */
    synchronized void readApart(String name, @Nullable LockInfo info, Instant now) {
        readApart.remove(name);
        readName(name, info, now);
        readApart.add(name);
    }

    /** One name was read. */
    synchronized void readName(String name, @Nullable LockInfo info, Instant now) {
        SeenLock lock = locks.get(name);
        if (info != null) {
            update(info, now);
        } else if (lock != null && !readApart.contains(name)) {
            vanish(lock, now);
        }
    }

    @GuardedBy("this")
    private void update(LockInfo info, Instant now) {
        // However a name was read, it exists: the walk over all names may have passed its place before it was created.
        swept.add(info.name());
        SeenLock lock = locks.get(info.name());
        if (readApart.contains(info.name())) {
            return;
        }
        if (info.kind() == Kind.TASK) {
            tasks.listed(info, now);
        }
        if (lock != null) {
            lock.update(info, now).forEach(hold -> addLoss(info.name(), hold));
        } else if (locks.size() < MAX_NAMES) {
            locks.put(info.name(), new SeenLock(info, now));
        }
    }

    /** The store no longer lists a name: it is free. */
    @GuardedBy("this")
    private void vanish(SeenLock lock, Instant now) {
        LockInfo last = lock.info();
        LockInfo free = new LockInfo(
                last.name(),
                last.kind(),
                last.order(),
                last.capacity(),
                List.of(),
                0,
                0,
                List.of(),
                0,
                last.newestToken());
        lock.update(free, now).forEach(hold -> addLoss(lock.name(), hold));
        if (free.kind() == Kind.TASK && last.isHeld()) {
            tasks.listed(free, now);
        }
        if (lock.ended().isEmpty()) {
            locks.remove(lock.name());
        }
    }

    /**
     * The task whose history is to be read next.
     *
     * @param inARow how many of the last requests read histories
     */
    synchronized Optional<String> dueTask(Instant now, int inARow) {
        if (inARow > 0) {
            return inARow < HISTORIES_IN_A_ROW ? tasks.neverRead(now) : Optional.empty();
        }
        return tasks.due(task -> report(task, now), !complete, now);
    }

    /** How a task fares. */
    synchronized TaskReport report(SeenTask task, Instant now) {
        return TaskReport.of(task, locks.get(task.name()), now);
    }

    /** The history of a task was read. */
    synchronized void readRuns(String task, List<RecordedRun> runs, Instant now) {
        tasks.read(task, runs, now);
    }

    /** The history of a task can't be read at present. */
    synchronized void failedRuns(String task, String reason, Instant now) {
        tasks.failed(task, reason, now);
        changed();
    }

    synchronized SeenTasks tasks() {
        return tasks;
    }

    @GuardedBy("this")
    private void addLoss(String name, SeenHold hold) {
        if (hold.end() != SeenHold.End.RELEASED) {
            if (losses.size() == MAX_LOSSES) {
                losses.removeFirst();
            }
            losses.addLast(new Lost(name, hold));
        }
    }

    @GuardedBy("this")
    private void forgetFree() {
        List<SeenLock> free = new ArrayList<>(
                locks.values().stream().filter(lock -> !lock.info().isInUse()).toList());
        if (free.size() > MAX_FREE) {
            free.sort(Comparator.comparing(SeenStore::lastUse));
            free.subList(0, free.size() - MAX_FREE).forEach(lock -> locks.remove(lock.name()));
        }
    }

    private static Instant lastUse(SeenLock lock) {
        List<SeenHold> ended = lock.ended();
        return ended.isEmpty() ? Instant.EPOCH : ended.get(ended.size() - 1).to();
    }

    /** A request was answered. */
    synchronized void answered(Duration roundTrip, Instant now) {
        long micros = roundTrip.toNanos() / 1_000;
        roundTripMicros = roundTripMicros == 0 ? micros : (roundTripMicros * 7 + micros) / 8;
        if (startedAt == null) {
            startedAt = now;
        }
        answeredAt = now;
        awaySince = null;
        if (!now.isBefore(sampledAt.plus(SAMPLE_EVERY))) {
            sampledAt = now;
            if (samples.size() == SAMPLES) {
                samples.removeFirst();
            }
            samples.addLast(new Sample(
                    locks.values().stream()
                            .mapToLong(lock -> lock.info().holding())
                            .sum(),
                    locks.values().stream().mapToLong(SeenLock::waiting).sum(),
                    roundTripMicros));
        }
        changed();
    }

    /** The store didn't answer, or can't be used. */
    synchronized void failed(String reason, Duration untilNextTry, Instant now) {
        if (awaySince == null) {
            awaySince = now;
        }
        problem = reason;
        nextTry = untilNextTry;
        changed();
    }

    @GuardedBy("this")
    private void changed() {
        sequence++;
        notifyAll();
    }

    /**
     * Waits until something newer than a state was read.
     *
     * @return the number of the newest state
     */
    synchronized long awaitChange(long after, Duration atMost) throws InterruptedException {
        long deadline = System.nanoTime() + atMost.toNanos();
        while (sequence <= after) {
            long millis = (deadline - System.nanoTime()) / 1_000_000;
            if (millis <= 0) {
                break;
            }
            wait(millis);
        }
        return sequence;
    }

    /** Waits for a state that is newer than one, until all names were read once or the store has failed. */
    synchronized void awaitFirst(long after, Duration atMost) throws InterruptedException {
        long deadline = System.nanoTime() + atMost.toNanos();
        while (sequence <= after || (!complete && awaySince == null)) {
            long millis = (deadline - System.nanoTime()) / 1_000_000;
            if (millis <= 0) {
                return;
            }
            wait(millis);
        }
    }

    synchronized long sequence() {
        return sequence;
    }

    synchronized Collection<SeenLock> locks() {
        return locks.values();
    }

    synchronized @Nullable SeenLock lock(String name) {
        return locks.get(name);
    }

    synchronized List<DamagedLock> damaged() {
        return damaged;
    }

    synchronized List<Lost> losses() {
        return List.copyOf(losses);
    }

    synchronized List<Sample> samples() {
        return List.copyOf(samples);
    }

    synchronized boolean isComplete() {
        return complete;
    }

    synchronized @Nullable Instant startedAt() {
        return startedAt;
    }

    synchronized @Nullable Instant awaySince() {
        return awaySince;
    }

    synchronized String problem() {
        return problem;
    }

    synchronized Duration nextTry() {
        return nextTry;
    }

    synchronized long roundTripMicros() {
        return roundTripMicros;
    }

    /** The time of what the views show: now, or that of the last answer, if there was one, of an unreachable store. */
    synchronized Instant shownAt(Instant now) {
        return awaySince == null ? now : startedAt == null ? awaySince : answeredAt;
    }

    /** The hold with a token is about to be ended by this console. */
    synchronized void force(String name, long token) {
        SeenLock lock = locks.get(name);
        if (lock != null) {
            lock.force(token);
        }
    }
}
