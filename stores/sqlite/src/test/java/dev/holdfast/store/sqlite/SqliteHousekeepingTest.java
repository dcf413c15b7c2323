package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class SqliteHousekeepingTest extends OnManualTime {

    private static final Duration RETENTION = Micros.duration(SqliteHousekeeping.RETENTION_MICROS + 1);

    SqliteHousekeepingTest() {
        super(Duration.ofDays(10));
    }

    private long rows(String table) {
        return Database.number(file, "SELECT count(*) FROM " + table);
    }

    @Test
    void annotationsOfEndedGrantsAreDeleted() {
        ClaimRef held = client.ref("held");
        ClaimRef left = client.ref("left");
        for (ClaimRef claim : List.of(held, left)) {
            assertThat(client.acquire(claim)).isInstanceOf(Reply.Granted.class);
            client.send(new Command.Annotate(claim, 1, "release 4.2"), Reply.Done.class);
        }
        // As an earlier version of the program releases: it does not know the table.
        client.release(left);
        assertThat(rows("holdfast_annotation")).isEqualTo(2);
        store.housekeeping().run();
        assertThat(rows("holdfast_annotation")).isEqualTo(1);
        client.send(new Command.Release(held, true), Reply.Released.class);
        assertThat(rows("holdfast_annotation")).isZero();
    }

    @Test
    void runsAreKeptForAYear() {
        ClaimRef task = client.ref("report");
        Reply.Granted granted = (Reply.Granted) client.acquire(task);
        client.send(new Command.RecordRun(task.resource(), granted.tokens().first(), "a run"), Reply.Done.class);
        client.release(task);
        time.advance(Duration.ofDays(365));
        store.housekeeping().run();
        assertThat(rows("holdfast_resource")).isZero();
        assertThat(rows("holdfast_run")).isEqualTo(1);
        time.advance(Duration.ofDays(2));
        store.housekeeping().run();
        assertThat(rows("holdfast_run")).isZero();
    }

    @Test
    void aWaiterThatAnEarlierVersionQueuedHasNoTime() {
        ClaimRef holder = client.ref("x");
        ClaimRef waiter = client.ref("x");
        assertThat(client.acquire(holder)).isInstanceOf(Reply.Granted.class);
        assertThat(client.acquire(waiter)).isInstanceOf(Reply.Queued.class);
        time.advance(Duration.ofSeconds(3));
        assertThat(waited()).contains(Duration.ofSeconds(3));
        Database.run(file, "UPDATE holdfast_claim SET seq = 0");
        assertThat(waited()).isEmpty();
        client.release(holder);
        assertThat(client.poll(waiter)).isInstanceOf(Reply.Granted.class);
    }

    private Optional<Duration> waited() {
        return client.send(
                        new Command.Inspect("x", Optional.empty(), 1, Command.Inspect.Scope.NAME),
                        Reply.Inspected.class)
                .resources()
                .get(0)
                .waiters()
                .get(0)
                .waited();
    }

    @Test
    void whatRestedForADayIsForgottenButItsTokens() {
        long last = 0;
        for (int i = 0; i < 1_000; i++) {
            ClaimRef claim = client.ref("job/" + i);
            last = Math.max(
                    last, ((Reply.Granted) client.acquire(claim)).tokens().last());
            client.release(claim);
        }
        ClaimRef grant = client.ref("held");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        time.advance(RETENTION);
        time.stepWall(RETENTION.negated());
        store.housekeeping().run();
        assertThat(rows("holdfast_resource"))
                .as("by the wall clock no day has gone by")
                .isEqualTo(1_001);

        time.stepWall(RETENTION);
        store.housekeeping().run();

        assertThat(rows("holdfast_resource")).isEqualTo(1);
        time.stepWall(RETENTION.multipliedBy(3).negated());
        assertThat(client.granted("job/7").tokens().first()).isGreaterThan(last);
        assertThat(client.poll(grant)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void aLatchIsForgottenWhenItRested() {
        ResourceName latch = new ResourceName("ready");
        client.send(new Command.SetCount(latch, client.session, 0, 1, 2), Reply.Count.class);
        client.send(new Command.CountDown(latch, 1, "a", 1), Reply.Count.class);
        time.advance(RETENTION);
        store.housekeeping().run();
        assertThat(client.send(new Command.CountDown(latch, 1, "a", 1))).isEqualTo(new Reply.Count(1, 1));

        client.send(new Command.CountDown(latch, 1, "b", 1), Reply.Count.class);
        store.housekeeping().run();
        assertThat(rows("holdfast_latch")).as("it has not rested yet").isEqualTo(1);
        assertThat(rows("holdfast_count")).isZero();

        time.advance(RETENTION);
        store.housekeeping().run();
        assertThat(rows("holdfast_latch")).isZero();
        assertThat(rows("holdfast_resource")).isZero();
    }

    /**
     * On a tmpfs the modification time of a mapped file does not change, so a cleaner by age would remove a file in
     * use.
     */
    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere the locks of a process can't be listed")
    void filesInUseLookUsedAndKeepTheirLocks() {
        client.keepAlive();
        awaitLocks();
        List<File> files = inUse();
        assertThat(files).hasSizeGreaterThan(4);
        // Not by Files, which would open and close them.
        files.forEach(each -> assertThat(each.setLastModified(1_000)).isTrue());
        time.advance(Duration.ofMinutes(11));
        long nowMillis = time.unixMicros() / 1_000;

        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        do {
            // The run that began when the store was opened may not have ended yet, and only one runs at a time.
            client.keepAlive();
            assertThat(System.nanoTime()).as("time until all files look used").isLessThan(deadline);
        } while (!inUse().stream().allMatch(each -> each.lastModified() >= nowMillis));
        awaitLocks();
        client.keepAlive();
    }

    /**
     * Waits until the locks that SQLite keeps while a file is open are listed as ours. A lock that was dropped never
     * comes back; but while other programs lock and unlock files, a reading of the list, page by page, may miss some.
     */
    private void awaitLocks() {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!isListed(file, SqliteFile.FIRST_SHARED_BYTE)
                || !isListed(Path.of(file + "-shm"), SqliteFile.USERS_BYTE)) {
            assertThat(System.nanoTime()).as("time until our locks are listed").isLessThan(deadline);
        }
    }

    private static boolean isListed(Path file, long locked) {
        return new ProcFs(ProcFs.ROOT)
                .lockOwners(file, locked, locked)
                .contains(ProcessHandle.current().pid());
    }

    private List<File> inUse() {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(path -> path.getFileName().toString().startsWith("locks.db")
                            || path.getParent().getParent().equals(directory.resolve("locks.db-wake")))
                    .map(Path::toFile)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void whatTheDeadHaveLeftIsRemoved() throws IOException {
        SqliteStore crashed = SqliteStore.builder(file).clock(time).open();
        TestClient dead = new TestClient(crashed, Duration.ofSeconds(10));
        ResourceSpec permits = new ResourceSpec(Kind.SEMAPHORE, 5, Order.FAIR);
        assertThat(dead.granted("x").awaited()).isFalse();
        assertThat(dead.acquire(dead.ref("x"))).isInstanceOf(Reply.Queued.class);
        assertThat(dead.acquire(dead.ref("s"), permits, 1, Lease.SESSION)).isInstanceOf(Reply.Granted.class);
        assertThat(dead.acquire(dead.ref("s"), permits, 1, Lease.SESSION)).isInstanceOf(Reply.Granted.class);
        assertThat(dead.acquire(dead.ref("d"), permits, 1, Lease.detached(Duration.ofMinutes(1))))
                .isInstanceOf(Reply.Granted.class);
        crashed.close();
        Path left = Files.createDirectory(directory.resolve("locks.db-wake/77"));
        Files.createFile(left.resolve("mail"));
        Files.setLastModifiedTime(left, FileTime.from(Instant.EPOCH));

        time.advance(Duration.ofSeconds(11));
        store.housekeeping().run();
        assertThat(rows("holdfast_session"))
                .as("one lives, and one is kept for its detached grant")
                .isEqualTo(2);
        assertThat(rows("holdfast_claim")).isEqualTo(1);
        assertThat(left).doesNotExist();

        time.advance(Duration.ofMinutes(1));
        store.housekeeping().run();
        assertThat(rows("holdfast_session")).isEqualTo(1);
        assertThat(rows("holdfast_claim")).isZero();
        assertThat(rows("holdfast_client")).isEqualTo(1);
        client.keepAlive();
    }
}
