package dev.holdfast.benchmarks.harness;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;

/**
 * What one run of one cell has shown: numbers by name, violations, and remarks. Written to the standard output of the
 * cell's JVM, line by line, and read back by the one that started it. Not thread-safe.
 */
public final class Sheet {

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

    /** What must never be was seen. */
    public void violation(String text) {
        violations.add(text);
    }

    /** Something that a reader of the numbers must know. */
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

    /** What each of them tells under this name. */
    public static DoubleStream all(List<Sheet> sheets, String name) {
        return sheets.stream().mapToDouble(sheet -> sheet.get(name));
    }

    public List<String> violations() {
        return List.copyOf(violations);
    }

    public List<String> remarks() {
        return List.copyOf(remarks);
    }

    /** The sheet as text, for {@link #read}. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        numbers.forEach((name, value) -> lines.add(NUMBER + "\t" + name + "\t" + value));
        violations.forEach(text -> lines.add(VIOLATION + "\t" + text));
        remarks.forEach(text -> lines.add(REMARK + "\t" + text));
        return lines;
    }

    /** Takes lines in; what is not of its kind is passed over. */
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
