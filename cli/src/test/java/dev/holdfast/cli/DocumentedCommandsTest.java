package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.run.RunOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the console examples of {@code docs/cli.md}, {@code docs/getting-started.md} and {@code README.md}, each block
 * in its own shell and directory, and compares what they print, which they find in the file {@code output}. A comment
 * before a block says what is given.
 */
@Tag("process")
class DocumentedCommandsTest {

    private static final Path PAGE = Path.of("..", "docs", "cli.md");
    private static final Path README = Path.of("..", "README.md");
    private static final Path GETTING_STARTED = Path.of("..", "docs", "getting-started.md");
    private static final String GIVEN = "<!-- given: ";

    /** What a page may give: {@code held [OPTION…] NAME} keeps a lock until the file {@code done} exists. */
    private static final String HELD = """
            held() {
              holdfast run "$@" -- sh -c 'while [ ! -e done ]; do sleep 0.05; done' &
              until holdfast show "${!#}" | grep -q 'held by'; do :; done
            }
            """;

    @TempDir
    Path directory;

    /** A command on the page, and the lines below it. */
    private record Step(String command, List<String> output) {}

    private record Block(int line, String given, List<Step> steps) {}

    @TestFactory
    Stream<DynamicTest> everyConsoleExampleDoesWhatThePageSays() throws IOException {
        List<Block> blocks = read(PAGE);
        assertThat(blocks).hasSizeGreaterThan(5);
        return blocks.stream().map(block -> DynamicTest.dynamicTest("line " + block.line(), () -> check(block)));
    }

    @org.junit.jupiter.api.Test
    void theFirstCommandOfTheReadmeRunsAsItStands() throws IOException {
        List<Block> blocks = read(README);
        assertThat(blocks).hasSize(1);
        check(blocks.get(0));
    }

    @org.junit.jupiter.api.Test
    void theCommandsOfGettingStartedRunAsTheyStand() throws IOException {
        List<Block> blocks = read(GETTING_STARTED);
        assertThat(blocks).hasSize(1);
        check(blocks.get(0));
    }

    @org.junit.jupiter.api.Test
    void thePageKnowsEveryOptionAndExitCode() throws IOException {
        String page = Files.readString(PAGE);
        for (RunOption option : RunOption.values()) {
            assertThat(page)
                    .contains(option.names().stream().map(name -> "`" + name).toList());
        }
        for (int code : new int[] {
            ExitCode.USAGE,
            ExitCode.STORE_UNAVAILABLE,
            ExitCode.INTERNAL,
            ExitCode.OUTPUT_FAILED,
            ExitCode.CONFLICT,
            ExitCode.STORE_UNUSABLE,
            ExitCode.LOST,
            ExitCode.RELEASE_UNCONFIRMED,
            ExitCode.CANNOT_RUN,
            ExitCode.NOT_FOUND
        }) {
            assertThat(page).contains("\n| " + code + " | ");
        }
    }

    private void check(Block block) throws IOException {
        // On a machine that keeps a process waiting, a short wait may be over before the store has answered, or the
        // process says before its end whom it waits for.
        boolean isShort = block.steps().stream().anyMatch(step -> step.command().matches(".* --wait \\d+ms .*"));
        for (int attempt = 1; isShort && attempt < 20; attempt++) {
            try {
                check(block, "attempt" + attempt + "-");
                return;
            } catch (AssertionError e) {
                System.err.println("Again, for at line " + block.line() + ": " + e.getMessage());
            }
        }
        check(block, "");
    }

    private void check(Block block, String prefix) throws IOException {
        Path here = Files.createDirectory(directory.resolve(prefix + "line" + block.line()));
        Place place =
                new Place(here, Map.of("XDG_STATE_HOME", here.resolve("state").toString()));
        place.script("report.sh", "echo 'The report is written.'\n");
        // A program, not a function: the examples start it from shells of their own.
        StringBuilder self = new StringBuilder("exec");
        CliProcess.java().forEach(word -> self.append(" '").append(word).append('\''));
        Files.createDirectory(here.resolve("bin"));
        String command = self.append(" \"$@\"\n").toString();
        place.script("bin/holdfast", command);
        place.script("holdfast", command); // as in a checkout
        StringBuilder script = new StringBuilder("PATH=$PWD/bin:$PATH\n" + HELD)
                .append(block.given())
                .append('\n');
        for (int i = 0; i < block.steps().size(); i++) {
            // The first is not to disturb the status that the second asks for.
            script.append("{ code=$?; echo '@@' ").append(i).append("; (exit $code); }\n");
            script.append(block.steps().get(i).command()).append('\n');
        }
        script.append("echo '@@ end'\nwait\n");
        Files.writeString(here.resolve("example.bash"), "exec >output 2>&1\n" + script);
        try (CliProcess shell = place.startProgram(CliProcess.NOTHING, List.of("bash", "example.bash"))) {
            int code = shell.exitCode();
            String output = place.read("output");
            assertThat(code).as(output).isZero();
            String[] parts = output.split("@@ (\\d+|end)\n");
            for (int i = 0; i < block.steps().size(); i++) {
                Step step = block.steps().get(i);
                String wanted = step.output().isEmpty() ? "" : String.join("\n", step.output()) + "\n";
                assertThat(parts.length > i + 1 ? parts[i + 1] : "")
                        .as(step.command())
                        .matches(pattern(wanted));
            }
        }
    }

    private static Pattern pattern(String wanted) {
        StringBuilder regex = new StringBuilder();
        for (String piece : wanted.split("…", -1)) {
            regex.append(regex.isEmpty() ? "" : "[^\\n]+?").append(Pattern.quote(piece));
        }
        return Pattern.compile(regex.toString());
    }

    private static List<Block> read(Path page) throws IOException {
        List<Block> blocks = new ArrayList<>();
        List<String> lines = Files.readAllLines(page);
        String given = "";
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.startsWith(GIVEN)) {
                given = line.substring(GIVEN.length(), line.lastIndexOf("-->"));
            } else if (line.equals("```console")) {
                int start = i + 1;
                List<Step> steps = new ArrayList<>();
                for (i++; !lines.get(i).equals("```"); i++) {
                    if (lines.get(i).startsWith("$ ")) {
                        steps.add(new Step(lines.get(i).substring(2), new ArrayList<>()));
                    } else {
                        steps.get(steps.size() - 1).output().add(lines.get(i));
                    }
                }
                blocks.add(new Block(start, given, steps));
                given = "";
            }
        }
        return blocks;
    }
}
