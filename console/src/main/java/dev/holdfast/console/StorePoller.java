package dev.holdfast.console;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.HoldfastException;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.LockPage;
import dev.holdfast.admin.LockQuery;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Polls a store for all viewers together: at most two requests a second, and none while there is no viewer.
 *
 * <p>One page of names is read twice a second. With more names, every other request reads those with waiters; the
 * others read, in turns, the names that are open on screens or whose queues have ended, and the next page of all names.
 * Histories of scheduled tasks take at most every other of the requests that don't read names with waiters; the first
 * reading of those on a screen may take three of four.
 */
final class StorePoller {

    static final Duration INTERVAL = Duration.ofMillis(500);

    /** How long after its last request a viewer counts. */
    static final Duration VIEWER_STAYS = Duration.ofSeconds(10);

    private static final int PAGE = 1_000;
    private static final int MAX_OPEN_NAMES = 50;
    private static final List<Duration> RETRIES =
            List.of(Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(5));

    private final Supplier<Optional<LockAdmin>> store;
    private final String prefix;
    private final SeenStore seen;
    private final Clock clock;

    /** Names on screens, with the time until which each is read. */
    @GuardedBy("this")
    private final Map<String, Instant> openNames = new LinkedHashMap<>();

    @GuardedBy("this")
    private Instant viewedAt = Instant.MIN;

    @GuardedBy("this")
    private @Nullable Thread thread;

    /** The state from before the polls for the present viewers, perhaps an old one. */
    @GuardedBy("this")
    private long sequenceBefore;

    @GuardedBy("this")
    private boolean closed;

    // Only used by the thread that polls.
    private final Deque<String> due = new ArrayDeque<>();
    private final Deque<String> open = new ArrayDeque<>();
    private final Set<String> waited = new HashSet<>();
    private @Nullable LockQuery next;
    private @Nullable LockQuery nextWaited;
    private boolean manyPages;
    private boolean waitedIsNext;
    private boolean nameWasRead;
    private boolean openIsNext;
    private int historiesInARow;
    private int failures;

    StorePoller(Supplier<Optional<LockAdmin>> store, String prefix, SeenStore seen, Clock clock) {
        this.store = store;
        this.prefix = prefix;
        this.seen = seen;
        this.clock = clock;
    }

    /**
     * A viewer asks for something: polls for some more time.
     *
     * @return the number of the last state from before these polls; only greater ones are up to date
     */
    @CanIgnoreReturnValue
    synchronized long view() {
        viewedAt = clock.instant();
        if (thread == null && !closed) {
            sequenceBefore = seen.sequence();
            Thread starting = new Thread(this::run, "holdfast-console");
            starting.setDaemon(true);
            starting.start();
            thread = starting; // only now: the system may refuse to start one
        }
        return sequenceBefore;
    }

    /** As {@link #view()}, of a viewer that has a lock on its screen. */
    @CanIgnoreReturnValue
    synchronized long view(String name) {
        if (openNames.size() < MAX_OPEN_NAMES || openNames.containsKey(name)) {
            openNames.put(name, clock.instant().plus(VIEWER_STAYS));
        }
        return view();
    }

    synchronized void close() {
        closed = true;
        notifyAll();
    }

    synchronized boolean isPolling() {
        return thread != null;
    }

    private void run() {
        try {
            while (isViewed()) {
                long began = System.nanoTime();
                Duration pause = poll();
                pauseUntil(began + pause.toNanos());
            }
        } finally {
            ended();
        }
    }

    /** The next viewer needs another thread, unless one has started since this one saw that there is no viewer. */
    private synchronized void ended() {
        if (thread == Thread.currentThread()) {
            thread = null;
        }
    }

    private synchronized boolean isViewed() {
        if (closed || viewedAt.plus(VIEWER_STAYS).isBefore(clock.instant())) {
            thread = null;
            return false;
        }
        return true;
    }

    private synchronized void pauseUntil(long nanos) {
        try {
            long rest;
            while (!closed && (rest = nanos - System.nanoTime()) > 0) {
                wait((rest + 999_999) / 1_000_000);
            }
        } catch (InterruptedException e) {
            closed = true; // not ours: whoever ends this thread wants no more polls
        }
    }

    /**
     * Sends one request.
     *
     * @return the time from its start to the start of the next one
     */
    @CanIgnoreReturnValue
    Duration poll() {
        try {
            Optional<LockAdmin> admin = store.get();
            seen.asking();
            long began = System.nanoTime();
            if (admin.isEmpty()) {
                seen.readPage(List.of(), List.of(), true, true, clock.instant());
            } else if (!request(admin.get())) {
                return INTERVAL; // whether the store answers at all, the next request shows
            }
            failures = 0;
            seen.answered(Duration.ofNanos(System.nanoTime() - began), clock.instant());
            return INTERVAL;
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            // A driver that lacks a class, or a page that is too large just now, may be all right at the next try.
            Duration pause = RETRIES.get(Math.min(failures++, RETRIES.size() - 1));
            next = null;
            nextWaited = null;
            seen.failed(reason(e), pause, clock.instant());
            return pause;
        }
    }

