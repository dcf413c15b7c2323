package dev.holdfast.test;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.AcquisitionListener;
import dev.holdfast.HoldfastListener;
import dev.holdfast.HoldfastListener.AcquireRequest.Call;
import dev.holdfast.Loss;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.ResourceName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A node of the graph is a wait: the name that a thread waits for, and all that it holds. An edge leads from a wait to
 * each one that holds its name. A cycle is a deadlock if its threads can be in these waits at the same time. They can't
 * if two of them hold the same name, one of them exclusively: a common outer lock keeps them apart.
 */

/**
 * Records the order in which threads acquire locks, and reports when it differs: threads that acquire the same locks in
 * different orders can deadlock, even if they did not do so this time.
 *
 * <pre>{@code
 * static final LockOrder ORDER = LockOrder.throwing();
 *
 * @RegisterExtension
 * final HoldfastExtension holdfast = HoldfastExtension.with(builder -> builder.listener(ORDER));
 * }</pre>
 *
 * <p>It is a listener for any number of clients. Add one object to all clients of a test run: it compares what they do
 * by the names of locks, also if one thread does it all, one after the other.
 *
 * <p>A wait counts for all locks that its thread holds then. Attempts that don't wait and re-entrant acquisitions add
 * nothing to the order; nor do permits, elections, latches, and asynchronous holds, which any thread may release. The
 * parts of a multi-lock are acquired in the order of their names, so multi-locks never contradict each other. Different
 * orders under a common outer lock are not reported. Different orders of read locks are: they deadlock when writers
 * wait.
 *
 * <p><b>Thread-safety:</b> may be used by any number of clients and threads.
 */
public final class LockOrder implements HoldfastListener {

    private static final Logger log = LoggerFactory.getLogger(LockOrder.class);

    private enum Reaction {
        WARN,
        THROW
    }

    private final Reaction reaction;
    private final ThreadLocal<List<Held>> holdsOfThread = ThreadLocal.withInitial(ArrayList::new);

    /** The waits by each name that their threads held. */
    @GuardedBy("this")
    private final Map<String, List<Wait>> waitsByHeld = new HashMap<>();

    @GuardedBy("this")
    private final Set<Wait> waits = new HashSet<>();

    /** By the names of the cycle. */
    @GuardedBy("this")
    private final Map<Set<String>, AssertionError> inversions = new LinkedHashMap<>();

    private LockOrder(Reaction reaction) {
        this.reaction = reaction;
    }

    /** Logs a warning for each set of locks that are acquired in different orders. */
    public static LockOrder warning() {
        return new LockOrder(Reaction.WARN);
    }

    /**
     * Throws an {@link AssertionError} to the thread that acquires locks in another order than others before, instead
     * of letting it wait: it acquires nothing. Its message names both orders, and it has both stack traces: its own,
     * and those of the others, suppressed.
     */
    public static LockOrder throwing() {
        return new LockOrder(Reaction.THROW);
    }

    /** What was reported so far, once for each set of locks: each as {@link #throwing} throws it. */
    public synchronized List<AssertionError> inversions() {
        return List.copyOf(inversions.values());
    }

    @Override
    public @Nullable AcquisitionListener onRequested(AcquireRequest request) {
        boolean isLock = request.kind() == Kind.MUTEX || request.kind() == Kind.READ_WRITE;
        if (!isLock || request.call() == Call.ASYNC) {
            return null;
        }
        Held wanted = new Held(request.name(), request.kind() == Kind.MUTEX || request.weight() > 1);
        if (request.call() == Call.BLOCKING) {
            Map<String, Boolean> holds = new TreeMap<>();
            holdsOfThread.get().removeIf(each -> each.isLost);
            holdsOfThread.get().forEach(each -> holds.merge(each.name, each.isExclusive, Boolean::logicalOr));
            if (!holds.isEmpty() && !holds.containsKey(wanted.name)) {
                check(new Wait(holds, wanted.name, wanted.isExclusive));
            }
        }
        return wanted;
    }

    /** Records a wait, and reports the shortest cycle that it closes. */
    private void check(Wait wait) {
        AssertionError inversion;
        synchronized (this) {
            if (waits.contains(wait)) {
                return;
            }
            List<Wait> cycle = shortestCycle(wait);
            inversion = cycle.isEmpty() ? null : describe(cycle);
            if (inversion == null || reaction == Reaction.WARN) {
                record(wait);
            }
            boolean isNew = inversion != null
                    && inversions.putIfAbsent(cycle.stream().map(Wait::name).collect(Collectors.toSet()), inversion)
                            == null;
            if (inversion == null || (reaction == Reaction.WARN && !isNew)) {
                return;
            }
        }
        if (reaction == Reaction.THROW) {
            throw inversion;
        }
        log.warn("resource={} acquired in another order", ResourceName.printable(wait.name), inversion);
    }

