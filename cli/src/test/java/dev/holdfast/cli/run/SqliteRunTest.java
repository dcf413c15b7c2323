package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess;
import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.cli.Main;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several commands on one SQLite file: waits, messages, and what is left when a process dies. */
@Tag("process")
class SqliteRunTest {

    /** Longer than any test: where the lock comes free sooner, it is not for the lease. */
    private static final String LONG_LEASE = "10m";

    private static final List<String> SIGNALS = List.of("INT", "TERM", "HUP", "KILL");

    @TempDir
    Path directory;

    private Place place;

    @BeforeEach
    void open() {
        place = new Place(directory, Map.of("HOLDFAST_STORE", "sqlite:" + directory.resolve("locks.db")));
    }

    @Test
    void twoTerminalsRunOneAfterTheOther() {
        try (CliProcess first = hold("x", "first");
                CliProcess second = place.start(
                        "run",
                        "x",
                        "--",
                        "sh",
                        "-c",
                        "cat first.ended > second.saw; echo $HOLDFAST_TOKEN > second.token")) {
            CliProcess.until(
                    "the second tells whom it waits for", () -> second.err().contains("\n"));
            assertThat(second.err())
                    .matches("holdfast: waiting for 'x': held by \\S+@\\S+ pid " + first.pid()
                            + " 'sh' since \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ, lease \\S+ left\n");
            letGo("first");
            assertThat(first.exitCode()).isZero();
            assertThat(second.exitCode()).isZero();
            assertThat(place.read("second.saw")).isEqualTo("ended\n");
            assertThat(Long.parseLong(place.read("second.token").strip()))
                    .isGreaterThan(Long.parseLong(place.read("first.token").strip()));
        }
    }

    @Test
    void whoDoesNotWaitIsToldWhoHoldsTheLock() {
        try (CliProcess holder = hold("x", "first");
                CliProcess busy = place.run("run", "--nonblock", "x", "--", "touch", "ran");
                CliProcess busyForCron = place.run("run", "--nonblock", "-E", "0", "x", "--", "touch", "ran");
                CliProcess impatient = impatient();
                CliProcess other = place.run("run", "--nonblock", "X", "--", "true")) {
            assertThat(busy.exitCode()).isEqualTo(75);
            assertThat(busy.err())
                    .startsWith("holdfast: lock 'x' was taken: held by ")
                    .contains(" pid " + holder.pid() + " 'sh' since ")
                    .endsWith("; the command was not run\n");
            assertThat(busyForCron.exitCode()).isZero();
            assertThat(impatient.exitCode()).isEqualTo(75);
            assertThat(other.exitCode()).as("another name is another lock").isZero();
            assertThat(place.file("ran")).doesNotExist();
            letGo("first");
            assertThat(holder.exitCode()).isZero();
        }
    }

    /** Doubles the wait if it ended before the store had replied, which is another failure. */
    private CliProcess impatient() {
        for (int millis = 300; millis < 60_000; millis *= 2) {
            CliProcess run = place.run("run", "--wait", millis + "ms", "x", "--", "touch", "ran");
            if (run.exitCode() != ExitCode.STORE_UNAVAILABLE) {
                String waited = DurationText.format(Duration.ofMillis(millis));
                assertThat(run.err()).startsWith("holdfast: lock 'x' was not free within " + waited + ": held by ");
                return run;
            }
            run.close();
        }
        throw new AssertionError("The store never answers within a minute");
    }

    @Test
    void aWaiterThatIsToldToEndLeavesNothingBehind() {
        try (CliProcess holder = hold("x", "first");
                CliProcess waiter = place.start("run", "x", "--", "touch", "ran")) {
            untilShown("x", "waiting   ");
            waiter.signal("TERM");
            assertThat(waiter.exitCode()).isEqualTo(143);
            assertThat(show("x")).doesNotContain("waiting");
            letGo("first");
            assertThat(holder.exitCode()).isZero();
            assertThat(place.file("ran")).doesNotExist();
        }
    }

