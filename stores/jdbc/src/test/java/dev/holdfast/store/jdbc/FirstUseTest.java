package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("The first use of a name")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class FirstUseTest {

    private static final int TOGETHER = 8;
    private static final int ROUNDS = 40;

    @ParameterizedTest
    @CsvSource({"POSTGRES, true", "POSTGRES, false", "MARIADB, true", "MARIADB, false"})
    @DisplayName("and its release are three statements without a transaction around them, of which two write")
    void threeStatements(TestDatabase database, boolean keepsConnections) throws Exception {
        assumeTrue(
                keepsConnections || database != TestDatabase.MARIADB || !MariaDbOrMysql.isMysql(),
                "MySQL bounds the waits on a lent connection by a setting of the session, which is set back");
        StatementLog log = new StatementLog(database.newUrl());
        JdbcStore.Builder builder = JdbcStore.builder(log).listens(false);
        try (JdbcStore store = (keepsConnections ? builder.keepsConnections() : builder).open()) {
            TestClient client = new TestClient(store);
            long fewest = Long.MAX_VALUE;
            for (int i = 0; i < 10; i++) {
                ClaimRef claim = client.ref("new/" + i);
                long before = writes(database, log);
                int since = log.said().size();
                assertThat(client.acquire(claim)).isInstanceOf(Reply.Granted.class);
                client.release(claim);
                List<String> said = log.said().subList(since, log.said().size()).stream()
                        .filter(text -> !text.endsWith("TransactionIsolation"))
                        .toList();
                assertThat(said).hasSizeLessThanOrEqualTo(3).noneMatch(FirstUseTest::isOfTransactions);
                // Others may write at the same time, such as the server itself.
                fewest = Math.min(fewest, writes(database, log) - before);
            }
            assertThat(fewest).isLessThanOrEqualTo(2);
        }
    }

    private static boolean isOfTransactions(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        return List.of("begin", "start", "commit", "rollback", "set local", "set session").stream()
                .anyMatch(lower::startsWith);
    }

    /** How many writing transactions the server has counted. */
    private static long writes(TestDatabase database, TestSource source) throws SQLException {
        if (database == TestDatabase.MARIADB) {
            source.execute("SET GLOBAL innodb_monitor_enable = 'trx_commits_insert_update'");
        }
        return Long.parseLong(
                source.text(
                        database == TestDatabase.POSTGRES
                                ? "SELECT txid_snapshot_xmax(txid_current_snapshot())"
                                : "SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_commits_insert_update'"));
    }

    @OnEachServer
    @DisplayName(
            "by many clients at the same moment lets one in, whatever order they ask in, and tokens rise after that")
    void byManyAtOnce(TestDatabase database) throws Exception {
        String url = database.newUrl();
        List<JdbcStore> stores = new ArrayList<>();
        try {
            List<TestClient> clients = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                stores.add(JdbcStore.builder(new TestSource(url))
                        .keepsConnections()
                        .listens(false)
                        .open());
                // Two sessions of one client are batched.
                clients.add(new TestClient(stores.get(i)));
                clients.add(new TestClient(stores.get(i)));
            }
            for (int round = 0; round < ROUNDS; round++) {
                Map<String, Reply.Granted> granted = atOnce(clients, round);
                assertThat(granted).hasSize(TOGETHER);
                for (String name : granted.keySet()) {
                    ClaimRef again = clients.get(0).ref(name);
                    Reply.Granted later = (Reply.Granted) clients.get(0).acquire(again);
                    assertThat(later.tokens().first())
                            .isGreaterThan(granted.get(name).tokens().last());
                    clients.get(0).release(again);
                }
            }
        } finally {
            stores.forEach(JdbcStore::close);
        }
    }

    /** Makes all claim the same new names, each in another order; returns the grants, which are released again. */
    private static Map<String, Reply.Granted> atOnce(List<TestClient> clients, int round) throws Exception {
        Map<Acquire, CompletableFuture<Reply>> asked = new HashMap<>();
        Map<Acquire, TestClient> askers = new HashMap<>();
        List<Acquire> all = new ArrayList<>();
        for (TestClient client : clients) {
            List<Acquire> own = new ArrayList<>();
            for (int i = 0; i < TOGETHER; i++) {
                Acquire acquire = attempt(client.ref("round " + round + "/" + i));
                askers.put(acquire, client);
                own.add(acquire);
            }
            Collections.shuffle(own, new Random(round));
            all.addAll(own);
        }
        for (Acquire acquire : all) {
            asked.put(
                    acquire,
                    askers.get(acquire).store.execute(acquire, CallerMode.ASYNC).toCompletableFuture());
        }
        Map<String, Reply.Granted> granted = new HashMap<>();
        List<Acquire> owned = new ArrayList<>();
        for (Acquire acquire : all) {
            Reply reply = asked.get(acquire).get(1, TimeUnit.MINUTES);
            if (reply instanceof Reply.Granted grant) {
                assertThat(granted.put(acquire.resource().value(), grant))
                        .as("two grants of %s", acquire)
                        .isNull();
                owned.add(acquire);
            } else {
                assertThat(reply).isInstanceOf(Reply.Refused.class);
            }
        }
        owned.forEach(acquire -> askers.get(acquire).release(acquire.claim()));
        return granted;
    }

    private static Acquire attempt(ClaimRef claim) {
        return new Acquire(claim, 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.TRY, 1);
    }

    @ParameterizedTest
    @CsvSource({"POSTGRES, true", "POSTGRES, false", "MARIADB, true", "MARIADB, false"})
    @DisplayName("while somebody adds its row waits for what becomes of that, and goes on from its tokens if it stays")
    void beingAdded(TestDatabase database, boolean stays) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        long ahead = Tokens.floor(
                ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now().plus(Duration.ofHours(1))));
        try (JdbcStore store =
                JdbcStore.builder(log).keepsConnections().listens(false).open()) {
            TestClient client = new TestClient(store);
            ClaimRef claim = client.ref("n");
            CompletableFuture<Reply> asked;
            try (Connection stranger = new TestSource(log.url()).begin()) {
                TestSource.execute(
                        stranger,
                        "INSERT INTO holdfast_resource (spec, capacity, last_token, session, claim, weight,"
                                + " first_token, end_token, ends, seq, grants, shared, waiters, places, name) VALUES ("
                                + ColumnCodes.of(ResourceSpec.MUTEX) + ", 1, " + ahead
                                + ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
                                + (database == TestDatabase.POSTGRES ? "'\\x6e'" : "x'6e'") + ")");
                asked = Meanwhile.run(() -> client.acquire(claim));
                Awaitility.await()
                        .atMost(1, TimeUnit.MINUTES)
                        .until(() -> log.said().stream()
                                .anyMatch(text -> text.matches("(?s).*INTO \\S+holdfast_resource.*")));
                if (stays) {
                    stranger.commit();
                } else {
                    stranger.rollback();
                }
            }
            Reply.Granted granted = (Reply.Granted) answer(asked, client, claim);
            assertThat(granted.tokens().first() > ahead).isEqualTo(stays);
            assertThat(new TestSource(log.url()).text("SELECT count(*) FROM holdfast_resource"))
                    .isEqualTo("1");
        }
    }

    /** Retries after a time-out. */
    private static Reply answer(CompletableFuture<Reply> asked, TestClient client, ClaimRef claim) throws Exception {
        try {
            return asked.get(1, TimeUnit.MINUTES);
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(StoreException.class);
            return client.acquire(claim);
        }
    }

    @OnEachServer
    @DisplayName("after its row was forgotten begins above all tokens that were given, also of forgotten names")
    void afterItWasForgotten(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        try (JdbcStore store =
                JdbcStore.builder(log).keepsConnections().listens(false).open()) {
            TestClient client = new TestClient(store);
            ClaimRef claim = client.ref("n");
            Reply.Granted first = (Reply.Granted) client.acquire(claim);
            client.release(claim);
            // Only the floor records it, which is far above the clock.
            long floor = first.tokens().last() + Tokens.floor(TimeUnit.HOURS.toMicros(1));
            log.execute("UPDATE holdfast_meta SET token_floor = " + floor, "DELETE FROM holdfast_resource");
            assertThat(client.granted("n").tokens().first()).isGreaterThan(floor);
            assertThat(client.granted("other").tokens().first()).isGreaterThan(floor);
        }
    }

    @OnEachServer
    @DisplayName("waits for a keep-alive under way, and makes nothing for a session that is over or for an old epoch")
    void sessionUnderWay(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        try (JdbcStore store =
                JdbcStore.builder(log).keepsConnections().listens(false).open()) {
            for (String change : List.of("epoch = 7", "deadline = 1")) {
                TestClient client = new TestClient(store);
                ClaimRef claim = client.ref(change);
                CompletableFuture<Reply> asked;
                int since = log.said().size();
                try (Connection keeper = new TestSource(log.url()).begin()) {
                    TestSource.execute(
                            keeper,
                            "UPDATE holdfast_session SET " + change + " WHERE id = "
                                    + SessionRow.numberOf(client.session));
                    asked = Meanwhile.run(() -> client.acquire(claim));
                    Awaitility.await()
                            .atMost(1, TimeUnit.MINUTES)
                            .until(() -> log.said().subList(since, log.said().size()).stream()
                                    .anyMatch(text -> text.matches("(?s).*INTO \\S+holdfast_resource.*")));
                    keeper.commit();
                }
                assertThat(answer(asked, client, claim))
                        .isInstanceOf(change.startsWith("epoch") ? Reply.Stale.class : Reply.SessionEnded.class);
                assertThat(log.text("SELECT count(*) FROM holdfast_resource WHERE session <> 0"))
                        .isEqualTo("0");
            }
        }
    }
}
