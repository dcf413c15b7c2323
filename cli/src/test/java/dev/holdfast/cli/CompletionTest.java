package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.cli.CliProcess.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The completion script, in real shells: what they offer behind a line. A function stands for the command that the
 * script asks for names.
 */
class CompletionTest {

    private static final String COMMAND =
            "holdfast() { printf '%s\\n' \"'nightly-report': held\" \"'with space': held\" \"'orders/42': held\"; }\n";
    private static final String ASK = COMMAND
            + "COMP_WORDS=(\"$@\"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _holdfast; printf '%s\\n"
            + "' \"${COMPREPLY[@]}\"\n";

    @TempDir
    Path directory;

    private Place place;

    @BeforeEach
    void write() throws IOException {
        place = new Place(directory, Map.of());
        Files.writeString(place.file("completion"), Completion.scriptFor("bash"));
        Files.writeString(place.file("ask.bash"), "source ./completion\n" + ASK);
    }

    @Test
    void offersCommandsThenOptionsThenNames() {
        assertThat(offered("holdfast", ""))
                .containsExactly(
                        "run",
                        "ls",
                        "show",
                        "runs",
                        "release",
                        "watch",
                        "top",
                        "console",
                        "members",
                        "config",
                        "completion",
                        "--help",
                        "--version");
        assertThat(offered("holdfast", "r")).containsExactly("run", "runs", "release");
        assertThat(offered("holdfast", "run", "--w")).containsExactly("--wait");
        assertThat(offered("holdfast", "run", "")).containsExactly("nightly-report", "orders/42");
        assertThat(offered("holdfast", "run", "--wait", "10s", "n")).containsExactly("nightly-report");
        assertThat(offered("holdfast", "run", "x", "")).containsExactly("--");
        assertThat(offered("holdfast", "show", "o")).containsExactly("orders/42");
        assertThat(offered("holdfast", "completion", "")).containsExactly("bash", "zsh", "fish");
        assertThat(offered("holdfast", "run", "--on-lost", "")).containsExactly("term", "kill", "ignore", "exec:");
    }

    @Test
    void behindTheDashesStandsACommandOfTheUsers() {
        assertThat(offered("holdfast", "run", "x", "--", "prin")).contains("printf");
        place.script("script.sh", "");
        assertThat(offered("holdfast", "run", "x", "--", "cat", "./scr")).containsExactly("./script.sh");
        assertThat(offered("holdfast", "run", "x", "--", "cat", "--w")).doesNotContain("--wait");
    }

    /** The script is written by hand; this keeps it in step with the commands. */
    @Test
    void knowsEveryCommandAndOption() {
        for (Map.Entry<String, CommandLine> command :
                CommandModel.build().getSubcommands().entrySet()) {
            List<String> offered = offered("holdfast", command.getKey(), "--");
            List<String> names = new ArrayList<>();
            for (OptionSpec option : command.getValue().getCommandSpec().options()) {
                names.add(option.longestName());
                if (option.arity().max() > 0) {
                    // An option with a value is not followed by a name.
                    assertThat(offered("holdfast", command.getKey(), option.longestName(), "with-no-match"))
                            .as(option.longestName())
                            .containsExactly("");
                }
            }
            assertThat(offered).as(command.getKey()).containsExactlyInAnyOrderElementsOf(names);
        }
    }

    @Test
    void isRegisteredForTheCommand() throws IOException {
        Files.writeString(place.file("ask.bash"), "source ./completion\ncomplete -p holdfast\n");
        assertThat(offered("holdfast")).containsExactly("complete -F _holdfast holdfast");
    }

    @Test
    void worksInZshToo() throws IOException {
        assumeTrue(isThere("zsh"), "there is no zsh here");
        Files.writeString(
                place.file("ask.zsh"),
                "autoload -U compinit && compinit -u\nsetopt ksharrays shwordsplit\nsource ./completion\n" + ASK);
        assertThat(offeredBy("zsh", "ask.zsh", "holdfast", "run", "--w")).containsExactly("--wait");
        assertThat(offeredBy("zsh", "ask.zsh", "holdfast", "run", "")).containsExactly("nightly-report", "orders/42");
    }

    @Test
    void fishKnowsEveryCommandAndOption() throws IOException {
        assumeTrue(isThere("fish"), "there is no fish here");
        Files.writeString(place.file("completion.fish"), Completion.scriptFor("fish"));
        assertThat(offeredByFish("holdfast ")).contains("run", "ls", "watch", "config");
        assertThat(offeredByFish("holdfast run n")).containsExactly("nightly-report");
        assertThat(offeredByFish("holdfast run x -- prin")).contains("printf");
        for (Map.Entry<String, CommandLine> command :
                CommandModel.build().getSubcommands().entrySet()) {
            assertThat(offeredByFish("holdfast " + command.getKey() + " --"))
                    .as(command.getKey())
                    .containsExactlyInAnyOrderElementsOf(command.getValue().getCommandSpec().options().stream()
                            .map(OptionSpec::longestName)
                            .toList());
        }
    }

    private List<String> offeredByFish(String line) {
        String script = "source ./completion.fish; function holdfast; printf '%s\\n' \"'nightly-report': held\"; end;"
                + " complete -C '" + line + "' | string replace -r '\\t.*' ''; true";
        try (CliProcess asked = place.startProgram(CliProcess.NOTHING, List.of("fish", "--no-config", "-c", script))) {
            assertThat(asked.exitCode()).as(asked.err()).isZero();
            return asked.out().lines().toList();
        }
    }

    private List<String> offered(String... words) {
        return offeredBy("bash", "ask.bash", words);
    }

    private List<String> offeredBy(String shell, String script, String... words) {
        List<String> command = new ArrayList<>(List.of(shell, script));
        command.addAll(List.of(words));
        try (CliProcess asked = place.startProgram(CliProcess.NOTHING, command)) {
            assertThat(asked.exitCode()).as(asked.err()).isZero();
            assertThat(asked.err()).isEmpty();
            return asked.out().lines().toList();
        }
    }

    private static boolean isThere(String program) {
        for (String folder : System.getenv("PATH").split(":")) {
            if (Files.isExecutable(Path.of(folder, program))) {
                return true;
            }
        }
        return false;
    }
}
