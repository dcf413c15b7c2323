package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stores that are not there yet, or can't be used. */
@Tag("process")
class StoreTroubleTest {

    @TempDir
    Path directory;

    @Test
    void lookingAtAStoreThatIsNotThereMakesNothing() throws IOException {
        Path state = Files.createDirectory(directory.resolve("state"));
        Place byDefault = new Place(directory, Map.of("XDG_STATE_HOME", state.toString()));
        try (CliProcess list = byDefault.run("ls");
                CliProcess json = byDefault.run("ls", "--json");
                CliProcess show = byDefault.run("show", "x");
                CliProcess release = byDefault.run("release", "x", "--force");
                CliProcess named = byDefault.run("ls", "--store", "sqlite:missing.db")) {
            assertThat(list.exitCode()).isZero();
            assertThat(list.out()).isEmpty();
            assertThat(list.err()).isEmpty();
            assertThat(json.out()).isEqualTo("[]\n");
            assertThat(show.exitCode()).isZero();
            assertThat(show.out()).isEqualTo("'x': free\n");
            assertThat(release.exitCode()).isEqualTo(1);
            assertThat(named.exitCode()).isZero();
            assertThat(named.err()).contains("missing.db' does not exist yet");
        }
        assertThat(state).isEmptyDirectory();
        assertThat(directory.resolve("missing.db")).doesNotExist();
    }

    @Test
    void theDefaultStoreIsAPrivateFileInTheStateDirectory() throws IOException {
        Path state = directory.resolve("state");
        Place byDefault = new Place(directory, Map.of("XDG_STATE_HOME", state.toString()));
        try (CliProcess run = byDefault.run("run", "x", "--", "sh", "-c", "echo \"store=$HOLDFAST_STORE\"")) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out()).isEqualTo("store=\n");
        }
        Path file = state.resolve("holdfast").resolve("locks.db");
        assertThat(Files.getPosixFilePermissions(file))
                .containsExactlyInAnyOrder(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    }

    @Test
    void aDefaultThatIsAnotherPlaceInEachDirectoryIsSaidSo() {
        Place place = new Place(directory, Map.of("XDG_STATE_HOME", "state"));
        try (CliProcess run = place.run("run", "x", "--", "touch", "ran");
                CliProcess list = place.run("ls")) {
            assertThat(run.exitCode()).isEqualTo(78);
            assertThat(run.err())
                    .startsWith("holdfast: store sqlite: can't be used: $XDG_STATE_HOME is 'state'")
                    .hasLineCount(1);
            assertThat(list.exitCode()).isEqualTo(78);
        }
        assertThat(directory).isDirectoryNotContaining(path -> Files.isDirectory(path) || path.endsWith("ran"));
    }

    @Test
    void aPlaceWhereNothingCanBeMadeIsSaidSo() {
        Place place = new Place(directory, Map.of("HOLDFAST_STORE", "sqlite:/proc/locks.db"));
        try (CliProcess run = place.run("run", "x", "--", "touch", "ran")) {
            assertThat(run.exitCode()).isEqualTo(78);
            assertThat(run.err())
                    .startsWith("holdfast: store sqlite:/proc/locks.db can't be used: ")
                    .hasLineCount(1);
            assertThat(directory.resolve("ran")).doesNotExist();
        }
    }

    @Test
    void aDirectoryThatIsNotThereIsNotMadeUp() {
        Place place = new Place(directory, Map.of("HOLDFAST_STORE", "sqlite:" + directory + "/typo/locks.db"));
        try (CliProcess run = place.run("run", "x", "--", "true")) {
            assertThat(run.exitCode()).isEqualTo(78);
            assertThat(run.err()).contains("typo").doesNotContain("Exception", "\tat ");
        }
        assertThat(directory.resolve("typo")).doesNotExist();
    }

    @Test
    void aFileThatIsNoDatabaseIsLeftAlone() throws IOException {
        byte[] text = "This is somebody's diary, and no database at all.\n"
                .repeat(100)
                .getBytes();
        Path diary = Files.write(directory.resolve("diary"), text);
        Place place = new Place(directory, Map.of("HOLDFAST_STORE", "sqlite:" + diary));
        for (String[] args :
                new String[][] {{"run", "x", "--", "true"}, {"ls"}, {"show", "x"}, {"release", "x", "--force"}}) {
            try (CliProcess cli = place.run(args)) {
                assertThat(cli.exitCode()).as("%s: %s", args[0], cli.err()).isEqualTo(78);
                assertThat(cli.err())
                        .startsWith("holdfast: store ")
                        .hasLineCount(1)
                        .doesNotContain("Exception");
            }
        }
        assertThat(Files.readAllBytes(diary)).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gopher://ann:s3cret@h/x", "nonsense"})
    void whatNobodyServesIsAUsageError(String store) {
        Place place = new Place(directory, Map.of("HOLDFAST_STORE", store));
        try (CliProcess run = place.run("run", "x", "--", "touch", "ran")) {
            assertThat(run.exitCode()).isEqualTo(64);
            assertThat(run.err())
                    .contains(store.replaceAll("[:].*", ""), "sqlite")
                    .doesNotContain("s3cret", "Exception", "\tat ")
                    .hasLineCount(1);
            assertThat(directory.resolve("ran")).doesNotExist();
        }
    }

    @Test
    void aRelativeStoreIsTheSameFileForWhatRunsInside() throws IOException {
        Files.createDirectory(directory.resolve("elsewhere"));
        Place place = new Place(directory, Map.of());
        try (CliProcess run = place.run(
                "run",
                "--store",
                "sqlite:locks.db?synchronous=normal",
                "x",
                "--",
                "sh",
                "-c",
                "cd elsewhere; echo $HOLDFAST_STORE")) {
            assertThat(run.out().strip()).isEqualTo("sqlite:" + directory + "/locks.db?synchronous=normal");
        }
    }

    @Test
    void aStoreInMemoryIsSaidToKeepNobodyOut() {
        Place place = new Place(directory, Map.of());
        try (CliProcess run = place.run("run", "--store", "memory:", "x", "--", "true")) {
            assertThat(run.exitCode()).isZero();
            assertThat(run.err())
                    .isEqualTo("holdfast: store memory: exists only in this process, "
                            + "so it doesn't lock out other processes\n");
        }
    }
}