    @GuardedBy("this")
    private void record(Wait wait) {
        wait.trace = new Throwable(wait.describe());
        waits.add(wait);
        for (String name : wait.holds.keySet()) {
            waitsByHeld.computeIfAbsent(name, key -> new ArrayList<>()).add(wait);
        }
    }

    /** A cycle of waits that threads can be in at the same time, beginning with this one; empty if none was found. */
    @GuardedBy("this")
    private List<Wait> shortestCycle(Wait start) {
        Map<Wait, Wait> previous = new HashMap<>();
        Deque<Wait> pending = new ArrayDeque<>(List.of(start));
        while (!pending.isEmpty()) {
            Wait wait = pending.remove();
            if (!wait.equals(start) && start.holds.containsKey(wait.name)) {
                List<Wait> cycle = path(wait, start, previous);
                if (cycle.stream().allMatch(one -> cycle.stream().allMatch(one::mayCoincideWith))) {
                    return cycle;
                }
            }
            for (Wait next : waitsByHeld.getOrDefault(wait.name, List.of())) {
                if (start.mayCoincideWith(next) && previous.putIfAbsent(next, wait) == null) {
                    pending.add(next);
                }
            }
        }
        return List.of();
    }

    private static List<Wait> path(Wait end, Wait start, Map<Wait, Wait> previous) {
        Deque<Wait> path = new ArrayDeque<>();
        for (Wait wait = end; !wait.equals(start); wait = Objects.requireNonNull(previous.get(wait))) {
            path.addFirst(wait);
        }
        path.addFirst(start);
        return List.copyOf(path);
    }

    private static AssertionError describe(List<Wait> cycle) {
        boolean needsWriter = false;
        for (int i = 0; i < cycle.size(); i++) {
            Wait wait = cycle.get(i);
            Wait next = cycle.get((i + 1) % cycle.size());
            needsWriter |= !wait.isExclusive && Boolean.FALSE.equals(next.holds.get(wait.name));
        }
        AssertionError inversion = new AssertionError("Locks are acquired in different orders, which can deadlock"
                + (needsWriter ? " when a writer waits: " : ": ")
                + cycle.stream().map(Wait::describe).collect(Collectors.joining("; "))
                + ". Acquire these names in one order everywhere, or together with lockAll.");
        cycle.stream().skip(1).map(wait -> Objects.requireNonNull(wait.trace)).forEach(inversion::addSuppressed);
        return inversion;
    }

    /** A lock of one thread. */
    private final class Held implements AcquisitionListener {
        private final String name;
        private final boolean isExclusive;
        private volatile boolean isLost;

        Held(String name, boolean isExclusive) {
            this.name = name;
            this.isExclusive = isExclusive;
        }

        @Override
        public void onGranted(long token, GrantSource source) {
            holdsOfThread.get().add(this);
        }

        @Override
        public void onLost(Loss loss) {
            isLost = true;
        }

        @Override
        public void onReleasing() {
            holdsOfThread.get().remove(this);
        }
    }

    /** A thread that waited for a lock while it held others. Two are equal if they would wait in the same way. */
    private static final class Wait {
        private final Map<String, Boolean> holds;
        private final String name;
        private final boolean isExclusive;
        private final String thread = Thread.currentThread().getName();

        /** Where it was recorded. */
        private @Nullable Throwable trace;

        /**
         * Made by the thread that is about to wait.
         *
         * @param holds what it holds, and whether exclusively
         */
        Wait(Map<String, Boolean> holds, String name, boolean isExclusive) {
            this.holds = holds;
            this.name = name;
            this.isExclusive = isExclusive;
        }

        String name() {
            return name;
        }

        String describe() {
            return "thread " + thread + " acquires '" + ResourceName.printable(name) + "' while it holds "
                    + holds.keySet().stream()
                            .map(each -> "'" + ResourceName.printable(each) + "'")
                            .collect(Collectors.joining(", "));
        }

        /** Whether threads can be in both waits at once: they hold nothing that excludes the other. */
        boolean mayCoincideWith(Wait other) {
            return equals(other)
                    || holds.entrySet().stream()
                            .noneMatch(hold -> other.holds.containsKey(hold.getKey())
                                    && (hold.getValue() || Boolean.TRUE.equals(other.holds.get(hold.getKey()))));
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Wait wait
                    && holds.equals(wait.holds)
                    && name.equals(wait.name)
                    && isExclusive == wait.isExclusive;
        }

        @Override
        public int hashCode() {
            return Objects.hash(holds, name, isExclusive);
        }
    }
}
