package dev.holdfast.benchmarks.harness;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** A thread that sends the smallest request to the server at intervals, and times the reply. */
public final class Pinger {

    /** Long enough that the pings are no load. */
    private static final Duration PAUSE = Duration.ofMillis(10);

    private final Histogram roundTrips = new Histogram(TimeUnit.MINUTES.toNanos(1), 3);
    private final Bench bench;
    private final Thread thread;
    private volatile boolean isOver;

    private Pinger(Bench bench, Runnable ping) {
        this.bench = bench;
        this.thread = new Thread(() -> run(ping), "pinger");
        thread.setDaemon(true);
    }

    public static Pinger start(Bench bench, Runnable ping) {
        Pinger pinger = new Pinger(bench, ping);
        pinger.thread.start();
        return pinger;
    }

    private void run(Runnable ping) {
        while (!isOver) {
            long begin = System.nanoTime();
            ping.run();
            long end = System.nanoTime();
            if (begin - bench.begin() >= 0 && end - bench.end() <= 0) {
                roundTrips.recordValue(end - begin);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    /** Ends, reports the round trips, and returns how many there were in the window. */
    public long show(Measurements measurements) throws InterruptedException {
        isOver = true;
        thread.join();
        measurements.putWaits("ping ", roundTrips);
        return roundTrips.getTotalCount();
    }
}
