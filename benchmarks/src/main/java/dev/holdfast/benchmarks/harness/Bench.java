package dev.holdfast.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Where and when a cell measures.
 *
 * @param place an empty directory on a disk, for this run of this cell alone
 * @param begin the start of the window by {@link System#nanoTime()}, which on Linux is the same clock in all processes
 *     of a machine; where the warm-up is counted in pairs, the window opens after those instead
 * @param time the length of the window
 * @param scale 1 for a measurement; less in a trial, which has fewer of everything and only shows that all runs
 */
public record Bench(Path place, long begin, Duration time, double scale) {

    /** A window that begins after a delay. */
    public static Bench after(Duration delay, Path place, Duration time, double scale) {
        return new Bench(place, System.nanoTime() + delay.toNanos(), time, scale);
    }

    /** The same window after another delay, which a trial shortens. */
    public Bench after(Duration delay) {
        return after(scaled(delay), place, time, scale);
    }

    /** A shorter window after a delay. */
    public Bench after(Duration delay, Duration window) {
        return after(scaled(delay), place, isTrial() ? window.dividedBy(10) : window, scale);
    }

    /** The same window with another beginning. */
    public Bench from(long moment) {
        return new Bench(place, moment, time, scale);
    }

    /** The same window in a directory below this one. */
    public Bench in(String directory) throws IOException {
        return new Bench(Files.createDirectory(place.resolve(directory)), begin, time, scale);
    }

    public boolean isTrial() {
        return scale < 1;
    }

    public long end() {
        return begin + time.toNanos();
    }

    public void awaitBegin() throws InterruptedException {
        await(begin);
    }

    public void awaitShortlyBefore(Duration lead) throws InterruptedException {
        await(begin - lead.toNanos());
    }

    public void awaitEnd() throws InterruptedException {
        await(end());
    }

    private static void await(long moment) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(moment - System.nanoTime());
    }

    public int scaled(int number) {
        return (int) Math.max(1, Math.round(number * scale));
    }

    /** As {@link #scaled(int)}, but one stays one, and more than one stays at least two. */
    public int scaledOverOne(int number) {
        return Math.max(Math.min(number, 2), scaled(number));
    }

    public Duration scaled(Duration duration) {
        return isTrial() ? Duration.ofNanos(Math.round(duration.toNanos() * scale)) : duration;
    }
}
