package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.sql.GoodHold;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("What somebody did to the tables by hand")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class ServerDamageTest {

    private static Holdfast client(TestSource source, Duration ttl) {
        return Holdfast.builder(JdbcStore.builder(new DriverDataSource(source.url()))
                        .keepsConnections()
                        .open())
                .sessionTtl(ttl)
                .build();
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("is told to the holder: its row was deleted, or its session; others go on, with greater tokens")
    void deleted(TestDatabase database) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        for (String statement : List.of("DELETE FROM holdfast_resource", "DELETE FROM holdfast_session")) {
            try (Holdfast one = client(source, Duration.ofSeconds(2))) {
                GoodHold good = GoodHold.acquired(one, "a");
                source.execute(statement);
                Awaitility.await()
                        .atMost(60, TimeUnit.SECONDS)
                        .until(() -> !good.hold().isHeld());
                try (Holdfast other = client(source, Duration.ofMinutes(1));
                        Hold next = other.lock("a").acquire(Duration.ofSeconds(60))) {
                    assertThat(next.fencingToken()).isGreaterThan(good.token());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("is neither taken for a free lock nor overwritten, and all other locks go on")
    void damaged(TestDatabase database) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        try (Holdfast one = client(source, Duration.ofSeconds(30))) {
            for (String damage : List.of(
                    "spec = 7",
                    "capacity = 0",
                    "capacity = 99999999999",
                    "last_token = -1",
                    "grants = -1",
                    "waiters = -3",
                    "session = 5, claim = 0")) {
                one.lock("a").acquire().close();
                source.execute("UPDATE holdfast_resource SET " + damage);
                String row = row(source);
                assertThatThrownBy(() -> one.lock("a").tryAcquire())
                        .as(damage)
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining("damaged")
                        .hasMessageContaining("docs/operations.md");
                assertThat(row(source)).as(damage).isEqualTo(row);
                try (Hold hold = one.lock("b").acquire()) {
                    assertThat(hold.isHeld()).isTrue();
                }
                source.execute("DELETE FROM holdfast_resource");
            }
        }
    }

    @Test
    @DisplayName("is not what an internal error of PostgreSQL means: the client retries until it has passed")
    void internalError() throws Exception {
        TestSource source = new TestSource(TestDatabase.POSTGRES.newUrl());
        try (Holdfast one = client(source, Duration.ofSeconds(30))) {
            one.lock("a").acquire().close();
            source.execute(
                    "CREATE SEQUENCE errors",
                    "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                            + " PERFORM nextval('errors'); RAISE EXCEPTION 'cache lookup failed' USING ERRCODE = 'XX000';"
                            + " END $$",
                    "CREATE TRIGGER fail BEFORE UPDATE ON holdfast_resource FOR EACH ROW EXECUTE FUNCTION fail()");
            CompletableFuture<Boolean> asked = Meanwhile.run(() -> {
                try (Hold hold = one.lock("a").acquire(Duration.ofSeconds(60))) {
                    return hold.isHeld();
                }
            });
            Awaitility.await()
                    .atMost(60, TimeUnit.SECONDS)
                    .until(() -> asked.isDone() || Long.parseLong(source.text("SELECT last_value FROM errors")) > 2);
            assertThat(asked).isNotDone();
            source.execute("DROP TRIGGER fail ON holdfast_resource");
            assertThat(asked.get(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("is told to a client that closes its session; its other names are handed over, whatever comes next")
    void endOfASession(TestDatabase database) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        try (JdbcStore store = JdbcStore.builder(new DriverDataSource(source.url()))
                .keepsConnections()
                .open()) {
            TestClient stays = new TestClient(store);
            TestClient ends = new TestClient(store);
            ClaimRef holder = ends.ref("a");
            ClaimRef next = stays.ref("a");
            assertThat(ends.acquire(holder)).isInstanceOf(Reply.Granted.class);
            assertThat(stays.acquire(next)).isInstanceOf(Reply.Queued.class);
            assertThat(stays.acquire(stays.ref("b"))).isInstanceOf(Reply.Granted.class);
            assertThat(ends.acquire(ends.ref("b"))).isInstanceOf(Reply.Queued.class);
            source.execute("UPDATE holdfast_resource SET capacity = 0 WHERE name = "
                    + (database == TestDatabase.POSTGRES ? "'\\x62'" : "'b'"));

            assertThatThrownBy(ends::close)
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.CORRUPT));
            stays.granted("c");

            assertThat(ends.poll(holder)).isInstanceOf(Reply.Absent.class);
            assertThat(stays.poll(next)).isInstanceOf(Reply.Granted.class);
        }
    }

    private static String row(TestSource source) throws SQLException {
        return source.text("SELECT concat_ws(',', spec, capacity, last_token, session, claim, weight, first_token,"
                + " end_token, ends, seq, grants, shared, waiters, places) FROM holdfast_resource");
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("to the one row of holdfast_meta is told in time to who wants a new name; names that have rows go on")
    void noMeta(TestDatabase database) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        try (Holdfast one = client(source, Duration.ofSeconds(30))) {
            one.lock("a").acquire().close();
            source.execute("DELETE FROM holdfast_meta");
            one.lock("a").acquire().close();
            assertThatThrownBy(() -> one.lock("new").tryAcquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("holdfast_meta");
            one.lock("a").acquire().close();
        }
    }
}
