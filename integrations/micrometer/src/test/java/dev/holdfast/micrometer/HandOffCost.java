package dev.holdfast.micrometer;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.DistributedLock;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.store.memory.ReferenceStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Measures what meters cost: threads pass one lock among themselves in memory, without listeners and with them in
 * turns. A program, not a test; its figures are on the page of the metrics.
 */
final class HandOffCost {

    private static final int THREADS = 2;
    private static final int ROUNDS = 31;
    private static final int WARM_UP_ROUNDS = 4;
    private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private HandOffCost() {}

    /** What is measured against what. */
    private enum Watched {
        BY_NOBODY,
        BY_A_LISTENER_THAT_DOES_NOTHING,
        BY_SIMPLE_METERS,
        BY_PROMETHEUS_METERS;

        List<HoldfastListener> listeners() {
            return switch (this) {
                case BY_NOBODY -> List.of();
                case BY_A_LISTENER_THAT_DOES_NOTHING -> List.of(request -> new AcquisitionListener() {});
                case BY_SIMPLE_METERS -> List.of(HoldfastMetrics.of(new SimpleMeterRegistry()));
                case BY_PROMETHEUS_METERS -> List.of(HoldfastMetrics.of(prometheus()));
            };
        }

        private static MeterRegistry prometheus() {
            return new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int kinds = Watched.values().length;
        double[][] nanos = new double[kinds][ROUNDS];
        double[][] more = new double[kinds][ROUNDS];
        for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
            double[] now = new double[kinds];
            for (int i = 0; i < kinds; i++) {
                now[i] = measure(Watched.values()[i].listeners());
            }
            for (int i = 0; i < kinds && round >= 0; i++) {
                nanos[i][round] = now[i];
                // Against what was measured just before, so that a machine that slows down does not count.
                more[i][round] = now[i] - now[0];
            }
        }
        for (int i = 0; i < kinds; i++) {
            System.out.printf(
                    Locale.ROOT,
                    "%-32s %4.0f ns for a pair of acquire and release, %4.0f ns more than without (medians)%n",
                    Watched.values()[i],
                    median(nanos[i]),
                    median(more[i]));
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** Processor time for each pair, so that other programs on the machine don't count. */
    private static double measure(List<HoldfastListener> listeners) throws InterruptedException {
        Holdfast.Builder builder = Holdfast.builder(new ReferenceStore());
        listeners.forEach(builder::listener);
        AtomicBoolean isOver = new AtomicBoolean();
        long[] pairs = new long[THREADS];
        long[] used = new long[THREADS];
        try (Holdfast holdfast = builder.build()) {
            DistributedLock lock = holdfast.lock("hot");
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int number = i;
                Thread thread = new Thread(() -> {
                    long done = 0;
                    while (!isOver.get()) {
                        lock.lock();
                        lock.unlock();
                        done++;
                    }
                    pairs[number] = done;
                    used[number] = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
                });
                threads.add(thread);
                thread.start();
            }
            TimeUnit.NANOSECONDS.sleep(ROUND_NANOS);
            isOver.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        return (double) Arrays.stream(used).sum() / Arrays.stream(pairs).sum();
    }
}
