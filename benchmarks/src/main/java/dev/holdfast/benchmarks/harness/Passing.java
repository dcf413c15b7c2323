package dev.holdfast.benchmarks.harness;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;

/**
 * What several processes protect with one lock; it sees who had it before, and how long it was on its way. Entered and
 * left by the owner of the lock alone.
 */
public final class Passing implements Crew.Inside {

    /** In the place of a process number: nobody has been there. */
    private static final long NOBODY = 0;

    private final Guarded guarded;
    private final Bench bench;
    private final long self = ProcessHandle.current().pid();
    private final Histogram handOffs = new AtomicHistogram(TimeUnit.MINUTES.toNanos(10), 2);
    private long entered;

    public Passing(Guarded guarded, Bench bench) {
        this.guarded = guarded;
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
            handOffs.recordValue(Math.max(0, now - guarded.leftAt()));
        }
    }

    @Override
    public void leave() {
        guarded.leave(self);
    }

    /** Puts how often and how fast it came from another process on a sheet. */
    public void show(Sheet sheet) {
        sheet.put("entered", entered);
        sheet.put("changes", handOffs.getTotalCount());
        sheet.put("hand-off p50", handOffs.getValueAtPercentile(50));
        sheet.put("hand-off p99", handOffs.getValueAtPercentile(99));
    }
}
