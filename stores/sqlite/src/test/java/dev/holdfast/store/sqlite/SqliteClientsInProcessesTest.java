package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.sql.ChildProcess;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Complete clients in separate processes that are paused, interrupted and killed. The guarded data is outside and does
 * not use locks.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere processes can't be observed, and only the lease decides")
class SqliteClientsInProcessesTest {

    /** Longer than any test: a lock that is free earlier is so for another reason. */
    private static final Duration LONG = Duration.ofMinutes(10);

    @TempDir
    Path directory;

    private Path file;

    @BeforeEach
    void place() {
        file = directory.resolve("locks.db");
    }

    /** Like a debugger, a frozen machine or a very long garbage collection. */
    @Test
    @Tag("C2")
    void aHolderThatWasStoppedPastItsLeaseLearnsOfTheLossAndItsTokenIsRefused() throws Exception {
        Path database = directory.resolve("guarded.db");
        GuardedRow row = new GuardedRow(database);
        row.make();
        try (ChildProcess paused = new ChildProcess(WorkerMain.class, file);
                Holdfast holdfast = Holdfast.builder(SqliteStore.open(file))
                        .sessionTtl(LONG)
                        .build()) {
            assertThat(paused.ask("hold PT2S " + database)).isEqualTo("written true");
            paused.pause();

            try (Hold next = holdfast.lock("row").acquire()) {
                assertThat(row.write(next.fencingToken(), "second")).isTrue();
                paused.resume();
                assertThat(paused.ask("go on")).isEqualTo("held false, token withheld, written false, release lost");
                assertThat(row.read()).isEqualTo("second");
            }
            assertThat(lossCount(paused)).isEqualTo("told 1");
        }
    }

    /** Listeners run on a separate thread, which may be later than the one that had the lock. */
    private static String lossCount(ChildProcess child) throws Exception {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        String count = child.ask("count");
        while (count.equals("told 0") && System.nanoTime() - deadline < 0) {
            count = child.ask("count");
        }
        return count;
    }

    @Test
    @Tag("C5")
    void oneAtATimeWhoeverIsKilledAndHoweverOftenAllAreInterrupted() throws Exception {
        List<ChildProcess> children = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                children.add(storm());
            }
            for (int kills = 0; kills < 3; kills++) {
                untilTheLogHasGrown();
                children.remove(0).kill();
                children.add(storm());
            }
            untilTheLogHasGrown();
            for (ChildProcess child : children) {
                assertThat(child.ask("stop")).matches("interrupted [1-9]\\d*");
            }
        } finally {
            for (ChildProcess child : children) {
                child.close();
            }
        }
        judge();
    }

    private ChildProcess storm() throws Exception {
        ChildProcess child = new ChildProcess(WorkerMain.class, file);
        assertThat(child.ask("storm " + LONG + " " + directory)).isEqualTo("working");
        return child;
    }

    /** Waits until each process has probably had the lock; growth also shows that no kill left the lock held. */
    private void untilTheLogHasGrown() throws Exception {
        Path log = directory.resolve("log");
        long before = Files.exists(log) ? Files.size(log) : 0;
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (Files.notExists(log) || Files.size(log) < before + 3_000) {
            assertThat(System.nanoTime()).as("deadline of the log").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    /** Each new holder has a greater token than all earlier ones, which do not appear again. */
    private void judge() throws Exception {
        long newest = 0;
        int came = 0;
        int went = 0;
        for (String line : Files.readAllLines(directory.resolve("log"))) {
            long token = Long.parseLong(line.substring(2));
            if (line.charAt(0) == '+') {
                assertThat(token).isGreaterThan(newest);
                newest = token;
                came++;
            } else {
                assertThat(token).as("who goes is who came last").isEqualTo(newest);
                went++;
            }
        }
        long counted = ByteBuffer.wrap(Files.readAllBytes(directory.resolve("counter")))
                .getLong();
        assertThat(counted).as("no addition is lost but those of the killed").isBetween((long) went, (long) came);
        assertThat(came - went).as("those who were killed while they were in").isBetween(0, 3);
    }
}
