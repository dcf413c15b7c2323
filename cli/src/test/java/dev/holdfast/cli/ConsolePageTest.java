package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.store.StoreLocation;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("holdfast console")
class ConsolePageTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final HttpClient browser = HttpClient.newHttpClient();
    private String cookie = "none=0";

    @CanIgnoreReturnValue
    private int run(String... arguments) {
        return Main.run(
                List.of(arguments),
                Map.of(),
                new Console(new PrintStream(out, true), new PrintStream(err, true), false, false));
    }

    /** Runs the command beside a test that acts as the browser, and ends it. */
    private void serve(BrowserTest test, String... options) throws Exception {
        Thread command = new Thread(() -> run(Stream.concat(Stream.of("console", "--no-browser"), Stream.of(options))
                .toArray(String[]::new)));
        command.start();
        try {
            Instant deadline = Instant.now().plusSeconds(60);
            while (!out.toString().contains("\n")) {
                assertThat(command.isAlive()).as(err.toString()).isTrue();
                assertThat(Instant.now()).isBefore(deadline);
                Thread.onSpinWait();
            }
            URI link = URI.create(out.toString().strip());
            assertThat(link.getHost()).isEqualTo("127.0.0.1");
            test.run(link);
        } finally {
            command.interrupt();
            command.join();
        }
    }

    private interface BrowserTest {
        void run(URI link) throws Exception;
    }

    private HttpResponse<String> get(URI link, String path) throws Exception {
        return browser.send(
                HttpRequest.newBuilder(link.resolve(path))
                        .header("Cookie", cookie)
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> post(URI link, String path, String body) throws Exception {
        return browser.send(
                HttpRequest.newBuilder(link.resolve(path))
                        .header("Content-Type", "application/json")
                        .header("Cookie", cookie)
                        .header("Origin", "http://" + link.getAuthority())
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private void login(URI link) throws Exception {
        String key = link.getFragment().substring("key=".length());
        HttpResponse<String> answer = post(link, "/login", "{\"key\":\"" + key + "\"}");
        assertThat(answer.statusCode()).isEqualTo(204);
        cookie = answer.headers().firstValue("Set-Cookie").orElseThrow().split(";", 2)[0];
    }

    @Test
    @DisplayName("prints a link, shows the locks to whoever opens it, and releases one")
    void releases() throws Exception {
        try (Holdfast client = Holdfast.builder("memory:console").label("ann").build()) {
            serve(
                    link -> {
                        assertThat(get(link, "/").body()).contains("<title>Holdfast</title>");
                        assertThat(get(link, "/api/locks").statusCode()).isEqualTo(401);
                        login(link);
                        Hold hold = client.lock("nightly").acquire();
                        assertThat(get(link, "/api/lock?name=nightly").body()).contains("\"label\":\"ann\"");
                        String body = "{\"name\":\"nightly\",\"token\":\"" + hold.fencingToken() + "\"}";
                        assertThat(post(link, "/api/release", body).body()).isEqualTo("{\"released\":true}");
                        assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
                        assertThat(get(link, "/api/overview").body())
                                .contains("\"kind\":\"memory\"", "\"lostLastHour\":1", "was taken from ann by force");
                    },
                    "--store",
                    "memory:console");
        }
        assertThat(err.toString()).contains("works once", "forced release of nightly, token ");
    }

    @Test
    @DisplayName("releases nothing with --read-only")
    void readOnly() throws Exception {
        serve(
                link -> {
                    login(link);
                    assertThat(get(link, "/api/overview").body()).contains("\"readOnly\":true");
                    assertThat(post(link, "/api/release", "{\"name\":\"a\",\"token\":\"1\"}")
                                    .statusCode())
                            .isEqualTo(403);
                },
                "--store",
                "memory:read-only",
                "--read-only");
    }

    /** Changes a file as programs of another version leave it. */
    private static void change(Path file, String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            for (String one : statements) {
                statement.executeUpdate(one);
            }
        }
    }

    private void await(URI link, String path, String... words) throws Exception {
        Instant deadline = Instant.now().plusSeconds(60);
        while (!Stream.of(words).allMatch(get(link, path).body()::contains)) {
            assertThat(Instant.now()).as(get(link, path).body()).isBefore(deadline);
        }
    }

    @Test
    @DisplayName("shows a store of an earlier version, whose programs keep working")
    void earlierVersion(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("locks.db");
        try (Holdfast earlier = Holdfast.builder("sqlite:" + file).label("ann").build();
                Holdfast other = Holdfast.builder("sqlite:" + file).label("bob").build();
                Hold hold = earlier.lock("ledger").acquire()) {
            CompletableFuture<Hold> waiting =
                    other.lock("ledger").acquireAsync().toCompletableFuture();
            change(file, "DROP TABLE holdfast_annotation", "DROP TABLE holdfast_run", "PRAGMA user_version = 1000");
            serve(
                    link -> {
                        login(link);
                        await(link, "/api/lock?name=ledger", "\"label\":\"ann\"", "\"label\":\"bob\"");
                        assertThat(get(link, "/api/overview").body()).contains("\"state\":\"up\"");
                    },
                    "--store",
                    "sqlite:" + file);
            assertThat(hold.isHeld()).isTrue();
            hold.close();
            waiting.get(60, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @DisplayName("says which version a store has that it can't read, and changes nothing there")
    void laterVersion(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("locks.db");
        Holdfast.builder("sqlite:" + file).build().close();
        change(file, "PRAGMA user_version = 2000");
        byte[] before = Files.readAllBytes(file);
        serve(
                link -> {
                    login(link);
                    await(
                            link,
                            "/api/overview",
                            "\"state\":\"away\"",
                            "\"answered\":false",
                            "version 2.0, but this program supports 1.",
                            "use a newer program");
                },
                "--store",
                "sqlite:" + file);
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
    }

    @Test
    @DisplayName("waits for a file that does not exist yet, and never creates it")
    void noFile(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("locks.db");
        serve(
                link -> {
                    login(link);
                    assertThat(get(link, "/api/overview").body())
                            .contains("\"locks\":0", "\"state\":\"up\"", "\"place\":\"" + file + "\"");
                    assertThat(file).doesNotExist();
                    try (Holdfast client = Holdfast.builder("sqlite:" + file).build();
                            Hold hold = client.lock("a").acquire()) {
                        Instant deadline = Instant.now().plusSeconds(60);
                        while (!get(link, "/api/locks").body().contains("\"name\":\"a\"")) {
                            assertThat(Instant.now()).isBefore(deadline);
                        }
                        assertThat(hold.isHeld()).isTrue();
                    }
                },
                "--store",
                "sqlite:" + file);
    }

    @Test
    @DisplayName("shows why a store can't be used")
    void unusable(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("locks.db");
        Files.writeString(file, "this is no database ".repeat(100));
        serve(
                link -> {
                    login(link);
                    assertThat(get(link, "/api/overview").body()).contains("\"state\":\"away\"", "can't be used");
                },
                "--store",
                "sqlite:" + file);
    }

    @Test
    @DisplayName("says so if its port is taken")
    void portInUse() throws Exception {
        serve(
                link -> {
                    assertThat(run("console", "--port", Integer.toString(link.getPort()), "--store", "memory:p"))
                            .isEqualTo(ExitCode.CANNOT_RUN);
                    assertThat(err.toString()).contains("can't serve at port " + link.getPort());
                },
                "--store",
                "memory:p");
    }

    @ParameterizedTest
    @DisplayName("refuses ports that can't be")
    @CsvSource({"-1", "65536", "x", "123456789"})
    void badPort(String port) {
        assertThat(run("console", "--port=" + port)).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("--port takes a number from 0 to 65535");
    }

    @ParameterizedTest
    @DisplayName("shows where a store is, without users, passwords and parameters")
    @CsvSource({
        "redis://app:secret@redis.example.com:6379/2?tls=true, redis.example.com:6379/2",
        "postgresql://locks@db-1/shop?passwordFile=/etc/p, db-1/shop",
        "redis://app:se/cr@et@redis.example.com:6379/2, redis.example.com:6379/2",
        "etcd://etcd-1:2379, etcd-1:2379",
        "memory:x, x"
    })
    void place(String uri, String place) {
        assertThat(StoreLocation.of(uri, Map.of()).place()).isEqualTo(place);
    }
}
