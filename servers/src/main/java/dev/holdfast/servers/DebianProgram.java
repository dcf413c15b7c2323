package dev.holdfast.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A program that no library has, in a copy of Debian's package that {@code .ci/debian-servers} keeps for this user.
 * Nothing is installed.
 *
 * @param product as the script names it
 * @param suite of Debian
 * @param path of the program in the package
 */
record DebianProgram(String product, String suite, String path) {

    private static final String SCRIPT = ".ci/debian-servers";

    /** The first program with one of these names on the path of this process. */
    static Optional<Path> onThePath(String... names) {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":"))
                .filter(directory -> !directory.isEmpty())
                .flatMap(directory -> Arrays.stream(names).map(name -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** The copy that was fetched earlier. The script keeps one in a directory for each version. */
    Optional<Path> fetchedEarlier() {
        try (Stream<Path> kept = Files.list(cache())) {
            return kept.filter(directory -> directory.getFileName().toString().startsWith(product + "-"))
                    .filter(directory -> Files.exists(directory.resolve("done")))
                    .map(directory -> directory.resolve("all").resolve(path))
                    .filter(Files::isExecutable)
                    .max(Path::compareTo);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private Path cache() {
        String set = System.getenv("HOLDFAST_SERVERS");
        String home = System.getenv()
                .getOrDefault(
                        "XDG_CACHE_HOME",
                        Path.of(System.getProperty("user.home"), ".cache").toString());
        return (set == null ? Path.of(home, "holdfast", "debian") : Path.of(set)).resolve(suite);
    }

    /** Fetches it, with apt and dpkg; empty if it can't be had. One JVM fetches it; others wait, and find it then. */
    Optional<Path> fetched() {
        Optional<Path> script = script();
        if (script.isEmpty()) {
            return Optional.empty();
        }
        try (FileChannel lock = FileChannel.open(
                ServerHome.shared(product + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            lock.lock();
            Optional<Path> others = fetchedEarlier();
            return others.isPresent() ? others : fetchedBy(script.get());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Tests run in the directory of their module. */
    private static Optional<Path> script() {
        return Stream.iterate(Path.of("").toAbsolutePath(), directory -> directory != null, Path::getParent)
                .map(directory -> directory.resolve(SCRIPT))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private Optional<Path> fetchedBy(Path script) throws IOException {
        Process process = new ProcessBuilder(List.of(script.toString(), product, suite))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            return process.waitFor() == 0 ? Optional.of(Path.of(said.strip())) : Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while " + product + " was fetched", e);
        }
    }
}
