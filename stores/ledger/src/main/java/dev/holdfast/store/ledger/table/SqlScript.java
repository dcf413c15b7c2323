package dev.holdfast.store.ledger.table;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads scripts that create tables: each statement ends with a semicolon at the end of a line, and comments begin with
 * --.
 */
public final class SqlScript {

    private static final Pattern COMMENT = Pattern.compile("(?m)^--.*$|\\s--\\s.*$");
    private static final Pattern END = Pattern.compile(";\\s*(\n|$)");

    private SqlScript() {}

    /**
     * The statements of a script, in order, without comments.
     *
     * @param name of the resource, for the error if it is missing
     * @param script is closed
     */
    public static List<String> statements(String name, @Nullable InputStream script) {
        if (script == null) {
            throw new IllegalStateException("The resource " + name + " is missing");
        }
        try (script) {
            String text = new String(script.readAllBytes(), StandardCharsets.UTF_8);
            return Stream.of(END.split(COMMENT.matcher(text).replaceAll("")))
                    .map(String::strip)
                    .filter(statement -> !statement.isEmpty())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
