package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess;
import dev.holdfast.cli.CliProcess.Place;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code holdfast run} does with one command, its exit code, its streams, its environment and its signals. */
@Tag("process")
class RunTest {

    @TempDir
    Path directory;

    private String store;
    private Place place;

    @BeforeEach
    void open() {
        store = "sqlite:" + directory.resolve("locks.db");
        place = new Place(directory, Map.of("HOLDFAST_STORE", store));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 79, 255})
    void theCommandsExitCodeIsOurs(int code) {
        try (CliProcess cli = place.run("run", "x", "--", "sh", "-c", "exit " + code)) {
            assertThat(cli.exitCode()).isEqualTo(code);
            assertThat(cli.err()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x -c", "-x -n -E 9 x -c", "-s -w 5 x -c", "x --command"})
    void flocksFormsWork(String options) {
        List<String> args = new ArrayList<>(List.of("run"));
        args.addAll(List.of(options.split(" ")));
        args.add("echo \"$HOLDFAST_NAME\"; exit 3");
        try (CliProcess cli = place.run(args.toArray(new String[0]))) {
            assertThat(cli.out()).isEqualTo("x\n");
            assertThat(cli.exitCode()).as(cli.err()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @CsvSource({"TERM, 143", "KILL, 137", "HUP, 129", "USR1, 138"})
    void aCommandThatDiedOfASignalSaysSo(String signal, int code) {
        try (CliProcess cli = place.run("run", "x", "--", "sh", "-c", "kill -" + signal + " $$")) {
            assertThat(cli.exitCode()).isEqualTo(code);
        }
    }

    @Test
    void whatIsNotThereIs127AndWhatCantRunIs126() throws IOException {
        Path text = Files.writeString(directory.resolve("text"), "hello");
        place.script("bad-interpreter", "").toFile();
        try (CliProcess missing = place.run("run", "x", "--", "no-such-command-here");
                CliProcess missingPath = place.run("run", "x", "--", directory + "/no\u001b[2Jsuch");
                CliProcess noPermission = place.run("run", "x", "--", text.toString());
                CliProcess isDirectory = place.run("run", "x", "--", directory.toString());
                CliProcess empty = place.run("run", "x", "--", "")) {
            assertThat(missing.exitCode()).isEqualTo(127);
            assertThat(missing.err())
                    .isEqualTo("holdfast: can't run 'no-such-command-here': No such file or directory\n");
            assertThat(missingPath.exitCode()).isEqualTo(127);
            assertThat(missingPath.err()).contains("no\\u001b[2Jsuch").doesNotContain("\u001b");
            assertThat(noPermission.exitCode()).isEqualTo(126);
            assertThat(noPermission.err()).contains("Permission denied");
            assertThat(isDirectory.exitCode()).isEqualTo(126);
            assertThat(empty.exitCode()).isEqualTo(127);
        }
    }

    @Test
    void argumentsArriveAsTheyAreAndNoShellSeesThem() {
        try (CliProcess cli = place.run(
                "run",
                "x",
                "--",
                "printf",
                "[%s]",
                "two words",
                "*",
                "$HOME",
                "é🔒",
                "",
                "'\"\\",
                "-w",
                "--",
                "a\nb")) {
            assertThat(cli.out()).isEqualTo("[two words][*][$HOME][é🔒][]['\"\\][-w][--][a\nb]");
            assertThat(cli.exitCode()).isZero();
        }
    }

    @Test
    void standardInputIsTheCommands() throws IOException {
        byte[] all = new byte[256 * 1024];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) (i * 31);
        }
        try (CliProcess cli = place.startWith(ProcessBuilder.Redirect.PIPE, "run", "x", "--", "cksum")) {
            try (OutputStream in = cli.stdin()) {
                in.write(all);
            }
            assertThat(cli.exitCode()).isZero();
            try (CliProcess direct = place.startProgram(
                    ProcessBuilder.Redirect.from(
                            Files.write(directory.resolve("all"), all).toFile()),
                    java.util.List.of("cksum"))) {
                assertThat(direct.exitCode()).isZero();
                assertThat(cli.out()).isEqualTo(direct.out()).contains("262144");
            }
        }
    }

    @Test
    void withoutStdinTheCommandReadsNothing() throws IOException {
        Path input = Files.writeString(directory.resolve("input"), "text");
        try (CliProcess cli = place.startWith(
                ProcessBuilder.Redirect.from(input.toFile()), "run", "--no-stdin", "x", "--", "wc", "-c")) {
            assertThat(cli.exitCode()).isZero();
            assertThat(cli.out().strip()).isEqualTo("0");
        }
    }

    @Test
    void outputAndErrorsKeepApart() {
        try (CliProcess cli = place.run("run", "x", "--", "sh", "-c", "echo out; echo err >&2")) {
            assertThat(cli.exitCode()).isZero();
            assertThat(cli.out()).isEqualTo("out\n");
            assertThat(cli.err()).isEqualTo("err\n");
        }
    }

    @Test
    @Tag("smoke")
    void theCommandIsToldAboutItsLock() {
        try (CliProcess cli = place.run(
                "run",
                "a b",
                "--",
                "sh",
                "-c",
                "env | grep ^HOLDFAST_ | grep -v ^HOLDFAST_STORE_TIMEOUT= | sort; date +%s")) {
            String[] lines = cli.out().split("\n");
            assertThat(lines).hasSize(8);
            long deadline = Long.parseLong(lines[0].substring("HOLDFAST_DEADLINE=".length()));
            assertThat(deadline - Long.parseLong(lines[7])).isBetween(1L, 31L);
            assertThat(lines[1]).matches("HOLDFAST_HOLD=[0-9a-f]{32},\\w+");
            assertThat(lines[2]).isEqualTo("HOLDFAST_NAME=a b");
            assertThat(lines[3]).matches("HOLDFAST_OWNER=.+@.+ pid " + cli.pid() + " 'sh'");
            String token = lines[6].substring("HOLDFAST_TOKEN=".length());
            assertThat(Long.parseLong(token)).isPositive();
            assertThat(lines[4]).isEqualTo("HOLDFAST_STACK=a%20b=" + token);
            assertThat(lines[5]).isEqualTo("HOLDFAST_STORE=" + store);
        }
    }

    @Test
    void whatTheCommandInheritsIsNotChanged() {
        Place richer = new Place(directory, Map.of("HOLDFAST_STORE", store, "MINE", "é\u001b=", "EMPTY", ""));
        try (CliProcess direct = richer.startProgram(
                        ProcessBuilder.Redirect.from(new java.io.File("/dev/null")),
                        java.util.List.of("sh", "-c", "env | grep -v ^_=; umask; ulimit -n; pwd"));
                CliProcess cli = richer.run(
                        "run",
                        "x",
                        "--",
                        "sh",
                        "-c",
                        "env | grep -v ^HOLDFAST_ | grep -v ^_=; umask; ulimit -n; pwd")) {
            assertThat(direct.exitCode()).isZero();
            assertThat(cli.out().lines().sorted())
                    .containsExactlyElementsOf(direct.out()
                            .lines()
                            .filter(line -> !line.startsWith("HOLDFAST_"))
                            .sorted()
                            .toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM", "HUP", "USR1", "USR2"})
    void signalsReachTheCommand(String signal) {
        Path script = place.script(
                "trap.sh",
                "trap 'echo got " + signal + "; exit 9' " + signal
                        + "\necho $$ > started\nwhile :; do sleep 0.05; done\n");
        try (CliProcess cli = place.start("run", "x", "--", script.toString())) {
            CliProcess.untilWritten(place.file("started"));
            cli.signal(signal);
            assertThat(cli.exitCode()).isEqualTo(9);
            assertThat(cli.out()).isEqualTo("got " + signal + "\n");
        }
    }

    @Test
    void aCommandMayMakeLightOfOneTermAndDiesOfTwo() {
        Path script = place.script(
                "stubborn.sh",
                "trap 'echo term >> terms' TERM\nsleep 1000 &\necho $! > started\nwhile :; do sleep 0.05; done\n");
        try (CliProcess cli = place.start("run", "x", "--", script.toString())) {
            long sleeper = Long.parseLong(CliProcess.untilWritten(place.file("started")));
            cli.signal("TERM");
            CliProcess.untilWritten(place.file("terms"));
            assertThat(cli.isAlive()).isTrue();
            cli.signal("TERM");
            assertThat(cli.exitCode()).isEqualTo(137);
            assertThat(cli.err()).contains("second TERM: killing");
            assertThat(isRunning(sleeper)).isFalse();
        }
    }

    /** A shell that dies of TERM leaves its child behind: the lock would outlive the request to end. */
    @Test
    void whoIsToldToEndTakesItsChildrenWithIt() {
        try (CliProcess cli = place.start("run", "x", "--", "sh", "-c", "sleep 1000 & echo $! > started; wait")) {
            long sleeper = Long.parseLong(CliProcess.untilWritten(place.file("started")));
            cli.signal("TERM");
            assertThat(cli.exitCode()).isEqualTo(143);
            assertThat(isRunning(sleeper)).isFalse();
        }
    }

    @Test
    void whatTheCommandLeavesBehindIsWaitedFor() {
        // A daemon: its parents have ended, its streams are closed, it has another session; only the mark in its
        // environment identifies it.
        Path daemon = place.script(
                "daemon.sh",
                "setsid sh -c '(echo $$ > started; while [ -e started ] && [ ! -e stop ]; do sleep 0.05; done; echo > stopped) </dev/null >/dev/null 2>&1 &'\n");
        try (CliProcess cli = place.start("run", "x", "--", daemon.toString())) {
            CliProcess.untilWritten(place.file("started"));
            CliProcess.until("it tells why it waits", () -> cli.err().contains("\n"));
            assertThat(cli.err())
                    .contains("the command has ended with 0, but the lock is kept until its descendants have ended: ");
            assertThat(cli.isAlive()).isTrue();
            place.script("stop", "");
            assertThat(cli.exitCode()).isZero();
            assertThat(place.file("stopped")).exists();
        }
    }

    @Test
    void whatTheCommandLeavesBehindCanBeKilledOrIgnored() {
        String command = "sleep 1000 </dev/null >/dev/null 2>&1 & echo $!; exit 5";
        try (CliProcess kill = place.run("run", "--leftovers", "kill", "x", "--", "sh", "-c", command);
                CliProcess ignore = place.run("run", "--leftovers", "ignore", "x", "--", "sh", "-c", command)) {
            assertThat(kill.exitCode()).isEqualTo(5);
            assertThat(isRunning(Long.parseLong(kill.out().strip()))).isFalse();
            assertThat(ignore.exitCode()).isEqualTo(5);
            long left = Long.parseLong(ignore.out().strip());
            assertThat(isRunning(left)).isTrue();
            ProcessHandle.of(left).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    private static boolean isRunning(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false) && !ProcessTree.PROC.isZombie(pid);
    }
}
