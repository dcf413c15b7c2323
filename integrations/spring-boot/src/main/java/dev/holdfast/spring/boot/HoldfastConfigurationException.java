package dev.holdfast.spring.boot;

import org.jspecify.annotations.Nullable;

/** Thrown if the configuration names no usable store; has the remedy. */
final class HoldfastConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String action;

    HoldfastConfigurationException(String description, String action, @Nullable Throwable cause) {
        super(description, cause);
        this.action = action;
    }

    HoldfastConfigurationException(String description, String action) {
        this(description, action, null);
    }

    static HoldfastConfigurationException outOfRange(IllegalArgumentException cause) {
        return new HoldfastConfigurationException(
                "A property under 'holdfast' is out of range: " + cause.getMessage(), "Correct the property.", cause);
    }

    String description() {
        return String.valueOf(getMessage());
    }

    String action() {
        return action;
    }
}
