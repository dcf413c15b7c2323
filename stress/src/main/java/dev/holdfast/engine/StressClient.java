package dev.holdfast.engine;

import dev.holdfast.DistributedLock;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The one client of a JVM: each test state has a lock of its own, because an engine is too large for each. */
final class StressClient {

    private static final AtomicLong LOCKS = new AtomicLong();
    private static final Engine ENGINE = start();

    private StressClient() {}

    private static Engine start() {
        ReferenceStore store = new ReferenceStore(() -> 1_750_000_000_000_000L);
        ClientOptions options = new ClientOptions(
                Duration.ofSeconds(30),
                Duration.ofSeconds(10),
                Duration.ofMillis(10),
                Duration.ofSeconds(10),
                "stress");
        return Engine.start(store::connect, "memory", false, options, Optional.of(new Still()));
    }

    /** A lock that no other test uses. */
    static DistributedLock lock() {
        return ENGINE.primitives().lock(new ResourceName("lock-" + LOCKS.incrementAndGet()), Order.FAIR);
    }

    /** A hold that owns itself, so that any thread may close it. */
    static LocalHold holdOf(DistributedLock lock) {
        Hold hold = lock.acquireAsync().toCompletableFuture().join();
        return (LocalHold) hold;
    }

    /** What a keep-alive would find out, or a signal of the store. */
    static void lose(LocalHold hold, Loss.Cause cause) {
        hold.claim().expire(cause);
    }

    /** Time that stands still, so that nothing is lost but what a test loses, and the threads of the test alone. */
    private static final class Still implements Environment {
        private final AtomicLong random = new AtomicLong();

        @Override
        public long monotonicNanos() {
            return 0;
        }

        @Override
        public long bootNanos() {
            return 0;
        }

        @Override
        public long wallMillis() {
            return 0;
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return () -> {};
        }

        @Override
        public void parkUntil(Object blocker, long deadline) {
            LockSupport.park(blocker);
        }

        @Override
        public Executor callbacks() {
            return Runnable::run;
        }

        @Override
        public long randomLong() {
            return random.incrementAndGet();
        }
    }
}