    @Test
    void aWaiterThatDiesIsPassedOver() {
        try (CliProcess holder = hold("x", "first");
                CliProcess dead = place.start("run", "--lease", LONG_LEASE, "x", "--", "touch", "ran")) {
            untilShown("x", "waiting   ");
            dead.signal("KILL");
            assertThat(dead.exitCode()).isEqualTo(137);
            try (CliProcess next = place.start("run", "x", "--", "true")) {
                untilShown("x", "pid " + next.pid());
                letGo("first");
                assertThat(holder.exitCode()).isZero();
                assertThat(next.exitCode()).isZero();
            }
            assertThat(place.file("ran")).doesNotExist();
        }
    }

    @Test
    void afterKillOfTheWrapperTheCommandKeepsTheLockAndItsEndFreesIt() {
        try (CliProcess wrapper = hold("x", "first")) {
            wrapper.signal("KILL");
            assertThat(wrapper.exitCode()).isEqualTo(137);
            assertTaken("x");
            try (CliProcess next = place.start("run", "x", "--", "true")) {
                untilShown("x", "waiting   ");
                letGo("first");
                assertThat(next.exitCode()).isZero();
            }
        }
    }

    @Test
    void afterKillOfBothTheLockIsFreeAtOnce() {
        try (CliProcess wrapper = hold("x", "first")) {
            long command = Long.parseLong(place.read("first.pid").strip());
            wrapper.signal("KILL");
            assertThat(wrapper.exitCode()).isEqualTo(137);
            CliProcess.signal(command, "KILL");
            try (CliProcess next = place.start("run", "--wait", "50s", "x", "--", "true")) {
                assertThat(next.exitCode()).isZero();
            }
        }
    }

    /** The command may run on, but without the lock. */
    @Test
    void afterKillOfTheWrapperTheLockOfACommandThatRunsOnEndsWithTheLease() {
        try (CliProcess wrapper = startedInTime("KILL", "sh", "-c", "echo $$ > started; exec sleep 1000")) {
            long command = Long.parseLong(place.read("started").strip());
            assertThat(wrapper.exitCode()).isEqualTo(137);
            try (CliProcess next = place.run("run", "x", "--", "true")) {
                assertThat(next.exitCode()).isZero();
                assertThat(ProcessHandle.of(command)).isPresent();
            } finally {
                CliProcess.signal(command, "KILL");
            }
        }
    }

    /**
     * The wrapper and the command have ended, but not a background process that has left its parents.
     */
    @Test
    void theLastOfTheProcessesKeepsTheLockAndItsEndFreesItAtOnce() {
        Path daemon = place.script(
                "daemon.sh",
                "setsid sh -c '(echo $$ > started; while [ -e started ] && [ ! -e stop ]; do sleep 0.05; done) </dev/null >/dev/null 2>&1 &'\nwhile :; do sleep 0.05; done\n");
        try (CliProcess wrapper =
                place.start("run", "--verbose", "--lease", LONG_LEASE, "x", "--", daemon.toString())) {
            CliProcess.untilWritten(place.file("started"));
            untilFollowed(wrapper);
            long command = wrapper.handle().children().findFirst().orElseThrow().pid();
            wrapper.signal("KILL");
            assertThat(wrapper.exitCode()).isEqualTo(137);
            CliProcess.signal(command, "KILL");
            CliProcess.until(
                    "the command is gone",
                    () -> ProcessHandle.of(command).isEmpty() || ProcessTree.PROC.isZombie(command));
            try (CliProcess next = place.start("run", "x", "--", "cp", "stop", "saw")) {
                untilShown("x", "waiting   ");
                assertTaken("x");
                place.script("stop", "");
                assertThat(next.exitCode()).isZero();
                assertThat(place.file("saw")).exists();
            }
        }
    }

