package dev.holdfast.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The distribution")
class DistributionTest {

    private static final Path DIRECTORY = Path.of(System.getProperty("holdfast.distribution"));
    private static final String VERSION =
            DIRECTORY.getFileName().toString().replaceFirst("holdfast-(.*)-linux.*", "$1");

    /** In bytes. The caches are a third of it. */
    private static final long MOST_PACKED = 60_000_000;

    @TempDir
    private Path temporary;

    @Test
    @DisplayName("names its version")
    void namesItsVersion() throws Exception {
        assertThat(run(DIRECTORY, Map.of(), "--version").output).isEqualTo("holdfast " + VERSION + "\n");
    }

    @Test
    @DisplayName("runs a command under a lock, and passes on its output and its exit code")
    void runsUnderALock() throws Exception {
        Result result =
                run(DIRECTORY, Map.of(), "run", "job", "--store", sqlite(), "--", "sh", "-c", "echo done; exit 3");
        assertThat(result).isEqualTo(new Result(3, "done\n"));
    }

    @Test
    @DisplayName("loads its classes from the cache of the store")
    void loadsFromTheCache() throws Exception {
        assertThat(shareOfTheCache(DIRECTORY, sqlite())).isGreaterThan(0.95);
        try (PostgresServer server = PostgresServer.start()) {
            assertThat(shareOfTheCache(DIRECTORY, Caches.uri(server))).isGreaterThan(0.9);
        }
        try (RedisServer server = RedisServer.start()) {
            assertThat(shareOfTheCache(DIRECTORY, server.uri())).isGreaterThan(0.9);
        }
    }

    @Test
    @DisplayName(
            "works from a copy that is read-only, in a directory with a blank, through a link, and still uses the cache")
    void worksFromACopy() throws Exception {
        Path copy = temporary.resolve("a copy");
        execute("cp", "-R", DIRECTORY.toString(), copy.toString());
        execute("chmod", "-R", "a-w", copy.toString());
        try {
            Path link = Files.createSymbolicLink(temporary.resolve("holdfast"), copy.resolve("bin/holdfast"));
            Result result =
                    start(List.of(link.toString(), "run", "job", "--store", sqlite(), "--", "echo", "ok"), Map.of());
            assertThat(result).isEqualTo(new Result(0, "ok\n"));
            assertThat(shareOfTheCache(copy, sqlite())).isGreaterThan(0.95);
        } finally {
            execute("chmod", "-R", "u+w", copy.toString());
        }
    }

    @Test
    @DisplayName("runs from cron, which gives it next to no environment, and keeps names that are not ASCII")
    void runsWithoutAnEnvironment() throws Exception {
        // The name is spelled by the shell: the JVM of this test may be unable to pass it on.
        String command = "exec env -i PATH=/usr/bin:/bin \"$0\" run \"$(printf 'fr\\303\\274h')\" --store \"$1\""
                + " -- sh -c 'printf %s \"$HOLDFAST_NAME ${LC_ALL-unset}\"'";
        Result result = start(List.of("sh", "-c", command, DIRECTORY + "/bin/holdfast", sqlite()), Map.of());
        assertThat(result).isEqualTo(new Result(0, "fr\u00fch unset"));
    }

    @Test
    @DisplayName("has the stores that are not part of the command")
    void hasTheOtherStores() throws Exception {
        for (String store : List.of("etcd://127.0.0.1:1", "zookeeper://127.0.0.1:1")) {
            assertThat(run(DIRECTORY, Map.of(), "ls", "--store", store).code)
                    .as(store)
                    .isEqualTo(69);
        }
    }

    @Test
    @DisplayName("is installed beside other versions, also over a link, and installed again")
    void isInstalled() throws Exception {
        Path prefix = temporary.resolve("prefix");
        for (int time = 0; time < 2; time++) {
            execute(DIRECTORY.resolve("install.sh").toString(), "--prefix", prefix.toString());
        }
        Result result = start(List.of(prefix.resolve("bin/holdfast").toString(), "--version"), Map.of());
        assertThat(result.output).isEqualTo("holdfast " + VERSION + "\n");
        for (String file : List.of(
                "bash-completion/completions/holdfast",
                "zsh/site-functions/_holdfast",
                "fish/vendor_completions.d/holdfast.fish",
                "man/man1/holdfast.1")) {
            assertThat(prefix.resolve("share").resolve(file)).content().contains("holdfast");
        }
        try (Stream<Path> versions = Files.list(prefix.resolve("lib"))) {
            assertThat(versions).containsExactly(prefix.resolve("lib/holdfast-" + VERSION));
        }
    }

    @Test
    @DisplayName("contains the licences of what it contains")
    void containsLicences() {
        Path licenses = DIRECTORY.resolve("share/doc/holdfast/licenses");
        assertThat(DIRECTORY.resolve("LICENSE")).content().contains("Apache License");
        assertThat(DIRECTORY.resolve("NOTICE")).content().contains("GPL-2.0 with the Classpath Exception");
        assertThat(DIRECTORY.resolve("lib/runtime/legal/java.base/LICENSE")).isRegularFile();
        assertThat(licenses.resolve("sqlite-jdbc/LICENSE.zentus")).content().contains("David Crawshaw");
        assertThat(licenses.resolve("slf4j.txt")).content().contains("QOS.ch");
        assertThat(licenses.resolve("com.ongres.scram")).isDirectory();
    }

