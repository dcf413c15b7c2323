package dev.holdfast.spi.support;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The time that a store may take to open, without the work of this process: it loads and compiles thousands of classes,
 * which takes a second on a free processor, and a minute with a tenth of one. An interval in which the process used
 * more than a small part of a processor counts as such work, until it has used more than any store needs, or three
 * times the limit has passed. A program that is busy with other things therefore waits longer for a silent store, but
 * not forever. For one thread at a time.
 */
public final class OpeningTime {

    /** The system reports processor time in hundredths of a second. */
    private static final long INTERVAL = TimeUnit.SECONDS.toNanos(1);

    /**
     * A process that waited for a silent server used up to a hundredth of a processor; one of eight that started at
     * once on two busy processors used four hundredths.
     */
    private static final int IDLE_PARTS = 50;

    /** At least three times what fresh JVMs took to open the store that needs most, which is the one on Redis. */
    private static final long MOST_WORK = TimeUnit.SECONDS.toNanos(8);

    /** With a tenth of a processor fresh JVMs took twice the usual limit, and at a load of 27 nearly four times it. */
    private static final int MOST_UNCOUNTED = 3;

    private final Duration limit;
    private final LongSupplier nanos;
    private final LongSupplier processorNanos;
    private final long workBefore;

    private long counted;
    private long uncounted;
    private long intervalStart;
    private long intervalWork;

    /** Begins now. */
    public OpeningTime(Duration limit) {
        this(limit, SystemTime::nanos, SystemTime::processorNanos);
    }

    OpeningTime(Duration limit, LongSupplier nanos, LongSupplier processorNanos) {
        this.limit = limit;
        this.nanos = nanos;
        this.processorNanos = processorNanos;
        this.intervalStart = nanos.getAsLong();
        this.workBefore = processorNanos.getAsLong();
        this.intervalWork = workBefore;
    }

    public Duration limit() {
        return limit;
    }

    /** The time left; not positive after its end. */
    public long leftNanos() {
        long now = nanos.getAsLong();
        long left = limit.toNanos() - counted;
        if (now - intervalStart >= Math.min(left, INTERVAL)) {
            endInterval(now);
            return limit.toNanos() - counted;
        }
        return left - (now - intervalStart);
    }

    /** The longest wait before the next check. */
    long pauseNanos() {
        return Math.min(leftNanos(), INTERVAL);
    }

    private void endInterval(long now) {
        long work = processorNanos.getAsLong();
        long length = now - intervalStart;
        boolean isBusy = (work - intervalWork) * IDLE_PARTS >= length;
        if (isBusy && work - workBefore <= MOST_WORK && uncounted < MOST_UNCOUNTED * limit.toNanos()) {
            uncounted += length;
        } else {
            counted += length;
        }
        intervalStart = now;
        intervalWork = work;
    }
}