    /** What is locked is a number in a file, which loses additions when two add at the same time. */
    @Test
    void oneCommandAtATimeWhoeverIsToldToEnd() {
        place.script(
                "add.sh",
                "echo + $HOLDFAST_TOKEN >> log\nn=$(cat count 2>/dev/null || echo 0)\nsleep 0.05\necho $((n + 1)) > count\necho - $HOLDFAST_TOKEN >> log\n");
        List<CliProcess> all = new ArrayList<>();
        try {
            List<CliProcess> patient = new ArrayList<>();
            List<CliProcess> disturbed = new ArrayList<>();
            for (int i = 0; i < SIGNALS.size(); i++) {
                patient.add(place.start("run", "x", "--", "./add.sh"));
                all.add(patient.get(i));
                disturbed.add(place.start("run", "--lease", "15s", "x", "--", "./add.sh"));
                all.add(disturbed.get(i));
            }
            // One each time that somebody comes or goes, wherever its receiver is by then.
            for (int i = 0; i < SIGNALS.size(); i++) {
                long before = size("log");
                CliProcess victim = disturbed.get(i);
                CliProcess.until("somebody comes or goes", () -> size("log") > before || !victim.isAlive());
                victim.signalIfAlive(SIGNALS.get(i));
            }
            patient.forEach(cli -> assertThat(cli.exitCode()).as(cli.err()).isZero());
            disturbed.forEach(CliProcess::exitCode);
        } finally {
            all.forEach(CliProcess::close);
        }
        List<String> log = place.read("log").lines().toList();
        long newest = 0;
        for (String line : log) {
            long token = Long.parseLong(line.substring(2));
            if (line.startsWith("+")) {
                assertThat(token).as("%s", log).isGreaterThan(newest);
                newest = token;
            } else {
                assertThat(token).as("%s", log).isEqualTo(newest);
            }
        }
        long went = log.stream().filter(line -> line.startsWith("-")).count();
        assertThat(went).isGreaterThanOrEqualTo(4);
        assertThat(Long.parseLong(place.read("count").strip())).isBetween(went, log.size() - went);
        assertThat(show("x")).isEqualTo("'x': free\n");
    }

    /**
     * Starts a command under a short lease, and sends a signal to its wrapper before that is over. On a machine that
     * keeps a process waiting the wrapper may have lost the lock by then, and says so; then all is done again.
     */
    private CliProcess startedInTime(String signal, String... command) {
        List<String> words = new ArrayList<>(List.of("run", "--lease", "2s", "x", "--"));
        words.addAll(List.of(command));
        for (int attempt = 0; attempt < 20; attempt++) {
            CliProcess wrapper = place.start(words.toArray(new String[0]));
            CliProcess.until(
                    "the command runs, or the lock is lost",
                    () -> size("started") > 0 || wrapper.err().contains("lock 'x' "));
            wrapper.signalIfAlive(signal);
            if (size("started") > 0 && wrapper.err().isEmpty()) {
                return wrapper;
            }
            wrapper.close();
            if (size("started") > 0) {
                end(Long.parseLong(CliProcess.untilWritten(place.file("started"))));
            }
            for (String written : List.of("started", "newest", "ledger")) {
                assertThat(place.file(written).toFile().delete() || size(written) == 0)
                        .isTrue();
            }
        }
        throw new AssertionError("The lock is always lost before the command runs");
    }

