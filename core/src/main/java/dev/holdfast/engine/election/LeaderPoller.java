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
 * Looks at intervals who leads, and tells an observer what has changed. One look or call at a time: the next look comes
 * after the observer has returned. Thread-safe; its lock is never held while it calls out.
 */
final class LeaderPoller implements LeaderElection.Observation {
    private static final Logger log = LoggerFactory.getLogger(LeaderPoller.class);

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(2);

    final ResourceName name;
    private final ClientContext context;
    private final Elections elections;
    private final CommandSender wire;
    private final Consumer<? super LeaderView> observer;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private @Nullable LeaderView seen;

    @GuardedBy("lock")
    private long interval = SHORTEST_NANOS;

    @GuardedBy("lock")
    private boolean isBusy;

    @GuardedBy("lock")
    private boolean isAwaited;

    @GuardedBy("lock")
    private boolean isClosed;

    @GuardedBy("lock")
    private Environment.Timer timer = () -> {};

    LeaderPoller(
            LocalResources resources, Elections elections, ResourceName name, Consumer<? super LeaderView> observer) {
        this.context = resources.context;
        this.elections = elections;
        this.wire = resources.partition(name).wire;
        this.name = name;
        this.observer = observer;
    }

    /** Looks now, or again as soon as the look that is under way is over. */
    void lookNow() {
        lock.lock();
        try {
            isAwaited = isBusy;
            if (isBusy || isClosed) {
                return;
            }
            isBusy = true;
            timer.cancel();
        } finally {
            lock.unlock();
        }
        look();
    }

    private void look() {
        var unused = ResourceInspection.ask(wire, name, CallerMode.ASYNC).whenComplete((found, failure) -> {
            LeaderView news = failure == null ? note(EngineElection.viewOf(found)) : null;
            if (news == null) {
                goOn();
            } else {
                context.callbacks().run(() -> tell(news));
            }
        });
    }

    /** What is new in what the store says: a term that is over does not come back, whatever an old copy of it says. */
    private @Nullable LeaderView note(LeaderView view) {
        lock.lock();
        try {
            LeaderView before = seen;
            LeaderView now;
            if (before == null) {
                now = view;
            } else if (view.leader().isEmpty()) {
                now = new LeaderView(before.term(), Optional.empty());
            } else {
                now = view.term() > before.term() ? view : before;
            }
            boolean isNew = !now.equals(before);
            seen = now;
            interval = isNew ? SHORTEST_NANOS : Math.min(LONGEST_NANOS, interval + interval / 2);
            return isNew ? now : null;
        } finally {
            lock.unlock();
        }
    }

    private void tell(LeaderView news) {
        try {
            if (!isClosed()) {
                observer.accept(news);
            }
        } catch (RuntimeException | Error e) {
            log.warn("resource={} term={} an observer of the election failed", name, news.term(), e);
        } finally {
            goOn();
        }
    }

    private void goOn() {
        boolean isNow;
        lock.lock();
        try {
            isBusy = false;
            isNow = isAwaited;
            isAwaited = false;
            if (!isNow && !isClosed) {
                timer = context.environment().schedule(Jitter.spread(context.environment(), interval), this::lookNow);
            }
        } finally {
            lock.unlock();
        }
        if (isNow) {
            lookNow();
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
