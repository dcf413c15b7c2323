package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.servers.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands on a majority of three servers. */
@Tag("server")
class QuorumRunTest {

    private List<RedisServer> servers = List.of();

    @TempDir
    Path directory;

    @BeforeEach
    void start() {
        servers = IntStream.range(0, 3)
                .mapToObj(i -> RedisServer.builder().password("s3cret-canary").start())
                .toList();
    }

    @AfterEach
    void end() {
        servers.forEach(RedisServer::close);
    }

    private Place place() {
        String members = servers.stream().map(RedisServer::uri).collect(Collectors.joining(",", "quorum:(", ")"));
        return new Place(directory, Map.of("HOLDFAST_STORE", members));
    }

    @Test
    void oneAfterTheOtherThoughAMemberIsLostMeanwhile() {
        Place place = place();
        try (CliProcess first =
                place.start("run", "x", "--", "sh", "-c", "env > first; while [ ! -e done ]; do sleep 0.05; done")) {
            CliProcess.untilWritten(directory.resolve("first"));
            assertThat(place.read("first"))
                    .contains("HOLDFAST_STORE=quorum:(redis://***@127.0.0.1:")
                    .doesNotContain("canary");
            servers.get(1).kill();
            try (CliProcess busy = place.run("run", "--nonblock", "x", "--", "true");
                    CliProcess list = place.run("ls");
                    CliProcess second = place.start("run", "x", "--", "sh", "-c", "env > second")) {
                assertThat(busy.exitCode()).as(busy.err()).isEqualTo(75);
                assertThat(list.out()).contains("'x': held by ");
                CliProcess.until("the second waits", () -> second.err().contains("waiting for 'x'"));
                place.script("done", "");
                assertThat(first.exitCode()).as(first.err()).isZero();
                assertThat(second.exitCode()).as(second.err()).isZero();
            }
        }
        assertThat(token("second")).isGreaterThan(token("first"));
    }

    private long token(String file) {
        return place().read(file)
                .lines()
                .filter(line -> line.startsWith("HOLDFAST_TOKEN="))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf('=') + 1)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void whatAQuorumCannotDoIsSaidSo() {
        try (CliProcess run = place().run("run", "--permits", "1/3", "x", "--", "touch", "ran")) {
            assertThat(run.exitCode()).as(run.err()).isEqualTo(78);
            assertThat(run.err()).contains("doesn't support semaphores").doesNotContain("bug", "Exception");
            assertThat(directory.resolve("ran")).doesNotExist();
        }
    }

    @Test
    void withoutAMajorityNothingIsRun() {
        servers.get(0).kill();
        servers.get(2).kill();
        try (CliProcess run = place().run("run", "x", "--", "touch", "ran")) {
            assertThat(run.exitCode()).as(run.err()).isEqualTo(69);
            assertThat(run.err()).contains("can't be reached").doesNotContain("canary", "Exception");
            assertThat(directory.resolve("ran")).doesNotExist();
        }
    }

    @Test
    void membersAreCompleteUntilOneComesBackEmptyAndAfterItIsRepaired() {
        Map<String, String> brief =
                Map.of("HOLDFAST_STORE", place().environment().get("HOLDFAST_STORE") + "?longestLease=PT15S");
        Place place = new Place(directory, brief);
        try (CliProcess held = place.start(
                "run",
                "--lease",
                "15s",
                "x",
                "--",
                "sh",
                "-c",
                "touch begun; while [ ! -e done ]; do sleep 0.05; done")) {
            CliProcess.until("it runs", () -> Files.exists(directory.resolve("begun")));
            CliProcess.until("all members have it", () -> exitCodeOfMembers(place) == 0);
            servers.get(1).kill();
            try (CliProcess away = place.run("members")) {
                assertThat(away.exitCode()).as(away.err()).isEqualTo(1);
                assertThat(away.out().lines()).hasSize(3);
                assertThat(away.out())
                        .contains(": away: ", "complete, has 1 of 1 holds")
                        .doesNotContain("canary");
            }
            servers.get(1).restart();
            CliProcess.until("the member is kept out", () -> {
                try (CliProcess keptOut = place.run("members", "--json")) {
                    return keptOut.exitCode() == 1
                            && keptOut.out().contains("\"state\":\"kept out\"")
                            && keptOut.out().contains("\"held\":0,\"missing\":1");
                }
            });
            CliProcess.until("it counts", () -> {
                try (CliProcess members = place.run("members", "--json")) {
                    return !members.out().contains("kept out");
                }
            });
            CliProcess.until("the member has it again", () -> exitCodeOfMembers(place) == 0);
            place.script("done", "");
            assertThat(held.exitCode()).as(held.err()).isZero();
        }
    }

    private static int exitCodeOfMembers(Place place) {
        try (CliProcess members = place.run("members")) {
            return members.exitCode();
        }
    }
}
