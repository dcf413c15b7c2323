package dev.holdfast.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/** Servers that are installed on this machine, for versions that no library has. */
final class LocalBinaries {

    private LocalBinaries() {}

    /** The file or directory named by a system property or, without one, by an environment variable. */
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

    /** Identifies this program and its version. */
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
