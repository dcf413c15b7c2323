package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.SlowMachine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands on a Redis server, which other machines could use as well. */
@Tag("server")
class RedisRunTest {

    private static RedisServer server;

    @TempDir
    Path directory;

    @BeforeAll
    static void start() {
        server = RedisServer.builder().password("s3cret-canary").start();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    private Place place(String uri) {
        return new Place(directory, Map.of("HOLDFAST_STORE", uri));
    }

    @Test
    void oneAfterTheOtherWithRisingTokens() {
        Place place = place(server.uri());
        TwoRuns.oneAfterTheOther(place);
        try (CliProcess list = place.run("ls")) {
            assertThat(list.out()).isEmpty();
        }
    }

    @Test
    void theCommandIsNotToldThePassword() {
        try (CliProcess run = place(server.uri()).run("run", "x", "--", "sh", "-c", "env")) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out())
                    .contains("HOLDFAST_STORE=redis://***@127.0.0.1:")
                    .doesNotContain("canary");
        }
    }

    @Test
    void troubleIsSaidInALineWithoutSecrets() {
        String uri = "redis://:wrong-canary@127.0.0.1:" + server.port();
        try (CliProcess wrong = place(uri).run("run", "x", "--", "touch", "ran");
                CliProcess away = place("redis://:wrong-canary@127.0.0.1:1").run("run", "x", "--", "touch", "ran");
                CliProcess database = place(server.uri() + "/99").run("run", "x", "--", "touch", "ran");
                CliProcess unknown = place(uri + "?unknown=1").run("run", "x", "--", "touch", "ran")) {
            assertThat(wrong.exitCode()).isEqualTo(78);
            assertThat(wrong.err()).contains("rejects the user name or password");
            assertThat(away.exitCode()).isEqualTo(69);
            assertThat(away.err()).contains("can't be reached");
            assertThat(database.exitCode()).isEqualTo(78);
            assertThat(database.err()).contains("has no database with this number", "databases");
            assertThat(unknown.exitCode()).isEqualTo(64);
            assertThat(unknown.err()).contains("'unknown'");
            for (CliProcess each : new CliProcess[] {wrong, away, database, unknown}) {
                assertThat(each.err()).doesNotContain("canary", "Exception").hasLineCount(1);
            }
            assertThat(directory.resolve("ran")).doesNotExist();
        }
    }

    @Test
    void lossOfTheLockIsSaidInTwoLinesAndEndsTheRun() throws Exception {
        SlowMachine.copes(Duration.ofSeconds(3), factor -> {
            try (RedisServer other = RedisServer.start()) {
                LostLock.endsWithItsCommand(
                        place(other.uri()), factor, () -> other.process().pause());
            }
        });
        LostLock.endsWithItsCommand(server.port(), port -> place("redis://:s3cret-canary@127.0.0.1:" + port));
    }
}
