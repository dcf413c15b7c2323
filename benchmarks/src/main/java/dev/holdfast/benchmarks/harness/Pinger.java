package dev.holdfast.benchmarks.harness;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** A thread that sends the least that there is to the server now and then, and waits for the answer. */
public final class Pinger implements AutoCloseable {

    /** Long enough for the pings to be no load of their own. */
    private static final Duration PAUSE = Duration.ofMillis(10);

    private final Histogram trips = new Histogram(TimeUnit.MINUTES.toNanos(1), 3);
    private final Bench bench;
    private final Thread thread;
    private volatile boolean isOver;

    private Pinger(Bench bench, Runnable ping) {
        this.bench = bench;
        this.thread = new Thread(() -> run(ping), "pinger");
        thread.setDaemon(true);
    }

    /** Starts, if the client can do that. */
    public static Optional<Pinger> start(Bench bench, Contestant.Client client) {
        Optional<Pinger> pinger = client.ping().map(ping -> new Pinger(bench, ping));
        pinger.ifPresent(started -> started.thread.start());
        return pinger;
    }

    private void run(Runnable ping) {
        while (!isOver) {
            long begin = System.nanoTime();
            ping.run();
            long end = System.nanoTime();
            if (begin - bench.begin() >= 0 && end - bench.end() <= 0) {
                trips.recordValue(end - begin);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    /** Ends, and puts what it saw on a sheet; tells how many there were in the window. */
    public long show(Sheet sheet) throws InterruptedException {
        close();
        thread.join();
        sheet.put("ping p50", trips.getValueAtPercentile(50));
        sheet.put("ping p99", trips.getValueAtPercentile(99));
        return trips.getTotalCount();
    }

    @Override
    public void close() {
        isOver = true;
    }
}
