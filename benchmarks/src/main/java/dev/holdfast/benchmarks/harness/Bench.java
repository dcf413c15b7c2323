package dev.holdfast.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Where and when a cell measures. What runs before the window is the warm-up.
 *
 * @param place an empty directory on a disk, for this run of this cell alone
 * @param begin when the window begins, by {@link System#nanoTime()}, which on Linux is the same clock in all processes
 *     of a machine
 * @param time how long the window is
 * @param scale 1 for a measurement; less makes the large numbers of things smaller, to see that all runs
 */
public record Bench(Path place, long begin, Duration time, double scale) {

    /** A window that begins so much from now. */
    public static Bench after(Duration warmUp, Path place, Duration time, double scale) {
        return new Bench(place, System.nanoTime() + warmUp.toNanos(), time, scale);
    }

    /** A later window, for processes that have yet to be started. */
    public Bench later(Duration warmUp) {
        return after(scaled(warmUp), place, time, scale);
    }

    /** The same window, opened at another time. */
    public Bench from(long moment) {
        return new Bench(place, moment, time, scale);
    }

    /** The same window, which does not open before so much has passed from now. */
    public Bench notWithin(Duration warmUp) {
        return from(Math.max(begin, System.nanoTime() + scaled(warmUp).toNanos()));
    }

    /** The same in a directory of its own. */
    public Bench in(String directory) throws IOException {
        return new Bench(Files.createDirectory(place.resolve(directory)), begin, time, scale);
    }

    /** A window that begins at once. */
    public Bench now(Duration window) {
        return after(Duration.ZERO, window);
    }

    /** A short window that begins so much from now. */
    public Bench after(Duration leadIn, Duration window) {
        return after(scaled(leadIn), place, isTrial() ? window.dividedBy(10) : window, scale);
    }

    /** Whether this is only to see that all runs. */
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

    /** As {@link #scaled(int)}, but one stays one, and more stay two at least. */
    public int scaledOverOne(int number) {
        return Math.max(Math.min(number, 2), scaled(number));
    }

    /** So long, or in a trial a part of it: what only has to run is soon there. */
    public Duration scaled(Duration time) {
        return isTrial() ? Duration.ofNanos(Math.round(time.toNanos() * scale)) : time;
    }
}
