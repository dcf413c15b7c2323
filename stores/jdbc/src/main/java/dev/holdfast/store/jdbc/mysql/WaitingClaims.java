package dev.holdfast.store.jdbc.mysql;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Claiming;
import dev.holdfast.spi.Command.CloseSession;
import dev.holdfast.spi.Command.Poll;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Withdraw;
import dev.holdfast.spi.Reply;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The claims of one client that wait in the database's queues, according to the replies. Thread-safe. */
final class WaitingClaims {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private final Set<ClaimRef> claims = new LinkedHashSet<>();

    @GuardedBy("lock")
    private boolean closed;

    /** Written under the lock; read without it as a shortcut. */
    private volatile boolean isEmpty = true;

    /** Records a reply; returns the claims that wait according to it and did not before. */
    List<ClaimRef> note(Command command, Reply reply) {
        if (command instanceof Claiming claiming) {
            return note(claiming.request().claim(), reply);
        } else if (command instanceof Poll poll && reply instanceof Reply.Polled polled) {
            List<ClaimRef> found = new ArrayList<>(0);
            for (int i = 0; i < Math.min(poll.claims().size(), polled.states().size()); i++) {
                found.addAll(note(poll.claims().get(i), polled.states().get(i)));
            }
            return found;
        } else if (command instanceof Withdraw withdraw) {
            remove(withdraw.claim());
        } else if (command instanceof Release release) {
            remove(release.claim());
        } else if (command instanceof CloseSession close && !isEmpty) {
            lock.lock();
            try {
                claims.removeIf(claim -> claim.session().equals(close.session()));
                isEmpty = claims.isEmpty();
            } finally {
                lock.unlock();
            }
        }
        return List.of();
    }

    private List<ClaimRef> note(ClaimRef claim, Reply state) {
        if (!(state instanceof Reply.Queued)) {
            remove(claim);
            return List.of();
        }
        lock.lock();
        try {
            boolean isNew = claims.add(claim);
            isEmpty = false;
            if (isNew) {
                changed.signalAll();
            }
            return isNew ? List.of(claim) : List.of();
        } finally {
            lock.unlock();
        }
    }

    void remove(ClaimRef claim) {
        if (isEmpty) {
            return;
        }
        lock.lock();
        try {
            claims.remove(claim);
            isEmpty = claims.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the waiting claims, and blocks until there is one; empty if the time runs out, or null once this is
     * closed.
     */
    @Nullable
    List<ClaimRef> await(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (claims.isEmpty() && !closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            return closed ? null : List.copyOf(claims);
        } catch (InterruptedException e) {
            // The listener's thread is not interrupted on purpose; an interrupt ends it.
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** The waiting claims. */
    List<ClaimRef> present() {
        lock.lock();
        try {
            return List.copyOf(claims);
        } finally {
            lock.unlock();
        }
    }

    /** Waits for this long, or until this is closed. */
    void pause(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (!closed && left > 0) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
