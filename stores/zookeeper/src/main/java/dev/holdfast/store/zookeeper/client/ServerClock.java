package dev.holdfast.store.zookeeper.client;

import dev.holdfast.store.register.ServerTime;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The wall clock of the leader, as far as the answers to writes tell it: the leader stamps each write with its time, so
 * that was the time at some moment between sending and answer.
 *
 * <p><b>Thread-safety:</b> safe.
 */
public final class ServerClock {

    private static final long MICROS = 1_000;
    private static final long MILLIS = 1_000;

    /** By how much the clocks of two machines may run apart at most: one part in this many. */
    private static final long DRIFT = 4_096;

    private record Sample(long mtimeMillis, long sent, long sentWallMillis, long answered) {}

    private final LongSupplier ticks;
    private final LongSupplier wallMillis;

    /** The latest one alone: after a step of the clock, or under another leader, older ones are wrong. */
    private volatile @Nullable Sample sample;

    /** Knows no time yet. */
    public ServerClock(LongSupplier ticks, LongSupplier wallMillis) {
        this.ticks = ticks;
        this.wallMillis = wallMillis;
    }

    /** Takes the time of a write that was answered just now. */
    void sample(long mtimeMillis, long sentNanos, long sentWallMillis) {
        sample = new Sample(mtimeMillis, sentNanos, sentWallMillis, ticks.getAsLong());
    }

    /** The wall clock of this machine, in milliseconds; only for differences. */
    long wallMillis() {
        return wallMillis.getAsLong();
    }

    /** The time at this moment, by the latest answer; anything before there was one. */
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

    /** What has passed at least since a time that the server told; zero if that is not known. */
    public Duration since(long mtimeMillis) {
        long micros = Math.max(0, time().earliestMicros() - mtimeMillis * MILLIS);
        return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros));
    }
}