    private static String reason(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : message;
    }

    /** Returns false only if a history could not be read. */
    private boolean request(LockAdmin admin) {
        waitedIsNext = manyPages && !waitedIsNext;
        if (waitedIsNext) {
            readWaited(admin);
            return true;
        }
        Optional<String> task = nextTask();
        if (task.isPresent()) {
            return readRuns(admin, task.get());
        }
        String name = manyPages && !nameWasRead ? nextName() : null;
        nameWasRead = name != null;
        if (name == null) {
            readPage(admin);
        } else {
            seen.readName(name, inspect(admin, name).orElse(null), clock.instant());
        }
        return true;
    }

    /** The task whose history this request reads, if it is the turn of one. Other requests find out about failures. */
    private Optional<String> nextTask() {
        Optional<String> task = failures > 0 ? Optional.empty() : seen.dueTask(clock.instant(), historiesInARow);
        historiesInARow = task.isPresent() ? historiesInARow + 1 : 0;
        return task;
    }

    private boolean readRuns(LockAdmin admin, String task) {
        try {
            seen.readRuns(task, admin.runs(prefix + task), clock.instant());
            return true;
        } catch (HoldfastException | IllegalArgumentException e) {
            // Of an older store, perhaps; or of a name that a viewer typed.
            seen.failedRuns(task, reason(e), clock.instant());
            return false;
        }
    }

    private void readPage(LockAdmin admin) {
        boolean isFirst = next == null;
        LockPage page = admin.inspect(next == null ? allNames() : next);
        boolean isLast = page.next().isEmpty();
        seen.readPage(withoutPrefix(page), page.damaged(), isFirst, isLast, clock.instant());
        manyPages = !isFirst || !isLast;
        next = page.next().orElse(null);
    }

    /** Reads names with waiters. One that no longer has any is not listed, so it is read by name. */
    private void readWaited(LockAdmin admin) {
        LockPage page = admin.inspect(nextWaited == null ? allNames().onlyWaited() : nextWaited);
        List<LockInfo> locks = withoutPrefix(page);
        seen.readNames(locks, clock.instant());
        locks.forEach(lock -> waited.add(lock.name()));
        nextWaited = page.next().orElse(null);
        if (nextWaited == null) {
            for (String name : seen.waited()) {
                if (!waited.contains(name) && !due.contains(name)) {
                    due.add(name);
                }
            }
            waited.clear();
        }
    }

    private LockQuery allNames() {
        return LockQuery.startingWith(prefix).withLimit(PAGE);
    }

    private List<LockInfo> withoutPrefix(LockPage page) {
        return page.locks().stream().map(this::withoutPrefix).toList();
    }

    /** Reads one lock; names are without the prefix. */
    Optional<LockInfo> inspect(LockAdmin admin, String name) {
        return admin.inspect(prefix + name).map(this::withoutPrefix);
    }

    private LockInfo withoutPrefix(LockInfo info) {
        return prefix.isEmpty()
                ? info
                : new LockInfo(
                        info.name().substring(prefix.length()),
                        info.kind(),
                        info.order(),
                        info.capacity(),
                        info.holders().stream().map(this::withoutPrefix).toList(),
                        info.holding(),
                        info.usedCapacity(),
                        info.waiters(),
                        info.waiting(),
                        info.newestToken());
    }

    /** A wait for a name that is not shown is not shown either. */
    private LockInfo.Holder withoutPrefix(LockInfo.Holder holder) {
        return holder.waits().isEmpty()
                ? holder
                : new LockInfo.Holder(
                        holder.label(),
                        holder.session(),
                        holder.claim(),
                        holder.weight(),
                        holder.token(),
                        holder.lastToken(),
                        holder.heldSince(),
                        holder.leaseLeft(),
                        holder.sessionTtl(),
                        holder.message(),
                        holder.waits().stream()
                                .filter(wait -> wait.awaits().startsWith(prefix))
                                .map(this::withoutPrefix)
                                .toList());
    }

    private LockInfo.Wait withoutPrefix(LockInfo.Wait wait) {
        return new LockInfo.Wait(
                wait.id(),
                wait.awaits().substring(prefix.length()),
                wait.isBlockedByReaders(),
                wait.isWriteHold(),
                wait.token(),
                wait.thread(),
                wait.waited(),
                wait.acknowledged());
    }

    /** A name on a screen and one whose queue has ended, in turns: many of one kind do not keep the other waiting. */
    private @Nullable String nextName() {
        if (open.isEmpty()) {
            open.addAll(openNames());
        }
        openIsNext = !openIsNext;
        String name = openIsNext ? open.poll() : nextDue();
        return name != null ? name : openIsNext ? nextDue() : open.poll();
    }

    private @Nullable String nextDue() {
        String name = due.poll();
        while (name != null && !seen.isWaited(name)) { // a page of names has shown meanwhile that none waits
            name = due.poll();
        }
        return name;
    }

    private synchronized List<String> openNames() {
        Instant now = clock.instant();
        openNames.values().removeIf(until -> until.isBefore(now));
        return List.copyOf(openNames.keySet());
    }
}
