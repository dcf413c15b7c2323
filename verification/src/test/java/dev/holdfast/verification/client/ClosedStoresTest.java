package dev.holdfast.verification.client;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.MariaDbServer;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.RedisCluster;
import dev.holdfast.servers.RedisSentinels;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.SlowMachine;
import dev.holdfast.verification.world.Eventually;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A client that opened its store leaves nothing of it behind, however many are open beside it:")
@Tag("C9")
@Tag("C21")
@Tag("server")
class ClosedStoresTest {

    private static final int CLIENTS = 10;

    /** Threads that the JDK and Netty keep for the process, or end some time after their last use. */
    private static final String OF_THE_PROCESS =
            "main|Reference Handler|Finalizer|Signal Dispatcher|Common-Cleaner|Notification Thread|Attach Listener"
                    + "|Cleaner-\\d+|CompletableFutureDelayScheduler|process reaper|ForkJoinPool.*|globalEventExecutor.*";

    @TempDir
    Path directory;

    @Test
    @DisplayName("a file of SQLite")
    void sqlite() throws Exception {
        leavesNothing("sqlite:" + directory.resolve("locks.db"));
    }

    @Test
    @DisplayName("PostgreSQL")
    void postgresql() throws Exception {
        leavesNothing(uri(PostgresServer.shared().newDatabase(), "?sslmode=disable"));
    }

    @Test
    @DisplayName("MariaDB")
    void mariadb() throws Exception {
        leavesNothing(uri(MariaDbServer.shared().newDatabase(), "?sslMode=disable"));
    }

    @Test
    @DisplayName("Redis")
    void redis() throws Exception {
        try (RedisServer server = RedisServer.builder().start()) {
            leavesNothing(server.uri());
        }
    }

    @Test
    @DisplayName("Redis with Sentinels")
    void sentinels() throws Exception {
        try (RedisSentinels servers = RedisSentinels.start()) {
            leavesNothing(servers.uri());
        }
    }

    @Test
    @DisplayName("a cluster of Redis")
    void cluster() throws Exception {
        try (RedisCluster servers = RedisCluster.start()) {
            leavesNothing(servers.uri());
        }
    }

    @Test
    @DisplayName("a quorum, whose members have the threads of one")
    void quorum() throws Exception {
        try (RedisServer first = RedisServer.builder().start();
                RedisServer second = RedisServer.builder().start();
                RedisServer third = RedisServer.builder().start()) {
            Set<String> ofOne;
            try (Program program = new Program(first.uri())) {
                ofOne = program.with(1).driverThreads();
            }
            String uri = "quorum:(" + first.uri() + "," + second.uri() + "," + third.uri() + ")";
            try (Program program = new Program(uri)) {
                assertThat(program.with(1).driverThreads()).hasSameSizeAs(ofOne);
            }
            leavesNothing(uri);
        }
    }

    @Test
    @DisplayName("Redis that no longer answers: connections in the making end without an error in the driver")
    void silentRedis() throws Exception {
        SlowMachine.copes(Duration.ofSeconds(1), factor -> {
            for (int round = 0; round < 3; round++) {
                try (RedisServer server = RedisServer.builder().start();
                        FaultProxy proxy = FaultProxy.to(server.port());
                        Program program = new Program("redis://127.0.0.1:" + proxy.port(), "PT" + 2 * factor + "S")) {
                    program.with(1);
                    proxy.blackHole();
                    proxy.reset();
                    Eventually.holds("the client connects again", () -> proxy.connections() >= 2);

                    assertThat(program.without().errors()).isEqualTo("[]");
                }
            }
        });
    }

    private static String uri(String jdbc, String parameters) {
        URI parsed = URI.create(jdbc.substring("jdbc:".length()));
        String user = parsed.getQuery().replaceAll(".*user=([^&]*).*", "$1");
        return parsed.getScheme() + "://" + user + "@" + parsed.getAuthority() + parsed.getPath() + parameters;
    }

    private static void leavesNothing(String uri) throws Exception {
        try (Program program = new Program(uri)) {
            // Twice, for what the first use brings along for good.
            program.with(2);
            program.with(1);
            Report before = program.without();

            Set<String> ofOne = program.with(1).driverThreads();
            Set<String> ofAll = program.with(CLIENTS).driverThreads();
            assertThat(ofAll).as("threads of drivers").hasSameSizeAs(ofOne);
            program.tells("close");
            program.tells("use");
            Report after = program.without();

            assertThat(after.files()).as("files when the last one is closed").isEqualTo(before.files());
            assertThat(after.errors()).isEqualTo("[]");
            Eventually.holds(
                    "no threads are left, but there are "
                            + program.tells("tell").threads(),
                    () -> program.tells("tell").threads().isEmpty());
        }
    }

    /** What a program has. */
    private record Report(List<String> threads, List<String> files, String errors) {

        static Report of(String line) {
            String[] parts = line.split(";", 3);
            return new Report(
                    Stream.of(parts[0].split("\\|"))
                            .filter(name -> !name.matches(OF_THE_PROCESS))
                            .toList(),
                    Stream.of(parts[1].split("\\|"))
                            .map(file -> file.replaceAll("\\d+", "N"))
                            .filter(file -> !file.endsWith(".jar"))
                            .sorted()
                            .toList(),
                    parts[2]);
        }

        /** The groups of the threads that are not ours, nor those by which the JDK watches directories for us. */
        Set<String> driverThreads() {
            return threads.stream()
                    .filter(name -> !name.startsWith("holdfast-") && !name.equals("FileSystemWatchService"))
                    .map(name -> name.replaceFirst("-\\d+$", ""))
                    .collect(toSet());
        }
    }

    /** A separate program, in which no other test has threads. */
    private static final class Program implements AutoCloseable {

        private final Process process;
        private final PrintStream in;
        private final BufferedReader out;
        private int open;

        Program(String... arguments) throws Exception {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx128m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    ClosedStoresMain.class.getName()));
            command.addAll(List.of(arguments));
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            in = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
            out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        }

        Report tells(String command) {
            in.println(command);
            open += command.equals("open") ? 1 : command.equals("close") ? -1 : 0;
            try {
                return Report.of(out.readLine());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** With this many open clients, all used. */
        Report with(int clients) {
            while (open < clients) {
                tells("open");
            }
            while (open > clients) {
                tells("close");
            }
            return tells("use");
        }

        /** When the last client has just been closed. */
        Report without() {
            Report last = tells("tell");
            while (open > 0) {
                last = tells("close");
            }
            return last;
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }
}
