package dev.holdfast.benchmarks.harness;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.HdrHistogram.Histogram;

/**
 * The result of one run of a cell: numbers by name, violations, and remarks. The JVM of the cell prints it line by line
 * to its standard output, and the JVM that started it reads it back. Not thread-safe.
 */
public final class Measurements {

    private static final String NUMBER = "number";
    private static final String VIOLATION = "violation";
    private static final String REMARK = "remark";

    private final Map<String, Double> numbers = new LinkedHashMap<>();
    private final List<String> violations = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();

    public void put(String name, double value) {
        numbers.put(name, value);
    }

    public void put(String name, long value) {
        numbers.put(name, (double) value);
    }

    /** Reports the percentiles of some waits, under names that begin with a prefix. */
    public void putWaits(String prefix, Histogram waits) {
        put(prefix + "p50", waits.getValueAtPercentile(50));
        put(prefix + "p99", waits.getValueAtPercentile(99));
        put(prefix + "p99.9", waits.getValueAtPercentile(99.9));
        put(prefix + "max", waits.getMaxValue());
    }

    /** Reports that a lock failed. */
    public void violation(String text) {
        violations.add(text);
    }

    /** Notes something that a reader of the numbers must know. */
    public void remark(String text) {
        remarks.add(text.lines().findFirst().orElse(""));
    }

    public boolean has(String name) {
        return numbers.containsKey(name);
    }

    public double get(String name) {
        Double value = numbers.get(name);
        if (value == null) {
            throw new IllegalStateException("No number '" + name + "' among " + numbers.keySet());
        }
        return value;
    }

    /** The number of this name in each of them. */
    public static DoubleStream all(List<Measurements> several, String name) {
        return several.stream().mapToDouble(one -> one.get(name));
    }

    public static double sum(List<Measurements> several, String name) {
        return all(several, name).sum();
    }

    /** Combines what processes measured at one lock: their pairs are added up, and the longest waits are kept. */
    public void combine(List<Measurements> processes) {
        processes.forEach(process -> process.remarks.forEach(this::remark));
        put("pairs/s", sum(processes, "pairs/s"));
        put(
                "spread",
                all(processes, "pairs/s").max().orElse(0)
                        / all(processes, "pairs/s").min().orElse(0));
        for (String wait : List.of("p50", "p99", "p99.9", "max")) {
            put(wait, all(processes, wait).max().orElse(0));
        }
    }

    public List<String> violations() {
        return List.copyOf(violations);
    }

    public List<String> remarks() {
        return List.copyOf(remarks);
    }

    /** The text that {@link #read} understands. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        numbers.forEach((name, value) -> lines.add(NUMBER + "\t" + name + "\t" + value));
        violations.forEach(text -> lines.add(VIOLATION + "\t" + text));
        remarks.forEach(text -> lines.add(REMARK + "\t" + text));
        return lines;
    }

    /** Adds what the lines say; other lines are ignored. */
    public void read(List<String> lines) {
        for (String line : lines) {
            String[] parts = line.split("\t", 3);
            if (parts[0].equals(NUMBER) && parts.length == 3) {
                put(parts[1], Double.parseDouble(parts[2]));
            } else if (parts[0].equals(VIOLATION) && parts.length == 2) {
                violation(parts[1]);
            } else if (parts[0].equals(REMARK) && parts.length == 2) {
                remark(parts[1]);
            }
        }
    }
}
