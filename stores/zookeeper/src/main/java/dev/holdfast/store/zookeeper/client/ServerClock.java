package dev.holdfast.store.zookeeper.client;

import dev.holdfast.store.register.ServerTime;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An estimate of the leader's wall clock. The leader stamps each write, so its clock showed that time at some moment
 * between the request and the answer.
 *
 * <p><b>Thread-safety:</b> safe.
 */
public final class ServerClock {

    private static final long MICROS = 1_000;
    private static final long MILLIS = 1_000;

    /** The reciprocal of the largest difference in rate between the clocks of two machines. */
    private static final long DRIFT = 4_096;

    private record Sample(long mtimeMillis, long sent, long sentWallMillis, long answered) {}

    private final LongSupplier ticks;
    private final LongSupplier wallMillis;

    /** Only the latest: after a step of the clock, or under another leader, older samples are wrong. */
    private volatile @Nullable Sample sample;

    /** Starts without a sample. */
    public ServerClock(LongSupplier ticks, LongSupplier wallMillis) {
        this.ticks = ticks;
        this.wallMillis = wallMillis;
    }

    /** Samples the time of a write that was answered just now. */
    void sample(long mtimeMillis, long sentNanos, long sentWallMillis) {
        sample = new Sample(mtimeMillis, sentNanos, sentWallMillis, ticks.getAsLong());
    }

    /** The wall clock of this machine, in milliseconds; only for differences. */
    long wallMillis() {
        return wallMillis.getAsLong();
    }

    /** Bounds of the present time by the latest answer; without bounds before the first. */
    public ServerTime time() {
        Sample from = sample;
        if (from == null) {
            return new ServerTime(0, Long.MAX_VALUE);
        }
        long now = ticks.getAsLong();
        long sinceAnswer = (now - from.answered) / MICROS;
        long sinceSent = Math.max((now - from.sent) / MICROS, (wallMillis() + 1 - from.sentWallMillis) * MILLIS);
        return new ServerTime(
                from.mtimeMillis * MILLIS + sinceAnswer - sinceAnswer / DRIFT,
                (from.mtimeMillis + 1) * MILLIS + sinceSent + sinceSent / DRIFT);
    }

    /** The least time since a time stamp of the server; zero if unknown. */
    public Duration since(long mtimeMillis) {
        long micros = Math.max(0, time().earliestMicros() - mtimeMillis * MILLIS);
        return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros));
    }
}
