package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands on a server whose store is in separate files. */
abstract class SeparateStoreRuns {

    @TempDir
    Path directory;

    /** The store on a server that all tests share. */
    abstract String uri();

    /** The command with the files of the store. */
    abstract Installation installation();

    Place place(String uri) {
        return new Place(
                directory, Map.of("HOLDFAST_STORE", uri), installation().java());
    }

    @Test
    void oneAfterTheOtherWithRisingTokens() {
        Place place = place(uri());
        TwoRuns.oneAfterTheOther(place);
        try (CliProcess list = place.run("ls");
                CliProcess failing = place.run("run", "x", "--", "sh", "-c", "exit 3")) {
            assertThat(list.out()).as(list.err()).isEmpty();
            assertThat(failing.exitCode()).as(failing.err()).isEqualTo(3);
            assertThat(failing.err()).isEmpty();
        }
    }

    @Test
    void lockOfADeadHolderIsTakenAway() {
        Place place = place(uri());
        try (CliProcess dead = place.start("run", "--lease", "25s", "x", "--", "sh", "-c", "echo > begun; sleep 600")) {
            CliProcess.untilWritten(directory.resolve("begun"));
            dead.signal("KILL");
            dead.exitCode();
            try (CliProcess show = place.run("show", "x", "--json");
                    CliProcess release = place.run("release", "x", "--force");
                    CliProcess again = place.run("run", "--nonblock", "x", "--", "true");
                    CliProcess nothing = place.run("release", "x", "--force")) {
                assertThat(show.out()).as(show.err()).contains("\"state\":\"held\"", " pid " + dead.pid());
                assertThat(release.exitCode()).as(release.err()).isZero();
                assertThat(release.out()).startsWith("released 'x', which was held by ");
                assertThat(again.exitCode()).as(again.err()).isZero();
                assertThat(nothing.exitCode()).isEqualTo(1);
            }
        }
    }

    @Test
    void lossOfTheLockIsSaidInTwoLinesAndEndsTheRun() throws Exception {
        String port = uri().replaceFirst(".*127.0.0.1:(\\d+)/.*", "$1");
        LostLock.endsWithItsCommand(
                Integer.parseInt(port), other -> place(uri().replace("127.0.0.1:" + port, "127.0.0.1:" + other)));
    }

    /** Runs a command that must come to nothing, for a reason that is the store's. */
    void refused(String uri, int code, String why) {
        try (CliProcess run = place(uri).run("run", "x", "--", "touch", "ran")) {
            assertThat(run.exitCode()).as(run.err()).isEqualTo(code);
            assertThat(run.err())
                    .startsWith("holdfast: ")
                    .contains(why)
                    .doesNotContain("canary", "Exception", "\tat ")
                    .hasLineCount(1);
            assertThat(Files.exists(directory.resolve("ran"))).isFalse();
        }
    }
}
