package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.run.RunOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the commands of {@code docs/recipes.md} as the schedulers named there run them: in an almost empty environment,
 * and ended by a TERM that only {@code holdfast} receives. The jobs wait for a file {@code go}.
 */
@Tag("process")
class RecipesTest {

    private static final Path PAGE = Path.of("..", "docs", "recipes.md");
    private static final String JOB = """
            trap 'echo "$1" >> ended; exit 3' TERM
            echo "$1" >> started
            while ! [ -e go ]; do sleep 0.05; done
            echo "$1" >> done
            """;

    @TempDir
    Path directory;

    private Place place;
    private String page;

    @BeforeEach
    void setUp() throws IOException {
        page = Files.readString(PAGE);
        place = new Place(directory, Map.of());
        StringBuilder self = new StringBuilder("exec");
        CliProcess.java().forEach(word -> self.append(" '").append(word).append('\''));
        Files.createDirectory(directory.resolve("bin"));
        place.script("bin/holdfast", self.append(" \"$@\"\n").toString());
        place.script("job", JOB);
    }

    @Test
    void cronSkipsARunWhileThePreviousOneIsActive() {
        String command = only("\n\\*/5 \\* \\* \\* \\* +(.+)\n");
        try (CliProcess first = start(command, "first")) {
            untilStarted("first");
            try (CliProcess second = start(command, "second")) {
                assertThat(second.exitCode()).as(second.err()).isZero();
            }
            go();
            assertThat(first.exitCode()).as(first.err()).isZero();
        }
        assertThat(place.read("started")).isEqualTo("first\n");
        assertThat(place.read("done")).isEqualTo("first\n");
    }

    @Test
    void systemdStopsTheJobByHoldfastAlone() {
        String command = only("\nExecStart=(.+)\n");
        assertThat(only("\nSuccessExitStatus=(.+)\n")).isEqualTo(Integer.toString(ExitCode.CONFLICT));
        assertThat(only("\nKillMode=(.+)\n")).isEqualTo("mixed");
        try (CliProcess stopped = start(command, "stopped");
                CliProcess next = start(command, "next")) {
            CliProcess.untilWritten(place.file("started"));
            boolean isFirst = place.read("started").equals("stopped\n");
            CliProcess active = isFirst ? stopped : next;
            CliProcess waiting = isFirst ? next : stopped;
            active.signal("TERM");
            assertThat(active.exitCode()).as(active.err()).isNotZero();
            CliProcess.until(
                    "the other runs", () -> place.read("started").lines().count() == 2);
            assertThat(place.read("ended")).isEqualTo(isFirst ? "stopped\n" : "next\n");
            go();
            assertThat(waiting.exitCode()).as(waiting.err()).isZero();
        }
    }

    @Test
    void aContainerRunsItsEntryPoint() {
        String entryPoint = words(only("\nENTRYPOINT \\[(.+)]\n"));
        checkContainer(entryPoint + " " + words(only("\nCMD \\[(.+)]\n")));
    }

    @Test
    void aKubernetesJobRunsTheEntryPointWithArguments() {
        checkContainer(words(only("\nENTRYPOINT \\[(.+)]\n")) + " " + words(only("\n *args: \\[(.+)]\n")));
    }

    private void checkContainer(String command) {
        try (CliProcess container = start(command, "container")) {
            untilStarted("container");
            try (CliProcess other = start(command, "other")) {
                assertThat(other.exitCode()).as(other.err()).isEqualTo(ExitCode.CONFLICT);
            }
            go();
            assertThat(container.exitCode()).as(container.err()).isZero();
        }
    }

    @Test
    void theSecondPodStartsWhenTheFirstHasEnded() {
        String command = words(only("\n *command: \\[(.+)]\n"));
        assertThat(command).contains(RunOption.LEASE.names().get(0));
        try (CliProcess first = start(command, "first")) {
            untilStarted("first");
            try (CliProcess second = start(command, "second")) {
                CliProcess.until("it waits", () -> second.err().contains("aiting"));
                first.signal("TERM");
                assertThat(first.exitCode()).as(first.err()).isNotZero();
                untilStarted("first\nsecond");
                go();
                assertThat(second.exitCode()).as(second.err()).isZero();
            }
        }
        assertThat(place.read("ended")).isEqualTo("first\n");
    }

    /** Starts a recipe's command, with the job of this test, in the environment that cron has. */
    private CliProcess start(String command, String name) {
        String ours = command.replaceFirst("/opt/shop/\\S+", Matcher.quoteReplacement(place.file("job") + " " + name))
                .replace("/usr/bin/holdfast", "holdfast");
        assertThat(ours).startsWith("holdfast run ").endsWith("/job " + name);
        return place.startProgram(
                CliProcess.NOTHING,
                List.of(
                        "env",
                        "-i",
                        "HOME=" + directory,
                        "SHELL=/bin/sh",
                        "PATH=" + directory.resolve("bin") + ":/usr/bin:/bin",
                        "sh",
                        "-c",
                        "exec " + ours));
    }

    private void untilStarted(String names) {
        CliProcess.until(
                names + " started",
                () -> Files.exists(place.file("started"))
                        && place.read("started").equals(names + "\n"));
    }

    private void go() {
        try {
            Files.createFile(place.file("go"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The one match of a pattern on the page. */
    private String only(String pattern) {
        List<MatchResult> all = Pattern.compile(pattern).matcher(page).results().toList();
        assertThat(all).as(pattern).hasSize(1);
        return all.get(0).group(1);
    }

    /** The words of a list in JSON or YAML. */
    private static String words(String list) {
        return Pattern.compile("[^\\s,\"]+")
                .matcher(list)
                .results()
                .map(MatchResult::group)
                .collect(Collectors.joining(" "));
    }
}
