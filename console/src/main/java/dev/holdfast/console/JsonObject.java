package dev.holdfast.console;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object under construction. Absent values are left out. Durations become milliseconds, instants ISO 8601 text;
 * tokens and claims are passed as strings, since many parsers keep numbers in a double. Not thread-safe.
 */
final class JsonObject {

    private final Map<String, Object> fields = new LinkedHashMap<>();

    /** Adds a field, unless the value is null or an empty {@link Optional}. */
    @CanIgnoreReturnValue
    JsonObject put(String name, @Nullable Object value) {
        Object present = value instanceof Optional<?> optional ? optional.orElse(null) : value;
        if (present != null) {
            fields.put(name, present);
        }
        return this;
    }

    @Override
    public String toString() {
        StringBuilder out = new StringBuilder(256);
        write(out, this);
        return out.toString();
    }

    private static void write(StringBuilder out, Object value) {
        if (value instanceof JsonObject object) {
            char before = '{';
            for (Map.Entry<String, Object> field : object.fields.entrySet()) {
                out.append(before);
                string(out, field.getKey());
                out.append(':');
                write(out, field.getValue());
                before = ',';
            }
            out.append(object.fields.isEmpty() ? "{}" : "}");
        } else if (value instanceof Collection<?> values) {
            char before = '[';
            for (Object each : values) {
                out.append(before);
                write(out, each);
                before = ',';
            }
            out.append(values.isEmpty() ? "[]" : "]");
        } else if (value instanceof Duration duration) {
            out.append(duration.toMillis());
        } else if (value instanceof Integer || value instanceof Long || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof String || value instanceof Instant) {
            string(out, value.toString());
        } else {
            throw new IllegalArgumentException("No JSON for " + value.getClass());
        }
    }

    /** Escapes all but printable ASCII, so that the text survives any transport and log. */
    private static void string(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c >= ' ' && c < 0x7f) {
                out.append(c);
            } else {
                out.append("\\u");
                for (int shift = 12; shift >= 0; shift -= 4) {
                    out.append(Character.forDigit(c >> shift & 0xf, 16));
                }
            }
        }
        out.append('"');
    }
}
