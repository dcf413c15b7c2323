package com.example.library;

import dev.holdfast.Holdfast;
import java.io.File;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Gets the API with annotations and the logging facade and no other library, and an error that names the missing store.
 */
public final class Program {

    private Program() {}

    public static void main(String... arguments) throws InterruptedException {
        Set<String> libraries = libraries();
        if (!libraries.equals(Set.of("classes", "holdfast-core", "slf4j-api", "jspecify", "error_prone_annotations"))) {
            throw new AssertionError("holdfast-core brings " + libraries);
        }
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            throw new AssertionError(new NightlyReport(holdfast.lock("nightly-report")).run() + " has found a store");
        } catch (IllegalArgumentException e) {
            if (!e.getMessage().contains("Add the store's module")) {
                throw new AssertionError("should say what to add", e);
            }
            System.out.println(e.getMessage());
        }
    }

    /** The names, without versions, of all that is on the path of this program. */
    private static Set<String> libraries() {
        String path = System.getProperty("jdk.module.path", System.getProperty("java.class.path"));
        return Stream.of(path.split(File.pathSeparator))
                .map(file -> Path.of(file).getFileName().toString().replaceFirst("-\\d.*", ""))
                .collect(Collectors.toSet());
    }
}
