package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A lock without tokens. Failures other than interrupts become an {@link IllegalStateException}. A raw lock is what one
 * would write by hand: a record that is created if it is absent, and deleted if it is still ours. A thread that finds
 * it taken retries at once. It has no lease (except on Redis), no fairness and no token, to show what those cost.
 * Threads may starve where hundreds want one name, so these count as peers too.
 *
 * @param <H> what an owner needs to release it
 */
final class PeerMutex<H> implements Contestant.Mutex {

    /** Releases what {@link #acquire()} has acquired. */
    interface Release<H> {
        void run(H owned) throws Exception;
    }

    private final Callable<? extends H> acquisition;
    private final Release<? super H> release;
    private @Nullable H owned;

    private PeerMutex(Callable<? extends H> acquisition, Release<? super H> release) {
        this.acquisition = acquisition;
        this.release = release;
    }

    static <H> Contestant.Mutex of(Callable<? extends H> acquisition, Release<? super H> release) {
        return new PeerMutex<H>(acquisition, release);
    }

    static Contestant.Mutex of(Lock lock) {
        return new PeerMutex<>(
                () -> {
                    lock.lockInterruptibly();
                    return lock;
                },
                Lock::unlock);
    }

    /** Retries at once until the attempt succeeds. */
    static void spin(Callable<Boolean> attempt) throws Exception {
        while (!attempt.call()) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    /** Differs from that of every other owner. */
    static String newOwner() {
        return Long.toHexString(ThreadLocalRandom.current().nextLong());
    }

    static void requireOurs(boolean isOurs) {
        if (!isOurs) {
            throw new IllegalStateException("the lock is not ours");
        }
    }

    @Override
    public long acquire() throws InterruptedException {
        try {
            owned = acquisition.call();
            return NO_TOKEN;
        } catch (InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void release() {
        H acquired = owned;
        owned = null;
        try {
            if (acquired != null) {
                release.run(acquired);
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
