package dev.holdfast.cli;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Printable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** {@code holdfast completion}. */
final class Completion {

    private Completion() {}

    /** The script for a shell; zsh uses the one of bash. */
    static String scriptFor(String shell) {
        String resource = switch (shell) {
            case "bash", "zsh" -> "completion.bash";
            case "fish" -> "completion.fish";
            default ->
                throw CliException.usage(
                        "completion takes bash, zsh or fish, but got '" + Printable.escape(shell) + "'");
        };
        try (InputStream in = Completion.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(resource + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
