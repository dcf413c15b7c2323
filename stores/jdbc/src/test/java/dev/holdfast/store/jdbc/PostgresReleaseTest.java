package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A release on PostgreSQL that nobody waits for")
@Tag("server")
@Tag("postgres")
class PostgresReleaseTest {

    /** Only commits that wait for the disk flush its log, as far as this can be configured. */
    private static final PostgresServer SERVER = PostgresServer.builder()
            .option("wal_writer_delay", "10s")
            .option("wal_writer_flush_after", "1GB")
            .option("bgwriter_lru_maxpages", "0")
            .option("autovacuum", "off")
            .start();

    private final TestSource source = new TestSource(SERVER.newDatabase());

    @AfterAll
    static void closeServer() {
        SERVER.close();
    }

    private JdbcStore open(boolean areLent) {
        JdbcStore.Builder builder = JdbcStore.builder(source);
        return (areLent ? builder : builder.keepsConnections()).open();
    }

    /** Whether all commits are on the disk. */
    private boolean isFlushed() throws SQLException {
        return source.text("SELECT pg_current_wal_insert_lsn() <= pg_current_wal_flush_lsn()")
                .equals("t");
    }

    /** Acquires a name without a row, so not only on the fast path. */
    private static ClaimRef taken(TestClient client, String name) {
        ClaimRef claim = client.ref(name);
        assertThat(client.acquire(claim)).isInstanceOf(Reply.Granted.class);
        return claim;
    }

    private long heldCount() throws SQLException {
        return Long.parseLong(source.text("SELECT count(*) FROM holdfast_resource WHERE session <> 0"));
    }

    private void awaitFlushed() {
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(this::isFlushed);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("does not wait for the disk, and is there with the next grant")
    void doesNotWait(boolean areLent) throws Exception {
        try (JdbcStore store = open(areLent)) {
            TestClient client = new TestClient(store);
            boolean isFlushed = true;
            // The server still flushes its log every ten seconds, and may do so just then.
            for (int attempt = 0; attempt < 10 && isFlushed; attempt++) {
                ClaimRef claim = taken(client, "a");
                awaitFlushed();
                client.release(claim);
                isFlushed = isFlushed();
            }
            assertThat(isFlushed).isFalse();
            ClaimRef claim = taken(client, "a");
            assertThat(isFlushed()).isTrue();
            client.release(claim);
        }
    }

    @Test
    @DisplayName("waits for the disk if something is granted with it, be it the same")
    void togetherWithAGrant() throws Exception {
        try (JdbcStore store = open(false);
                Connection stranger = source.begin()) {
            TestClient client = new TestClient(store);
            ClaimRef first = taken(client, "a");
            ClaimRef second = taken(client, "b");
            client.release(taken(client, "c"));
            client.release(taken(client, "d"));
            awaitFlushed();
            for (String wanted : List.of("c", "b")) {
                List<CompletableFuture<Reply>> batch = whileTheLaneIsBusy(
                        store,
                        stranger,
                        List.of(
                                new Release(wanted.equals("c") ? first : second),
                                new Acquire(
                                        client.ref(wanted),
                                        0,
                                        Sending.FIRST,
                                        ResourceSpec.MUTEX,
                                        1,
                                        Lease.SESSION,
                                        Waiting.QUEUE,
                                        1)));
                assertThat(batch.get(0).get(1, TimeUnit.MINUTES)).isInstanceOf(Reply.Released.class);
                assertThat(batch.get(1).get(1, TimeUnit.MINUTES)).isInstanceOf(Reply.Granted.class);
                assertThat(isFlushed()).as("with %s", wanted).isTrue();
            }
        }
    }

    /** Sends commands that become one batch, because the one before them waits for a locked row. */
    private List<CompletableFuture<Reply>> whileTheLaneIsBusy(
            JdbcStore store, Connection stranger, List<? extends dev.holdfast.spi.Command> commands) throws Exception {
        TestClient other = new TestClient(store);
        TestSource.execute(stranger, "SELECT * FROM holdfast_resource WHERE name = 'd' FOR UPDATE");
        CompletableFuture<Reply> before = Meanwhile.run(() -> other.acquire(other.ref("d")));
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(() ->
                        !source.text("SELECT 1 FROM pg_locks WHERE NOT granted").isEmpty());
        List<CompletableFuture<Reply>> batch = new ArrayList<>();
        commands.forEach(
                command -> batch.add(store.execute(command, CallerMode.ASYNC).toCompletableFuture()));
        stranger.commit();
        assertThat(before.get(1, TimeUnit.MINUTES)).isInstanceOf(Reply.Granted.class);
        other.close();
        return batch;
    }

    @Test
    @DisplayName("is made again, once per ttl, if a crash has taken it back and its client lives")
    void crashTakesItBack() throws Exception {
        Duration ttl = Duration.ofSeconds(15);
        try (Holdfast one = Holdfast.builder(open(false))
                        .sessionTtl(ttl)
                        .keepAliveEvery(Duration.ofSeconds(1))
                        .build();
                Holdfast other = Holdfast.builder(open(true)).build()) {
            long token;
            try (Hold kept = one.lock("kept").acquire()) {
                int attempt = 0;
                do {
                    Hold hold = one.lock("a").acquire();
                    token = hold.fencingToken();
                    awaitFlushed();
                    hold.close();
                    SERVER.kill();
                    SERVER.restart();
                    // Another commit may have come in between and flushed the release.
                } while (heldCount() < 2 && ++attempt < 10);
                assertThat(heldCount()).as("what the crash has taken back").isEqualTo(2);
                try (Hold next = other.lock("a").acquire(Duration.ofMinutes(1))) {
                    assertThat(next.fencingToken()).isGreaterThan(token);
                    assertThat(kept.isHeld())
                            .as("the session of the first client lives")
                            .isTrue();
                }
            }
        }
    }
}
