package dev.holdfast.benchmarks.harness;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * The processor time used since the machine started, as the kernel counts it; in nanoseconds.
 *
 * @param all by all programs
 * @param ours by this process and the children that it has waited for
 * @param at the time of the reading, by {@link System#nanoTime()}
 */
public record Processors(long all, long ours, long at) {

    /** The kernel counts in hundredths of a second, whatever its own tick is. */
    private static final long TICK_NANOS = 10_000_000;

    private static final int COUNT = Runtime.getRuntime().availableProcessors();

    public static Processors now() {
        return new Processors(allTicks() * TICK_NANOS, ourTicks() * TICK_NANOS, System.nanoTime());
    }

    /** The exact processor time of this process. */
    public static long ofThisProcess() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** The processor time of a process and its descendants. */
    public static long ofProcess(long pid) {
        long ticks = ticks(pid);
        for (ProcessHandle child : ProcessHandle.of(pid)
                .map(ProcessHandle::descendants)
                .orElseGet(Stream::empty)
                .toList()) {
            ticks += ticks(child.pid());
        }
        return ticks * TICK_NANOS;
    }

    /** The share of all processors that other programs used since then; zero where the kernel does not count. */
    public double usedByOthersSince(Processors before) {
        double others = (all - before.all) - (ours - before.ours);
        return Math.max(0, others / ((double) (at - before.at) * COUNT));
    }

    private static long allTicks() {
        // cpu user nice system idle iowait irq softirq steal: all but idle and iowait.
        return sum(line("/proc/stat"), 1, 2, 3, 6, 7, 8);
    }

    private static long ourTicks() {
        return ticks("self");
    }

    /** Of a process, and of the children that it has waited for. */
    private static long ticks(Object process) {
        String line = line("/proc/" + process + "/stat");
        // Behind the name, which may hold anything: utime stime cutime cstime.
        return sum(line.substring(line.lastIndexOf(')') + 1).strip(), 11, 12, 13, 14);
    }

    private static long sum(String line, int... places) {
        String[] fields = line.split("\\s+", -1);
        long sum = 0;
        for (int place : places) {
            sum += place < fields.length ? Long.parseLong(fields[place]) : 0;
        }
        return sum;
    }

    private static String line(String file) {
        try {
            return Files.readAllLines(Path.of(file)).get(0);
        } catch (IOException e) {
            return "";
        }
    }
}
