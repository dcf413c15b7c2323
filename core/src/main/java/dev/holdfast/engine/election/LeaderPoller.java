package dev.holdfast.engine.election;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.Environment;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.election.LeaderView;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.time.Jitter;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.engine.wire.ResourceInspection;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ResourceName;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls who leads, and notifies an observer of changes. The next poll begins after the observer has returned.
 * Thread-safe; calls nothing outside of this class under its lock.
 */
final class LeaderPoller implements LeaderElection.Observation {
    private static final Logger log = LoggerFactory.getLogger(LeaderPoller.class);

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(2);

    final ResourceName name;
    private final ClientContext context;
    private final Elections elections;
    private final CommandSender sender;
    private final Consumer<? super LeaderView> observer;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private @Nullable LeaderView lastView;

    @GuardedBy("lock")
    private long interval = SHORTEST_NANOS;

    @GuardedBy("lock")
    private boolean isPolling;

    @GuardedBy("lock")
    private boolean isPollRequested;

    @GuardedBy("lock")
    private boolean isClosed;

    @GuardedBy("lock")
    private Environment.Timer timer = () -> {};

    LeaderPoller(
            LocalResources resources, Elections elections, ResourceName name, Consumer<? super LeaderView> observer) {
        this.context = resources.context;
        this.elections = elections;
        this.sender = resources.partition(name).wire;
        this.name = name;
        this.observer = observer;
    }

    /** Polls now, or again as soon as the poll that is under way has ended. */
    void pollNow() {
        lock.lock();
        try {
            isPollRequested = isPolling;
            if (isPolling || isClosed) {
                return;
            }
            isPolling = true;
            timer.cancel();
        } finally {
            lock.unlock();
        }
        poll();
    }

    private void poll() {
        var unused = ResourceInspection.ask(sender, name, CallerMode.ASYNC).whenComplete((found, failure) -> {
            LeaderView change = failure == null ? note(EngineElection.viewOf(found)) : null;
            if (change == null) {
                scheduleNext();
            } else {
                context.callbacks().run(() -> notifyObserver(change));
            }
        });
    }

    /** Returns the view if it changes anything. Ignores ended terms, which a replica may report once more. */
    private @Nullable LeaderView note(LeaderView view) {
        lock.lock();
        try {
            LeaderView before = lastView;
            LeaderView now;
            if (before == null) {
                now = view;
            } else if (view.leader().isEmpty()) {
                now = new LeaderView(before.term(), Optional.empty());
            } else {
                now = view.term() > before.term() ? view : before;
            }
            boolean isNew = !now.equals(before);
            lastView = now;
            interval = isNew ? SHORTEST_NANOS : Math.min(LONGEST_NANOS, interval + interval / 2);
            return isNew ? now : null;
        } finally {
            lock.unlock();
        }
    }

    private void notifyObserver(LeaderView change) {
        try {
            if (!isClosed()) {
                observer.accept(change);
            }
        } catch (RuntimeException | Error e) {
            log.warn("resource={} term={} an observer of the election failed", name, change.term(), e);
        } finally {
            scheduleNext();
        }
    }

    private void scheduleNext() {
        boolean isNow;
        lock.lock();
        try {
            isPolling = false;
            isNow = isPollRequested;
            isPollRequested = false;
            if (!isNow && !isClosed) {
                timer = context.environment().schedule(Jitter.spread(context.environment(), interval), this::pollNow);
            }
        } finally {
            lock.unlock();
        }
        if (isNow) {
            pollNow();
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return isClosed;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            isClosed = true;
            timer.cancel();
        } finally {
            lock.unlock();
        }
        elections.remove(this);
    }
}
