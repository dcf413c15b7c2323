package dev.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one run of one cell has shown: numbers by name, violations, and remarks. Written to the standard output of the
 * cell's JVM, line by line, and read back by the one that started it. Not thread-safe.
 */
final class Sheet {

    private static final String NUMBER = "number";
    private static final String VIOLATION = "violation";
    private static final String REMARK = "remark";

    private final Map<String, Double> numbers = new LinkedHashMap<>();
    private final List<String> violations = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();

    void put(String name, double value) {
        numbers.put(name, value);
    }

    void put(String name, long value) {
        numbers.put(name, (double) value);
    }

    /** What must never be was seen. */
    void violation(String text) {
        violations.add(text);
    }

    /** Something that a reader of the numbers must know. */
    void remark(String text) {
        remarks.add(text.lines().findFirst().orElse(""));
    }

    boolean has(String name) {
        return numbers.containsKey(name);
    }

    double get(String name) {
        Double value = numbers.get(name);
        if (value == null) {
            throw new IllegalStateException("No number '" + name + "' among " + numbers.keySet());
        }
        return value;
    }

    List<String> violations() {
        return List.copyOf(violations);
    }

    List<String> remarks() {
        return List.copyOf(remarks);
    }

    /** The sheet as text, for {@link #read}. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        numbers.forEach((name, value) -> lines.add(NUMBER + "\t" + name + "\t" + value));
        violations.forEach(text -> lines.add(VIOLATION + "\t" + text));
        remarks.forEach(text -> lines.add(REMARK + "\t" + text));
        return lines;
    }

    /** Takes lines in; what is not of its kind is passed over. */
    void read(List<String> lines) {
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