    /** The wrapper is stopped for longer than its lease, for example by a debugger or a snapshot of the machine. */
    @Test
    void aLostLockEndsTheCommandAndItsTokenIsRefused() {
        place.script(
                "write.sh",
                "newest=$(cat newest 2>/dev/null || echo 0)\n"
                        + "[ \"$HOLDFAST_TOKEN\" -ge \"$newest\" ] || { echo \"refused $1\" >> refused; exit 1; }\n"
                        + "echo \"$HOLDFAST_TOKEN\" > newest\necho \"$1\" >> ledger\n");
        Path stale = place.script(
                "stale.sh",
                "./write.sh first\necho $$ > started\nwhile [ ! -e second.wrote ]; do sleep 0.02; done\n./write.sh stale\necho > stale.tried\nwhile :; do sleep 0.02; done\n");
        try (CliProcess paused = startedInTime("STOP", stale.toString())) {
            try (CliProcess next = place.run("run", "x", "--", "./write.sh", "second")) {
                assertThat(next.exitCode()).isZero();
            }
            place.script("second.wrote", "");
            CliProcess.untilWritten(place.file("stale.tried"));
            paused.signal("CONT");
            assertThat(paused.exitCode()).isEqualTo(79);
            assertThat(paused.err())
                    .contains(
                            "lock 'x' is lost: ",
                            "killing the command",
                            "another process may have held it in the meantime")
                    .hasLineCount(2);
            assertThat(place.read("ledger")).isEqualTo("first\nsecond\n");
            assertThat(place.read("refused")).isEqualTo("refused stale\n");
        }
    }

    /** Somebody keeps the file to himself for longer than a lease: no keep-alive gets through. */
    @Test
    void aStoreThatDoesNotAnswerEndsTheCommandBeforeItsLeaseEnds() throws SQLException {
        try (CliProcess holder = hold("x", "first", "3s")) {
            long command = Long.parseLong(place.read("first.pid").strip());
            try (Connection other = DriverManager.getConnection(
                            "jdbc:sqlite:" + place.file("locks.db") + "?busy_timeout=60000");
                    Statement statement = other.createStatement()) {
                statement.execute("BEGIN EXCLUSIVE");
                CliProcess.until(
                        "the command is ended", () -> ProcessHandle.of(command).isEmpty());
                assertThat(holder.err()).contains("lock 'x' ");
            }
            assertThat(holder.exitCode()).isEqualTo(79);
            assertThat(holder.err()).contains("was lost before the command ended");
        }
    }

    @Test
    void aLockThatIsTakenAwayEndsTheCommand() {
        String said = "";
        // A holder that has to wait longer than its lease reports that the lease has ended, before any other failure.
        for (int attempt = 0; attempt < 5 && !said.contains("it was removed at the store"); attempt++) {
            try (CliProcess holder =
                    place.start("run", "--lease", "3s", "x", "--", "sh", "-c", "echo > started; exec sleep 1000")) {
                CliProcess.untilWritten(place.file("started"));
                try (CliProcess release = place.run("release", "x", "--force")) {
                    if (release.exitCode() == 0) {
                        assertThat(release.out()).contains("released 'x', which was held by ", " pid " + holder.pid());
                    }
                }
                assertThat(holder.exitCode()).isEqualTo(79);
                said = holder.err();
            }
            assertThat(place.file("started").toFile().delete()).isTrue();
        }
        assertThat(said).contains("it was removed at the store");
    }

    @Test
    void aCommandRunsUnderSeveralLocks() {
        try (CliProcess nested = place.start(
                cli(
                        "outer",
                        cliWords(
                                "inner",
                                "sh",
                                "-c",
                                "echo \"$HOLDFAST_STACK\" > stack; echo $HOLDFAST_NAME > name; while [ ! -e stop ]; do sleep 0.02; done")))) {
            CliProcess.untilWritten(place.file("name"));
            assertThat(place.read("name")).isEqualTo("inner\n");
            assertThat(place.read("stack")).matches("outer=\\d+ inner=\\d+\n");
            assertTaken("outer");
            assertTaken("inner");
            place.script("stop", "");
            assertThat(nested.exitCode()).isZero();
        }
    }

    /** It would wait for a command that waits for it. */
    @Test
    void aCommandThatWantsTheLockItRunsUnderIsTold() {
        try (CliProcess nested = place.start(cli("x", cliWords("x", "touch", "ran")))) {
            assertThat(nested.exitCode()).isEqualTo(75);
            assertThat(nested.err())
                    .contains("lock 'x' is held by an enclosing command, which waits for this one to end");
            assertThat(place.file("ran")).doesNotExist();
        }
    }

