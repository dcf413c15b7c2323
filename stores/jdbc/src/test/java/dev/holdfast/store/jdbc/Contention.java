package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Clients that contend for the same locks. */
final class Contention {

    private Contention() {}

    /**
     * Threads of all clients count under locks, each with a counter that only the lock protects; returns the sum of the
     * counters.
     */
    static long of(List<Holdfast> clients, int threads, int rounds, String... names) throws Exception {
        long[] counters = new long[names.length];
        AtomicLong violations = new AtomicLong();
        ExecutorService executor = Executors.newCachedThreadPool();
        List<Future<?>> all = new ArrayList<>();
        for (Holdfast client : clients) {
            for (int t = 0; t < threads; t++) {
                int first = t;
                all.add(executor.submit(() -> {
                    for (int i = 0; i < rounds; i++) {
                        int which = (first + i) % names.length;
                        DistributedLock lock = client.lock(names[which]);
                        try (Hold hold = lock.acquire()) {
                            long before = counters[which];
                            Thread.onSpinWait();
                            counters[which] = before + 1;
                            if (!hold.isHeld()) {
                                violations.incrementAndGet();
                            }
                        }
                    }
                    return null;
                }));
            }
        }
        for (Future<?> one : all) {
            one.get(180, TimeUnit.SECONDS);
        }
        executor.shutdown();
        assertThat(violations).hasValue(0);
        long sum = 0;
        for (long counter : counters) {
            sum += counter;
        }
        return sum;
    }
}
