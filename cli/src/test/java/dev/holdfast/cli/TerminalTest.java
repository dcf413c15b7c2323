package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.cli.CliProcess.Place;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ctrl-C and other signals at a terminal, which {@code script} plays. */
class TerminalTest {

    private static final int CTRL_C = 3;

    /** Shows the cursor and goes back to the screen that was there before. */
    private static final String OWN_SCREEN = "\u001b[?25h\u001b[?1049l";

    /** On a starved machine the two presses of a pair may lie more than a second apart, and are none then. */
    private static final int MOST_PAIRS = 5;

    private static final Duration PAIR_SEEN = Duration.ofSeconds(10);

    @TempDir
    Path directory;

    private Place place;

    @BeforeEach
    void open() {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "there is no script(1) here");
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "there is no /proc here");
        place = new Place(directory, Map.of("HOLDFAST_STORE", "sqlite:" + directory.resolve("locks.db")));
    }

    @Test
    void ctrlCReachesTheCommandOnce() {
        Path script = place.script(
                "command.sh",
                "trap 'echo int >> ints' INT\ntrap 'echo usr1 >> usr1' USR1\ntrap 'echo usr2 >> usr2' USR2\necho $PPID > started\nwhile [ ! -e stop ]; do sleep 0.02; done\nexit 6\n");
        try (CliProcess terminal = startAtTerminal(script)) {
            long wrapper = Long.parseLong(CliProcess.untilWritten(place.file("started")));
            // While the command is being started, the wrapper can't tell whether it has got what the terminal sends.
            CliProcess.signal(wrapper, "USR1");
            CliProcess.untilWritten(place.file("usr1"));
            press(terminal);
            CliProcess.untilWritten(place.file("ints"));
            // What the wrapper sends later arrives later: had it passed the INT on as well, that would be there by now.
            CliProcess.signal(wrapper, "USR2");
            CliProcess.untilWritten(place.file("usr2"));
            place.script("stop", "");
            assertThat(terminal.exitCode()).isEqualTo(6);
            assertThat(place.read("ints")).isEqualTo("int\n");
        }
    }

    @Test
    void ctrlCTwiceInARowKills() {
        Path script = place.script(
                "command.sh", "trap 'echo int >> ints' INT\necho $PPID > started\nwhile :; do sleep 0.02; done\n");
        try (CliProcess terminal = startAtTerminal(script)) {
            CliProcess.untilWritten(place.file("started"));
            boolean isKilled = false;
            for (int pair = 1; pair <= MOST_PAIRS && !isKilled; pair++) {
                place.delete("ints");
                press(terminal);
                // A signal that is pending already can't be pending twice.
                CliProcess.untilWritten(place.file("ints"));
                press(terminal);
                isKilled = terminal.hasPrintedWithin(PAIR_SEEN, "second INT: killing the command");
            }
            assertThat(isKilled).isTrue();
            assertThat(terminal.exitCode()).isEqualTo(137);
        }
    }

    @Test
    void ctrlCEndsTopAndBringsTheScreenBack() {
        try (CliProcess terminal = startAtTerminal("top")) {
            CliProcess.until("top draws", () -> terminal.out().contains("q quit"));
            press(terminal);
            assertThat(terminal.exitCode()).isZero();
            assertThat(terminal.out()).endsWith(OWN_SCREEN);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "HUP", "INT"})
    void aSignalEndsTopAndBringsTheScreenBack(String signal) {
        try (CliProcess terminal = startAtTerminal("top")) {
            CliProcess.until("top draws", () -> terminal.out().contains("q quit"));
            CliProcess.signal(Long.parseLong(CliProcess.untilWritten(place.file("pid"))), signal);
            assertThat(terminal.exitCode()).isNotZero();
            assertThat(terminal.out()).endsWith(OWN_SCREEN);
        }
    }

    private CliProcess startAtTerminal(Path script) {
        return startAtTerminal("run x -- " + script);
    }

    private CliProcess startAtTerminal(String arguments) {
        StringBuilder line = new StringBuilder("echo $$ > pid; exec");
        CliProcess.java().forEach(word -> line.append(" '").append(word).append('\''));
        line.append(' ').append(arguments);
        return place.startProgram(
                ProcessBuilder.Redirect.PIPE, List.of("/usr/bin/script", "-qec", line.toString(), "/dev/null"));
    }

    private static void press(CliProcess terminal) {
        try {
            terminal.stdin().write(CTRL_C);
            terminal.stdin().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