    @Test
    @DisplayName("has a man page with each command, which man shows without warnings")
    void hasAManPage() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/man")), "there is no man here");
        Path warnings = temporary.resolve("warnings");
        Result page = start(
                List.of(
                        "sh",
                        "-c",
                        "LC_ALL=C.UTF-8 MANWIDTH=120 man --warnings -l \"$0\" 2>\"$1\" | col -b",
                        DIRECTORY.resolve("share/man/man1/holdfast.1").toString(),
                        warnings.toString()),
                Map.of());
        assertThat(page.output)
                .contains(
                        "holdfast run nightly-report -- ./report.sh",
                        "--leftovers",
                        "HOLDFAST WATCH",
                        "HOLDFAST CONFIG");
        assertThat(warnings).isEmptyFile();
    }

    @Test
    @DisplayName("is small enough to be downloaded for a job")
    void isSmall() throws Exception {
        assertThat(Files.size(DIRECTORY.resolveSibling(DIRECTORY.getFileName() + ".tar.gz")))
                .isLessThan(MOST_PACKED);
    }

    @Test
    @DisplayName("is an npm package that can be installed")
    void isAnNpmPackage() throws Exception {
        Path packed = DIRECTORY.resolveSibling("npm").resolve("holdfast-linux-x64-" + VERSION + ".tgz");
        assumeTrue(Files.exists(packed), "there was no npm");
        execute("npm", "install", "--offline", "--prefix", temporary.toString(), packed.toString());
        Path global = temporary.resolve("global");
        execute("npm", "install", "--global", "--offline", "--prefix", global.toString(), packed.toString());
        for (Path command : List.of(temporary.resolve("node_modules/.bin/holdfast"), global.resolve("bin/holdfast"))) {
            assertThat(start(List.of(command.toString(), "--version"), Map.of()).output)
                    .isEqualTo("holdfast " + VERSION + "\n");
        }
        assertThat(global.resolve("share/man/man1/holdfast.1")).isNotEmptyFile();
    }

    @Test
    @DisplayName("is a Debian package of its series")
    void isADebianPackage() throws Exception {
        assertThat(VERSION).startsWith(System.getProperty("holdfast.series") + ".");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/dpkg-deb")), "there is no dpkg here");
        Path packed = DIRECTORY.resolveSibling("holdfast_" + VERSION + "_amd64.deb");
        execute("dpkg-deb", "-x", packed.toString(), temporary.resolve("root").toString());
        Path command = temporary
                .resolve("root/usr/lib/holdfast")
                .resolve(System.getProperty("holdfast.series"))
                .resolve("bin/holdfast");
        assertThat(start(List.of(command.toString(), "--version"), Map.of()).output)
                .isEqualTo("holdfast " + VERSION + "\n");
    }

    private record Result(int code, String output) {}

    private String sqlite() {
        return "sqlite:" + temporary.resolve("locks.db");
    }

    /** How many of the loaded classes come from a cache; the JVM refuses one in silence. */
    private double shareOfTheCache(Path directory, String store) throws Exception {
        Path log = Files.createTempFile(temporary, "classes", ".log");
        Result result = run(
                directory,
                Map.of("HOLDFAST_JAVA_OPTS", "-Xlog:class+load:file=" + log),
                "run",
                "job",
                "--store",
                store,
                "--",
                "true");
        assertThat(result.code).isZero();
        List<String> loaded = Files.readAllLines(log);
        assertThat(loaded).hasSizeGreaterThan(1000);
        return (double) loaded.stream()
                        .filter(line -> line.contains("shared objects file"))
                        .count()
                / loaded.size();
    }

    private Result run(Path directory, Map<String, String> environment, String... arguments) throws Exception {
        return start(
                Stream.concat(Stream.of(directory.resolve("bin/holdfast").toString()), Stream.of(arguments))
                        .toList(),
                environment);
    }

    private void execute(String... command) throws Exception {
        assertThat(start(List.of(command), Map.of()).code)
                .as(String.join(" ", command))
                .isZero();
    }

    private Result start(List<String> command, Map<String, String> environment)
            throws IOException, InterruptedException {
        Path output = Files.createTempFile(temporary, "output", "");
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(output.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().keySet().removeIf(name -> name.startsWith("HOLDFAST_"));
        // A busy machine may keep a server waiting for longer than the default.
        builder.environment().put("HOLDFAST_STORE_TIMEOUT", "60s");
        builder.environment().putAll(environment);
        builder.environment().put("HOME", temporary.toString());
        Process process = builder.start();
        if (!process.waitFor(2, TimeUnit.MINUTES)) {
            process.destroyForcibly();
            throw new AssertionError(command + " did not end");
        }
        return new Result(process.exitValue(), Files.readString(output));
    }
}
