package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.servers.sql.ChildProcess;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several processes on one file; all sessions have a ttl of an hour, so earlier events have another reason. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere processes can't be observed, and only the lease decides")
class SqliteProcessesTest {

    @TempDir
    Path directory;

    private Path file;
    private SqliteStore store;
    private TestClient client;

    @BeforeEach
    void open() {
        file = directory.resolve("locks.db");
        store = SqliteStore.open(file);
        client = new TestClient(store);
    }

    @AfterEach
    void close() {
        client.close();
        store.close();
    }

    private ClaimRef waiting(String name) {
        ClaimRef claim = client.ref(name);
        assertThat(client.acquire(claim)).isInstanceOf(Reply.Queued.class);
        return claim;
    }

    /** Checks for longer than a liveness result is cached that nothing happens. */
    private void staysWaiting(ClaimRef claim) {
        long start = System.nanoTime();
        for (int polls = 0; polls < 10 || System.nanoTime() - start < 50_000_000; polls++) {
            assertThat(client.poll(claim)).isInstanceOf(Reply.Queued.class);
        }
    }

    private void comesThrough(ClaimRef claim) {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!(client.poll(claim) instanceof Reply.Granted)) {
            assertThat(System.nanoTime()).isLessThan(deadline);
        }
    }

    private static void end(long pid) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    @Test
    void aKilledHolderIsNoticed() throws Exception {
        try (ChildProcess child = new ChildProcess(ChildMain.class, file)) {
            assertThat(child.ask("acquire x")).isEqualTo("granted");
            ClaimRef waiter = waiting("x");
            staysWaiting(waiter);

            child.kill();

            comesThrough(waiter);
        }
    }

    /** The first grant is in the row of the resource, the second has its own. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aKilledHolderOfAPermitIsNoticed(boolean isFirst) throws Exception {
        try (ChildProcess child = new ChildProcess(ChildMain.class, file)) {
            if (isFirst) {
                assertThat(child.ask("permit x")).isEqualTo("granted");
            }
            assertThat(permit(client.ref("x"))).isInstanceOf(Reply.Granted.class);
            if (!isFirst) {
                assertThat(child.ask("permit x")).isEqualTo("granted");
            }
            ClaimRef waiter = client.ref("x");
            assertThat(permit(waiter)).isInstanceOf(Reply.Queued.class);
            staysWaiting(waiter);

            child.kill();

            comesThrough(waiter);
        }
    }

    private Reply permit(ClaimRef claim) {
        return client.acquire(claim, ChildMain.PERMITS, 1, Lease.SESSION);
    }

    @Test
    void aNewcomerNoticesAKilledHolderToo() throws Exception {
        try (ChildProcess child = new ChildProcess(ChildMain.class, file)) {
            assertThat(child.ask("acquire x")).isEqualTo("granted");
            child.kill();

            assertThat(client.granted("x").awaited()).isFalse();
        }
    }

    @Test
    void aKilledWaiterIsPassedOver() throws Exception {
        ClaimRef grant = client.ref("x");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        try (ChildProcess child = new ChildProcess(ChildMain.class, file)) {
            assertThat(child.ask("acquire x")).isEqualTo("queued");
            ClaimRef behind = waiting("x");
            child.kill();

            client.release(grant);

            assertThat(client.poll(behind)).isInstanceOf(Reply.Granted.class);
        }
    }

    @Test
    void aStoppedHolderIsNotDead() throws Exception {
        try (ChildProcess child = new ChildProcess(ChildMain.class, file)) {
            assertThat(child.ask("acquire x")).isEqualTo("granted");
            child.pause();
            ClaimRef waiter = waiting("x");

            staysWaiting(waiter);

            child.resume();
            assertThat(child.ask("release")).isEqualTo("released");
            comesThrough(waiter);
        }
    }

    @Test
    void aDetachedGrantDoesNotEndWithItsProcess() throws Exception {
        try (ChildProcess child = new ChildProcess(ChildMain.class, file)) {
            assertThat(child.ask("detached x")).isEqualTo("granted");
            ClaimRef waiter = waiting("x");

            child.kill();

            staysWaiting(waiter);
        }
    }

    @Test
    void aHoldForACommandEndsWithTheCommandAndNotWithItsWrapper() throws Exception {
        try (ChildProcess wrapper = new ChildProcess(ChildMain.class, file)) {
            assertThat(wrapper.ask("acquire x")).isEqualTo("granted");
            long command = pid(wrapper.ask("run echo up; exec sleep 300"), 0);
            ClaimRef waiter = waiting("x");
            try {
                wrapper.kill();
                staysWaiting(waiter);
            } finally {
                end(command);
            }
            comesThrough(waiter);
        }
    }

    @Test
    void aHoldForACommandOutlastsItForWhatItHasStarted() throws Exception {
        try (ChildProcess wrapper = new ChildProcess(ChildMain.class, file)) {
            assertThat(wrapper.ask("acquire x")).isEqualTo("granted");
            String answer = wrapper.ask("run sleep 300 >/dev/null & echo $!; exec sleep 300");
            long command = pid(answer, 0);
            long started = pid(answer, 1);
            ClaimRef waiter = waiting("x");
            try {
                wrapper.kill();
                end(command);
                staysWaiting(waiter);
            } finally {
                end(command);
                end(started);
            }
            comesThrough(waiter);
        }
    }

    @Test
    void whileACommandIsBeingStartedOnlyTheLeaseCounts() throws Exception {
        try (ChildProcess wrapper = new ChildProcess(ChildMain.class, file)) {
            assertThat(wrapper.ask("acquire x")).isEqualTo("granted");
            assertThat(wrapper.ask("leaseOnly")).isEqualTo("done");
            ClaimRef waiter = waiting("x");

            wrapper.kill();

            staysWaiting(waiter);
        }
    }

    private static long pid(String answer, int word) {
        return Long.parseLong(answer.split(" ")[word]);
    }

    @Test
    void aProcessOfAnotherPidNamespaceIsLeftToItsLease() throws Exception {
        assumeUnshare("--pid", "--fork", "--mount-proc");
        try (ChildProcess child =
                new ChildProcess(ChildMain.class, file, "unshare", "--pid", "--fork", "--mount-proc")) {
            assertThat(child.ask("acquire x")).isEqualTo("granted");
            ClaimRef waiter = waiting("x");

            child.kill();

            staysWaiting(waiter);
        }
    }

    @Test
    void aTimeNamespaceDoesNotMoveALease() throws Exception {
        String[] ahead = {"unshare", "--time", "--monotonic", "1000000", "--boottime", "1000000", "--fork"};
        assumeUnshare(ahead[1], ahead[2], ahead[3], ahead[4], ahead[5], ahead[6]);
        ClaimRef grant = client.ref("ours");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        try (ChildProcess child = new ChildProcess(ChildMain.class, file, ahead)) {
            assertThat(child.ask("acquire ours")).isEqualTo("queued");
            assertThat(client.poll(grant)).isInstanceOf(Reply.Granted.class);
            assertThat(child.ask("acquire theirs")).isEqualTo("granted");
            staysWaiting(waiting("theirs"));
        }
    }

    private static void assumeUnshare(String... namespaces) throws IOException, InterruptedException {
        String[] command = new String[namespaces.length + 2];
        command[0] = "unshare";
        System.arraycopy(namespaces, 0, command, 1, namespaces.length);
        command[command.length - 1] = "true";
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            assumeTrue(false, "there is no unshare command here: " + e.getMessage());
            return;
        }
        assumeTrue(
                process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0, "this user may not make namespaces");
    }

    @Test
    void oneAtATimeOverProcesses() throws Exception {
        Path counter = Files.writeString(directory.resolve("counter"), "0");
        try (ChildProcess one = new ChildProcess(ChildMain.class, file);
                ChildProcess two = new ChildProcess(ChildMain.class, file);
                ChildProcess three = new ChildProcess(ChildMain.class, file)) {
            for (ChildProcess child : List.of(one, two, three)) {
                child.send("count 200 " + counter);
            }
            for (ChildProcess child : List.of(one, two, three)) {
                assertThat(child.answer()).isEqualTo("counted");
            }
        }
        assertThat(counter).hasContent("600");
    }

    @Test
    void whoWaitsInAnotherProcessIsTold() throws Exception {
        try (ChildProcess child = new ChildProcess(ChildMain.class, file)) {
            for (int i = 0; i < 10; i++) {
                ClaimRef grant = client.ref("x");
                assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
                assertThat(child.ask("acquire x")).isEqualTo("queued");
                client.release(grant);
                assertThat(child.ask("hear")).isEqualTo("told");
                assertThat(child.ask("release")).isEqualTo("released");
            }
        }
    }
}
