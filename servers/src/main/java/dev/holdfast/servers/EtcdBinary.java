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
 * Finds the program of etcd, which no library has: the one named by the system property {@code holdfast.etcd.bin} or
 * the environment variable {@code HOLDFAST_ETCD_BIN}, otherwise {@code etcd} on the path, otherwise a copy of Debian's
 * that was fetched earlier or, with apt and dpkg, is fetched now. Nothing is installed.
 */
final class EtcdBinary {

    private static final String PROPERTY = "holdfast.etcd.bin";
    private static final String VARIABLE = "HOLDFAST_ETCD_BIN";

    /** Where an etcd is fetched from, if there is none. */
    private static final String SUITE = "trixie";

    private static final String SCRIPT = ".ci/debian-servers";
    private static final String PROGRAM = "all/usr/bin/etcd";

    private EtcdBinary() {}

    /** Searched once in a JVM. */
    private static final class Found {
        static final Optional<Path> PROGRAM = LocalBinaries.at(PROPERTY, VARIABLE)
                .or(EtcdBinary::onThePath)
                .or(EtcdBinary::fetchedEarlier)
                .or(EtcdBinary::fetched);

        private Found() {}
    }

    /** The program; empty if it can't be found or fetched. */
    static Optional<Path> find() {
        return Found.PROGRAM;
    }

    /** The program. */
    static Path program() {
        return find().orElseThrow(() -> new IllegalStateException("There is no etcd; its tests carry @NeedsEtcd"));
    }

    /** The output of its help. */
    static String help() {
        return Help.TEXT;
    }

    /** Read once in a JVM. */
    private static final class Help {
        static final String TEXT = Command.output(program().toString(), "--help");

        private Help() {}
    }

    private static Optional<Path> onThePath() {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":"))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, "etcd"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** The script keeps what it has fetched in a directory for each version. */
    private static Optional<Path> fetchedEarlier() {
        try (Stream<Path> kept = Files.list(cache())) {
            return kept.filter(directory -> directory.getFileName().toString().startsWith("etcd-"))
                    .filter(directory -> Files.exists(directory.resolve("done")))
                    .map(directory -> directory.resolve(PROGRAM))
                    .filter(Files::isExecutable)
                    .max(Path::compareTo);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static Path cache() {
        String set = System.getenv("HOLDFAST_SERVERS");
        String home = System.getenv()
                .getOrDefault(
                        "XDG_CACHE_HOME",
                        Path.of(System.getProperty("user.home"), ".cache").toString());
        return (set == null ? Path.of(home, "holdfast", "debian") : Path.of(set)).resolve(SUITE);
    }

    /** One JVM fetches it, while others wait and find it then. */
    private static Optional<Path> fetched() {
        Optional<Path> script = script();
        if (script.isEmpty()) {
            return Optional.empty();
        }
        try (FileChannel lock =
                FileChannel.open(ServerHome.shared("etcd.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
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

    private static Optional<Path> fetchedBy(Path script) throws IOException {
        Process process = new ProcessBuilder(List.of(script.toString(), "etcd", SUITE))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            return process.waitFor() == 0 ? Optional.of(Path.of(said.strip())) : Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while etcd was fetched", e);
        }
    }
}
