package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A lock of others, without tokens. What fails otherwise than by an interrupt is an {@link IllegalStateException}.
 *
 * @param <H> what an owner has in its hands
 */
final class PeerMutex<H> implements Contestant.Mutex {

    /** Gives back what {@link #acquire()} has taken. */
    interface Release<H> {
        void run(H held) throws Exception;
    }

    private final Callable<? extends H> take;
    private final Release<? super H> giveBack;
    private @Nullable H held;

    private PeerMutex(Callable<? extends H> take, Release<? super H> giveBack) {
        this.take = take;
        this.giveBack = giveBack;
    }

    /** Of one whose owners have to show something to release it. */
    static <H> Contestant.Mutex of(Callable<? extends H> take, Release<? super H> giveBack) {
        return new PeerMutex<H>(take, giveBack);
    }

    /** Of one with the JDK's interface. */
    static Contestant.Mutex of(Lock lock) {
        return new PeerMutex<>(
                () -> {
                    lock.lockInterruptibly();
                    return lock;
                },
                Lock::unlock);
    }

    /** Asks again at once until there is a true answer. */
    static void spin(Callable<Boolean> attempt) throws Exception {
        while (!attempt.call()) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    @Override
    public long acquire() throws InterruptedException {
        try {
            held = take.call();
            return NO_TOKEN;
        } catch (InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void release() {
        H owned = held;
        held = null;
        if (owned == null) {
            return;
        }
        try {
            giveBack.run(owned);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
