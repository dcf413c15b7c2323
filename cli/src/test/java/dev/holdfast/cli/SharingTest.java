package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands that share a lock, or have some of its permits. */
@Tag("process")
class SharingTest {

    @TempDir
    Path directory;

    private Place place;

    @BeforeEach
    void open() {
        place = new Place(directory, Map.of("HOLDFAST_STORE", "sqlite:" + directory.resolve("locks.db")));
    }

    @Test
    void whoSharesRunsTogetherAndWhoDoesNotWaits() {
        try (CliProcess one = hold("--shared");
                CliProcess alone = place.start("run", "--exclusive", "x", "--", "cp", "ended", "saw")) {
            CliProcess.until(
                    "the writer tells whom it waits for", () -> alone.err().contains("waiting for 'x'"));
            assertThat(place.file("saw")).doesNotExist();
            letGo();
            assertThat(one.exitCode()).isZero();
            assertThat(alone.exitCode()).isZero();
            assertThat(place.file("saw")).exists();
        }
    }

    @Test
    void aSecondReaderIsLetInAndAnotherKindOfLockIsRefused() {
        try (CliProcess one = hold("--shared");
                CliProcess other = place.run("run", "--shared", "--nonblock", "x", "--", "true");
                CliProcess plain = place.run("run", "x", "--", "touch", "ran")) {
            assertThat(other.exitCode()).as(other.err()).isZero();
            assertThat(plain.exitCode()).isEqualTo(78);
            assertThat(plain.err()).contains("can't be used as declared here").hasLineCount(1);
            assertThat(place.file("ran")).doesNotExist();
            letGo();
            assertThat(one.exitCode()).isZero();
        }
    }

    @Test
    void asManyRunAsThereArePermits() {
        try (CliProcess one = hold("--permits", "2/3");
                CliProcess two = place.run("run", "--permits", "2/3", "--nonblock", "x", "--", "touch", "ran");
                CliProcess last = place.run("run", "--permits", "1/3", "--nonblock", "x", "--", "true")) {
            assertThat(two.exitCode()).isEqualTo(75);
            assertThat(last.exitCode()).as(last.err()).isZero();
            assertThat(place.file("ran")).doesNotExist();
            letGo();
            assertThat(one.exitCode()).isZero();
        }
    }

    /** Others give their permits back, those around a command don't. */
    @Test
    void aCommandMayWantMoreOfThePermitsThatItRunsUnder() {
        try (CliProcess both = place.start(nested("1/2", "1/2", "touch", "both"));
                CliProcess tooMany = place.start(nested("1/3", "3/3", "touch", "ran"))) {
            assertThat(both.exitCode()).as(both.err()).isZero();
            assertThat(place.file("both")).exists();
            assertThat(tooMany.exitCode()).isEqualTo(75);
            assertThat(tooMany.err()).contains("is held by an enclosing command");
            assertThat(place.file("ran")).doesNotExist();
        }
    }

    /** Runs a command that holds a lock until it is let go. */
    private CliProcess hold(String... options) {
        List<String> args = new ArrayList<>(List.of("run"));
        args.addAll(List.of(options));
        args.addAll(List.of(
                "x", "--", "sh", "-c", "echo > started; while [ ! -e stop ]; do sleep 0.02; done; echo > ended"));
        CliProcess holder = place.start(args.toArray(new String[0]));
        CliProcess.untilWritten(place.file("started"));
        return holder;
    }

    private void letGo() {
        place.script("stop", "");
    }

    /** A run inside a run, of one name for each pair. */
    private static String[] nested(String outer, String inner, String... command) {
        String name = outer + " and " + inner;
        List<String> args = new ArrayList<>(List.of("run", "--permits", outer, name, "--"));
        args.addAll(CliProcess.java());
        args.addAll(List.of("run", "--permits", inner, name, "--"));
        args.addAll(List.of(command));
        return args.toArray(new String[0]);
    }
}
