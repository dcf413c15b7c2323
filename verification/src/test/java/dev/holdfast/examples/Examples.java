package dev.holdfast.examples;

import dev.holdfast.AcquireOptions;
import dev.holdfast.AcquisitionListener;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.Loss;
import dev.holdfast.spi.LockStore;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The code that the documentation shows, compiled. Each method body, or a run of lines in it, stands in a page as it
 * stands here.
 */
@SuppressWarnings("unused")
final class Examples {

    private final Archive archive = (report, token) -> {};
    private final Report report = new Report();

    private record Report() {}

    private interface Archive {
        void write(Report report, long fencingToken);
    }

    void firstScreen() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("sqlite:")) {
            DistributedLock lock = holdfast.lock("nightly-report");
            try (Hold hold = lock.acquire(Duration.ofSeconds(5))) {
                archive.write(report, hold.fencingToken());
            }
        }
    }

    private interface Meter<K> {
        void record(K key, long nanos);
    }

    private interface Counter<K> {
        void count(K key);
    }

    private final Meter<String> waits = (name, nanos) -> {};
    private final Counter<Loss.Cause> losses = cause -> {};

    private final Counter<HoldfastListener.SessionEvent.Type> sessions = type -> {};
    private final Meter<String> trips = (name, nanos) -> {};

    HoldfastListener sessionListener() {
        HoldfastListener listener = new HoldfastListener() {
            @Override
            public @Nullable AcquisitionListener onRequested(AcquireRequest request) {
                return null;
            }

            @Override
            public void onSession(SessionEvent event) {
                sessions.count(event.type());
            }

            @Override
            public void onStoreCall(StoreCall call) {
                trips.record(
                        call.command() + " " + call.outcome(), call.duration().toNanos());
            }
        };
        return listener;
    }

    Holdfast listener() {
        return Holdfast.builder("sqlite:")
                .listener(request -> {
                    long since = System.nanoTime();
                    return new AcquisitionListener() {
                        @Override
                        public void onGranted(long token, GrantSource source) {
                            waits.record(request.name(), System.nanoTime() - since);
                        }

                        @Override
                        public void onLost(Loss loss) {
                            losses.count(loss.cause());
                        }
                    };
                })
                .build();
    }

    void waysToLock(DistributedLock lock) throws InterruptedException {
        // As java.util.concurrent.locks.Lock. unlock() throws LockLostException if the lock was lost.
        if (lock.tryLock(2, TimeUnit.SECONDS)) {
            try {
                importAll();
            } finally {
                lock.unlock();
            }
        }

        // One attempt, with "taken" as a value.
        lock.tryAcquire().ifPresent(hold -> {
            try (hold) {
                importAll();
            }
        });

        // A limit for a stuck thread.
        Hold bounded = lock.acquire(
                AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(30)).withMaxHold(Duration.ofMinutes(10)));
        bounded.close();

        // Interrupted if the lock is lost.
        lock.runWhileHeld(hold -> importAll());

        // Belongs to the hold: any thread may close it.
        lock.acquireAsync().thenAccept(hold -> {
            try (hold) {
                importAll();
            }
        });
    }

    class OurStoreTest extends LockStoreConformance {
        @Override
        protected StoreUnderTest open() {
            return new OurStoreUnderTest();
        }
    }

    /** Stands for a store's connections. */
    private static final class OurStoreUnderTest implements StoreUnderTest {

        private final ReferenceStore store = new ReferenceStore();
        private final LockStore first = store.connect();
        private final LockStore second = store.connect();

        @Override
        public LockStore first() {
            return first;
        }

        @Override
        public LockStore second() {
            return second;
        }

        @Override
        public void close() {
            first.close();
            second.close();
        }
    }

    private static void importAll() {}
}
