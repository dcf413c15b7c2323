package dev.holdfast.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/** Servers that are on this machine already, for versions that no library brings. */
final class LocalBinaries {

    private LocalBinaries() {}

    /** The file or directory that a system property or, for want of that, an environment variable names. */
    static Optional<Path> at(String property, String variable) {
        String name = System.getProperty(property, System.getenv().getOrDefault(variable, ""));
        if (name.isEmpty()) {
            return Optional.empty();
        }
        Path path = Path.of(name).toAbsolutePath();
        if (!Files.exists(path)) {
            throw new IllegalStateException(
                    "There is no server at '" + path + "', which " + property + " or " + variable + " names");
        }
        return Optional.of(path);
    }

    /** Tells this program from another one, or from another version at the same place. */
    static String identity(Path program) {
        try {
            return Integer.toHexString(Objects.hash(
                    program.toString(),
                    Files.size(program),
                    Files.getLastModifiedTime(program).toMillis()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
