package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.servers.MariaDbServer;
import dev.holdfast.servers.PostgresServer;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands on database servers, which other machines could use as well. */
@Tag("server")
class DatabaseRunTest {

    @TempDir
    Path directory;

    /** The URI as a user would write it. */
    private static String uri(String jdbc) {
        URI parsed = URI.create(jdbc.substring("jdbc:".length()));
        String user = parsed.getQuery().replaceAll(".*user=([^&]*).*", "$1");
        boolean isMaria = parsed.getScheme().equals("mariadb");
        return parsed.getScheme() + "://" + user + "@" + parsed.getAuthority() + parsed.getPath()
                + (isMaria ? "?sslMode=disable" : "?sslmode=disable");
    }

    private static String postgres() {
        return uri(PostgresServer.shared().newDatabase());
    }

    private Place place(Map<String, String> environment) {
        return new Place(directory, environment);
    }

    @Test
    void oneAfterTheOtherOnPostgresql() {
        Place place = place(Map.of("HOLDFAST_STORE", postgres()));
        TwoRuns.oneAfterTheOther(place);
        try (CliProcess list = place.run("ls");
                CliProcess run = place.run("run", "x", "--", "sh", "-c", "env")) {
            assertThat(list.out()).isEmpty();
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out()).contains("HOLDFAST_STORE=postgresql://***@127.0.0.1:");
        }
    }

    @Test
    void lossOfTheLockIsSaidInTwoLinesAndEndsTheRun() throws Exception {
        for (String uri : List.of(postgres(), uri(MariaDbServer.shared().newDatabase()))) {
            String port = uri.replaceFirst(".*127.0.0.1:(\\d+)/.*", "$1");
            LostLock.endsWithItsCommand(
                    Integer.parseInt(port),
                    other -> place(Map.of("HOLDFAST_STORE", uri.replace("127.0.0.1:" + port, "127.0.0.1:" + other))));
        }
    }

    @Test
    void thePasswordMayBeInAFile() throws IOException {
        Path file = Files.writeString(directory.resolve("password"), "s3cret-canary\n");
        String uri = postgres() + "&passwordFile=" + file;
        try (CliProcess run = place(Map.of("HOLDFAST_STORE", uri)).run("run", "x", "--", "sh", "-c", "env")) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out()).doesNotContain("canary");
        }
        String missing = postgres() + "&passwordFile=" + file + "-not-there";
        try (CliProcess run = place(Map.of("HOLDFAST_STORE", missing)).run("run", "x", "--", "true")) {
            assertThat(run.exitCode()).isEqualTo(78);
            assertThat(run.err())
                    .contains("can't be used: there is no password file " + file + "-not-there")
                    .hasLineCount(1);
        }
    }

    @Test
    void troubleIsSaidInALineWithoutSecrets() {
        String good = postgres();
        for (String[] each : new String[][] {
            {"postgresql://u:canary@127.0.0.1:1/d", "69", "can't be reached"},
            {
                good.replaceFirst("/t[0-9a-f]+\\?", "/none?"),
                "78",
                "the database does not exist (FATAL: database \"none\""
            },
            {good + "&initialize=never", "78", "postgresql-leases-1.0.sql"},
            {good + "&unknown=1", "64", "'unknown'"},
        }) {
            try (CliProcess run = place(Map.of("HOLDFAST_STORE", each[0])).run("run", "x", "--", "touch", "ran")) {
                assertThat(run.exitCode()).as(each[0] + ": " + run.err()).isEqualTo(Integer.parseInt(each[1]));
                assertThat(run.err())
                        .contains(each[2])
                        .doesNotContain("canary", "Exception")
                        .hasLineCount(1);
                assertThat(directory.resolve("ran")).doesNotExist();
            }
        }
    }

    @Test
    void aDriverThatIsNotBroughtIsFoundWhereItsUserHasPutIt() throws IOException {
        String uri = uri(MariaDbServer.shared().newDatabase());
        Path jar = Arrays.stream(classPath().split(File.pathSeparator))
                .filter(DatabaseRunTest::isMariaDbDriver)
                .map(Path::of)
                .findFirst()
                .orElseThrow();
        String data = directory.resolve("data").toString();
        try (CliProcess run = runWithout(Map.of("HOLDFAST_STORE", uri, "XDG_DATA_HOME", data))) {
            assertThat(run.exitCode()).as(run.err()).isEqualTo(78);
            assertThat(run.err())
                    .contains(
                            "no driver for 'mariadb:'",
                            "mariadb-java-client",
                            data + "/holdfast/drivers",
                            "HOLDFAST_DRIVERS")
                    .hasLineCount(1);
        }
        try (CliProcess run = runWithout(Map.of("HOLDFAST_STORE", uri, "HOLDFAST_DRIVERS", "/not/there:" + jar))) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(Long.parseLong(run.out().strip())).isPositive();
        }
        Path usual = Files.createDirectories(Path.of(data, "holdfast", "drivers"));
        Files.copy(jar, usual.resolve("driver.jar"));
        try (CliProcess run = runWithout(Map.of("HOLDFAST_STORE", uri, "XDG_DATA_HOME", data))) {
            assertThat(run.exitCode()).as(run.err()).isZero();
        }
    }

    /** Runs the command as it is delivered, with no driver for MariaDB. */
    private CliProcess runWithout(Map<String, String> environment) {
        List<String> command = new ArrayList<>(CliProcess.java());
        int at = command.indexOf("-cp") + 1;
        command.set(
                at,
                Arrays.stream(command.get(at).split(File.pathSeparator))
                        .filter(entry -> !isMariaDbDriver(entry))
                        .collect(Collectors.joining(File.pathSeparator)));
        command.addAll(List.of("run", "x", "--", "sh", "-c", "echo $HOLDFAST_TOKEN"));
        CliProcess process =
                place(environment).startProgram(ProcessBuilder.Redirect.from(new File("/dev/null")), command);
        process.exitCode();
        return process;
    }

    private static String classPath() {
        List<String> command = CliProcess.java();
        return command.get(command.indexOf("-cp") + 1);
    }

    private static boolean isMariaDbDriver(String entry) {
        return entry.contains("mariadb-java-client");
    }
}
