package dev.holdfast.distribution;

import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Makes the caches of a distribution: for each kind of store, the JVM records which classes a run of the command loads
 * and links, and writes them. A server must answer, or else most of its driver is missing in the cache.
 */
final class Caches {

    private final Path directory;

    private Caches(Path directory) {
        this.directory = directory;
    }

    /** @param args the directory of the distribution */
    public static void main(String[] args) throws IOException, InterruptedException {
        Caches caches = new Caches(Path.of(args[0]));
        Files.createDirectories(caches.directory.resolve("lib/cache"));
        Path files = Files.createTempDirectory("holdfast-caches");
        try {
            caches.make("sqlite", "sqlite:" + files.resolve("locks.db"));
        } finally {
            delete(files);
        }
        try (PostgresServer server = PostgresServer.start()) {
            caches.make("postgresql", uri(server));
        }
        try (RedisServer server = RedisServer.start()) {
            caches.make("redis", server.uri());
        }
    }

    /** As the command takes it: without the parameters of the driver's URL. */
    static String uri(PostgresServer server) {
        return server.url().replaceFirst("^jdbc:", "").replaceFirst("\\?.*", "").replace("//", "//postgres@");
    }

    private void make(String name, String store) throws IOException, InterruptedException {
        // The tables are made in a run before: what only the first run does would take room in the cache.
        run(List.of("-Dholdfast.caches=" + name), store);
        run(List.of("-XX:AOTCacheOutput=" + directory.resolve("lib/cache/" + name + ".aot")), store);
    }

    private void run(List<String> options, String store) throws IOException, InterruptedException {
        Path lib = directory.resolve("lib");
        List<String> command = new java.util.ArrayList<>(List.of(
                lib.resolve("runtime/bin/java").toString(),
                "@" + lib.resolve("jvm.options"),
                "-Dorg.sqlite.lib.path=" + lib));
        command.addAll(options);
        command.addAll(List.of(
                "-m", "dev.holdfast.command/dev.holdfast.cli.Main", "run", "--store", store, "caches", "--", "true"));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolveSibling("caches.log").toFile())
                .start();
        if (!process.waitFor(5, TimeUnit.MINUTES) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException(
                    "The command did not run on " + store + "; see " + directory.resolveSibling("caches.log"));
        }
    }

    private static void delete(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
