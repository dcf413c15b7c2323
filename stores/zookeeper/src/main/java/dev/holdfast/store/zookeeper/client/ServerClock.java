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

    /** By how much the clocks of two machines may run apart at most: one part in this many. */
    private static final long DRIFT = 4_096;

    private record Sample(long mtimeMillis, long sent, long answered) {}

    private final LongSupplier ticks;

    /** The latest one alone: after a step of the clock, or under another leader, older ones are wrong. */
    private volatile @Nullable Sample sample;

    /** Knows no time yet. */
    public ServerClock(LongSupplier ticks) {
        this.ticks = ticks;
    }

    /** Takes the time of a write that was answered just now. */
    void sample(long mtimeMillis, long sentNanos) {
        sample = new Sample(mtimeMillis, sentNanos, ticks.getAsLong());
    }

    /** The time at this moment, by the latest answer; anything before there was one. */
    public ServerTime time() {
        Sample from = sample;
        if (from == null) {
            return new ServerTime(0, Long.MAX_VALUE);
        }
        long now = ticks.getAsLong();
        long sinceAnswer = (now - from.answered) / MICROS;
        long sinceSent = (now - from.sent) / MICROS;
        return new ServerTime(
                from.mtimeMillis * MICROS + sinceAnswer - sinceAnswer / DRIFT,
                (from.mtimeMillis + 1) * MICROS + sinceSent + sinceSent / DRIFT);
    }

    /** What has passed at least since a time that the server told; zero if that is not known. */
    public Duration since(long mtimeMillis) {
        long micros = Math.max(0, time().earliestMicros() - mtimeMillis * MICROS);
        return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros));
    }
}
