package dev.holdfast.cli;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command in a directory of the build, with the files of separate stores beside it, as its users have it: copies
 * of classes and links to jars.
 */
public record Installation(Path directory) {

    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final Path CLASSES = TARGET.resolve("classes");

    /** Makes it, with these stores. */
    public static Installation with(String... stores) {
        try {
            Installation made = new Installation(Files.createTempDirectory(TARGET, "installation"));
            copy(CLASSES, made.classes());
            for (String store : stores) {
                Files.createDirectories(made.store(store));
                List<Path> files = files(store);
                for (int i = 0; i < files.size(); i++) {
                    // Directories of classes have the same name in each module.
                    String name = i + "-" + files.get(i).getFileName() + ".jar";
                    Files.createSymbolicLink(made.store(store).resolve(name), files.get(i));
                }
            }
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Copies, since the JVM follows links and would find the stores at their targets. */
    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file)));
            }
        }
    }

    /** The start of a command line that runs it. */
    public List<String> java() {
        List<String> command = new ArrayList<>(CliProcess.java());
        int at = command.indexOf("-cp") + 1;
        command.set(
                at,
                Arrays.stream(command.get(at).split(File.pathSeparator))
                        .map(entry ->
                                entry.equals(CLASSES.toString()) ? classes().toString() : entry)
                        .collect(Collectors.joining(File.pathSeparator)));
        return command;
    }

    /** Where the files of a store are. */
    public Path store(String name) {
        return directory.resolve("stores").resolve(name);
    }

    private Path classes() {
        return directory.resolve("command");
    }

    /** Jars; directories of classes where a build has not come to its jars. */
    private static List<Path> files(String store) throws IOException {
        String list = Files.readString(Path.of("stores", store, "target", "files"));
        return Arrays.stream(list.strip().split(File.pathSeparator))
                .map(Path::of)
                .toList();
    }
}
