package dev.holdfast.benchmarks.harness;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;

/**
 * What several processes protect with one lock: it notes which process owned the lock before, and how long the lock
 * took from there. Entered and left by the owner of the lock alone.
 */
public final class HandOverProbe implements Workers.Inside {

    /** Stands for a process id: nobody has owned the lock yet. */
    private static final long NOBODY = 0;

    private final Guarded guarded;
    private final Bench bench;
    private final long self = ProcessHandle.current().pid();
    private final Histogram handOvers = new AtomicHistogram(TimeUnit.MINUTES.toNanos(10), 2);
    private long entered;

    public HandOverProbe(Bench bench) {
        this.guarded = Guarded.inFile(bench.place());
        this.bench = bench;
    }

    @Override
    public void enter(long token) {
        guarded.enter(token);
        long now = System.nanoTime();
        if (now - bench.begin() < 0 || now - bench.end() > 0) {
            return;
        }
        entered++;
        long before = guarded.lastOwner();
        if (before != self && before != NOBODY) {
            handOvers.recordValue(Math.max(0, now - guarded.leftAt()));
        }
    }

    @Override
    public void leave() {
        guarded.leave(self);
    }

    /** How long the lock took from other processes. */
    public Histogram handOvers() {
        return handOvers;
    }

    /** Reports how often and how fast the lock came from another process. */
    public void show(Measurements measurements) {
        measurements.put("entered", entered);
        measurements.put("changes", handOvers.getTotalCount());
        measurements.putWaits("hand-off ", handOvers);
    }
}