    @Test
    void namesOfEveryKindAreLocksOfTheirOwn() {
        String strange = "🔒 two words 'quoted' \u001b[31m\n#é";
        try (CliProcess holder = hold(strange, "first");
                CliProcess busy = place.run("run", "--nonblock", strange, "--", "true");
                CliProcess list = place.run("ls");
                CliProcess json = place.run("show", "--json", strange)) {
            assertThat(busy.exitCode()).isEqualTo(75);
            assertThat(busy.err())
                    .contains("'🔒 two words \\'quoted\\' \\u001b[31m\\n#é'")
                    .doesNotContain("\u001b");
            assertThat(list.out())
                    .startsWith("'🔒 two words \\'quoted\\' \\u001b[31m\\n#é': held by ")
                    .hasLineCount(1);
            assertThat(json.out())
                    .contains("\"name\":\"🔒 two words 'quoted' \\u001b[31m\\u000a#é\"", "\"state\":\"held\"");
            letGo("first");
            assertThat(holder.exitCode()).isZero();
        }
    }

    @Test
    void aCommandThatCantBeRunGivesTheLockBack() {
        try (CliProcess missing = place.run("run", "x", "--", "no-such-command-here");
                CliProcess next = place.run("run", "--nonblock", "x", "--", "true")) {
            assertThat(missing.exitCode()).isEqualTo(127);
            assertThat(next.exitCode()).isZero();
        }
    }

    private static void end(long pid) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    private long size(String file) {
        return place.file(file).toFile().length();
    }

    /** Runs a command that holds a lock until it is let go, in a wrapper whose lease does not matter. */
    private CliProcess hold(String name, String who) {
        return hold(name, who, LONG_LEASE);
    }

    private CliProcess hold(String name, String who, String lease) {
        CliProcess holder = place.start(
                "run",
                "--verbose",
                "--lease",
                lease,
                name,
                "--",
                "sh",
                "-c",
                "echo $HOLDFAST_TOKEN > " + who + ".token; echo $$ > " + who + ".pid; while [ ! -e " + who
                        + ".stop ]; do sleep 0.02; done; echo ended > " + who + ".ended");
        CliProcess.untilWritten(place.file(who + ".pid"));
        untilFollowed(holder);
        return holder;
    }

    /** If the wrapper is killed before the store follows the command, the lock lasts for the whole lease. */
    private static void untilFollowed(CliProcess wrapper) {
        CliProcess.until("the store follows the command", () -> wrapper.err().contains("running as process "));
    }

    private void letGo(String who) {
        place.script(who + ".stop", "");
    }

    private void assertTaken(String name) {
        try (CliProcess attempt = place.run("run", "--nonblock", name, "--", "true")) {
            assertThat(attempt.exitCode()).as(attempt.err()).isEqualTo(75);
        }
    }

    private void untilShown(String name, String what) {
        CliProcess.until(
                "'show " + name + "' tells '" + what + "'", () -> show(name).contains(what));
    }

    /** Runs in this process, since it polls often. */
    private String show(String name) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        int code = Main.run(List.of("show", name), place.environment(), new Console(print, print, false, false));
        assertThat(code).as(out.toString(StandardCharsets.UTF_8)).isZero();
        return out.toString(StandardCharsets.UTF_8);
    }

    private static String[] cli(String name, String... command) {
        String[] args = new String[command.length + 3];
        args[0] = "run";
        args[1] = name;
        args[2] = "--";
        System.arraycopy(command, 0, args, 3, command.length);
        return args;
    }

    /** A whole command line of this build, for a run inside a run. */
    private static String[] cliWords(String name, String... command) {
        List<String> words = new ArrayList<>(CliProcess.java());
        words.addAll(List.of(cli(name, command)));
        return words.toArray(new String[0]);
    }
}
