package dev.holdfast.cli.store;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The jars of a directory, for a class loader. */
final class Jars {

    private Jars() {}

    /** The jars, in the order of their names; none if there is no such directory. */
    static List<Path> in(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .toList();
        }
    }

    static URL[] urls(List<Path> jars) {
        return jars.stream().map(Jars::urlOf).toArray(URL[]::new);
    }

    private static URL urlOf(Path jar) {
        try {
            return jar.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
