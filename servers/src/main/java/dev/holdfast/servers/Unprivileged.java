package dev.holdfast.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** How a program is run that refuses to be run by root, in containers for instance. */
enum Unprivileged {

    /** We aren't root. */
    AS_WE_ARE,

    /** Runs in a separate user namespace without root. The files keep their owner. */
    IN_A_NAMESPACE,

    /** As another user, whose files they must be: namespaces are forbidden here. */
    AS_NOBODY;

    private static final int NOBODY = 65_534;

    static Unprivileged here() {
        return Here.WAY;
    }

    List<String> prefix() {
        return switch (this) {
            case AS_WE_ARE -> List.of();
            case IN_A_NAMESPACE -> List.of("unshare", "-U");
            case AS_NOBODY -> List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups");
        };
    }

    /** Lets the program own this directory with all that is in it. */
    void give(Path directory) {
        if (this != AS_NOBODY) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Files.setAttribute(file, "unix:uid", NOBODY);
                Files.setAttribute(file, "unix:gid", NOBODY);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class Here {
        private static final Unprivileged WAY = find();

        private static Unprivileged find() {
            try {
                if (!Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0)) {
                    return AS_WE_ARE;
                }
            } catch (IOException | UnsupportedOperationException e) {
                return AS_WE_ARE;
            }
            return Command.succeeds("unshare", "-U", "true") ? IN_A_NAMESPACE : AS_NOBODY;
        }
    }
}
