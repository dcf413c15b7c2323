package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.store.Holders;
import dev.holdfast.task.TaskOptions;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** {@code ls}, {@code show} and {@code release}, in this process, on a store that it shares with a client. */
class InspectionTest {

    private String store;
    private Holdfast client;
    private boolean isTerminal;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @BeforeEach
    void open(TestInfo test) {
        store = "memory:" + test.getDisplayName();
        client = Holdfast.builder(store).label("ann@web1 pid 12 'report.sh'").build();
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void anEmptyStoreHasNothingToSay() {
        assertThat(run("ls")).isZero();
        assertThat(out()).isEmpty();
        assertThat(run("ls", "--json")).isZero();
        assertThat(out()).isEqualTo("[]\n");
        assertThat(run("show", "x")).isZero();
        assertThat(out()).isEqualTo("'x': free\n");
        assertThat(run("show", "x", "--json")).isZero();
        assertThat(out()).isEqualTo("{\"name\":\"x\",\"state\":\"free\"}\n");
        assertThat(run("release", "x", "--force")).isEqualTo(1);
        assertThat(err()).isEqualTo("holdfast: lock 'x' is not held by anyone\n");
    }

    @Test
    void listsWhoHoldsWhat() throws Exception {
        try (Hold a = client.lock("orders/1").acquire();
                Hold b = client.lock("orders/2").acquire();
                Hold c = client.lock("other").acquire()) {
            assertThat(run("ls")).isZero();
            assertThat(out().lines())
                    .hasSize(3)
                    .allMatch(line -> line.matches("'[a-z/0-9]+': held by ann@web1 pid 12 'report\\.sh' since"
                            + " \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ, lease \\d+s left"));
            assertThat(run("ls", "--prefix", "orders/")).isZero();
            assertThat(out().lines()).hasSize(2).allMatch(line -> line.startsWith("'orders/"));
            assertThat(run("ls", "--prefix", "no")).isZero();
            assertThat(out()).isEmpty();
        }
        assertThat(run("ls"))
                .as("what is only remembered for its token is not listed")
                .isZero();
        assertThat(out()).isEmpty();
    }

    @Test
    void showsHolderTokenAndWaiters() throws Exception {
        try (Holdfast other = Holdfast.builder(store).label("bob@web2 pid 7").build();
                Hold hold = client.lock("x").acquire()) {
            CompletableFuture<Hold> waiting = other.lock("x").acquireAsync().toCompletableFuture();
            CliProcess.until("bob waits", () -> run("show", "x") == 0 && out().contains("bob"));
            run("show", "x");
            List<String> lines = out().lines().toList();
            assertThat(lines.get(0)).isEqualTo("'x': held (mutex, fair)");
            assertThat(lines.get(1))
                    .startsWith("  held by   ann@web1 pid 12 'report.sh' since ")
                    .contains(", token " + hold.fencingToken() + ", lease ");
            assertThat(lines.get(2)).matches("  waiting   bob@web2 pid 7 for \\S+");
            run("show", "x", "--json");
            assertThat(out())
                    .startsWith(
                            "{\"name\":\"x\",\"state\":\"held\",\"kind\":\"mutex\",\"order\":\"fair\",\"capacity\":1,\"holding\":1,\"holders\":[{\"owner\":\"ann@web1"
                                    + " pid 12 'report.sh'\"")
                    .contains(
                            "\"token\":\"" + hold.fencingToken() + "\"",
                            "\"waiting\":1,\"waiters\":[{\"owner\":\"bob@web2 pid 7\"",
                            "\"waitedMillis\":",
                            "\"sessionTtlMillis\":");
            run("ls");
            assertThat(out()).endsWith(", 1 waiting\n");
            assertThat(waiting.cancel(true)).isTrue();
        }
    }

    @Test
    void showsTheRunsOfATask() {
        assertThat(run("runs", "report")).isZero();
        assertThat(out()).isEqualTo("'report': no runs are recorded\n");
        run("runs", "report", "--json");
        assertThat(out()).isEqualTo("{\"name\":\"report\",\"runs\":[]}\n");
        TaskOptions options = TaskOptions.atMost(Duration.ofMinutes(1));
        client.task("report").runIfDue(options, hold -> {});
        assertThatThrownBy(() -> client.task("report").runIfDue(options, hold -> {
                    throw new IllegalStateException("no");
                }))
                .isInstanceOf(IllegalStateException.class);
        CliProcess.until("both are recorded", () -> run("runs", "report") == 0 && out().contains("2 runs"));
        run("runs", "report");
        String line = " \\d{4}-\\S+Z took \\S+ by ann@web1 pid 12 'report\\.sh', token \\d+";
        List<String> lines = out().lines().toList();
        assertThat(lines.get(0)).isEqualTo("'report': 2 runs");
        assertThat(lines.get(1)).matches("  failed   " + line + ": java\\.lang\\.IllegalStateException");
        assertThat(lines.get(2)).matches("  succeeded" + line);
        run("runs", "report", "--json");
        assertThat(out())
                .startsWith("{\"name\":\"report\",\"runs\":[{\"outcome\":\"failed\",\"token\":\"")
                .contains(
                        "\"started\":\"",
                        "\"ended\":\"",
                        "\"tookMillis\":",
                        "\"owner\":\"ann@web1 pid 12 'report.sh'\"")
                .contains("\"failure\":\"java.lang.IllegalStateException\"},{\"outcome\":\"succeeded\"");
        assertThat(run("runs")).isEqualTo(64);
    }

    @Test
    void showsWhatAHolderSaysAndDisarmsIt() throws Exception {
        AcquireOptions release = AcquireOptions.defaults().withMessage("<b>release</b> 4.2");
        try (Hold hold = client.lock("x").acquire(release)) {
            CliProcess.until("the message is shown", () -> run("ls") == 0 && out().contains("release"));
            assertThat(out()).endsWith(" left: \"<b>release</b> 4.2\"\n");
            run("show", "x");
            assertThat(out().lines().toList().get(1)).endsWith(" left: \"<b>release</b> 4.2\"");
            run("show", "x", "--json");
            assertThat(out()).contains("\"message\":\"<b>release</b> 4.2\"");
            assertThat(hold.isHeld()).isTrue();
        }
        // Another program's text may contain anything.
        LockInfo.Holder foreign = new LockInfo.Holder(
                "bob", "s1", 1, 1, 7, 7, null, Duration.ZERO, Duration.ZERO, "a\u001b[2Jb\u202e\"\t", List.of());
        assertThat(Holders.message(foreign)).isEqualTo(": \"a\\u001b[2Jb\\u202e\"\\t\"");
    }

    @Test
    void tellsWhoSharesAndWhoHasHowManyPermits() throws Exception {
        try (Hold read = client.readWriteLock("site").readLock().acquire();
                Hold two = client.semaphore("gpu", 3).acquire(2)) {
            run("show", "site");
            assertThat(out()).startsWith("'site': held (read-write, fair)\n").contains(", shared, lease ");
            run("show", "gpu");
            assertThat(out()).startsWith("'gpu': held (semaphore of 3, fair)\n").contains(", 2 permits, lease ");
            assertThat(read.isHeld() && two.isHeld()).isTrue();
        }
        try (Hold write = client.readWriteLock("site").writeLock().acquire()) {
            run("show", "site");
            assertThat(out()).contains(", exclusive, lease ");
            assertThat(write.isHeld()).isTrue();
        }
    }

    @Test
    void namesThatWouldTrickATerminalAreDisarmed() throws Exception {
        String name = "x\u001b[2J\n'y': held by root\u202e";
        try (Hold hold = client.lock(name).acquire()) {
            run("ls");
            assertThat(out())
                    .startsWith("'x\\u001b[2J\\n\\'y\\': held by root\\u202e': held by ")
                    .hasLineCount(1);
            run("ls", "--json");
            assertThat(out())
                    .contains("\"name\":\"x\\u001b[2J\\u000a'y': held by root\\u202e\"")
                    .hasLineCount(1);
            run("show", name);
            assertThat(out()).doesNotContain("\u001b", "\u202e").startsWith("'x\\u001b[2J\\n");
        }
    }

    @Test
    void takesALockAwayOnlyByForce() throws Exception {
        Hold hold = client.lock("x").acquire();
        assertThat(run("release", "x")).isEqualTo(64);
        assertThat(err()).contains("then add --force");
        assertThat(hold.isHeld()).isTrue();
        long token = hold.fencingToken();
        assertThat(run("release", "--force", "x")).isZero();
        assertThat(out())
                .isEqualTo("released 'x', which was held by ann@web1 pid 12 'report.sh' with token " + token + "\n");
        CliProcess.until("the holder learns of it", () -> !hold.isHeld());
        assertThat(run("release", "--force", "x")).isEqualTo(1);
        hold.releaseAsync().toCompletableFuture().join();
    }

    @Test
    void byItsTokenALaterHoldIsLeftAlone() throws Exception {
        long seen;
        try (Hold first = client.lock("x").acquire()) {
            seen = first.fencingToken();
        }
        try (Hold later = client.lock("x").acquire()) {
            assertThat(run("release", "--force", "--token", Long.toString(seen), "x"))
                    .isEqualTo(1);
            assertThat(err())
                    .startsWith("holdfast: lock 'x' is not held with token " + seen
                            + ": it is held by ann@web1 pid 12 'report.sh'")
                    .contains("token " + later.fencingToken() + "; nothing was changed");
            assertThat(later.isHeld()).isTrue();
            assertThat(run("release", "--force", "x", "--token", Long.toString(later.fencingToken())))
                    .isZero();
            assertThat(out()).contains("released 'x', which was held with token " + later.fencingToken());
            CliProcess.until("the holder learns of it", () -> !later.isHeld());
            later.releaseAsync().toCompletableFuture().join();
        } catch (LockLostException e) {
            // Reported by its exit code.
        }
        for (String token : List.of("0", "-1", "x", "")) {
            assertThat(run("release", "--force", "--token=" + token, "x")).isEqualTo(64);
        }
        assertThat(run("release", "--token", "1", "x")).isEqualTo(64);
    }

    @Test
    void onATerminalAnEmptyStoreIsNamed() {
        isTerminal = true;
        assertThat(run("ls")).isZero();
        assertThat(out()).isEmpty();
        assertThat(err()).isEqualTo("holdfast: no lock is held or has waiters in store " + store + "\n");
        assertThat(run("ls", "--prefix", "a/")).isZero();
        assertThat(err()).contains("no lock whose name begins with 'a/'");
        assertThat(run("ls", "--json")).isZero();
        assertThat(err()).isEmpty();
    }

    @Test
    void listsTheRestBesideWhatIsDamaged(@TempDir Path directory) throws Exception {
        store = "sqlite:" + directory.resolve("locks.db");
        try (Holdfast here = Holdfast.connect(store);
                Hold good = here.lock("good").acquire();
                Hold bad = here.lock("bad").acquire()) {
            try (Connection file = DriverManager.getConnection("jdbc:" + store);
                    Statement statement = file.createStatement()) {
                statement.execute("UPDATE holdfast_resource SET capacity = 0 WHERE name = CAST('bad' AS BLOB)");
            }
            assertThat(run("ls")).isEqualTo(78);
            assertThat(out().lines())
                    .satisfiesExactlyInAnyOrder(
                            line -> assertThat(line).startsWith("'good': held by "),
                            line -> assertThat(line).isEqualTo("'bad': damaged"));
            assertThat(err())
                    .startsWith("holdfast: store ")
                    .contains(": the record of 'bad' is damaged: ")
                    .containsOnlyOnce("\n");

            assertThat(run("ls", "--json")).isEqualTo(78);
            assertThat(out())
                    .contains("{\"name\":\"good\",\"state\":\"held\"")
                    .contains("{\"name\":\"bad\",\"state\":\"damaged\",\"reason\":\"");
            assertThat(err()).containsOnlyOnce("\n");

            assertThat(run("ls", "--prefix", "good")).isZero();
            assertThat(run("show", "bad")).isEqualTo(78);
            try (Connection file = DriverManager.getConnection("jdbc:" + store);
                    Statement statement = file.createStatement()) {
                statement.execute("UPDATE holdfast_resource SET capacity = 1");
            }
            assertThat(good.isHeld() && bad.isHeld()).isTrue();
        }
    }

    @CanIgnoreReturnValue
    private int run(String command, String... rest) {
        out.reset();
        err.reset();
        List<String> args = new java.util.ArrayList<>(List.of(command, "--store", store));
        args.addAll(List.of(rest));
        return Main.run(args, Map.of(), new Console(stream(out), stream(err), false, isTerminal));
    }

    private static PrintStream stream(ByteArrayOutputStream to) {
        return new PrintStream(to, true, StandardCharsets.UTF_8);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
