package dev.holdfast.console;

import java.util.Map;
import java.util.TreeMap;

/** The parameters of a view, checked. */
final class ViewQuery {

    private static final int MAX_TEXT = 1_024;

    private final Map<String, String> parameters;

    ViewQuery(Map<String, String> parameters) {
        this.parameters = new TreeMap<>(parameters);
        this.parameters.forEach((name, value) -> {
            if (value.length() > MAX_TEXT) {
                throw new IllegalArgumentException(
                        "The parameter '" + name + "' may have " + MAX_TEXT + " characters, but has " + value.length());
            }
        });
    }

    String text(String name, String otherwise) {
        return parameters.getOrDefault(name, otherwise);
    }

    int number(String name, int otherwise, int least, int most) {
        String text = parameters.get(name);
        if (text == null) {
            return otherwise;
        }
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new IllegalArgumentException(
                "The parameter '" + name + "' must be a number from " + least + " to " + most);
    }

    /** One of some words, as a constant. */
    <E extends Enum<E>> E oneOf(String name, E otherwise) {
        String text = parameters.get(name);
        if (text == null) {
            return otherwise;
        }
        for (E each : otherwise.getDeclaringClass().getEnumConstants()) {
            if (each.name().equalsIgnoreCase(text)) {
                return each;
            }
        }
        throw new IllegalArgumentException("The parameter '" + name + "' has an unknown value");
    }

    boolean flag(String name, boolean otherwise) {
        String text = parameters.get(name);
        return text == null ? otherwise : text.equals("true");
    }

    /** The same text for the same view. */
    @Override
    public String toString() {
        return parameters.toString();
    }
}
