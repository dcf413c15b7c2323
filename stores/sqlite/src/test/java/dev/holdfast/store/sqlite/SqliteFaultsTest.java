package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqliteFaultsTest {

    @TempDir
    Path directory;

    private Path file;
    private SqliteStore store;
    private TestClient client;

    @BeforeEach
    void open() {
        file = directory.resolve("locks.db");
        open(SqliteStore.builder(file));
    }

    private void open(SqliteStore.Builder options) {
        store = options.busyTimeout(Duration.ofMinutes(1)).open();
        client = new TestClient(store);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static void fails(ThrowingCallable command, Reason reason, Effect effect, String... words) {
        assertThatThrownBy(command)
                .isInstanceOfSatisfying(StoreException.class, e -> {
                    assertThat(e.reason()).isEqualTo(reason);
                    assertThat(e.effect()).isEqualTo(effect);
                })
                .hasMessageContainingAll(words);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spec = 70000 + 33",
                "spec = 66048 + 109",
                "capacity = 0",
                "last_token = -1",
                "waiters = -3",
                "shared = -1",
                "session = 77, claim = 0",
                "session = 77, claim = 1, weight = 1, first_token = 9, end_token = 8"
            })
    void aDamagedRowIsNeitherFreeNorOverwritten(String damage) {
        ClaimRef grant = client.ref("orders/42");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        client.release(grant);
        Database.run(file, "UPDATE holdfast_resource SET " + damage + " WHERE name = CAST('orders/42' AS BLOB)");
        List<String> before = rows();

        for (int i = 0; i < 2; i++) {
            fails(() -> client.granted("orders/42"), Reason.CORRUPT, Effect.NONE, "'orders/42'", "damaged");
        }

        assertThat(rows()).isEqualTo(before);
        assertThat(client.granted("orders/43").tokens().first()).isPositive();
    }

    private List<String> rows() {
        return Database.query(
                file,
                "SELECT spec || ' ' || capacity || ' ' || last_token || ' ' || session || ' ' || claim || ' ' || waiters || ' ' || shared"
                        + " FROM holdfast_resource WHERE name = CAST('orders/42' AS BLOB)");
    }

    /** None, one that is not UTF-8, and one that is too long. */
    @ParameterizedTest
    @ValueSource(strings = {"x''", "x'c3'", "zeroblob(513)", "zeroblob(1000000)"})
    void aRowUnderANameThatIsNoneIsToldByItsBytesAndHarmsNoLock(String name) {
        assertThat(client.granted("orders/42").tokens().first()).isPositive();
        Database.run(
                file,
                "INSERT INTO holdfast_resource SELECT " + name + ", spec, capacity, last_token, session, claim, weight,"
                        + " first_token, end_token, ends, seq, grants, shared, waiters, places FROM holdfast_resource");

        for (int limit : new int[] {1, 10}) {
            List<String> found = new ArrayList<>();
            List<DamagedRecord> damaged = new ArrayList<>();
            inspectAll(limit, found, damaged);
            assertThat(found).containsExactly("orders/42");
            assertThat(damaged)
                    .singleElement()
                    .satisfies(record ->
                            assertThat(record.reason()).contains("name is not valid UTF-8", "in hexadecimal"));
        }

        assertThat(client.granted("orders/43").tokens().first()).isPositive();
        assertThat(Database.number(file, "SELECT count(*) FROM holdfast_resource"))
                .isEqualTo(3);
    }

    private void inspectAll(int limit, List<String> found, List<DamagedRecord> damaged) {
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Inspected page = (Reply.Inspected) client.send(new Command.Inspect("", cursor, limit));
            page.resources().forEach(info -> found.add(info.name().value()));
            damaged.addAll(page.damaged());
            cursor = page.cursor();
        } while (cursor.isPresent());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE holdfast_resource SET capacity = 0 WHERE name = CAST('bad' AS BLOB)",
                "UPDATE holdfast_claim SET binding = 9",
                "UPDATE holdfast_session SET ttl = -5 WHERE id = (SELECT session FROM holdfast_claim)"
            })
    void anInspectionListsTheRestBesideWhatIsDamaged(String damage) {
        assertThat(client.acquire(client.ref("bad"))).isInstanceOf(Reply.Granted.class);
        assertThat(client.granted("good").tokens().first()).isPositive();
        TestClient other = new TestClient(store);
        assertThat(other.acquire(other.ref("bad"))).isInstanceOf(Reply.Queued.class);
        Database.run(file, damage);
        for (int limit : new int[] {1, 10}) {
            List<String> found = new ArrayList<>();
            List<DamagedRecord> damaged = new ArrayList<>();
            inspectAll(limit, found, damaged);
            assertThat(found).containsExactly("good");
            assertThat(damaged).extracting(DamagedRecord::name).containsExactly("bad");
        }
    }

    @Test
    void aDamagedClaimIsFoundAndTheStepUndone() {
        ClaimRef grant = client.ref("x");
        ClaimRef waiter = client.ref("x");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        assertThat(client.acquire(waiter)).isInstanceOf(Reply.Queued.class);
        Database.run(file, "UPDATE holdfast_claim SET binding = 9");

        fails(() -> client.release(grant), Reason.CORRUPT, Effect.NONE, "'x'");

        assertThat(Database.number(file, "SELECT claim FROM holdfast_resource")).isEqualTo(grant.claim());
    }

    @Test
    void aDamagedSessionIsFound() {
        Database.run(file, "UPDATE holdfast_session SET ttl = -5");

        fails(() -> client.keepAlive(), Reason.CORRUPT, Effect.NONE, client.session.value());
    }

    @Test
    void aDamagedRowDoesNotHarmTheRestOfItsBatch() {
        ClaimRef grant = client.ref("bad");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        Database.run(file, "UPDATE holdfast_resource SET waiters = -1");
        List<CompletableFuture<Reply>> sent = new ArrayList<>();

        // The other commands queue up during the first batch.
        for (int i = 0; i < 50; i++) {
            ClaimRef claim = client.ref(i % 10 == 5 ? "bad" : "good/" + i);
            sent.add(store.execute(
                            new Command.Acquire(
                                    claim, 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.QUEUE, 1),
                            CallerMode.ASYNC)
                    .toCompletableFuture());
        }

        for (int i = 0; i < 50; i++) {
            if (i % 10 == 5) {
                assertThatThrownBy(sent.get(i)::join).hasCauseInstanceOf(StoreException.class);
            } else {
                assertThat(sent.get(i).join()).isInstanceOf(Reply.Granted.class);
            }
        }
    }

    @Test
    void aFileThatWasDeletedIsNotTheTruthAnyMore() throws Exception {
        assertThat(client.granted("x").tokens().first()).isPositive();
        Files.delete(file);

        untilFails("was deleted");
        assertThat(file).doesNotExist();
    }

    @Test
    void aFileThatLostItsLogIsNotTheTruthAnyMore() throws Exception {
        Files.delete(directory.resolve("locks.db-wal"));

        untilFails("lost its log");
    }

    /** The locks were in it, so no further command may be executed. */
    @Test
    void aFileThatLostItsSharedMemoryIsNotUsedOnceMore() throws Exception {
        ClaimRef grant = client.ref("x");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        Files.delete(directory.resolve("locks.db-shm"));

        fails(() -> client.granted("y"), Reason.DENIED, Effect.NONE, file.toString(), "lost its shared memory");
        fails(() -> client.release(grant), Reason.DENIED, Effect.NONE, "lost its shared memory");
    }

    @Test
    void aNameThatLeadsToAnotherFileIsNotTheTruthAnyMore() throws Exception {
        close();
        Path current = Files.createSymbolicLink(directory.resolve("current"), directory);
        file = current.resolve("locks.db");
        open(SqliteStore.builder(file));
        Path release = Files.createDirectory(directory.resolve("release-2"));
        SqliteStore.open(release.resolve("locks.db")).close();
        Files.delete(current);
        Files.createSymbolicLink(current, release);
        file = directory.resolve("locks.db");

        untilFails("was replaced");
    }

    @Test
    void aFileThatWasReplacedIsNotTheTruthAnyMore() throws Exception {
        Path other = directory.resolve("other.db");
        SqliteStore.open(other).close();
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);

        untilFails("was replaced");
    }

    /** Waits for a failure, because the file is not checked for each command. */
    private void untilFails(String word) {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (true) {
            ClaimRef claim = client.ref("y");
            try {
                client.acquire(claim);
                client.release(claim);
                assertThat(System.nanoTime())
                        .as("time to notice that the file " + word)
                        .isLessThan(deadline);
            } catch (StoreException e) {
                assertThat(e).hasMessageContainingAll(file.toString(), word);
                assertThat(e.reason()).isEqualTo(Reason.DENIED);
                assertThat(e.effect()).isEqualTo(Effect.NONE);
                return;
            }
        }
    }

    @Test
    void aFullDiskIsToldAndEndsWhenThereIsRoom() {
        close();
        open(SqliteStore.builder(file).pragmas("max_page_count = 40"));
        List<ClaimRef> grants = new ArrayList<>();
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 10_000; i++) {
                        ClaimRef claim = client.ref("x".repeat(400) + i);
                        assertThat(client.acquire(claim)).isInstanceOf(Reply.Granted.class);
                        grants.add(claim);
                    }
                })
                .isInstanceOfSatisfying(StoreException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.DENIED);
                    assertThat(e.effect()).isEqualTo(Effect.NONE);
                    assertThat(e).hasMessageContaining("no space left");
                });
        assertThat(grants).isNotEmpty();

        // Holds can be released, and kept holds are still there.
        client.keepAlive();
        grants.forEach(client::release);
        close();
        open(SqliteStore.builder(file));
        assertThat(client.granted("x".repeat(400) + grants.size()).tokens().first())
                .isPositive();
    }

    private static <R extends Reply> R answer(SqliteStore store, Command command, Class<R> expected) {
        return expected.cast(store.execute(command, CallerMode.BLOCKING)
                .toCompletableFuture()
                .join());
    }

    @Test
    void aDatabaseThatOthersKeepBusyIsUnavailableForAWhile() throws Exception {
        ClaimRef grant = client.ref("x");
        assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
        try (SqliteStore hasty = SqliteStore.builder(file)
                        .busyTimeout(Duration.ofMillis(50))
                        .open();
                Connection other = Database.open(file);
                Statement statement = other.createStatement()) {
            statement.executeUpdate("BEGIN IMMEDIATE");

            for (Command command : List.of(
                    new Command.Acquire(
                            client.ref("y"), 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.QUEUE, 1),
                    new Command.KeepAlive(client.session, 0))) {
                assertThatThrownBy(() -> hasty.execute(command, CallerMode.BLOCKING)
                                .toCompletableFuture()
                                .join())
                        .cause()
                        .satisfies(e -> fails(
                                () -> {
                                    throw e;
                                },
                                Reason.UNAVAILABLE,
                                Effect.NONE,
                                "busy"));
            }
            // These do not need the write lock. Through the other store they might wait for its housekeeping, which
            // does.
            assertThat(answer(hasty, new Command.Poll(List.of(grant)), Reply.Polled.class)
                            .states())
                    .hasOnlyElementsOfType(Reply.Granted.class);
            assertThat(answer(hasty, new Command.Inspect("", Optional.empty(), 10), Reply.Inspected.class)
                            .resources())
                    .hasSize(1);
        }
        assertThat(client.granted("y").tokens().first()).isPositive();
    }

    @Test
    void anInterruptChangesNothing() {
        Thread.currentThread().interrupt();
        try {
            ClaimRef grant = client.ref("x");
            assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
            assertThat(client.poll(grant)).isInstanceOf(Reply.Granted.class);
            client.release(grant);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void afterCloseEverythingIsRefused() {
        store.close();
        store.close();

        fails(() -> client.granted("x"), Reason.CLOSED, Effect.NONE, "closed");
    }
}
